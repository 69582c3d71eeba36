import type { Queryable } from '@millrace/database/database';
import { rowSet } from '@millrace/database/row-set';
import { type ExecutionStatus, isFinalStatus, type JsonText, type StoredError } from '@millrace/engine';
import type { Chunk } from '@millrace/runtime/chunks';
import type { StartPermit } from '@millrace/runtime/start-permits';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import type { IdempotencyKey } from '../idempotency/store.ts';
import { readInOrder } from './in-order.ts';

/** What is known before a start is accepted. The id is new and reserved for the caller. */
export interface StartLookup {
  /** The database's time, truncated to milliseconds. */
  readonly now: Date;
  /** Null if there is no such workflow, so nothing can be started. */
  readonly workflow: StartableWorkflow | null;
  readonly executionId: number;
  /** The organisation is paused: nothing of it is started. */
  readonly isPaused: boolean;
  /** For webhooks: an editor is waiting for the next call. */
  readonly isListening: boolean;
  /** The stored response to an earlier request with the same Idempotency-Key. */
  readonly record: {
    readonly fingerprint: Buffer;
    readonly status: number;
    readonly location: string | null;
    readonly body: string;
  } | null;
  /** Which transactions the look-up has seen, as a `pg_snapshot`. */
  readonly snapshot: string;
  /** What the start relies on without having been looked up for it; null if it was. */
  readonly permit: StartPermit | null;
}

interface LookupRow {
  readonly place: number;
  readonly now: Date;
  readonly snapshot: string;
  readonly id: number | null;
  readonly organisation_id: number;
  readonly name: string;
  readonly status: StartableWorkflow['status'];
  readonly version: number;
  readonly is_test_mode: boolean;
  readonly is_paused: boolean;
  readonly fingerprint: Buffer | null;
  readonly response_status: number;
  readonly response_location: string | null;
  readonly response_body: string;
}

/** An organisation's request to start a workflow. */
interface StartRequest {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly idempotencyKey: IdempotencyKey | null;
}

/** Requests that share a look-up: all without an Idempotency-Key for one workflow, or one with a key. */
interface RequestGroup {
  readonly request: StartRequest;
  /** Indexes in the list of requests. */
  readonly places: number[];
}

const GROUPS = rowSet<RequestGroup>({
  organisation_id: ['bigint', ({ request }) => request.organisationId],
  workflow_id: ['bigint', ({ request }) => request.workflowId],
  key_family_id: ['uuid', ({ request }) => request.idempotencyKey?.familyId],
  route: ['text', ({ request }) => request.idempotencyKey?.route],
  idempotency_key: ['text', ({ request }) => request.idempotencyKey?.key],
  count: ['integer', ({ places }) => places.length],
});

function groupRequests(requests: readonly StartRequest[]): RequestGroup[] {
  const groups: RequestGroup[] = [];
  const byWorkflow = new Map<string, RequestGroup>();
  for (const [place, request] of requests.entries()) {
    const name = `${request.organisationId} ${request.workflowId}`;
    const known = request.idempotencyKey === null ? byWorkflow.get(name) : undefined;
    if (known !== undefined) {
      known.places.push(place);
      continue;
    }
    const group = { request, places: [place] };
    groups.push(group);
    if (request.idempotencyKey === null) byWorkflow.set(name, group);
  }
  return groups;
}

const IS_PAUSED = `EXISTS (SELECT FROM organisations p WHERE p.id = w.organisation_id AND p.paused_at IS NOT NULL) AS is_paused`;

/**
 * Looks up what concurrent execute requests need, in order, and reserves an id for each. A record is found by its key and its age is checked outside (`OFFSET 0`):
 * otherwise, a plan made while there were few could read all of the last 24 hours and look for the key among them.
 */
