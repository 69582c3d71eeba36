import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { rowSet } from '@millrace/database/row-set';
import type { ExecutionStatus, JsonText, NodeRecord } from '@millrace/engine';

/** A write by the worker that holds the execution's lease. Built by the store's named methods only. */
export interface FencedWrite {
  readonly executionId: number;
  readonly workerId: string;
  readonly claim: number;
  readonly status: ExecutionStatus;
  /** JSON text of the records to append; null for none. */
  readonly recordsJson: string | null;
  /** JSON text; only with `failed`. */
  readonly errorJson: string | null;
  /** Only with `waiting_async`, where null means forever. */
  readonly wakeAtMs: number | null;
  /** `seq` of the last signal the run has seen: if more were sent, the parked execution can be claimed at once. */
  readonly signalsSeen: number;
  /** Null leaves the count unchanged. */
  readonly consumedAiTokens: number | null;
  /** Null leaves the count unchanged. */
  readonly storedBytes: number | null;
}

const WRITES = rowSet<FencedWrite>({
  execution_id: ['bigint', (write) => write.executionId],
  worker_id: ['uuid', (write) => write.workerId],
  claim: ['integer', (write) => write.claim],
  status: ['text', (write) => write.status],
  records: ['text', (write) => write.recordsJson],
  error: ['text', (write) => write.errorJson],
  wake_at_ms: ['double precision', (write) => write.wakeAtMs],
  consumed_ai_tokens: ['bigint', (write) => write.consumedAiTokens],
  stored_bytes: ['bigint', (write) => write.storedBytes],
  signals_seen: ['integer', (write) => write.signalsSeen],
});

/** `has_follow_ups`: its end left follow-up work for other executions. */
export interface ChangedRow {
  readonly id: number;
  readonly has_follow_ups: boolean;
}

/**
 * Updates the executions whose lease is still the write's, and returns them. A park that waited for the row
 * sees a signal sent meanwhile, because the columns of `e` are then read again.
 *
 * Each execution has to be found by its id, whatever the table was like when PostgreSQL made the plan that it keeps. `IS NOT DISTINCT FROM` means `=` here but
 * can't use an index: by that of running executions, each statement would read all that run, and all that ran since the last vacuum. And a
 * table of a few pages would be read as a whole, still when it has many, if PostgreSQL expected several writes: ids and claims are
 * positive, but it takes that for true of a ninth.
 */
export async function applyFencedWrites(
  db: Queryable,
  writes: readonly FencedWrite[],
): Promise<ChangedRow[]> {
  return db.query<ChangedRow>(
    `WITH write AS MATERIALIZED (
       SELECT * FROM ${WRITES.sql} AS w (${WRITES.list()}) WHERE w.execution_id > 0 AND w.claim > 0
     ), changed AS (
       UPDATE executions e SET
         status = w.status,
         worker_id = CASE WHEN w.status = 'running' THEN e.worker_id END,
         wake_at = CASE WHEN w.status = 'waiting_async' THEN CASE WHEN e.signal_seq > w.signals_seen THEN now()
           ELSE coalesce(to_timestamp(w.wake_at_ms / 1000), 'infinity') END END,
         error = w.error::json,
         completed_at = CASE WHEN w.status IN ('completed', 'failed', 'cancelled')
           THEN greatest(date_trunc('milliseconds', clock_timestamp()), e.started_at) END,
         checkpoint_seq = e.checkpoint_seq + (w.records IS NOT NULL)::integer,
         consumed_ai_tokens = coalesce(w.consumed_ai_tokens, e.consumed_ai_tokens),
         stored_bytes = coalesce(w.stored_bytes, e.stored_bytes),
         kept_bytes = e.kept_bytes + coalesce(octet_length(w.records), 0)
       FROM write w
       WHERE e.id = w.execution_id AND e.worker_id IS NOT DISTINCT FROM w.worker_id AND e.claim = w.claim
         AND e.status IS NOT DISTINCT FROM 'running'
       RETURNING e.id, e.organisation_id, e.status, e.checkpoint_seq, w.records, e.wake_at, e.max_concurrency,
         e.completed_at IS NOT NULL AND (e.parent_waits OR e.has_waited_children OR e.error_workflow_id IS NOT NULL)
           AS has_follow_ups
     ), kept AS (
       INSERT INTO storage_changes (organisation_id, bytes)
       SELECT organisation_id, sum(octet_length(records)) FROM changed WHERE records IS NOT NULL GROUP BY organisation_id
     ), chunk AS (
       INSERT INTO execution_checkpoints (execution_id, seq, organisation_id, records)
       SELECT id, checkpoint_seq, organisation_id, records::json FROM changed WHERE records IS NOT NULL
     )
     SELECT id, has_follow_ups, CASE WHEN status = 'queued' OR wake_at <= now()
       OR (max_concurrency IS NOT NULL AND status <> 'running') THEN pg_notify('millrace_queue', '') END
     FROM changed`,
    WRITES.values(writes),
    'apply_fenced_writes',
  );
}

