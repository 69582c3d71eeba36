import { ApiError, notFound } from '@millrace/errors/errors';
import { principalOf } from '@millrace/http/context';
import { pathId } from '@millrace/http/ids';
import { originOf } from '@millrace/http/origin';
import { response } from '@millrace/http/responses';
import { insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import type { Cancel } from '@millrace/service/executions/cancel';
import { EXECUTION_STATUS_MESSAGES } from '@millrace/service/executions/status-messages';
import { findExecution } from '@millrace/service/executions/store';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { AppDeps } from '../../app-deps.ts';
import { type BatchParts, batchRoute } from './batch-route.ts';
import { executeRoute } from './execute-route.ts';
import { presentDetail } from './present.ts';
import { readRoutes } from './read-routes.ts';
import { rerunRoute } from './rerun-route.ts';
import { CancelBody, EXECUTION_SCHEMAS } from './schema.ts';
import { createRespondToStart } from './start-response.ts';

/** Starting workflows, and reading, cancelling and repeating executions. */
export function executionRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  parts: BatchParts,
  cancel: Cancel,
): void {
  const { starter } = parts;
  for (const schema of EXECUTION_SCHEMAS) app.addSchema(schema);
  const respondToStart = createRespondToStart(deps, starter);
  executeRoute(app, deps, starter, respondToStart);
  batchRoute(app, deps, parts);
  readRoutes(app, deps);
  addCancel(app, deps, cancel);
  rerunRoute(app, deps, starter, respondToStart);
}

function addCancel(app: FastifyInstance, { db }: AppDeps, cancel: Cancel): void {
  const schema = {
    operationId: 'cancelExecution',
    summary: 'Cancel an execution',
    description:
      'No further nodes start, running nodes are aborted, and executions that its nodes wait for are cancelled, too. Cancelling a cancelled execution gives the same response; one that has ended otherwise gives 409.',
    tags: ['Executions'],
    body: CancelBody,
    response: { 200: response('The cancelled execution.', Type.Ref('ExecutionDetail#')) },
  };
  const options = {
    config: {
      scope: 'executions:execute',
      extension: true,
      emptyBodyIsObject: true,
      problems: ['execution_final'],
    },
    schema,
  } as const;
  app.post<{ Params: { id: string } }>('/api/v1/executions/:id/cancel', options, async (request) => {
    const { organisationId, apiKeyId } = principalOf(request);
    const id = pathId(request.params.id, 'execution');
    await cancel(organisationId, id, (tx) =>
      insertAudit(tx, {
        organisationId,
        action: 'execution.cancelled',
        by: { actor: 'api_key', apiKeyId, ...originOf(request) },
        details: { execution_id: id },
      }),
    );
    const row = await db.forOrganisation(organisationId, (tx) => findExecution(tx, organisationId, id));
    if (row === undefined) throw notFound('execution');
    if (row.status !== 'cancelled') {
      throw new ApiError(
        'execution_final',
        message('api.execution_final', { status: EXECUTION_STATUS_MESSAGES[row.status] }),
      );
    }
    return presentDetail(row);
  });
}