export async function lookUpStarts(db: Queryable, requests: readonly StartRequest[]): Promise<StartLookup[]> {
  const groups = groupRequests(requests);
  const rows = await db.query<LookupRow & { readonly execution_ids: readonly number[] | null }>(
    `SELECT r.place, date_trunc('milliseconds', now()) AS now, pg_current_snapshot()::text AS snapshot,
       CASE WHEN w.id IS NOT NULL THEN
         (SELECT array_agg(nextval('execution_ids')) FROM generate_series(1, r.count)) END AS execution_ids,
       w.id, w.organisation_id, w.name, w.status, w.version, w.is_test_mode, ${IS_PAUSED},
       i.fingerprint, i.status AS response_status, i.location AS response_location, i.body AS response_body
     FROM ${GROUPS.unseenSql} WITH ORDINALITY AS r (${GROUPS.list()}, place)
     LEFT JOIN workflows w ON w.id = r.workflow_id AND w.organisation_id = r.organisation_id
     LEFT JOIN LATERAL (SELECT * FROM idempotency_records
       WHERE key_family_id = r.key_family_id AND route = r.route AND idempotency_key = r.idempotency_key OFFSET 0) i
       ON i.organisation_id = r.organisation_id AND i.created_at > now() - interval '24 hours'`,
    GROUPS.values(groups),
    'look_up_starts',
  );
  const lookups: StartLookup[] = [];
  for (const row of rows) {
    const found = toLookup(row);
    for (const [index, place] of (groups[row.place - 1]?.places ?? []).entries()) {
      lookups[place] = { ...found, executionId: row.execution_ids?.[index] ?? 0 };
    }
  }
  return lookups;
}

/** A call of a public address. */
export interface AddressCall {
  readonly hash: string;
  /** The type of the trigger that such an address belongs to. */
  readonly trigger: string;
}

const CALLS = rowSet<AddressCall>({
  hash: ['text', ({ hash }) => hash],
  trigger: ['text', ({ trigger }) => trigger],
});

/**
 * The same for calls to public addresses: finds only workflows that such a call may start, by their hash or one replaced less than a day ago,
 * if they have that trigger.
 */
export async function lookUpAddresses(db: Queryable, calls: readonly AddressCall[]): Promise<StartLookup[]> {
  const rows = await db.query<
    LookupRow & { readonly execution_id: number | null; readonly is_listening: boolean }
  >(
    `SELECT r.place, date_trunc('milliseconds', now()) AS now, pg_current_snapshot()::text AS snapshot,
       CASE WHEN w.id IS NOT NULL THEN nextval('execution_ids') END AS execution_id,
       w.id, w.organisation_id, w.name, w.status, w.version, w.is_test_mode, ${IS_PAUSED}, NULL::bytea AS fingerprint,
       EXISTS (SELECT FROM sample_listeners l WHERE l.workflow_id = w.id AND l.expires_at > now()) AS is_listening
     FROM ${CALLS.unseenSql} WITH ORDINALITY AS r (${CALLS.list()}, place)
     LEFT JOIN LATERAL (SELECT present.webhook_hash
       FROM former_webhook_hashes f JOIN workflows present ON present.id = f.workflow_id
       WHERE f.hash = r.hash AND f.valid_until > now()) former ON true
     LEFT JOIN workflows w ON w.webhook_hash = coalesce(former.webhook_hash, r.hash)
       AND (w.trigger_type = r.trigger OR r.trigger = ANY (w.other_triggers)) AND w.status IN ('draft', 'active')`,
    CALLS.values(calls),
    'look_up_addresses',
  );
  return rows
    .toSorted((a, b) => a.place - b.place)
    .map((row) => ({
      ...toLookup(row),
      executionId: row.execution_id ?? 0,
      isListening: row.is_listening,
    }));
}

function toLookup(row: LookupRow): Omit<StartLookup, 'executionId'> {
  const workflow: StartableWorkflow | null =
    row.id === null
      ? null
      : {
          id: row.id,
          organisationId: row.organisation_id,
          name: row.name,
          status: row.status,
          version: row.version,
          isTestMode: row.is_test_mode,
        };
  const record =
    row.fingerprint === null
      ? null
      : {
          fingerprint: row.fingerprint,
          status: row.response_status,
          location: row.response_location,
          body: row.response_body,
        };
  const { now, is_paused: isPaused, snapshot } = row;
  return { now, workflow, isPaused, isListening: false, record, snapshot, permit: null };
}

