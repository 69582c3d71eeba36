import type { Database } from '@millrace/database/database';
import { tryLock } from '@millrace/database/locks';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import type { Logger } from 'pino';
import { insertSample, pruneSamples } from './store.ts';

const INTERVAL_MS = 60_000;

/** Records metrics once a minute. Every process with a worker may have a sampler: each minute is recorded by one of them. */
export function createSampler({ db, log }: { readonly db: Database; readonly log: Logger }): PeriodicTask {
  return createPeriodicTask({
    work: () => takeSample(db),
    // At the start of each minute, so that none is left out.
    pauseMs: () => INTERVAL_MS - (Date.now() % INTERVAL_MS),
    firstPauseMs: 0,
    onFailure: (error) => log.warn({ err: error }, 'could not record metrics; retrying in the next minute'),
  });
}

/** @returns false if another process is doing it, or has done it this minute */
export async function takeSample(db: Database): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await tryLock(tx, 'samples')) || !(await insertSample(tx))) return false;
    await pruneSamples(tx);
    return true;
  });
}
