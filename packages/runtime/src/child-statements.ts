import { createHash } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import type { ChildKey, ParentLink } from '@millrace/engine';
import type { StartedRow, StartRow } from './statements.ts';

/** An execution that another one started. */
export interface FollowerRow extends StartRow {
  readonly depth: number;
  /** Null for one that was started by the failure of another. */
  readonly parent: ParentLink | null;
}

/** What tells the children of one execution apart. */
function callOf({ nodeId, iteration, callKey }: Omit<ChildKey, 'executionId'>): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([nodeId, iteration, callKey]))
    .digest();
}

/**
 * Holds a parent that has not ended to the end of the transaction, so that it cannot end without its new child being
 * found. No row: it has ended, or does not exist.
 */
async function holdParent(tx: Queryable, executionId: number): Promise<{ depth: number }[]> {
  return tx.query('SELECT depth FROM executions WHERE id = $1 AND completed_at IS NULL FOR NO KEY UPDATE', [
    executionId,
  ]);
}

/** Makes the end of a held parent cancel its children. */
async function markWaiting(tx: Queryable, executionId: number): Promise<void> {
  await tx.query(
    'UPDATE executions SET has_waited_children = true WHERE id = $1 AND NOT has_waited_children',
    [executionId],
  );
}

/**
 * Stores a child, one deeper than its parent. Answers no row when the parent has ended, does not exist, or has a child
 * of the same key already.
 */
export async function insertChild(
  tx: Queryable,
  row: StartRow & { readonly parent: ParentLink },
): Promise<StartedRow[]> {
  const [parent] = await holdParent(tx, row.parent.executionId);
  if (parent === undefined) return [];
  if (row.parent.waits) await markWaiting(tx, row.parent.executionId);
  return insertFollower(tx, { ...row, depth: parent.depth + 1 });
}

/** No row: the parent has a child of the same key. @throws the database's unique_violation when the id exists already */
export async function insertFollower(tx: Queryable, row: FollowerRow): Promise<StartedRow[]> {
  const { parent } = row;
  return tx.query<StartedRow>(
    `WITH stored AS (
       INSERT INTO executions (id, organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input, timeout_ms, started_at, worker_id, claim, max_concurrency, error_workflow_id, depth,
         parent_execution_id, parent_node_id, parent_iteration, parent_call, parent_waits)
       SELECT $1, $2, $3, $4, CASE WHEN w.id IS NULL THEN 'queued' ELSE 'running' END, $5, $6, $7, $8::json, $9,
         CASE WHEN w.id IS NOT NULL THEN date_trunc('milliseconds', now()) END, w.id, (w.id IS NOT NULL)::integer,
         $11::integer, $12::bigint, $13::integer, $14::bigint, $15::text, $16::integer[], $17::bytea, $18::boolean
       FROM (SELECT $10::uuid AS lease_to) r
       LEFT JOIN workers w
         ON w.id = r.lease_to AND $11::integer IS NULL AND w.lease_expires_at > clock_timestamp()
       ON CONFLICT (parent_execution_id, parent_call) WHERE parent_execution_id IS NOT NULL DO NOTHING
       RETURNING id, worker_id, claim
     )
     SELECT id, worker_id, claim, CASE WHEN worker_id IS NULL THEN pg_notify('millrace_queue', '') END FROM stored`,
    [
      row.id,
      row.organisationId,
      row.workflowId,
      row.workflowVersion,
      row.triggerType,
      row.displayName,
      row.isTestMode,
      row.inputJson,
      row.timeoutMs,
      row.leaseTo,
      row.maxConcurrency,
      row.errorWorkflowId,
      row.depth,
      parent?.executionId ?? null,
      parent?.nodeId ?? null,
      parent?.iteration ?? null,
      parent === null ? null : callOf(parent),
      parent?.waits ?? false,
    ],
  );
}

export async function selectChild(
  db: Queryable,
  key: ChildKey,
): Promise<{ id: number; workflow_version: number }[]> {
  return db.query(
    'SELECT id, workflow_version FROM executions WHERE parent_execution_id = $1 AND parent_call = $2',
    [key.executionId, callOf(key)],
  );
}