/** An execution as lists show it. */
export interface ExecutionRow {
  readonly id: number;
  readonly workflow_id: number;
  readonly workflow_version: number;
  readonly status: ExecutionStatus;
  readonly display_name: string;
  readonly trigger_type: string;
  readonly is_test_mode: boolean;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  /** Including the consumption of all ended executions below it. */
  readonly consumed_ai_tokens: number;
  /** Null unless failed. */
  readonly error: JsonText<StoredError> | null;
  /** Both null if no other execution started it. */
  readonly parent_execution_id: number | null;
  readonly parent_node_id: string | null;
  /** Why the service itself cancelled it, and for which execution; null otherwise. */
  readonly cancel_code: string | null;
  readonly cancelled_for: number | null;
  /** Why it is held while it is queued, and the estimated end; both null if it isn't. */
  readonly held_by: 'rate' | 'debounce' | null;
  readonly held_until: Date | null;
}

/** Columns of an execution `e` that say why it doesn't run. */
export const HOLD_COLUMNS = `e.cancel_code, e.cancelled_for,
  CASE WHEN e.status = 'queued' THEN e.held_until END AS held_until,
  CASE WHEN e.status = 'queued' AND e.held_until IS NOT NULL THEN
    CASE WHEN EXISTS (SELECT FROM held_starts h WHERE h.execution_id = e.id) THEN 'rate' ELSE 'debounce' END END AS held_by`;

export interface ExecutionFilters {
  readonly workflowId: number | null;
  readonly status: ExecutionStatus | null;
  /** Both bounds are inclusive. */
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
}

/** Columns of an {@link ExecutionRow} `e`. */
const ITEM_COLUMNS = `e.id, e.workflow_id, e.workflow_version, e.status, e.display_name, e.trigger_type, e.is_test_mode,
  e.created_at, e.started_at, e.completed_at, e.error, e.parent_execution_id, e.parent_node_id, ${HOLD_COLUMNS},
  (SELECT * FROM total_ai_tokens(e.id, e.consumed_ai_tokens)) AS consumed_ai_tokens`;

/** The column of {@link ChildTokens} of an execution `e`. */
export const CHILD_TOKENS = `(SELECT json_object_agg(node_id, tokens) FROM (
  SELECT node_id, sum(tokens)::bigint AS tokens FROM execution_child_tokens
  WHERE execution_id = e.id AND node_id IS NOT NULL GROUP BY node_id) t) AS child_tokens`;

/**
 * A page of executions with ids below `belowId`, newest first. Ids are assigned in creation order give or take the duration
 * of a statement, so the bounds on creation time become bounds on the id, allowing a minute: a page's cost depends on what
 * it shows, however long the history. Each coalesce is in a subquery, because row-level security keeps PostgreSQL from using
 * it for an index search. Sent unnamed: the plan must know which filters are set.
 */
export async function listExecutions(
  tx: Queryable,
  organisationId: number,
  filters: ExecutionFilters,
  belowId: number,
  limit: number,
): Promise<ExecutionRow[]> {
  const { workflowId, status } = filters;
  // Running ones are few, and no index has them by workflow.
  if (workflowId !== null && status !== null && status !== 'running') {
    return listOfOneStatus(tx, organisationId, filters, belowId, limit);
  }
  // Both go out in one round trip.
  const order = readInOrder(tx);
  const rows = tx.query<ExecutionRow>(
    `SELECT ${ITEM_COLUMNS} FROM executions e
     WHERE organisation_id = $1 AND id < $2
       AND ($3::bigint IS NULL OR workflow_id = $3)
       AND ($4::text IS NULL OR status = $4)
       AND ($5::timestamptz IS NULL OR (created_at >= $5 AND id > (SELECT coalesce((
         SELECT id FROM executions WHERE organisation_id = $1 AND created_at < $5::timestamptz - interval '1 minute'
         ORDER BY created_at DESC LIMIT 1), 0))))
       AND ($6::timestamptz IS NULL OR (created_at <= $6 AND id < (SELECT coalesce((
         SELECT id FROM executions WHERE organisation_id = $1 AND created_at > $6::timestamptz + interval '1 minute'
         ORDER BY created_at LIMIT 1), 9223372036854775807))))
     ORDER BY id DESC LIMIT $7`,
    valuesOf(organisationId, filters, belowId, limit),
  );
  return (await Promise.all([rows, order]))[0];
}

