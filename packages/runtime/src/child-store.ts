import type { Queryable } from '@millrace/database/database';
import type { ExecutionStatus, JsonText, StoredError } from '@millrace/engine';
import type { Chunk } from './chunks.ts';
import type { StartableWorkflow } from './start-row.ts';

/** What starting a child requires. */
export interface Callee {
  /** Null if the organisation has no such workflow. */
  readonly workflow: StartableWorkflow | null;
  readonly executionId: number;
  readonly now: Date;
  /** Of the calling execution. */
  readonly depth: number;
}

/** Looks up a workflow for an execution of the organisation and reserves the child's id; undefined if there is no such caller. */
export async function findCallee(
  db: Queryable,
  organisationId: number,
  workflowId: number,
  callerId: number,
): Promise<Callee | undefined> {
  const [row] = await db.query<{
    readonly depth: number;
    readonly now: Date;
    readonly execution_id: number;
    readonly id: number | null;
    readonly name: string;
    readonly status: StartableWorkflow['status'];
    readonly version: number;
    readonly is_test_mode: boolean;
  }>(
    `SELECT e.depth, date_trunc('milliseconds', now()) AS now, nextval('execution_ids') AS execution_id,
       w.id, w.name, w.status, w.version, w.is_test_mode
     FROM executions e LEFT JOIN workflows w
       ON w.id = present_id(e.organisation_id, 'workflows', $2) AND w.organisation_id = e.organisation_id
     WHERE e.id = $3 AND e.organisation_id = $1`,
    [organisationId, workflowId, callerId],
  );
  if (row === undefined) return undefined;
  const { id, name, status, version, is_test_mode: isTestMode } = row;
  const workflow = id === null ? null : { id, organisationId, name, status, version, isTestMode };
  return { workflow, executionId: row.execution_id, now: row.now, depth: row.depth };
}

export interface ChildRow {
  readonly id: number;
  readonly workflow_id: number;
  readonly workflow_version: number;
  readonly status: ExecutionStatus;
  /** Including what its own children consumed. */
  readonly consumed_ai_tokens: number;
  /** JSON text of `{code, message, node_id}`; null unless failed. */
  readonly error: JsonText<StoredError> | null;
  /** JSON text: an array of `{seq, records}` in order; null if nothing is stored for any node. */
  readonly chunks: JsonText<Chunk[]> | null;
}

/** A child of an execution, with its records once it has completed. @param childId the id that its parent knows */
export async function findChildRow(
  db: Queryable,
  organisationId: number,
  parentId: number,
  childId: number,
): Promise<ChildRow | undefined> {
  const [row] = await db.query<ChildRow>(
    `SELECT e.id, e.workflow_id, e.workflow_version, e.status, e.error,
       (SELECT * FROM total_ai_tokens(e.id, e.consumed_ai_tokens)) AS consumed_ai_tokens,
       CASE WHEN e.status = 'completed' THEN
         (SELECT json_agg(json_build_object('seq', c.seq, 'records', c.records) ORDER BY c.seq)
          FROM execution_chunks c WHERE c.execution_id = e.id) END AS chunks
     FROM executions e WHERE e.organisation_id = $1 AND e.parent_execution_id = $2 AND e.id = present_id($1, 'executions', $3)`,
    [organisationId, parentId, childId],
  );
  return row;
}

/** Lets an execution refer to those of these files that another one refers to. The lock keeps the sweep from deleting them meanwhile. */
export async function shareFiles(
  db: Queryable,
  way: { readonly organisationId: number; readonly from: number; readonly to: number },
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    `INSERT INTO execution_files (organisation_id, execution_id, file_id)
     SELECT f.organisation_id, $3, f.id FROM files f
     WHERE f.id = ANY ($4::uuid[]) AND f.organisation_id = $1 AND f.state = 'stored' AND EXISTS (
       SELECT FROM execution_files r WHERE r.execution_id = $2 AND r.file_id = f.id)
     ORDER BY f.id FOR SHARE OF f
     ON CONFLICT DO NOTHING`,
    [way.organisationId, way.from, way.to, ids],
  );
}
