import type { Database } from '@millrace/database/database';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import type { Logger } from 'pino';
import { insertSample, pruneSamples, trySampleLock } from './store.ts';

const INTERVAL_MS = 60_000;

/**
 * Writes down once a minute how the service fares. Every process with a worker may have one: each minute is written by one of
 * them.
 */
export function createSampler({ db, log }: { readonly db: Database; readonly log: Logger }): PeriodicTask {
  return createPeriodicTask({
    work: () => takeSample(db),
    // At the beginning of each minute, so that none is left out.
    pauseMs: () => INTERVAL_MS - (Date.now() % INTERVAL_MS),
    firstPauseMs: 0,
    onFailure: (error) =>
      log.warn(
        { err: error },
        'the state of the service could not be written down; the next minute tries again',
      ),
  });
}

/** @returns false when another process is at it, or has been in this minute */
export async function takeSample(db: Database): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await trySampleLock(tx)) || !(await insertSample(tx))) return false;
    await pruneSamples(tx);
    return true;
  });
}
