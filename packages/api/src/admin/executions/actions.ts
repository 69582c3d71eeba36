import type { Body } from '@millrace/admin-api';
import type { JsonValue } from '@millrace/engine';
import { ApiError, notFound, validationError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { startOrigin } from '@millrace/http/origin';
import { type AuditAction, insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import type { Cancel } from '@millrace/service/executions/cancel';
import { refuseUnended, rerunFromFailedNode, rerunFromStart } from '@millrace/service/executions/rerun';
import { type StartContent, startable } from '@millrace/service/executions/startable';
import { EXECUTION_STATUS_MESSAGES } from '@millrace/service/executions/status-messages';
import { findRerunSource, findStatus, type RerunSource } from '@millrace/service/executions/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { refuseInput } from '../../public/executions/execute-route.ts';
import { refuseVersion } from '../../public/executions/rerun-route.ts';
import { type AdminCall, adminRoute } from '../http/route.ts';

const CANCEL = 'POST /orgs/:org/executions/:execution/cancel';
const RERUN = 'POST /orgs/:org/executions/:execution/rerun';

/** What a person can do with an execution. */
export function adminActionRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  starter: Starter,
  cancel: Cancel,
): void {
  const { db, plans } = deps;

  adminRoute(app, deps, CANCEL, async (call) => {
    const { organisation, params } = call;
    const id = pathId(params.execution, 'execution');
    const isCancelled = await cancel(organisation.id, id, (tx) =>
      insertAudit(tx, entryOf(call, 'execution.cancelled', { execution_id: id })),
    );
    if (isCancelled) return undefined;
    const row = await db.forOrganisation(organisation.id, (tx) => findStatus(tx, organisation.id, id));
    if (row === undefined) throw notFound('execution');
    const { status } = row;
    // A repeated cancellation already has its result.
    if (status === 'cancelled') return undefined;
    throw new ApiError(
      'execution_final',
      message('api.execution_final', { status: EXECUTION_STATUS_MESSAGES[status] }),
    );
  });

  adminRoute(app, deps, RERUN, async (call) => {
    const { organisation, params, body } = call;
    const id = pathId(params.execution, 'execution');
    const source = await db.forOrganisation(organisation.id, (tx) =>
      findRerunSource(tx, organisation.id, id),
    );
    if (source === undefined) throw notFound('execution');
    refuseUnended(source);
    const found = await starter.lookUp(organisation.id, source.workflow_id, null);
    const workflow = startable(found);
    const { executionId, now } = found;
    const content = await prepare(id, source, workflow, body);
    // Queued, so that it is stored together with the audit entry; any worker with a free slot takes it.
    const origin = startOrigin(call.request);
    const order = { executionId, acceptedAt: now, workflow, origin, ...content };
    await db.forOrganisation(organisation.id, async (tx) => {
      await starter.storeQueued(tx, organisation.id, [order]);
      const details = {
        execution_id: executionId,
        rerun_of: id,
        from: body.from,
        version: content.version,
        has_own_input: body.input_data !== undefined,
      };
      await insertAudit(tx, entryOf(call, 'execution.rerun', details));
    });
    starter.stored(order);
    return { execution_id: executionId };
  });

  async function prepare(
    id: number,
    source: RerunSource,
    workflow: StartableWorkflow,
    { from, input_data: input, version }: Body<typeof RERUN>,
  ): Promise<StartContent> {
    if (from === 'failed_node') {
      if (input !== undefined) throw inputWithFailedNode();
      return rerunFromFailedNode(plans, id, source, workflow, version);
    }
    refuseVersion(from, version);
    const content = await rerunFromStart(plans, id, source, workflow, input as JsonValue | undefined);
    if (input !== undefined) {
      await refuseInput(content.compiled, input as JsonValue, workflow.organisationId);
    }
    return content;
  }
}

function inputWithFailedNode(): ApiError {
  return validationError([
    {
      pointer: '/input_data',
      code: 'not_allowed',
      message: message('api.rerun_input_not_allowed'),
    },
  ]);
}

function entryOf(
  { organisation, actor }: AdminCall<typeof CANCEL> | AdminCall<typeof RERUN>,
  action: AuditAction,
  details: { readonly [name: string]: string | number | boolean },
) {
  return { organisationId: organisation.id, action, by: actor, details };
}
