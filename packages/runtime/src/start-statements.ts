import type { Queryable } from '@millrace/database/database';
import { type Columns, rowSet } from '@millrace/database/row-set';
import type { CellRate, OnLimit, StartDebounce } from '@millrace/engine';
import { ORGANISATION_PAUSED } from './paused.ts';
import { permitsFrom, type StartPermit } from './start-permits.ts';

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
  /** What has to hold when it is stored; null if the database was asked before. */
  readonly permit: StartPermit | null;
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
/** Columns of a start, with those of its idempotency record apart. */
const START_COLUMNS: Columns<StartRow> = {
  ...EXECUTION_COLUMNS,
  input: ['text', (row) => row.inputJson],
  created_at: ['timestamptz', (row) => row.createdAt],
  lease_to: ['uuid', (row) => row.leaseTo],
  records: ['text', (row) => row.recordsJson],
  ahead: ['text', (row) => row.ahead?.status],
  error: ['text', (row) => row.ahead?.errorJson],
  consumed_ai_tokens: ['bigint', (row) => row.ahead?.consumedAiTokens],
  stored_bytes: ['bigint', (row) => row.ahead?.storedBytes],
};
const RECORD_COLUMNS: Columns<StartRow> = {
  key_family_id: ['uuid', (row) => row.response?.idempotencyKey.familyId],
  route: ['text', (row) => row.response?.idempotencyKey.route],
  idempotency_key: ['text', (row) => row.response?.idempotencyKey.key],
  fingerprint: ['bytea', (row) => row.response?.idempotencyKey.fingerprint],
  response_status: ['integer', (row) => row.response?.status],
  response_location: ['text', (row) => row.response?.location],
  response_body: ['text', (row) => row.response?.body],
};

/** Columns that most starts leave empty. */
const RARE: ReadonlySet<string> = new Set([
  'timeout_ms',
  'rerun_of',
  'max_concurrency',
  'concurrency_key',
  'concurrency_limit',
  'on_limit',
  'held_until',
  'search_keys',
  'given_files',
  'error_workflow_id',
  'error',
]);
const RARE_COLUMNS = Object.entries(START_COLUMNS).filter(([column]) => RARE.has(column));
const EMPTY: readonly unknown[] = [null, undefined, NO_KEY];

function isPlain(row: StartRow): boolean {
  return RARE_COLUMNS.every(([, [, read]]) => EMPTY.includes(read(row)));
}

/** `claim` is 0 while the execution is queued, `worker_id` null also if it has ended. */
export interface StartedRow {
  readonly id: number;
  readonly worker_id: string | null;
  readonly claim: number;
}

/** Stores the responses to the requests of a batch, except those whose key was used in the last 24 hours. */
const RECORDED = `recorded AS (
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
     ), `;
const IF_RECORDED = `LEFT JOIN recorded USING (key_family_id, route, idempotency_key)
       WHERE r.idempotency_key IS NULL OR recorded.idempotency_key IS NOT NULL`;

/** A start, and the place of its permit among those of its statement, from 1; null for none. */
interface PlacedStart {
  readonly row: StartRow;
  readonly place: number | null;
}

interface Insertion {
  readonly name: string;
  readonly text: string;
  values(rows: readonly StartRow[]): readonly unknown[];
}

interface Needs {
  /** Of starts that may have idempotency records. */
  readonly isKeyed: boolean;
  /** Of starts without a value in any rare column. */
  readonly arePlain: boolean;
  /** Of starts that may have permits. */
  readonly isPermitted: boolean;
}

