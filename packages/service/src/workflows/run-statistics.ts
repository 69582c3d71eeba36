import type { Database, Queryable } from '@millrace/database/database';
import type { Meters } from '@millrace/runtime/meters/meters';
import { DURATION_CLASSES, type RunTallies } from '@millrace/runtime/meters/run-tallies';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import type { Logger } from 'pino';
import { addRuns, type RunSlot, readRuns } from './run-store.ts';

const INTERVAL_MS = 10_000;

/** Stores every few seconds, and when it is stopped, what this process has counted about the workflows' runs. */
export function createRunStatistics({
  db,
  log,
  meters,
}: {
  readonly db: Database;
  readonly log: Logger;
  readonly meters: Meters;
}): PeriodicTask {
  const onFailure = (error: unknown) =>
    log.warn({ err: error }, 'could not store the statistics of workflows; retrying');
  const store = () => storeRuns(db, meters.runs);
  const task = createPeriodicTask({ work: store, pauseMs: () => INTERVAL_MS, onFailure });
  return {
    ...task,
    async stop() {
      await task.stop();
      await store().catch(onFailure);
    },
  };
}

/** Stores what was counted; what can't be stored is kept for the next time. */
export async function storeRuns(db: Database, runs: RunTallies): Promise<void> {
  const taken = runs.take();
  if (taken.length === 0) return;
  try {
    await db.transaction((tx) => addRuns(tx, taken));
  } catch (error) {
    runs.restore(taken);
    throw error;
  }
}

/** Ranges of the charts: how many hours or days. */
const RANGES = {
  day: { step: 'hour', count: 24 },
  week: { step: 'day', count: 7 },
  month: { step: 'day', count: 30 },
  quarter: { step: 'day', count: 90 },
} as const;

/** One bar of the charts. Durations are estimates within a class, and null without runs. */
export interface RunBar extends Pick<RunSlot, 'at' | 'completed' | 'failed'> {
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
}

export async function readRunBars(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  range: keyof typeof RANGES,
  zone: string,
): Promise<{ readonly step: 'hour' | 'day'; readonly bars: readonly RunBar[] }> {
  const { step, count } = RANGES[range];
  const slots = await readRuns(tx, organisationId, workflowId, { step, count, zone });
  const bars = slots.map(({ at, completed, failed, durations }) => {
    const counts = addUp(durations === null ? [] : (JSON.parse(durations) as number[][]));
    return { at, completed, failed, medianMs: quantileMs(counts, 0.5), p95Ms: quantileMs(counts, 0.95) };
  });
  return { step, bars };
}

function addUp(lists: readonly (readonly number[])[]): number[] {
  return [...DURATION_CLASSES, 0].map((_, at) => lists.reduce((sum, list) => sum + (list[at] ?? 0), 0));
}

/** The duration that a share of the runs doesn't exceed, taking those of a class as spread evenly. */
export function quantileMs(counts: readonly number[], share: number): number | null {
  const wanted = counts.reduce((sum, count) => sum + count, 0) * share;
  if (wanted === 0) return null;
  let below = 0;
  for (const [at, count] of counts.entries()) {
    const from = at === 0 ? 0 : (DURATION_CLASSES[at - 1] ?? 0);
    // What is above the last class is at least that.
    const to = DURATION_CLASSES[at] ?? from;
    if (below + count >= wanted) return Math.round((from + (to - from) * ((wanted - below) / count)) * 1_000);
    below += count;
  }
  return null;
}
