import type { Queryable } from '@millrace/database/database';
import { listOwnQueueLimits } from './store.ts';

/** How long it may take to notice that the operator has changed one. */
const FRESH_MS = 5_000;

/** Queue limits of organisations that differ from the settings. */
export interface OwnQueueLimits {
  /** Null: as the settings say; 0: no limit. */
  of(organisationId: number): Promise<number | null>;
}

/** For one process. Only while executions have to wait, it reads every few seconds which organisations have one. */
export function createOwnQueueLimits(db: Queryable): OwnQueueLimits {
  let limits: ReadonlyMap<number, number> | null = null;
  let readAtMs = 0;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    limits = new Map((await listOwnQueueLimits(db)).map((row) => [row.id, row.queue_limit]));
    readAtMs = performance.now();
  }

  function refresh(): Promise<void> {
    // While the database is away, the last state is used; the start itself then fails.
    reading ??= read()
      .catch(() => {})
      .finally(() => {
        reading = null;
      });
    return reading;
  }

  return {
    async of(organisationId) {
      if (limits === null) await refresh();
      else if (performance.now() - readAtMs > FRESH_MS) void refresh();
      return limits?.get(organisationId) ?? null;
    },
  };
}
