import type { ExecutionStatus } from '@millrace/engine';
import type { Queryable } from '../db/database.ts';

/** One execution as it is inserted; the idempotency record, when there is one, is stored by the same statement. */
export interface StartRow {
  readonly id: number;
  readonly organisationId: number;
  readonly workflowId: number;
  readonly workflowVersion: number;
  readonly triggerType: string;
  readonly displayName: string;
  readonly isTestMode: boolean;
  readonly inputJson: string;
  readonly timeoutMs: number | null;
  /** Null: the database's time of the insert. */
  readonly createdAt: Date | null;
  readonly leaseTo: string | null;
  readonly rerunOf: number | null;
  /** Node records the execution begins with (a rerun's), as JSON text; null for none. */
  readonly recordsJson: string | null;
  readonly idempotency: IdempotencyRow | null;
}

export interface IdempotencyRow {
  readonly keyFamilyId: string;
  readonly route: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly location: string;
  readonly body: string;
}

/** `claim` is 0 while the execution is queued. */
export interface StartedRow {
  readonly id: number;
  readonly worker_id: string | null;
  readonly claim: number;
}

/**
 * Inserts executions with their idempotency records; all or none of those it inserts. Absent from the answer: those
 * whose idempotency key was used in the last 24 hours. A lease is given only while the worker's own lease is valid.
 * @throws the database's unique_violation when an id exists already
 */
export async function insertExecutions(db: Queryable, rows: readonly StartRow[]): Promise<StartedRow[]> {
  const records = rows.map((row) => row.idempotency);
  return db.query<StartedRow>(
    `WITH request AS MATERIALIZED (
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::text[], $6::text[], $7::boolean[],
         $8::text[], $9::bigint[], $10::timestamptz[], $11::uuid[], $12::bigint[], $13::text[],
         $14::uuid[], $15::text[], $16::text[], $17::bytea[], $18::integer[], $19::text[], $20::text[])
         AS r (id, organisation_id, workflow_id, workflow_version, trigger_type, display_name, is_test_mode,
           input, timeout_ms, created_at, lease_to, rerun_of, records,
           key_family_id, route, idempotency_key, fingerprint, answer_status, answer_location, answer_body)
     ), recorded AS (
       INSERT INTO idempotency_records AS i (organisation_id, key_family_id, route, idempotency_key, fingerprint, status,
         location, body)
       SELECT organisation_id, key_family_id, route, idempotency_key, fingerprint, answer_status, answer_location, answer_body
       FROM request WHERE idempotency_key IS NOT NULL
       ORDER BY key_family_id, route, idempotency_key
       ON CONFLICT (key_family_id, route, idempotency_key) DO UPDATE
         SET fingerprint = EXCLUDED.fingerprint, status = EXCLUDED.status, location = EXCLUDED.location,
           body = EXCLUDED.body, created_at = EXCLUDED.created_at
         WHERE i.created_at <= now() - interval '24 hours'
       RETURNING key_family_id, route, idempotency_key
     ), stored AS (
       INSERT INTO executions (id, organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input, timeout_ms, created_at, started_at, worker_id, claim, rerun_of, checkpoint_seq)
       SELECT r.id, r.organisation_id, r.workflow_id, r.workflow_version,
         CASE WHEN w.id IS NULL THEN 'queued' ELSE 'running' END, r.trigger_type, r.display_name, r.is_test_mode,
         r.input::json, r.timeout_ms, t.created_at, CASE WHEN w.id IS NOT NULL THEN t.created_at END,
         w.id, (w.id IS NOT NULL)::integer, r.rerun_of, (r.records IS NOT NULL)::integer
       FROM request r
       CROSS JOIN LATERAL (SELECT coalesce(r.created_at, date_trunc('milliseconds', now())) AS created_at) t
       LEFT JOIN workers w ON w.id = r.lease_to AND w.lease_expires_at > clock_timestamp()
       LEFT JOIN recorded USING (key_family_id, route, idempotency_key)
       WHERE r.idempotency_key IS NULL OR recorded.idempotency_key IS NOT NULL
       RETURNING id, organisation_id, worker_id, claim
     ), chunk AS (
       INSERT INTO execution_checkpoints (execution_id, seq, organisation_id, records)
       SELECT stored.id, 1, stored.organisation_id, request.records::json
       FROM stored JOIN request USING (id) WHERE request.records IS NOT NULL
     )
     SELECT id, worker_id, claim, CASE WHEN worker_id IS NULL THEN pg_notify('millrace_queue', '') END FROM stored`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.organisationId),
      rows.map((row) => row.workflowId),
      rows.map((row) => row.workflowVersion),
      rows.map((row) => row.triggerType),
      rows.map((row) => row.displayName),
      rows.map((row) => row.isTestMode),
      rows.map((row) => row.inputJson),
      rows.map((row) => row.timeoutMs),
      rows.map((row) => row.createdAt),
      rows.map((row) => row.leaseTo),
      rows.map((row) => row.rerunOf),
      rows.map((row) => row.recordsJson),
      records.map((record) => record?.keyFamilyId ?? null),
      records.map((record) => record?.route ?? null),
      records.map((record) => record?.key ?? null),
      records.map((record) => record?.fingerprint ?? null),
      records.map((record) => record?.status ?? null),
      records.map((record) => record?.location ?? null),
      records.map((record) => record?.body ?? null),
    ],
    'insert_executions',
  );
}

