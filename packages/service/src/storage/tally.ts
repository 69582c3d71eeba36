import type { Database } from '@millrace/database/database';
import { tryLock } from '@millrace/database/locks';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import type { Logger } from 'pino';
import { addUpChanges, hasChanges } from './store.ts';

const INTERVAL_MS = 5_000;

/** Adds up what organisations store, every few seconds, in one process at a time. */
export function createStorageTally(deps: { readonly db: Database; readonly log: Logger }): PeriodicTask {
  return createPeriodicTask({
    work: (isStopping) => tallyStorage(deps.db, isStopping),
    pauseMs: () => INTERVAL_MS,
    onFailure: (error) => deps.log.warn({ err: error }, 'could not add up what is stored; retrying'),
  });
}

/** Adds up everything that has changed, unless another process is doing it. */
export async function tallyStorage(db: Database, isStopping: () => boolean = () => false): Promise<void> {
  for (let hasMore = true; hasMore && !isStopping(); ) {
    // Usually there is nothing to do, which one statement shows.
    if (!(await hasChanges(db))) return;
    hasMore = await db.transaction(async (tx) => (await tryLock(tx, 'storage')) && (await addUpChanges(tx)));
  }
}
