import type { ExecutionDetail } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import type { ExecutionStatus, Flow, JsonText, NodeRecord } from '@millrace/engine';
import { CHILD_TOKENS, type ChildTokens, type ExecutionRow, HOLD_COLUMNS } from './store.ts';

/** An execution as the admin area's lists show it. */
export interface AdminExecutionRow extends ExecutionRow {
  readonly organisation_id: number;
  readonly workflow_name: string | null;
  readonly rerun_of: number | null;
}

export interface AdminDetailRow extends AdminExecutionRow {
  /** JSON text of the trigger's data. */
  readonly input: string;
  /** Null if no key started it or the key no longer exists. */
  readonly api_key_id: number | null;
  readonly api_key_name: string | null;
  readonly api_key_key_id: string | null;
  readonly api_key_last_four: string | null;
  readonly source_ip: string | null;
  /** Null for none. */
  readonly child_tokens: JsonText<ChildTokens> | null;
  /** Null for none. */
  readonly children: JsonText<ExecutionDetail['children']> | null;
  /** Null for none. */
  readonly reruns: JsonText<ExecutionDetail['reruns']> | null;
}

/** Columns of an {@link AdminExecutionRow} `e` with its workflow `w`. */
const ITEM_COLUMNS = `e.id, e.organisation_id, e.workflow_id, w.name AS workflow_name, e.workflow_version, e.status,
  e.display_name, e.trigger_type, e.is_test_mode, e.created_at, e.started_at, e.completed_at, e.error,
  e.parent_execution_id, e.parent_node_id, e.rerun_of, ${HOLD_COLUMNS},
  (SELECT * FROM total_ai_tokens(e.id, e.consumed_ai_tokens)) AS consumed_ai_tokens`;

const MAX_CHILDREN = 1_000;
const MAX_RERUNS = 100;