/** A write of the worker that holds the execution's lease. Made by the store's named methods only. */
export interface FencedWrite {
  readonly executionId: number;
  readonly workerId: string;
  readonly claim: number;
  readonly status: ExecutionStatus;
  /** JSON text of the records to append; null for none. */
  readonly recordsJson: string | null;
  /** JSON text; with `failed` only. */
  readonly errorJson: string | null;
  /** With `waiting_async` only. */
  readonly wakeAtMs: number | null;
  /** Null leaves the count as it is. */
  readonly consumedAiTokens: number | null;
}

/**
 * Ids of the executions that were still leased as the write says, and were changed. `IS NOT DISTINCT FROM` means `=`
 * here, but no index answers it: with `=` the planner walks all that the worker holds once for each write.
 */
export async function applyFencedWrites(
  db: Queryable,
  writes: readonly FencedWrite[],
): Promise<{ id: number }[]> {
  return db.query<{ id: number }>(
    `WITH write AS MATERIALIZED (
       SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::integer[], $4::text[], $5::text[], $6::text[],
         $7::double precision[], $8::bigint[])
         AS w (execution_id, worker_id, claim, status, records, error, wake_at_ms, consumed_ai_tokens)
     ), changed AS (
       UPDATE executions e SET
         status = w.status,
         worker_id = CASE WHEN w.status = 'running' THEN e.worker_id END,
         wake_at = to_timestamp(w.wake_at_ms / 1000),
         error = w.error::json,
         completed_at = CASE WHEN w.status IN ('completed', 'failed', 'cancelled')
           THEN greatest(date_trunc('milliseconds', clock_timestamp()), e.started_at) END,
         checkpoint_seq = e.checkpoint_seq + (w.records IS NOT NULL)::integer,
         consumed_ai_tokens = coalesce(w.consumed_ai_tokens, e.consumed_ai_tokens)
       FROM write w
       WHERE e.id = w.execution_id AND e.worker_id IS NOT DISTINCT FROM w.worker_id AND e.claim = w.claim
         AND e.status = 'running'
       RETURNING e.id, e.organisation_id, e.status, e.checkpoint_seq, w.records
     ), chunk AS (
       INSERT INTO execution_checkpoints (execution_id, seq, organisation_id, records)
       SELECT id, checkpoint_seq, organisation_id, records::json FROM changed WHERE records IS NOT NULL
     )
     SELECT id, CASE WHEN status = 'queued' THEN pg_notify('millrace_queue', '') END FROM changed`,
    [
      writes.map((write) => write.executionId),
      writes.map((write) => write.workerId),
      writes.map((write) => write.claim),
      writes.map((write) => write.status),
      writes.map((write) => write.recordsJson),
      writes.map((write) => write.errorJson),
      writes.map((write) => write.wakeAtMs),
      writes.map((write) => write.consumedAiTokens),
    ],
    'apply_fenced_writes',
  );
}