/** Shows whether a write whose reply was lost took effect. */
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
     LEFT JOIN execution_chunks c ON c.execution_id = e.id AND c.seq = e.checkpoint_seq
     WHERE e.id = ANY($1::bigint[])`,
    [ids],
  );
}

/** One checkpoint of an execution, as JSON text. */
export interface StoredChunk {
  readonly execution_id: number;
  readonly records: JsonText<NodeRecord[]>;
}

/** Chunks of node records in the order they were stored. */
export async function readChunks(db: Queryable, executionIds: readonly number[]): Promise<StoredChunk[]> {
  return db.query(
    `SELECT execution_id, records FROM execution_chunks WHERE execution_id = ANY($1::bigint[])
     ORDER BY execution_id, seq`,
    [executionIds],
  );
}

/** Maximum executions cancelled by one statement; their descendants are left to the follow-ups of their ends. */
const MAX_CANCELLED = 1_000;

/**
 * Ends a non-final execution and, recursively, the children it is waiting for. The execution itself comes first in the
 * result; no rows if it is final or not the organisation's. Locks in id order: a child's id is always higher.
 */
export async function cancelExecution(
  db: Queryable,
  organisationId: number,
  executionId: number,
): Promise<{ id: number }[]> {
  const rows = await db.query<{ id: number }>(
    `WITH RECURSIVE tree (id) AS (
       SELECT id FROM executions WHERE id = $2 AND organisation_id = $1 AND completed_at IS NULL
       UNION ALL
       SELECT c.id FROM tree t JOIN executions c
         ON c.parent_execution_id = t.id AND c.parent_waits AND c.completed_at IS NULL
     ), doomed AS MATERIALIZED (
       SELECT id, status = 'running' AND max_concurrency IS NOT NULL AS frees_place FROM executions
       WHERE id IN (SELECT id FROM tree) AND completed_at IS NULL ORDER BY id LIMIT $3 FOR NO KEY UPDATE
     )
     UPDATE executions e SET status = 'cancelled', worker_id = NULL, wake_at = NULL,
       completed_at = greatest(date_trunc('milliseconds', clock_timestamp()), e.started_at, e.created_at)
     FROM doomed d
     WHERE e.id = d.id AND e.completed_at IS NULL AND EXISTS (SELECT FROM doomed WHERE id = $2)
     RETURNING e.id, pg_notify('millrace_executions', e.id || '!'),
       CASE WHEN d.frees_place THEN pg_notify('millrace_queue', '') END`,
    [organisationId, executionId, MAX_CANCELLED],
  );
  return rows.toSorted((a, b) => a.id - b.id);
}

/** Wakes long polls, event streams and workers of all processes; a lost notification costs only time. */
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
  const row = await queryRow<{ ms: number }>(
    db,
    `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS ms`,
    [],
    'read_database_time',
  );
  return row.ms;
}

/** Whether the organisation has this workflow, and may name it elsewhere: it isn't archived. */
export async function hasWorkflow(db: Queryable, organisationId: number, id: number): Promise<boolean> {
  const rows = await db.query(
    "SELECT FROM workflows WHERE organisation_id = $1 AND id = $2 AND status <> 'archived'",
    [organisationId, id],
  );
  return rows.length > 0;
}
