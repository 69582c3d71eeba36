import { hostname } from 'node:os';
import type { Queryable } from '@millrace/database/database';
import { rowSet } from '@millrace/database/row-set';
import { type Lease, storeError } from '@millrace/engine';
import { message } from '@millrace/messages';

export async function insertWorker(db: Queryable, workerId: string, leaseMs: number): Promise<void> {
  await db.query(
    `INSERT INTO workers (id, host, pid, started_at, heartbeat_at, lease_expires_at)
     VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), clock_timestamp() + $4 * interval '1 millisecond')
     ON CONFLICT (id) DO NOTHING`,
    [workerId, hostname(), process.pid, leaseMs],
  );
}

/** Returns no row if the lease has expired; it can't be renewed then. */
export async function renewWorkerLease(
  db: Queryable,
  workerId: string,
  leaseMs: number,
): Promise<{ id: string }[]> {
  return db.query(
    `UPDATE workers SET heartbeat_at = clock_timestamp(),
       lease_expires_at = clock_timestamp() + $2 * interval '1 millisecond'
     WHERE id = $1 AND lease_expires_at > clock_timestamp()
     RETURNING id`,
    [workerId, leaseMs],
    'renew_worker_lease',
  );
}

export async function endWorkerLease(db: Queryable, workerId: string): Promise<void> {
  await db.query(
    `UPDATE workers SET lease_expires_at = least(lease_expires_at, clock_timestamp())
     WHERE id = $1
     RETURNING pg_notify('millrace_queue', '')`,
    [workerId],
  );
}

export interface ClaimedRow {
  readonly id: number;
  readonly organisation_id: number;
  readonly workflow_id: number;
  readonly workflow_version: number;
  readonly is_test_mode: boolean;
  readonly input: string;
  readonly started_at: Date;
  readonly timeout_ms: number | null;
  readonly claim: number;
  readonly checkpoint_seq: number;
  readonly signal_seq: number;
  /** `failed`: it crashed its worker too often and was ended instead of being leased. */
  readonly status: 'running' | 'failed';
}

/** What a claim returns of the executions `e`. */
export const CLAIMED = `e.id, e.organisation_id, e.workflow_id, e.workflow_version, e.is_test_mode, e.input, e.started_at,
  e.timeout_ms, e.claim, e.checkpoint_seq, e.signal_seq, e.status`;

/**
 * Leases runnable work, oldest first: queued and woken executions, and those of workers whose lease expired. The latter
 * count one crash each and fail at `maxCrashedAttempts`. Nothing is claimed for a worker whose own lease is not valid.
 *
 * A crash counts for everything its worker was running, because nobody can tell which execution caused it. So a worker runs
 * at most one execution with one attempt left, and no innocent one fails alongside a guilty one.
 *
 * Work with a concurrency limit on its workflow is left to {@link claimLimited}. A lost execution of that kind takes no
 * further slot: its row has been running all the time.
 *
 * Sent unnamed, because a generic plan would expect the limit to be a tenth of the backlog and read all of it.
 */
