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
