import type { WorkerState } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';

/** Queue rows are counted up to this number, so that a long queue isn't more expensive to monitor. */
export const COUNT_LIMIT = 100_000;
const SAMPLE_DAYS = 7;

/** Counts what is queued, held ones included: one count for each of the indexes, each up to $1. */
export const QUEUED_COUNT = `(SELECT count(*) FROM (SELECT FROM executions WHERE status = 'queued' AND max_concurrency IS NULL AND held_until IS NULL LIMIT $1) q)
         + (SELECT count(*) FROM (SELECT FROM executions WHERE status = 'queued' AND max_concurrency IS NOT NULL AND on_limit IS NULL AND held_until IS NULL LIMIT $1) q)
         + (SELECT count(*) FROM (SELECT FROM executions WHERE status = 'queued' AND on_limit IS NOT NULL AND held_until IS NULL LIMIT $1) q)
         + (SELECT count(*) FROM (SELECT FROM executions WHERE status = 'queued' AND held_until IS NOT NULL LIMIT $1) q)`;

/** The metrics of one minute. */
export interface SampleRow {
  readonly minute: Date;
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  readonly workers: number;
  readonly started: number | null;
  readonly failed: number | null;
  readonly seconds: number | null;
  readonly database_bytes: number;
}

/**
 * Records this minute's metrics, once. Nothing in it reads the history: partial indexes count the queue, the number of
 * starts is the difference of two ids, and failures have an index of their own.
 * @returns false if the minute already has its sample
 */
export async function insertSample(tx: Queryable): Promise<boolean> {
  const rows = await tx.query(
    `WITH before AS (
       SELECT sampled_at, last_execution_id FROM service_samples
       WHERE minute < date_trunc('minute', now()) AND sampled_at > now() - interval '1 hour' ORDER BY minute DESC LIMIT 1
     ), ids AS (
       SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last_id FROM execution_ids
     )
     INSERT INTO service_samples (minute, queued, running, waiting, workers, last_execution_id, started, failed,
       seconds, sampled_at, database_bytes)
     SELECT date_trunc('minute', now()),
       ${QUEUED_COUNT},
       (SELECT count(*) FROM (SELECT FROM executions WHERE status = 'running' LIMIT $1) q),
       (SELECT count(*) FROM (SELECT FROM executions WHERE status = 'waiting_async' AND max_concurrency IS NULL LIMIT $1) q)
         + (SELECT count(*) FROM (SELECT FROM executions WHERE status = 'waiting_async' AND max_concurrency IS NOT NULL LIMIT $1) q),
       (SELECT count(*) FROM workers WHERE lease_expires_at > now()),
       ids.last_id,
       CASE WHEN before.sampled_at IS NOT NULL THEN greatest(ids.last_id - before.last_execution_id, 0) END,
       CASE WHEN before.sampled_at IS NOT NULL THEN (
         SELECT count(*) FROM executions
         WHERE status = 'failed' AND completed_at > before.sampled_at AND completed_at <= now()) END,
       extract(epoch FROM now() - before.sampled_at),
       now(), pg_database_size(current_database())
     FROM ids LEFT JOIN before ON true
     ON CONFLICT (minute) DO NOTHING RETURNING minute`,
    [COUNT_LIMIT],
  );
  return rows.length === 1;
}

/** At most one row a minute is written, so there is never much to delete. */
export async function pruneSamples(tx: Queryable): Promise<void> {
  await tx.query(`DELETE FROM service_samples WHERE minute < now() - $1::integer * interval '1 day'`, [
    SAMPLE_DAYS,
  ]);
}

/** Samples of the last hours, oldest first; the last one of each `step` minutes, with the rates of all of them. */
export async function listSamples(db: Queryable, hours: number, step: number): Promise<SampleRow[]> {
  return db.query<SampleRow>(
    `SELECT DISTINCT ON (slot) minute, queued, running, waiting, workers, database_bytes,
       (sum(started) OVER w)::bigint AS started, (sum(failed) OVER w)::bigint AS failed, sum(seconds) OVER w AS seconds
     FROM (
       SELECT *, floor(extract(epoch FROM minute) / (60 * $2::integer)) AS slot FROM service_samples
       WHERE minute > now() - $1::integer * interval '1 hour'
     ) s
     WINDOW w AS (PARTITION BY slot)
     ORDER BY slot, minute DESC`,
    [hours, step],
  );
}

export interface QueueRow {
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  readonly oldest_queued_at: Date | null;
}

/** The current queue, with each count limited to {@link COUNT_LIMIT}. */
export async function readQueue(db: Queryable): Promise<QueueRow> {
  const row = await queryRow<QueueRow>(
    db,
    `SELECT
       ${QUEUED_COUNT} AS queued,
       (SELECT count(*) FROM (SELECT FROM executions WHERE status = 'running' LIMIT $1) q) AS running,
       (SELECT count(*) FROM (SELECT FROM executions WHERE status = 'waiting_async' AND max_concurrency IS NULL LIMIT $1) q)
         + (SELECT count(*) FROM (SELECT FROM executions WHERE status = 'waiting_async' AND max_concurrency IS NOT NULL LIMIT $1) q)
         AS waiting,
       (SELECT created_at FROM executions WHERE status = 'queued' AND max_concurrency IS NULL AND held_until IS NULL ORDER BY id LIMIT 1)
         AS oldest_queued_at`,
    [COUNT_LIMIT],
  );
  return row;
}

export interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly started_at: Date;
  readonly heartbeat_at: Date;
  readonly state: WorkerState;
  readonly running: number;
}

/**
 * Live workers and those that ended within the last hour, latest first. A stopped worker has shortened its lease; that of a
 * dead one has expired.
 */
export async function listWorkers(db: Queryable, leaseMs: number, limit: number): Promise<WorkerRow[]> {
  return db.query<WorkerRow>(
    `SELECT w.id, w.host, w.pid, w.started_at, w.heartbeat_at,
       CASE
         WHEN w.lease_expires_at > now() THEN 'alive'
         WHEN w.lease_expires_at < w.heartbeat_at + $1::integer * interval '1 millisecond' THEN 'stopped'
         ELSE 'silent' END AS state,
       (SELECT count(*) FROM executions e WHERE e.worker_id = w.id AND e.status = 'running') AS running
     FROM workers w WHERE w.lease_expires_at > now() - interval '1 hour'
     ORDER BY w.lease_expires_at > now() DESC, w.started_at DESC, w.id LIMIT $2`,
    [leaseMs, limit],
  );
}

export interface ServerRow {
  readonly now: Date;
  readonly postgresql_version: string;
  readonly schema_version: number;
  readonly database_bytes: number;
  /** Null if there is none yet. */
  readonly last_sample_at: Date | null;
  /** The first sample of the last 24 hours; null if there is none. */
  readonly earlier_at: Date | null;
  readonly earlier_bytes: number | null;
}

export async function readServer(db: Queryable): Promise<ServerRow> {
  const row = await queryRow<ServerRow>(
    db,
    `SELECT now() AS now, current_setting('server_version') AS postgresql_version,
       (SELECT max(version) FROM schema_migrations) AS schema_version,
       pg_database_size(current_database()) AS database_bytes,
       (SELECT max(sampled_at) FROM service_samples) AS last_sample_at,
       e.sampled_at AS earlier_at, e.database_bytes AS earlier_bytes
     FROM (SELECT) one LEFT JOIN LATERAL (
       SELECT sampled_at, database_bytes FROM service_samples
       WHERE minute > now() - interval '24 hours' ORDER BY minute LIMIT 1) e ON true`,
  );
  return row;
}