/** One execution with its relatives, without its nodes' records. */
export async function findAdminDetail(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<AdminDetailRow | undefined> {
  const [row] = await tx.query<AdminDetailRow>(
    `SELECT ${ITEM_COLUMNS}, ${CHILD_TOKENS}, e.input, e.source_ip,
       k.id AS api_key_id, k.name AS api_key_name, k.key_id AS api_key_key_id, k.last_four AS api_key_last_four,
       (SELECT json_agg(json_build_object('execution_id', c.id, 'node_id', c.parent_node_id,
          'workflow_id', c.workflow_id, 'status', c.status) ORDER BY c.id)
        FROM (SELECT id, parent_node_id, workflow_id, status FROM executions
          WHERE parent_execution_id = e.id AND organisation_id = e.organisation_id ORDER BY id LIMIT $3) c) AS children,
       (SELECT json_agg(json_build_object('execution_id', r.id, 'status', r.status) ORDER BY r.id DESC)
        FROM (SELECT id, status FROM executions
          WHERE rerun_of = e.id AND organisation_id = e.organisation_id ORDER BY id DESC LIMIT $4) r) AS reruns
     FROM executions e LEFT JOIN workflows w ON w.id = e.workflow_id AND w.organisation_id = e.organisation_id
     LEFT JOIN api_keys k ON k.id = e.api_key_id AND k.organisation_id = e.organisation_id
     WHERE e.organisation_id = $1 AND e.id = $2`,
    [organisationId, executionId, MAX_CHILDREN, MAX_RERUNS],
  );
  return row;
}

export interface JournalRow {
  readonly seq: number;
  readonly records: JsonText<NodeRecord[]>;
  readonly created_at: Date;
}

/** The next checkpoints of an execution, in order. */
export async function readJournal(
  tx: Queryable,
  organisationId: number,
  executionId: number,
  afterSeq: number,
  count: number,
): Promise<JournalRow[]> {
  return tx.query<JournalRow>(
    `SELECT seq, records, created_at FROM execution_chunks
     WHERE organisation_id = $1 AND execution_id = $2 AND seq > $3 ORDER BY seq LIMIT $4`,
    [organisationId, executionId, afterSeq, count],
  );
}

/** Which executions a list shows. */
export interface AdminExecutionFilters {
  readonly statuses: readonly ExecutionStatus[] | null;
  readonly workflowId: number | null;
  readonly triggerType: string | null;
  readonly isTestMode: boolean | null;
  /** Part of the display name, in any case. */
  readonly text: string | null;
  /** The key that started it. */
  readonly apiKeyId: number | null;
  /** Part of the address it was started from. */
  readonly sourceIp: string | null;
  readonly after: Date | null;
  readonly before: Date | null;
}

/** Ids that bound a list, both exclusive. */
export interface IdRange {
  readonly aboveId: number;
  readonly belowId: number;
}

/**
 * The possible ids of a time range: ids are assigned in creation order give or take the duration of a statement, so the
 * bounds allow a minute. The time bounds themselves still have to be checked.
 */
export async function findIdRange(
  tx: Queryable,
  organisationId: number,
  { after, before }: AdminExecutionFilters,
): Promise<IdRange> {
  const [row] = await tx.query<{ above_id: number | null; below_id: number | null }>(
    `SELECT
       (SELECT id FROM executions WHERE organisation_id = $1 AND created_at < $2::timestamptz - interval '1 minute'
        ORDER BY created_at DESC LIMIT 1) AS above_id,
       (SELECT id FROM executions WHERE organisation_id = $1 AND created_at > $3::timestamptz + interval '1 minute'
        ORDER BY created_at LIMIT 1) AS below_id`,
    [organisationId, after, before],
  );
  return { aboveId: row?.above_id ?? 0, belowId: row?.below_id ?? Number.MAX_SAFE_INTEGER };
}

/** What the rows of a scan have in common, so that one index has them in order; null means any. */
export interface IndexedFilter {
  readonly workflowId: number | null;
  readonly triggerType: string | null;
  /** Only those in test mode. */
  readonly isTestMode: true | null;
  readonly apiKeyId: number | null;
}

/** A scan of one index: how many rows to check, and how many matches are wanted. */
export interface Walk extends IdRange {
  readonly way: IndexedFilter;
  readonly maxLooked: number;
  readonly wanted: number;
}

/** Whether a row matches; parameters 6 to 14 are those of {@link valuesOf}. */
const FITS = `($6::bigint IS NULL OR workflow_id = $6) AND ($7::text[] IS NULL OR status = ANY ($7))
  AND ($8::text IS NULL OR trigger_type = $8) AND ($9::boolean IS NULL OR is_test_mode = $9)
  AND ($10::text IS NULL OR strpos(lower(display_name), lower($10)) > 0)
  AND ($11::timestamptz IS NULL OR created_at >= $11) AND ($12::timestamptz IS NULL OR created_at <= $12)
  AND ($13::bigint IS NULL OR api_key_id = $13) AND ($14::text IS NULL OR strpos(source_ip, $14) > 0)`;

const valuesOf = (filters: AdminExecutionFilters) =>
  [
    filters.workflowId,
    filters.statuses,
    filters.triggerType,
    filters.isTestMode,
    filters.text,
    filters.after,
    filters.before,
    filters.apiKeyId,
    filters.sourceIp,
  ] as const;

/**
 * Scans the organisation's executions along one index, newest first. The inner limit ends the scan however rare matches are,
 * so its conditions must all be covered by the index, except for the ends of a time range; the outer limit ends it once
 * enough was found. Sent unnamed: the plan must know which filters are set.
 */
export async function walkExecutions(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  { way, ...walk }: Walk,
): Promise<AdminExecutionRow[]> {
  return tx.query<AdminExecutionRow>(
    `SELECT ${ITEM_COLUMNS}
     FROM (
       SELECT * FROM (
         SELECT * FROM executions
         WHERE organisation_id = $1 AND id < $2 AND id > $3 AND ($15::bigint IS NULL OR workflow_id = $15)
           AND ($16::text IS NULL OR trigger_type = $16) AND ($17::boolean IS NULL OR is_test_mode)
           AND ($18::bigint IS NULL OR api_key_id = $18)
           AND ($11::timestamptz IS NULL OR created_at >= $11) AND ($12::timestamptz IS NULL OR created_at <= $12)
         ORDER BY id DESC LIMIT $4
       ) looked
       WHERE ${FITS}
       ORDER BY id DESC LIMIT $5
     ) e LEFT JOIN workflows w ON w.id = e.workflow_id AND w.organisation_id = e.organisation_id
     ORDER BY e.id DESC`,
    [
      organisationId,
      walk.belowId,
      walk.aboveId,
      walk.maxLooked,
      walk.wanted,
      ...valuesOf(filters),
      way.workflowId,
      way.triggerType,
      way.isTestMode,
      way.apiKeyId,
    ],
  );
}

/** Where that scan stopped before everything was checked; undefined if it reached the end. */
export async function findWalkEnd(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  { way, ...walk }: Walk,
): Promise<WalkEnd | undefined> {
  const [row] = await tx.query<WalkEnd>(
    `SELECT id, created_at FROM executions
     WHERE organisation_id = $1 AND id < $2 AND id > $3 AND ($5::bigint IS NULL OR workflow_id = $5)
       AND ($6::text IS NULL OR trigger_type = $6) AND ($7::boolean IS NULL OR is_test_mode)
       AND ($10::bigint IS NULL OR api_key_id = $10)
       AND ($8::timestamptz IS NULL OR created_at >= $8) AND ($9::timestamptz IS NULL OR created_at <= $9)
     ORDER BY id DESC OFFSET $4 - 1 LIMIT 1`,
    [
      organisationId,
      walk.belowId,
      walk.aboveId,
      walk.maxLooked,
      way.workflowId,
      way.triggerType,
      way.isTestMode,
      filters.after,
      filters.before,
      way.apiKeyId,
    ],
  );
  return row;
}

export interface WalkEnd {
  readonly id: number;
  readonly created_at: Date;
}

const UNCOMPLETED: readonly ExecutionStatus[] = ['queued', 'running', 'waiting_async', 'failed', 'cancelled'];

/** One index scan for each status in a parameter. */
function downUncompleted(columns: string, parameter: number): string {
  return UNCOMPLETED.map(
    (status) => `(SELECT ${columns} FROM executions
       WHERE organisation_id = $1 AND status = '${status}' AND '${status}' = ANY ($${parameter}::text[])
         AND id < $2 AND id > $3 ORDER BY id DESC LIMIT $4)`,
  ).join(' UNION ALL ');
}

const UNCOMPLETED_ROWS = downUncompleted('*', 7);
const UNCOMPLETED_TIMES = downUncompleted('id, created_at', 5);

/**
 * The same over the index of executions that aren't completed, which is small compared with a long history: one scan per
 * status, merged by id. Each has its own order and limit, because otherwise PostgreSQL doesn't merge scans through row-level
 * security but sorts everything. Only for statuses without `completed`.
 */
export async function walkUncompleted(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  walk: Walk,
): Promise<AdminExecutionRow[]> {
  return tx.query<AdminExecutionRow>(
    `SELECT ${ITEM_COLUMNS}
     FROM (
       SELECT * FROM (${UNCOMPLETED_ROWS} ORDER BY id DESC LIMIT $4) looked
       WHERE ${FITS}
       ORDER BY id DESC LIMIT $5
     ) e LEFT JOIN workflows w ON w.id = e.workflow_id AND w.organisation_id = e.organisation_id
     ORDER BY e.id DESC`,
    [organisationId, walk.belowId, walk.aboveId, walk.maxLooked, walk.wanted, ...valuesOf(filters)],
  );
}

/** Where that scan stopped before everything was checked; undefined if it reached the end. */
export async function findUncompletedWalkEnd(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  walk: Walk,
): Promise<WalkEnd | undefined> {
  const [row] = await tx.query<WalkEnd>(
    `SELECT id, created_at FROM (${UNCOMPLETED_TIMES}) looked
     ORDER BY id DESC OFFSET $4 - 1 LIMIT 1`,
    [organisationId, walk.belowId, walk.aboveId, walk.maxLooked, filters.statuses],
  );
  return row;
}

/** Those of the executions that belong to one of the organisations, in their current state. */
export async function findItems(
  db: Queryable,
  organisationIds: readonly number[],
  executionIds: readonly number[],
): Promise<AdminExecutionRow[]> {
  return db.query<AdminExecutionRow>(
    `SELECT ${ITEM_COLUMNS}
     FROM executions e LEFT JOIN workflows w ON w.id = e.workflow_id AND w.organisation_id = e.organisation_id
     WHERE e.id = ANY ($2::bigint[]) AND e.organisation_id = ANY ($1::bigint[])`,
    [organisationIds, executionIds],
    'find_execution_items',
  );
}

/** Ids of the organisation's executions above an id, newest first. */
export async function findNewerIds(
  db: Queryable,
  organisationId: number,
  aboveId: number,
  count: number,
): Promise<{ id: number }[]> {
  return db.query(
    'SELECT id FROM executions WHERE organisation_id = $1 AND id > $2 ORDER BY id DESC LIMIT $3',
    [organisationId, aboveId, count],
    'find_newer_executions',
  );
}

export interface ExecutionFlowRow {
  readonly workflow_id: number;
  readonly workflow_version: number;
  readonly current_version: number;
  /** JSON text as stored. */
  readonly flow_data: JsonText<Flow>;
}

/** The workflow in the version an execution runs. */
export async function findExecutionFlow(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<ExecutionFlowRow | undefined> {
  const [row] = await tx.query<ExecutionFlowRow>(
    `SELECT e.workflow_id, e.workflow_version, w.version AS current_version, v.flow_data
     FROM executions e
     JOIN workflows w ON w.id = e.workflow_id
     JOIN workflow_versions v ON v.workflow_id = e.workflow_id AND v.version = e.workflow_version
     WHERE e.organisation_id = $1 AND e.id = $2`,
    [organisationId, executionId],
  );
  return row;
}
