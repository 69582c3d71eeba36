import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@millrace/database/database';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import type { Logger } from 'pino';
import type { Place } from '../vectors-store.ts';
import { addExtension, dropIndex, fillStep, findIndexWork, forgetStep, makeIndex } from './index-store.ts';
import { MIN_INDEXED_NUMBERS } from './sizes.ts';

const INTERVAL_MS = 60_000;
const FIRST_PAUSE_MS = 15_000;
/** Filling takes at most this share of a database session's time; the rest is for others. */
const PAUSE_PER_STEP = 1;

export interface IndexerDeps {
  readonly db: Database;
  readonly log: Logger;
  /** 4,194,304 by default. */
  readonly minNumbers?: number;
}

/**
 * Keeps the indexes of collections: adds the extension where that is possible, makes those that are missing, fills them, and clears away what is
 * left of others. Several processes may do so at once.
 */
export function createVectorIndexer(deps: IndexerDeps): PeriodicTask {
  let isFirst = true;
  return createPeriodicTask({
    async work(isStopping) {
      if (isFirst) {
        const extension = await addExtension(deps.db);
        deps.log.debug({ extension }, 'looked for pgvector');
        isFirst = false;
      }
      await tendIndexes(deps, isStopping);
    },
    pauseMs: () => INTERVAL_MS,
    firstPauseMs: FIRST_PAUSE_MS,
    onFailure: (error) => deps.log.warn({ err: error }, 'could not tend the indexes of vectors; retrying'),
  });
}

/** One round. */
export async function tendIndexes(
  { db, log, minNumbers = MIN_INDEXED_NUMBERS }: IndexerDeps,
  isStopping: () => boolean = () => false,
): Promise<void> {
  const work = await findIndexWork(db, minNumbers);
  const made: Place[] = [];
  for (const place of work.lost) {
    await inSteps(isStopping, () => db.transaction((tx) => forgetStep(tx, place)));
    log.warn(place, 'the index of a collection is gone, so its vectors are compared one by one');
  }
  for (const id of work.orphans) {
    if (!isStopping()) await db.transaction((tx) => dropIndex(tx, id));
  }
  for (const place of work.wanted) {
    if (!isStopping() && (await db.transaction((tx) => makeIndex(tx, place, minNumbers)))) made.push(place);
  }
  for (const place of [...work.unfilled, ...made]) {
    const isDone = await inSteps(isStopping, () => db.transaction((tx) => fillStep(tx, place)));
    if (isDone) log.info(place, 'the index of a collection is filled');
  }
}

/** Steps until there is nothing more, with pauses as long as the steps take. @returns whether all of them were taken */
async function inSteps(isStopping: () => boolean, step: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    if (isStopping()) return false;
    const startedAt = performance.now();
    if (!(await step())) return true;
    await pause((performance.now() - startedAt) * PAUSE_PER_STEP);
  }
}
