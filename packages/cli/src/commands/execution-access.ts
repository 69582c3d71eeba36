import { presentDetail } from '@millrace/api/public/executions/present';
import { ApiError, notFound } from '@millrace/errors/errors';
import { insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import { cancelExecution } from '@millrace/runtime/statements';
import { findExecution } from '@millrace/service/executions/store';
import { findOwner } from './lookups.ts';
import { withDatabase } from './running-service.ts';
import { OPERATOR } from './shared.ts';
import type { CommandResult } from './shell.ts';
import { showExecution } from './timeline.ts';

/** An execution as `GET /executions/{id}` returns it; as a timeline for people. */
export function showStoredExecution(id: number): Promise<CommandResult> {
  return withDatabase(async (db) => {
    const organisationId = await findOwner(db, 'execution', id);
    const row = await db.forOrganisation(organisationId, (tx) => findExecution(tx, organisationId, id));
    if (row === undefined) throw notFound('execution');
    const detail = await presentDetail(row);
    return { json: detail, text: showExecution(detail, Date.now()) };
  });
}

/** Cancels an execution on behalf of the operator; the statement notifies the processes that run or watch it. */
export function cancelStoredExecution(id: number): Promise<CommandResult> {
  return withDatabase(async (db) => {
    const organisationId = await findOwner(db, 'execution', id);
    await db.forOrganisation(organisationId, async (tx) => {
      const [cancelled] = await cancelExecution(tx, organisationId, id);
      if (cancelled === undefined) {
        throw new ApiError('execution_final', message('api.execution_already_ended', { id }));
      }
      const details = { execution_id: id };
      await insertAudit(tx, {
        organisationId,
        action: 'execution.cancelled',
        by: OPERATOR,
        details,
      });
    });
    return { json: { id, status: 'cancelled' }, text: `Cancelled execution ${id}.` };
  });
}
