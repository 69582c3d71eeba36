import { createHash } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { type Columns, rowSet } from '@millrace/database/row-set';
import type { ChildKey, ParentLink } from '@millrace/engine';
import { EXECUTION_COLUMNS, type StartedRow, type StartRow } from './statements.ts';

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

const COPIED = {
  ...EXECUTION_COLUMNS,
  depth: ['integer', (row) => row.depth],
  parent_execution_id: ['bigint', (row) => row.parent?.executionId],
  parent_node_id: ['text', (row) => row.parent?.nodeId],
  parent_call: ['bytea', (row) => row.parent && callOf(row.parent)],
  parent_waits: ['boolean', (row) => row.parent?.waits ?? false],
} satisfies Columns<FollowerRow>;
const COPIED_LIST = rowSet<FollowerRow>(COPIED);
/** The iteration is an array itself, which `unnest` would flatten: it is the first parameter. */
const FOLLOWERS = rowSet<FollowerRow>(
  { ...COPIED, input: ['text', (row) => row.inputJson], lease_to: ['uuid', (row) => row.leaseTo] },
  2,
);

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
  return tx.query<StartedRow>(
    `WITH stored AS (
       INSERT INTO executions (${COPIED_LIST.list()}, parent_iteration, status, input, started_at, worker_id, claim)
       SELECT ${COPIED_LIST.list('r')}, $1::integer[], CASE WHEN w.id IS NULL THEN 'queued' ELSE 'running' END,
         r.input::json, CASE WHEN w.id IS NOT NULL THEN date_trunc('milliseconds', now()) END, w.id,
         (w.id IS NOT NULL)::integer
       FROM ${FOLLOWERS.sql} AS r (${FOLLOWERS.list()})
       LEFT JOIN workers w
         ON w.id = r.lease_to AND r.max_concurrency IS NULL AND w.lease_expires_at > clock_timestamp()
       ON CONFLICT (parent_execution_id, parent_call) WHERE parent_execution_id IS NOT NULL DO NOTHING
       RETURNING id, worker_id, claim
     )
     SELECT id, worker_id, claim, CASE WHEN worker_id IS NULL THEN pg_notify('millrace_queue', '') END FROM stored`,
    [row.parent?.iteration ?? null, ...FOLLOWERS.values([row])],
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