export async function claimExecutions(
  db: Queryable,
  workerId: string,
  limit: number,
  maxCrashedAttempts: number,
): Promise<ClaimedRow[]> {
  const explanation = message('run.worker_crashed', { count: maxCrashedAttempts });
  const error = { code: 'worker_crashed', message: explanation, nodeId: null };
  return db.query<ClaimedRow>(
    `WITH queued AS MATERIALIZED (
       SELECT id FROM executions WHERE status = 'queued' AND max_concurrency IS NULL AND crashed_attempts < $4
       ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
     ), woken AS MATERIALIZED (
       SELECT id FROM executions
       WHERE status = 'waiting_async' AND max_concurrency IS NULL AND wake_at <= now() AND crashed_attempts < $4
       ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED
     ), lost AS MATERIALIZED (
       SELECT e.id FROM workers w CROSS JOIN LATERAL (
         SELECT id FROM executions WHERE worker_id = w.id AND status = 'running' AND crashed_attempts + 1 <> $4
         ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
       ) e
       WHERE w.lease_expires_at <= clock_timestamp()
     ), suspect_given_back AS MATERIALIZED (
       SELECT id FROM executions
       WHERE crashed_attempts > 0 AND completed_at IS NULL AND crashed_attempts >= $4 AND max_concurrency IS NULL
         AND (status = 'queued' OR (status = 'waiting_async' AND wake_at <= now()))
       ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
     ), suspect_lost AS MATERIALIZED (
       SELECT e.id FROM workers w CROSS JOIN LATERAL (
         SELECT id FROM executions WHERE worker_id = w.id AND status = 'running' AND crashed_attempts + 1 = $4
         ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
       ) e
       WHERE w.lease_expires_at <= clock_timestamp()
     ), suspect AS (
       SELECT id, crashed FROM (
         SELECT id, false AS crashed FROM suspect_given_back UNION ALL SELECT id, true FROM suspect_lost
       ) s
       WHERE NOT EXISTS (
         SELECT FROM executions
         WHERE crashed_attempts > 0 AND completed_at IS NULL AND crashed_attempts >= $4 AND worker_id = $1
       )
       ORDER BY id LIMIT 1
     ), chosen AS (
       SELECT id, false AS crashed FROM queued
       UNION ALL SELECT id, false FROM woken
       UNION ALL SELECT id, true FROM lost
       UNION ALL SELECT id, crashed FROM suspect
       ORDER BY id LIMIT $2
     )
     UPDATE executions e SET
       status = CASE WHEN t.is_poison THEN 'failed' ELSE 'running' END,
       worker_id = CASE WHEN NOT t.is_poison THEN $1::uuid END,
       claim = e.claim + 1,
       crashed_attempts = e.crashed_attempts + c.crashed::integer,
       wake_at = NULL,
       started_at = coalesce(e.started_at, date_trunc('milliseconds', now())),
       completed_at = CASE WHEN t.is_poison
         THEN greatest(date_trunc('milliseconds', clock_timestamp()), e.started_at) END,
       error = CASE WHEN t.is_poison THEN $5::json END
     FROM chosen c JOIN executions x USING (id)
     CROSS JOIN LATERAL (SELECT c.crashed AND x.crashed_attempts + 1 >= $3 AS is_poison) t
     WHERE e.id = c.id AND EXISTS (SELECT FROM workers WHERE id = $1 AND lease_expires_at > clock_timestamp())
     RETURNING ${CLAIMED}`,
    [
      workerId,
      limit,
      maxCrashedAttempts,
      Math.max(maxCrashedAttempts - 1, 1),
      JSON.stringify(storeError(error)),
    ],
  );
}

/**
 * Reclaims executions that are leased to the worker but that it doesn't know of: rows whose insert or claim was stored while
 * its reply was lost. The raised claim fences out any late write under the old one.
 */
export async function adoptExecutions(
  db: Queryable,
  workerId: string,
  runningIds: readonly number[],
): Promise<ClaimedRow[]> {
  return db.query<ClaimedRow>(
    `UPDATE executions e SET claim = claim + 1
     WHERE worker_id = $1 AND status = 'running' AND id <> ALL($2::bigint[])
       AND EXISTS (SELECT FROM workers WHERE id = $1 AND lease_expires_at > clock_timestamp())
     RETURNING ${CLAIMED}`,
    [workerId, runningIds],
  );
}

/**
 * Moves what a process's lost registrations still lease to its new one, under raised claims. The process is alive, so this
 * is no crash. Executions another worker has taken over in the meantime stay there.
 */
export async function inheritExecutions(
  db: Queryable,
  workerId: string,
  formerIds: readonly string[],
): Promise<void> {
  await db.query(
    `UPDATE executions SET worker_id = $1, claim = claim + 1
     WHERE worker_id = ANY($2::uuid[]) AND status = 'running'
       AND EXISTS (SELECT FROM workers WHERE id = $1 AND lease_expires_at > clock_timestamp())`,
    [workerId, formerIds],
  );
}

const LEASES = rowSet<Lease>({
  id: ['bigint', (lease) => lease.executionId],
  worker_id: ['uuid', (lease) => lease.workerId],
  claim: ['integer', (lease) => lease.claim],
});

/** Ids of those executions whose lease is no longer the given one. */
export async function findLostLeases(db: Queryable, leases: readonly Lease[]): Promise<{ id: number }[]> {
  return db.query(
    `SELECT l.id FROM ${LEASES.sql} AS l (${LEASES.list()})
     WHERE NOT EXISTS (
       SELECT FROM executions e
       WHERE e.id = l.id AND e.worker_id = l.worker_id AND e.claim = l.claim AND e.status = 'running'
     )`,
    LEASES.values(leases),
  );
}