/** The statement for starts with these needs. */
function insertionOf(name: string, { isKeyed, arePlain, isPermitted }: Needs): Insertion {
  const sent = Object.entries(START_COLUMNS).filter(([column]) => !(arePlain && RARE.has(column)));
  const columns = { ...Object.fromEntries(sent), ...(isKeyed ? RECORD_COLUMNS : {}) };
  const starts = rowSet<PlacedStart>({
    ...Object.fromEntries(
      Object.entries(columns).map(([column, [type, read]]) => [
        column,
        [type, ({ row }: PlacedStart) => read(row)] as const,
      ]),
    ),
    ...(isPermitted ? { permit: ['integer', ({ place }: PlacedStart) => place] as const } : {}),
  });
  const permits = permitsFrom(Object.keys(columns).length + 2);
  const isAllowed = isPermitted ? 'AND (r.permit IS NULL OR r.permit IN (SELECT place FROM permitted))' : '';
  const empty = RARE_COLUMNS.map(
    ([column, [type]]) => `, ${type === 'bytea' ? "''" : 'NULL'}::${type} AS ${column}`,
  );
  const text = `WITH ${isPermitted ? `permitted AS MATERIALIZED (${permits.sql}), ` : ''}request AS MATERIALIZED (
       SELECT *${arePlain ? empty.join('') : ''} FROM ${starts.sql} AS r (${starts.list()})
       WHERE NOT ${ORGANISATION_PAUSED} ${isAllowed}
     ), ${isKeyed ? RECORDED : ''}stored AS (
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
       ${isKeyed ? IF_RECORDED : ''}
       RETURNING id, organisation_id, claim, worker_id, held_until, on_limit, kept_bytes
     ), kept AS (
       INSERT INTO storage_changes (organisation_id, bytes)
       SELECT organisation_id, sum(kept_bytes) FROM stored GROUP BY organisation_id
     )
     SELECT id, worker_id, claim,
       CASE WHEN claim = 0 AND held_until IS NULL
         THEN pg_notify('millrace_queue', CASE WHEN on_limit IS NULL THEN '' ELSE 'undecided' END) END
     FROM stored`;
  return {
    name,
    text,
    values(rows) {
      const { placed, distinct } = placePermits(rows);
      return isPermitted ? [...starts.values(placed), ...permits.values(distinct)] : starts.values(placed);
    },
  };
}

/** Starts of one key for one workflow share a permit. */
function placePermits(rows: readonly StartRow[]): {
  readonly placed: readonly PlacedStart[];
  readonly distinct: readonly StartPermit[];
} {
  const places = new Map<StartPermit, number>();
  const placed = rows.map((row): PlacedStart => {
    const { permit } = row;
    if (permit === null) return { row, place: null };
    const place = places.get(permit) ?? places.size + 1;
    places.set(permit, place);
    return { row, place };
  });
  return { placed, distinct: [...places.keys()] };
}

/**
 * PostgreSQL prepares for every array and every part of a statement each time it is sent, which takes longer than the rows of a small batch. Starts that have
 * no need of the rare columns, of idempotency records and of permits go without them (docs/adr/0116-starts-send-what-they-have.md).
 */
const INSERTIONS = new Map<string, Insertion>();

function insertionFor(needs: Needs): Insertion {
  const { isKeyed, arePlain, isPermitted } = needs;
  const name = `insert_executions${arePlain ? '' : '_full'}${isKeyed ? '_keyed' : ''}${isPermitted ? '_permitted' : ''}`;
  const known = INSERTIONS.get(name) ?? insertionOf(name, needs);
  INSERTIONS.set(name, known);
  return known;
}

/**
 * Inserts executions with their idempotency records; all or none of those it inserts. Omits from the result those whose
 * idempotency key was used in the last 24 hours, those of paused organisations, and those whose permit no longer holds. Grants leases only while the worker's own
 * lease is valid; an execution that has ended already needs none.
 * @throws unique_violation from the database if an id already exists
 */
export async function insertExecutions(db: Queryable, rows: readonly StartRow[]): Promise<StartedRow[]> {
  const insertion = insertionFor({
    isKeyed: rows.some(({ response }) => response !== null),
    arePlain: rows.every(isPlain),
    isPermitted: rows.some(({ permit }) => permit !== null),
  });
  return db.query<StartedRow>(insertion.text, insertion.values(rows), insertion.name);
}
