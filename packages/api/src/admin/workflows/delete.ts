import type { Queryable } from '@millrace/database/database';
import { ApiError, validationError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { message } from '@millrace/messages';
import {
  deleteEndedExecutions,
  deleteWorkflow,
  hasUnended,
  lockVersions,
} from '@millrace/service/workflows/admin-store';
import { readLockedWorkflow } from '@millrace/service/workflows/save';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { type AdminCall, adminRoute } from '../http/route.ts';
import { authorOf, recordWorkflow } from './origin.ts';

/** Executions deleted per transaction: short enough not to delay concurrent requests. */
const BATCH = 1_000;

/**
 * Physical deletion. Executions go first, in batches; if interrupted, an archived workflow with a shorter history remains, which can be
 * deleted again.
 */
export function addDeleteRoute(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'DELETE /orgs/:org/workflows/:id', async (call) => {
    const { organisation } = call;
    const id = pathId(call.params.id, 'workflow');
    await db.forOrganisation(organisation.id, async (tx) => {
      await requireDeletable(tx, call, id);
    });
    for (let count = BATCH; count === BATCH; ) {
      count = await db.forOrganisation(organisation.id, (tx) => deleteEndedExecutions(tx, id, BATCH));
    }
    await db.forOrganisation(organisation.id, async (tx) => {
      const row = await requireDeletable(tx, call, id);
      await deleteWorkflow(tx, id);
      await recordWorkflow(tx, call, 'workflow.deleted', id, { name: row.name, versions: row.version });
    });
  });
}

/**
 * The workflow, locked so that nothing starts it.
 * @throws ApiError 422 on `name`, `workflow_not_archived`, `workflow_running`
 */
async function requireDeletable(
  tx: Queryable,
  { session, organisation, body }: AdminCall<'DELETE /orgs/:org/workflows/:id'>,
  id: number,
) {
  const row = await readLockedWorkflow(tx, authorOf(session, organisation.id), id);
  if (body.name !== row.name) {
    const fault = message('api.workflow_name_mismatch');
    throw validationError([{ pointer: '/name', code: 'invalid_value', message: fault }]);
  }
  if (row.status !== 'archived') {
    throw new ApiError('workflow_not_archived', message('api.delete_not_archived'));
  }
  await lockVersions(tx, id);
  // A parent would wait for a deleted child, and an effect in progress would leave no trace.
  if (await hasUnended(tx, organisation.id, id)) {
    throw new ApiError('workflow_running', message('api.delete_running'));
  }
  return row;
}
