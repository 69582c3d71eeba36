import type { ExecutionDetail } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import type { Flow, JsonText, NodeRecord } from '@millrace/engine';
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
  readonly search_keys: JsonText<Readonly<Record<string, string>>> | null;
  /** Null for none. */
  readonly child_tokens: JsonText<ChildTokens> | null;
  /** Null for none. */
  readonly children: JsonText<ExecutionDetail['children']> | null;
  /** Null for none. */
  readonly reruns: JsonText<ExecutionDetail['reruns']> | null;
}

/** Columns of an {@link AdminExecutionRow} `e` with its workflow `w`. */
export const ITEM_COLUMNS = `e.id, e.organisation_id, e.workflow_id, w.name AS workflow_name, e.workflow_version, e.status,
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
    `SELECT ${ITEM_COLUMNS}, ${CHILD_TOKENS}, e.input, e.source_ip, e.search_keys,
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
export async function hasExecution(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<boolean> {
  const rows = await tx.query('SELECT FROM executions WHERE organisation_id = $1 AND id = $2', [
    organisationId,
    executionId,
  ]);
  return rows.length > 0;
}

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