function valuesOf(organisationId: number, filters: ExecutionFilters, belowId: number, limit: number) {
  const { workflowId, status, createdAfter, createdBefore } = filters;
  return [organisationId, belowId, workflowId, status, createdAfter, createdBefore, limit] as const;
}

/**
 * The same for one workflow and one status. Both bounds have the same status, so all rows between them have it, too. PostgreSQL doesn't know
 * that and keeps to the order of status and id, which only one index per workflow has. With `status = $4` ordered by id, it would
 * assume that workflow and status are independent, and search all executions for a status that the workflow doesn't have.
 */
async function listOfOneStatus(
  tx: Queryable,
  organisationId: number,
  filters: ExecutionFilters,
  belowId: number,
  limit: number,
): Promise<ExecutionRow[]> {
  const order = readInOrder(tx);
  const rows = tx.query<ExecutionRow>(
    `SELECT ${ITEM_COLUMNS} FROM executions e
     WHERE organisation_id = $1 AND workflow_id = $3 AND status <> 'running'
       AND (status, id) < ($4::text, (SELECT least($2::bigint, (
         SELECT id FROM executions WHERE organisation_id = $1 AND created_at > $6::timestamptz + interval '1 minute'
         ORDER BY created_at LIMIT 1))))
       AND (status, id) > ($4::text, (SELECT coalesce((
         SELECT id FROM executions WHERE organisation_id = $1 AND created_at < $5::timestamptz - interval '1 minute'
         ORDER BY created_at DESC LIMIT 1), 0)))
       AND ($5::timestamptz IS NULL OR created_at >= $5) AND ($6::timestamptz IS NULL OR created_at <= $6)
     ORDER BY status DESC, id DESC LIMIT $7`,
    valuesOf(organisationId, filters, belowId, limit),
  );
  return (await Promise.all([rows, order]))[0];
}

/** Tokens of the ended executions that a top-level node started, by node. */
export type ChildTokens = { readonly [nodeId: string]: number };

export interface ExecutionDetailRow extends ExecutionRow {
  /** JSON text of the trigger's data. */
  readonly input: string;
  readonly checkpoint_seq: number;
  /** Null for none. */
  readonly child_tokens: JsonText<ChildTokens> | null;
  /** In order; null if nothing is stored for any node. */
  readonly chunks: JsonText<Chunk[]> | null;
  /** Null for none. */
  readonly children: JsonText<ChildItem[]> | null;
}

/** An execution started by a node of another one. */
type ChildItem = {
  readonly execution_id: number;
  readonly node_id: string;
  readonly workflow_id: number;
};

/** Maximum children listed in a response; a loop may start any number. */
const MAX_CHILDREN = 1_000;

/** Columns of an {@link ExecutionDetailRow} `e`. Their statements are named: planning them takes PostgreSQL several times as long as running them. */
const DETAIL_COLUMNS = `${ITEM_COLUMNS}, ${CHILD_TOKENS}, e.input, e.checkpoint_seq,
  (SELECT json_agg(json_build_object('seq', c.seq, 'records', c.records) ORDER BY c.seq)
   FROM execution_chunks c WHERE c.execution_id = e.id) AS chunks,
  (SELECT json_agg(json_build_object('execution_id', c.id, 'node_id', c.parent_node_id,
     'workflow_id', c.workflow_id) ORDER BY c.id)
   FROM (SELECT id, parent_node_id, workflow_id FROM executions
     WHERE parent_execution_id = e.id AND organisation_id = e.organisation_id ORDER BY id LIMIT ${MAX_CHILDREN}) c) AS children`;

