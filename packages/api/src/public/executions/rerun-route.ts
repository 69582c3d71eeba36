import { notFound, validationError } from '@millrace/errors/errors';
import { principalOf } from '@millrace/http/context';
import { replayBeforeValidation } from '@millrace/http/idempotency';
import { pathId } from '@millrace/http/ids';
import { originOfStart } from '@millrace/http/origin';
import { message } from '@millrace/messages';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import { refuseUnended, rerunFromFailedNode, rerunFromStart } from '@millrace/service/executions/rerun';
import { findRerunSource } from '@millrace/service/executions/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { START_RESPONSE } from './execute-route.ts';
import { RerunBody } from './schema.ts';
import type { RespondToStart } from './start-response.ts';

/** `POST /executions/{id}/rerun`. */
export function rerunRoute(
  app: FastifyInstance,
  deps: AppDeps,
  starter: Starter,
  respondToStart: RespondToStart,
): void {
  const { db, plans } = deps;
  const schema = {
    operationId: 'rerunExecution',
    summary: 'Rerun an execution',
    description: 'Creates a new execution with the same input; the old one stays as it is.',
    tags: ['Executions'],
    body: RerunBody,
    response: { 202: START_RESPONSE },
  };
  const options = {
    config: {
      scope: 'executions:execute',
      idempotent: true,
      extension: true,
      emptyBodyIsObject: true,
      problems: [
        'workflow_inactive',
        'workflow_archived',
        'execution_not_final',
        'no_failed_node',
        'organisation_paused',
        'queue_full',
        'storage_full',
      ],
    },
    preValidation: replayBeforeValidation(db),
    schema,
  } as const;
  app.post<{ Params: { id: string }; Body: RerunBody }>(
    '/api/v1/executions/:id/rerun',
    options,
    async (request, reply) => {
      const { organisationId } = principalOf(request);
      const { from, version } = request.body;
      refuseVersion(from, version);
      const id = pathId(request.params.id, 'execution');
      const source = await db.forOrganisation(organisationId, (tx) =>
        findRerunSource(tx, organisationId, id),
      );
      if (source === undefined) throw notFound('execution');
      refuseUnended(source);
      const lookUp = () => starter.lookUp(organisationId, source.workflow_id, request.idempotencyKey);
      const prepare = (workflow: StartableWorkflow) =>
        from === 'start'
          ? rerunFromStart(plans, id, source, workflow)
          : rerunFromFailedNode(plans, id, source, workflow, version);
      const found = await lookUp();
      const origin = originOfStart(request);
      return respondToStart(
        { idempotencyKey: request.idempotencyKey, origin, found, lookUp, prepare },
        reply,
      );
    },
  );
}

/** @throws ApiError 422 for a version from the start, which always runs the saved one */
export function refuseVersion(from: RerunBody['from'], version: RerunBody['version']): void {
  if (from === 'failed_node' || version === undefined) return;
  const fault = message('api.only_with', { other: '{"from": "failed_node"}' });
  throw validationError([{ pointer: '/version', code: 'not_allowed', message: fault }]);
}
