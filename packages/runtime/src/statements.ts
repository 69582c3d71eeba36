import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { type Columns, rowSet } from '@millrace/database/row-set';
import type {
  CellRate,
  ExecutionStatus,
  JsonText,
  NodeRecord,
  OnLimit,
  StartDebounce,
} from '@millrace/engine';
import { ORGANISATION_PAUSED } from './paused.ts';

/** One execution to insert; its idempotency record, if any, is stored by the same statement. */
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
  /** Null for the database's time of the insert. */
  readonly createdAt: Date | null;
  readonly leaseTo: string | null;
  readonly rerunOf: number | null;
  /** `api_keys.id` of the key that started it; null for none. */
  readonly apiKeyId: number | null;
  /** Where the request that started it came from; null if no request did. */
  readonly sourceIp: string | null;
  /** The span of what started it, as a `traceparent` header; null for none. */
  readonly traceparent: string | null;
  /** JSON text of the node records that are stored with it: those that a rerun reuses, or of nodes run ahead; null for none. */
  readonly recordsJson: string | null;
  /** What was run before it is stored; null for nothing. */
  readonly ahead: RanAhead | null;
  /** `settings.max_concurrency` of its workflow: then it is queued even if `leaseTo` is set. Null for no limit at all. */
  readonly maxConcurrency: number | null;
  /** Null without `settings.concurrency`; else `maxConcurrency` is set. */
  readonly concurrency: KeyedConcurrency | null;
  /** Index of `settings.priority` in PRIORITIES. */
  readonly priority: number;
  /** How its workflow's rate and debounce hold it; null for neither. */
  readonly hold: StartHold | null;
  /** Until when it is probably held: then it is queued even if `leaseTo` is set. Null: not held. Set where it is stored. */
  readonly heldUntil: Date | null;
  /** JSON text of the rendered `settings.search_keys`; null for none. */
  readonly searchKeysJson: string | null;
  /** JSON text of {@link GivenFiles}; null for none. */
  readonly givenFilesJson: string | null;
  /** `settings.error_workflow_id`; null for none. */
  readonly errorWorkflowId: number | null;
  /** Null if it was started without an Idempotency-Key. */
  readonly response: KeyedResponse | null;
}

/** The files that an execution is given when it is stored. */
export type GivenFiles = {
  readonly ids: readonly string[];
  /** The execution that must have them; null: any of the organisation's. */
  readonly of: number | null;
};

/** The state of an execution that was run ahead. If it still runs, it counts only if it is leased to `leaseTo`. */
export interface RanAhead {
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled';
  /** JSON text; only with `failed`. */
  readonly errorJson: string | null;
  readonly consumedAiTokens: number;
  readonly storedBytes: number;
}

/** Rate and debounce of a start, with its keys. */
export interface StartHold {
  readonly rate: { readonly keyHash: Buffer; readonly rate: CellRate } | null;
  readonly debounce: (Pick<StartDebounce, 'waitMs' | 'maxWaitMs'> & { readonly keyHash: Buffer }) | null;
}

/** `settings.concurrency` as it applies to one execution. */
export interface KeyedConcurrency {
  /** SHA-256 of the rendered key; empty for none. */
  readonly key: Buffer;
  readonly limit: number;
  readonly onLimit: OnLimit;
}

/** The response to a start with an Idempotency-Key. */
export interface KeyedResponse {
  readonly idempotencyKey: {
    readonly familyId: string;
    readonly route: string;
    readonly key: string;
    readonly fingerprint: Buffer;
  };
  readonly status: number;
  readonly location: string;
  readonly body: string;
}

const NO_KEY = Buffer.alloc(0);

/** Columns of an execution that are stored unchanged. */
export const EXECUTION_COLUMNS: Columns<StartRow> = {
  id: ['bigint', (row) => row.id],
  organisation_id: ['bigint', (row) => row.organisationId],
  workflow_id: ['bigint', (row) => row.workflowId],
  workflow_version: ['integer', (row) => row.workflowVersion],
  trigger_type: ['text', (row) => row.triggerType],
  display_name: ['text', (row) => row.displayName],
  is_test_mode: ['boolean', (row) => row.isTestMode],
  timeout_ms: ['bigint', (row) => row.timeoutMs],
  rerun_of: ['bigint', (row) => row.rerunOf],
  max_concurrency: ['integer', (row) => row.maxConcurrency],
  concurrency_key: ['bytea', (row) => row.concurrency?.key ?? NO_KEY],
  concurrency_limit: ['integer', (row) => row.concurrency?.limit],
  on_limit: ['text', (row) => (row.concurrency?.onLimit === 'queue' ? null : row.concurrency?.onLimit)],
  priority: ['integer', (row) => row.priority],
  held_until: ['timestamptz', (row) => row.heldUntil],
  // A trigger indexes them.
  search_keys: ['json', (row) => row.searchKeysJson],
  // A trigger makes the execution refer to them.
  given_files: ['json', (row) => row.givenFilesJson],
  error_workflow_id: ['bigint', (row) => row.errorWorkflowId],
  api_key_id: ['bigint', (row) => row.apiKeyId],
  source_ip: ['text', (row) => row.sourceIp],
  traceparent: ['text', (row) => row.traceparent],
};
const COPIED = rowSet(EXECUTION_COLUMNS);
const STARTS = rowSet<StartRow>({
  ...EXECUTION_COLUMNS,
  input: ['text', (row) => row.inputJson],
  created_at: ['timestamptz', (row) => row.createdAt],
  lease_to: ['uuid', (row) => row.leaseTo],
  records: ['text', (row) => row.recordsJson],
  ahead: ['text', (row) => row.ahead?.status],
  error: ['text', (row) => row.ahead?.errorJson],
  consumed_ai_tokens: ['bigint', (row) => row.ahead?.consumedAiTokens],
  stored_bytes: ['bigint', (row) => row.ahead?.storedBytes],
  key_family_id: ['uuid', (row) => row.response?.idempotencyKey.familyId],
  route: ['text', (row) => row.response?.idempotencyKey.route],
  idempotency_key: ['text', (row) => row.response?.idempotencyKey.key],
  fingerprint: ['bytea', (row) => row.response?.idempotencyKey.fingerprint],
  response_status: ['integer', (row) => row.response?.status],
  response_location: ['text', (row) => row.response?.location],
  response_body: ['text', (row) => row.response?.body],
});

