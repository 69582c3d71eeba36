import { createHash } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { type Columns, rowSet } from '@millrace/database/row-set';
import type { ChildKey, ParentLink } from '@millrace/engine';
import { storeStarts } from './held-starts.ts';
import { EXECUTION_COLUMNS, type StartedRow, type StartRow } from './start-statements.ts';

/** An execution started by another one. */
export interface FollowerRow extends StartRow {
  readonly depth: number;
  /** Null if it was started because the other one failed. */
  readonly parent: ParentLink | null;
}

/** Distinguishes the children of one execution. */
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
/** The iteration is itself an array, which `unnest` would flatten, so it is the first parameter. */
const FOLLOWERS = rowSet<FollowerRow>(
  { ...COPIED, input: ['text', (row) => row.inputJson], lease_to: ['uuid', (row) => row.leaseTo] },
  2,
);

/**
 * Locks a parent that hasn't ended until the end of the transaction, so that it can't end without its new child being found.
 * Returns no row if it has ended or doesn't exist.
 */
async function lockParent(tx: Queryable, executionId: number): Promise<{ depth: number }[]> {
  return tx.query('SELECT depth FROM executions WHERE id = $1 AND completed_at IS NULL FOR NO KEY UPDATE', [
    executionId,
  ]);
}

/** Makes a locked parent cancel its children when it ends. */
async function markWaiting(tx: Queryable, executionId: number): Promise<void> {
  await tx.query(
    'UPDATE executions SET has_waited_children = true WHERE id = $1 AND NOT has_waited_children',
    [executionId],
  );
}

/**
 * Stores a child one level deeper than its parent. Returns no row if the parent has ended, doesn't exist, or already has a
 * child with the same key.
 */
export async function insertChild(
  tx: Queryable,
  row: StartRow & { readonly parent: ParentLink },
): Promise<readonly StartedRow[]> {
  const [parent] = await lockParent(tx, row.parent.executionId);
  if (parent === undefined) return [];
  if (row.parent.waits) await markWaiting(tx, row.parent.executionId);
  return insertFollower(tx, { ...row, depth: parent.depth + 1 });
}

/**
 * Returns no row if the parent already has a child with the same key. @throws unique_violation from the database if the id
 * already exists
 */
export async function insertFollower(tx: Queryable, row: FollowerRow): Promise<readonly StartedRow[]> {
  const insert = ([held = row]: readonly FollowerRow[]) => insertOne(tx, held);
  if (row.hold === null) return insert([row]);
  // The execution it belongs to was accepted already, so it waits as long as necessary.
  return (await storeStarts(tx, [row], null, (_tx, rows) => insert(rows))).stored;
}

async function insertOne(tx: Queryable, row: FollowerRow): Promise<StartedRow[]> {
  return tx.query<StartedRow>(
    `WITH stored AS (
       INSERT INTO executions (${COPIED_LIST.list()}, parent_iteration, status, input, started_at, worker_id, claim,
         kept_bytes)
       SELECT ${COPIED_LIST.list('r')}, $1::integer[], CASE WHEN w.id IS NULL THEN 'queued' ELSE 'running' END,
         r.input::json, CASE WHEN w.id IS NOT NULL THEN date_trunc('milliseconds', now()) END, w.id,
         (w.id IS NOT NULL)::integer, octet_length(r.input) + coalesce(octet_length(r.search_keys::text), 0)
       FROM ${FOLLOWERS.sql} AS r (${FOLLOWERS.list()})
       LEFT JOIN workers w
         ON w.id = r.lease_to AND r.max_concurrency IS NULL AND r.held_until IS NULL
         AND w.lease_expires_at > clock_timestamp()
       ON CONFLICT (parent_execution_id, parent_call) WHERE parent_execution_id IS NOT NULL DO NOTHING
       RETURNING id, organisation_id, worker_id, claim, held_until, on_limit, kept_bytes
     ), kept AS (
       INSERT INTO storage_changes (organisation_id, bytes) SELECT organisation_id, kept_bytes FROM stored
     )
     SELECT id, worker_id, claim,
       CASE WHEN worker_id IS NULL AND held_until IS NULL
         THEN pg_notify('millrace_queue', CASE WHEN on_limit IS NULL THEN '' ELSE 'undecided' END) END
     FROM stored`,
    [row.parent?.iteration ?? null, ...FOLLOWERS.values([row])],
  );
}

export async function findChildByKey(
  db: Queryable,
  key: ChildKey,
): Promise<{ id: number; workflow_version: number }[]> {
  return db.query(
    `SELECT coalesce(started_as, id) AS id, workflow_version FROM executions
     WHERE parent_execution_id = $1 AND parent_call = $2`,
    [key.executionId, callOf(key)],
  );
}