/** One execution with all its nodes' stored records, as of one moment. */
export async function findExecution(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<ExecutionDetailRow | undefined> {
  const [row] = await tx.query<ExecutionDetailRow>(
    `SELECT ${DETAIL_COLUMNS} FROM executions e WHERE e.organisation_id = $1 AND e.id = $2`,
    [organisationId, executionId],
    'find_execution',
  );
  return row;
}

/**
 * For whoever waits for the end: the execution's status, and all of it once it has ended. OFFSET keeps the inner query apart: merged with the outer one, it
 * would read the records of an execution that still runs, and leave them out afterwards.
 */
export async function findOnceEnded(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<{ readonly status: ExecutionStatus; readonly ended: ExecutionDetailRow | null } | undefined> {
  const [row] = await tx.query<ExecutionDetailRow & { readonly current_status: ExecutionStatus }>(
    `SELECT s.status AS current_status, d.* FROM executions s
     LEFT JOIN LATERAL (SELECT ${DETAIL_COLUMNS} FROM executions e
       WHERE e.organisation_id = s.organisation_id AND e.id = s.id AND s.completed_at IS NOT NULL OFFSET 0) d ON true
     WHERE s.organisation_id = $1 AND s.id = $2`,
    [organisationId, executionId],
    'find_once_ended',
  );
  if (row === undefined) return undefined;
  const { current_status: status, ...ended } = row;
  return { status, ended: isFinalStatus(status) ? ended : null };
}

/** Only the execution's status, for polling. */
export async function findStatus(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<{ readonly status: ExecutionStatus } | undefined> {
  const [row] = await tx.query<{ status: ExecutionStatus }>(
    'SELECT status FROM executions WHERE organisation_id = $1 AND id = $2',
    [organisationId, executionId],
    'find_status',
  );
  return row;
}

/** The execution without input and children, and only with the chunks stored after `afterSeq`. */
export async function findChanges(
  tx: Queryable,
  organisationId: number,
  executionId: number,
  afterSeq: number,
): Promise<ExecutionDetailRow | undefined> {
  const [row] = await tx.query<ExecutionDetailRow>(
    `SELECT ${ITEM_COLUMNS}, ${CHILD_TOKENS}, '{}' AS input, NULL AS children, e.checkpoint_seq,
       (SELECT json_agg(json_build_object('seq', c.seq, 'records', c.records) ORDER BY c.seq)
        FROM execution_chunks c WHERE c.execution_id = e.id AND c.seq > $3::bigint) AS chunks
     FROM executions e WHERE e.organisation_id = $1 AND e.id = $2`,
    [organisationId, executionId, afterSeq],
    'find_changes',
  );
  return row;
}

/** What a rerun is based on. */
export interface RerunSource {
  readonly workflow_id: number;
  readonly workflow_version: number;
  readonly status: ExecutionStatus;
  readonly trigger_type: string;
  readonly is_test_mode: boolean;
  readonly input: string;
  readonly chunks: JsonText<Chunk[]> | null;
}

export async function findRerunSource(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<RerunSource | undefined> {
  const [row] = await tx.query<RerunSource>(
    `SELECT e.workflow_id, e.workflow_version, e.status, e.trigger_type, e.is_test_mode, e.input,
       (SELECT json_agg(json_build_object('seq', c.seq, 'records', c.records) ORDER BY c.seq)
        FROM execution_chunks c WHERE c.execution_id = e.id) AS chunks
     FROM executions e WHERE e.organisation_id = $1 AND e.id = $2`,
    [organisationId, executionId],
  );
  return row;
}
