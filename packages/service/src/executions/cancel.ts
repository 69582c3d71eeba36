import type { Database, Queryable } from '@millrace/database/database';
import { createFollowUps } from '@millrace/runtime/follow-ups';
import type { ExecutionNotifier } from '@millrace/runtime/notifier';
import { cancelExecution } from '@millrace/runtime/statements';
import type { Logger } from 'pino';

/**
 * Cancels an execution that hasn't ended, with the children its nodes are waiting for.
 * @param record called in the same transaction if this call cancelled it
 * @returns false if it doesn't exist or has ended
 */
export type Cancel = (
  organisationId: number,
  executionId: number,
  record?: (tx: Queryable) => Promise<void>,
) => Promise<boolean>;

export interface CancelDeps {
  readonly db: Database;
  readonly notifier: Pick<ExecutionNotifier, 'cancelled'>;
  readonly log: Logger;
}

export function createCancel({ db, notifier, log }: CancelDeps): Cancel {
  const settle = createFollowUps(db);
  return async (organisationId, executionId, record) => {
    const cancelled = await db.forOrganisation(organisationId, async (tx) => {
      const rows = await cancelExecution(tx, organisationId, executionId);
      if (rows.length > 0) await record?.(tx);
      return rows;
    });
    for (const row of cancelled) notifier.cancelled(row.id);
    if (cancelled.length > 0) {
      await settle().catch((error: unknown) => {
        log.warn({ err: error }, 'could not follow up on a cancellation; the next claim will');
      });
    }
    return cancelled.length > 0;
  };
}
