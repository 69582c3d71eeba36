import type { Database } from '@millrace/database/database';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import type { Logger } from 'pino';
import type { FileStore } from './file-store.ts';
import { type DoomedFile, doomFiles, keepTombstone, lockDueFiles, removeFile } from './statements.ts';

const INTERVAL_MS = 60_000;
const FIRST_PAUSE_MS = 20_000;
/** Files per transaction. */
const BATCH = 100;

export interface SweepDeps {
  readonly db: Database;
  readonly store: FileStore;
  readonly log: Logger;
}

/** Deletes files that nothing refers to any more, every minute; several processes share the work. */
export function createFileSweep(deps: SweepDeps): PeriodicTask {
  return createPeriodicTask({
    async work(isStopping) {
      const deleted = await sweepFiles(deps, isStopping);
      if (deleted > 0) deps.log.info({ files: deleted }, 'unused files deleted');
    },
    pauseMs: () => INTERVAL_MS,
    firstPauseMs: FIRST_PAUSE_MS,
    onFailure: (error) => deps.log.warn({ err: error }, 'could not delete unused files; retrying'),
  });
}

/**
 * One round over everything that is due. What can't be deleted is tried again an hour later.
 * @returns how many files were deleted
 */
export async function sweepFiles(
  { db, store, log }: SweepDeps,
  isStopping: () => boolean = () => false,
): Promise<number> {
  let deleted = 0;
  for (let hasMore = true; hasMore && !isStopping(); ) {
    const { seen, doomed } = await db.transaction(async (tx) => {
      const due = await lockDueFiles(tx, BATCH);
      const ids = due.map(({ id }) => id);
      return { seen: ids.length, doomed: ids.length === 0 ? [] : await doomFiles(tx, ids) };
    });
    hasMore = seen === BATCH;
    for (const file of doomed) {
      if (isStopping()) return deleted;
      try {
        await store.delete(file.id);
      } catch (error) {
        log.warn({ err: error, file_id: file.id }, 'could not delete a file; retrying in an hour');
        continue;
      }
      await settle(db, file);
      deleted += 1;
    }
  }
  return deleted;
}

async function settle(db: Database, { id, may_be_written: mayBeWritten, size }: DoomedFile): Promise<void> {
  if (mayBeWritten && size > 0) await keepTombstone(db, id);
  else await removeFile(db, id);
}