/** What tells whether a write whose reply was lost took effect. */
export interface WrittenState {
  readonly id: number;
  readonly status: ExecutionStatus;
  readonly worker_id: string | null;
  readonly claim: number;
  /** JSON text of the last chunk, as it was sent. */
  readonly last_records: string | null;
}

export async function readWrittenStates(db: Queryable, ids: readonly number[]): Promise<WrittenState[]> {
  return db.query<WrittenState>(
    `SELECT e.id, e.status, e.worker_id, e.claim, c.records AS last_records
     FROM executions e
     LEFT JOIN execution_checkpoints c ON c.execution_id = e.id AND c.seq = e.checkpoint_seq
     WHERE e.id = ANY($1::bigint[])`,
    [ids],
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
  /** `failed`: it crashed its worker too often and was ended instead of being handed out. */
  readonly status: 'running' | 'failed';
}

/**
 * Leases what waits to run: queued, woken, and of workers whose lease ran out, oldest first. The latter count a crash
 * each; at `maxCrashedAttempts` the execution fails. Nothing is claimed for a worker whose own lease is not valid.
 *
 * A crash counts for all that its worker held, as nobody can tell which of them caused it. So what has one attempt left
 * is run alone of its kind: a worker holds one such execution at most, and no innocent one fails beside a guilty one.
 *
 * Sent unnamed, because a plan for any limit would expect a tenth of the backlog and read it all.
 */
export async function claimExecutions(
  db: Queryable,
  workerId: string,
  limit: number,
  maxCrashedAttempts: number,
): Promise<ClaimedRow[]> {
  return db.query<ClaimedRow>(
    `WITH queued AS MATERIALIZED (
       SELECT id FROM executions WHERE status = 'queued' AND crashed_attempts < $4
       ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
     ), woken AS MATERIALIZED (
       SELECT id FROM executions
       WHERE status = 'waiting_async' AND wake_at <= now() AND crashed_attempts < $4
       ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED
     ), lost AS MATERIALIZED (
       SELECT e.id FROM workers w CROSS JOIN LATERAL (
         SELECT id FROM executions WHERE worker_id = w.id AND status = 'running' AND crashed_attempts + 1 <> $4
         ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
       ) e
       WHERE w.lease_expires_at <= clock_timestamp()
     ), suspect_given_back AS MATERIALIZED (
       SELECT id FROM executions
       WHERE crashed_attempts > 0 AND completed_at IS NULL AND crashed_attempts >= $4
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
       error = CASE WHEN t.is_poison THEN json_build_object(
         'code', 'worker_crashed',
         'message', format('The worker that ran this execution stopped unexpectedly %s times, so it is not tried again. '
           'Look for a node that uses up memory or processor time.', $3::integer),
         'node_id', NULL) END
     FROM chosen c JOIN executions x USING (id)
     CROSS JOIN LATERAL (SELECT c.crashed AND x.crashed_attempts + 1 >= $3 AS is_poison) t
     WHERE e.id = c.id AND EXISTS (SELECT FROM workers WHERE id = $1 AND lease_expires_at > clock_timestamp())
     RETURNING e.id, e.organisation_id, e.workflow_id, e.workflow_version, e.is_test_mode, e.input, e.started_at,
       e.timeout_ms, e.claim, e.checkpoint_seq, e.status`,
    [workerId, limit, maxCrashedAttempts, Math.max(maxCrashedAttempts - 1, 1)],
  );
}

/**
 * Claims anew what is leased to the worker although it does not hold it: rows whose insert or claim was stored while
 * its reply was lost. The raised claim shuts out any late write under the old one.
 */
export async function adoptExecutions(
  db: Queryable,
  workerId: string,
  heldIds: readonly number[],
): Promise<ClaimedRow[]> {
  return db.query<ClaimedRow>(
    `UPDATE executions e SET claim = claim + 1
     WHERE worker_id = $1 AND status = 'running' AND id <> ALL($2::bigint[])
       AND EXISTS (SELECT FROM workers WHERE id = $1 AND lease_expires_at > clock_timestamp())
     RETURNING id, organisation_id, workflow_id, workflow_version, is_test_mode, input, started_at, timeout_ms, claim,
       checkpoint_seq, status`,
    [workerId, heldIds],
  );
}

/**
 * Moves what lost registrations of a process still hold to its new one, under raised claims: the process lives, so this
 * is no crash. What another worker has taken over meanwhile stays there.
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

/** Ids of those executions that are not leased as stated any more. */
export async function findLostLeases(
  db: Queryable,
  leases: readonly { readonly executionId: number; readonly workerId: string; readonly claim: number }[],
): Promise<{ id: number }[]> {
  return db.query(
    `SELECT l.id FROM unnest($1::bigint[], $2::uuid[], $3::integer[]) AS l (id, worker_id, claim)
     WHERE NOT EXISTS (
       SELECT FROM executions e
       WHERE e.id = l.id AND e.worker_id = l.worker_id AND e.claim = l.claim AND e.status = 'running'
     )`,
    [
      leases.map((lease) => lease.executionId),
      leases.map((lease) => lease.workerId),
      leases.map((lease) => lease.claim),
    ],
  );
}

/** Chunks of node records as JSON text, in the order they were stored. */
export async function readChunks(
  db: Queryable,
  executionIds: readonly number[],
): Promise<{ execution_id: number; records: string }[]> {
  return db.query(
    `SELECT execution_id, records FROM execution_checkpoints WHERE execution_id = ANY($1::bigint[])
     ORDER BY execution_id, seq`,
    [executionIds],
  );
}

/** Ends a non-final execution; answers no row when it is final or not the organisation's. */
export async function cancelExecution(
  db: Queryable,
  organisationId: number,
  executionId: number,
): Promise<{ id: number }[]> {
  return db.query(
    `UPDATE executions SET status = 'cancelled', worker_id = NULL, wake_at = NULL,
       completed_at = greatest(date_trunc('milliseconds', clock_timestamp()), started_at, created_at)
     WHERE id = $2 AND organisation_id = $1 AND status IN ('queued', 'running', 'waiting_async')
     RETURNING id, pg_notify('millrace_executions', id || '!')`,
    [organisationId, executionId],
  );
}

/** Wakes long polls, event streams and workers of all processes; loses nothing but time when it is lost. */
export async function notifyExecutions(db: Queryable, payloads: readonly string[]): Promise<void> {
  await db.query(
    `SELECT set_config('synchronous_commit', 'off', true), pg_notify('millrace_executions', payload)
     FROM unnest($1::text[]) AS payload`,
    [payloads],
    'notify_executions',
  );
}

export async function insertWorker(
  db: Queryable,
  worker: { id: string; host: string; pid: number; leaseMs: number },
): Promise<void> {
  await db.query(
    `INSERT INTO workers (id, host, pid, started_at, heartbeat_at, lease_expires_at)
     VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), clock_timestamp() + $4 * interval '1 millisecond')
     ON CONFLICT (id) DO NOTHING`,
    [worker.id, worker.host, worker.pid, worker.leaseMs],
  );
}

/** No row: the lease has run out and cannot come back. */
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

export async function reserveExecutionIds(db: Queryable, count: number): Promise<{ id: number }[]> {
  return db.query(`SELECT nextval('execution_ids') AS id FROM generate_series(1, $1)`, [count]);
}

/** The database's time in epoch milliseconds. */
export async function readDatabaseTime(db: Queryable): Promise<number> {
  const [row] = await db.query<{ ms: number }>(
    `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS ms`,
    [],
    'read_database_time',
  );
  if (row === undefined) throw new Error('The database did not tell the time');
  return row.ms;
}