/** `claim` is 0 while the execution is queued, `worker_id` null also if it has ended. */
export interface StartedRow {
  readonly id: number;
  readonly worker_id: string | null;
  readonly claim: number;
}

/**
 * Inserts executions with their idempotency records; all or none of those it inserts. Omits from the result those whose
 * idempotency key was used in the last 24 hours, and those of paused organisations. Grants leases only while the worker's own lease is valid; an execution that
 * has ended already needs none.
 * @throws unique_violation from the database if an id already exists
 */
export async function insertExecutions(db: Queryable, rows: readonly StartRow[]): Promise<StartedRow[]> {
  return db.query<StartedRow>(
    `WITH request AS MATERIALIZED (
       SELECT * FROM ${STARTS.sql} AS r (${STARTS.list()}) WHERE NOT ${ORGANISATION_PAUSED}
     ), recorded AS (
       INSERT INTO idempotency_records AS i (organisation_id, key_family_id, route, idempotency_key, fingerprint, status,
         location, body)
       SELECT organisation_id, key_family_id, route, idempotency_key, fingerprint, response_status, response_location,
         response_body
       FROM request WHERE idempotency_key IS NOT NULL
       ORDER BY key_family_id, route, idempotency_key
       ON CONFLICT (key_family_id, route, idempotency_key) DO UPDATE
         SET fingerprint = EXCLUDED.fingerprint, status = EXCLUDED.status, location = EXCLUDED.location,
           body = EXCLUDED.body, created_at = EXCLUDED.created_at
         WHERE i.created_at <= now() - interval '24 hours'
       RETURNING key_family_id, route, idempotency_key
     ), stored AS (
       INSERT INTO executions (${COPIED.list()}, status, input, created_at, started_at, completed_at, worker_id, claim,
         error, consumed_ai_tokens, stored_bytes, checkpoint_seq, kept_bytes,
         first_records, first_records_at)
       SELECT ${COPIED.list('r')}, t.status, r.input::json, t.created_at,
         CASE WHEN t.status <> 'queued' THEN t.created_at END,
         CASE WHEN t.is_ended THEN greatest(date_trunc('milliseconds', clock_timestamp()), t.created_at) END,
         w.id, (t.status <> 'queued')::integer, r.error::json,
         CASE WHEN t.counts THEN coalesce(r.consumed_ai_tokens, 0) ELSE 0 END,
         CASE WHEN t.counts THEN coalesce(r.stored_bytes, 0) ELSE 0 END,
         (t.counts AND r.records IS NOT NULL)::integer,
         octet_length(r.input) + coalesce(octet_length(r.search_keys::text), 0) + CASE WHEN t.counts THEN coalesce(octet_length(r.records), 0) ELSE 0 END,
         CASE WHEN t.counts THEN r.records::json END, CASE WHEN t.counts AND r.records IS NOT NULL THEN now() END
       FROM request r
       LEFT JOIN workers w
         ON w.id = r.lease_to AND (r.ahead IS NULL OR r.ahead = 'running') AND r.max_concurrency IS NULL
           AND r.held_until IS NULL AND w.lease_expires_at > clock_timestamp()
       CROSS JOIN LATERAL (
         SELECT coalesce(r.created_at, date_trunc('milliseconds', now())) AS created_at, r.ahead <> 'running' AS is_ended,
           CASE WHEN r.ahead <> 'running' THEN r.ahead WHEN w.id IS NULL THEN 'queued' ELSE 'running' END AS status,
           r.ahead IS DISTINCT FROM 'running' OR w.id IS NOT NULL AS counts
       ) t
       LEFT JOIN recorded USING (key_family_id, route, idempotency_key)
       WHERE r.idempotency_key IS NULL OR recorded.idempotency_key IS NOT NULL
       RETURNING id, organisation_id, claim, worker_id, held_until, on_limit, kept_bytes
     ), kept AS (
       INSERT INTO storage_changes (organisation_id, bytes)
       SELECT organisation_id, sum(kept_bytes) FROM stored GROUP BY organisation_id
     )
     SELECT id, worker_id, claim,
       CASE WHEN claim = 0 AND held_until IS NULL
         THEN pg_notify('millrace_queue', CASE WHEN on_limit IS NULL THEN '' ELSE 'undecided' END) END
     FROM stored`,
    STARTS.values(rows),
    'insert_executions',
  );
}

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
 * Updates the executions whose lease is still the write's, and returns them. `IS NOT DISTINCT FROM` means `=` here but can't
 * use an index: with `=` the planner scans everything the worker has leased once per write. A park that waited for the row
 * sees a signal sent meanwhile, because the columns of `e` are then read again.
 */
export async function applyFencedWrites(
  db: Queryable,
  writes: readonly FencedWrite[],
): Promise<ChangedRow[]> {
  return db.query<ChangedRow>(
    `WITH write AS MATERIALIZED (
       SELECT * FROM ${WRITES.sql} AS w (${WRITES.list()})
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
         AND e.status = 'running'
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
