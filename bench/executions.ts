import { setTimeout as pause } from 'node:timers/promises';
import type { Queryable } from '../packages/database/src/database.ts';
import { percentile } from './statistics.ts';

const DRAIN_TIMEOUT_MS = 120_000;
const POLL_MS = 250;

/** The outcome of one load run's executions. */
export interface Completed {
  readonly count: number;
  /** From the first acceptance to the last completion, by the database's clock. */
  readonly seconds: number;
}

/** Id of the newest execution, 0 if there is none. */
export async function newestExecution(db: Queryable): Promise<number> {
  const [row] = await db.query<{ id: number | null }>('SELECT max(id) AS id FROM executions');
  return row?.id ?? 0;
}

/**
 * Waits until no execution is pending and none was added since the last poll: when the load generator stops, requests in progress are still
 * accepted.
 */
export async function waitUntilDrained(db: Queryable): Promise<void> {
  const giveUpAt = performance.now() + DRAIN_TIMEOUT_MS;
  for (let newest = -1; performance.now() < giveUpAt; ) {
    const [row] = await db.query<{ open: boolean; newest: number }>(
      `SELECT EXISTS (SELECT FROM executions WHERE status = 'queued')
         OR EXISTS (SELECT FROM executions WHERE status = 'running')
         OR EXISTS (SELECT FROM executions WHERE status = 'waiting_async') AS open,
         coalesce((SELECT max(id) FROM executions), 0) AS newest`,
    );
    if (row?.open === false && row.newest === newest) return;
    newest = row?.newest ?? -1;
    await pause(POLL_MS);
  }
  throw new Error(`executions were still open after ${DRAIN_TIMEOUT_MS / 1000} seconds`);
}

/**
 * Counts an organisation's completed executions after `afterId`.
 * @throws if there are fewer than accepted or one did not complete: then something was lost
 */
export async function countCompleted(
  db: Queryable,
  organisationId: number,
  afterId: number,
  accepted: number,
): Promise<Completed> {
  const [row] = await db.query<{ completed: number; ended_otherwise: number; seconds: string }>(
    `SELECT count(*) FILTER (WHERE status = 'completed')::integer AS completed,
       count(*) FILTER (WHERE status IN ('failed', 'cancelled'))::integer AS ended_otherwise,
       extract(epoch FROM max(completed_at) - min(created_at))::text AS seconds
     FROM executions WHERE organisation_id = $1 AND id > $2`,
    [organisationId, afterId],
  );
  if (row === undefined || row.completed < accepted || row.ended_otherwise > 0) {
    throw new Error(
      `${accepted} starts were accepted, but ${row?.completed} completed and ${row?.ended_otherwise} ended otherwise`,
    );
  }
  return { count: row.completed, seconds: Number(row.seconds) };
}

/** 50th and 95th percentile of `completed_at - created_at` after `afterId`, in milliseconds. */
export async function storedLatency(
  db: Queryable,
  organisationId: number,
  afterId: number,
): Promise<{ p50: number; p95: number }> {
  const rows = await db.query<{ ms: string }>(
    `SELECT (extract(epoch FROM completed_at - created_at) * 1000)::text AS ms
     FROM executions WHERE organisation_id = $1 AND id > $2 AND status = 'completed'`,
    [organisationId, afterId],
  );
  const times = rows.map(({ ms }) => Number(ms));
  return { p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
}
