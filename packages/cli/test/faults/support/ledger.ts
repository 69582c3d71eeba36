import type { Queryable } from '@millrace/database/database';
import { until } from './until.ts';

/** The database's view of one execution. */
export interface ExecutionRow {
  readonly id: number;
  readonly status: string;
  readonly claim: number;
  readonly crashed_attempts: number;
  readonly worker_id: string | null;
  readonly error: string | null;
  readonly completed_at: Date | null;
  /** Why it was cancelled, if not by request, and the execution that made it superfluous. */
  readonly cancel_code: string | null;
  readonly cancelled_for: number | null;
  /** Identifies the start. */
  readonly marker: string;
}

/** One execution. @throws if it doesn't exist */
export async function readExecution(db: Queryable, id: number): Promise<ExecutionRow> {
  const [row] = await selectExecutions(db, [id], null);
  if (row === undefined) throw new Error(`Execution ${id} does not exist`);
  return row;
}

/** All executions of a workflow, oldest first. */
export async function readExecutions(db: Queryable, workflowId: number): Promise<ExecutionRow[]> {
  return await selectExecutions(db, null, workflowId);
}

/** Waits until the execution has ended. */
export async function finished(db: Queryable, id: number): Promise<ExecutionRow> {
  return await until(`the end of execution ${id}`, async () => {
    const row = await readExecution(db, id);
    return row.completed_at === null ? null : row;
  });
}

/** Waits until the execution is stored without a worker, until what it waits for. */
export async function parked(db: Queryable, id: number): Promise<void> {
  await until(`execution ${id} to be parked`, async () => {
    return (await readExecution(db, id)).status === 'waiting_async';
  });
}

/** Waits until every execution of the workflow has ended. */
export async function allFinished(db: Queryable, workflowId: number): Promise<ExecutionRow[]> {
  return await until(`the end of all executions of workflow ${workflowId}`, async () => {
    const rows = await readExecutions(db, workflowId);
    return rows.every((row) => row.completed_at !== null) ? rows : null;
  });
}

/** How often a node's end was recorded, over all checkpoints of the execution. */
export async function timesRecorded(db: Queryable, executionId: number, nodeId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*) FROM execution_chunks, json_array_elements(records) AS record
     WHERE execution_id = $1 AND record ->> 'nodeId' = $2 AND record ->> 'status' NOT IN ('running', 'waiting')`,
    [executionId, nodeId],
  );
  return row?.count ?? 0;
}

/** One recorded end of a node; `iteration` has the index of each loop around it, outermost first. */
export interface NodeEnd {
  readonly executionId: number;
  readonly node: string;
  readonly iteration: readonly number[];
  /** When it was stored, by the database's clock, in epoch milliseconds: a worker's may be behind. */
  readonly recordedAtMs: number;
}

/** Every recorded end of a node, over all executions. */
export async function readNodeEnds(db: Queryable): Promise<NodeEnd[]> {
  const rows = await db.query<Omit<NodeEnd, 'iteration'> & { readonly iteration: string }>(
    `SELECT execution_id AS "executionId", record ->> 'nodeId' AS node,
       coalesce(record -> 'iteration', '[]') AS iteration,
       (extract(epoch FROM created_at) * 1000)::double precision AS "recordedAtMs"
     FROM execution_chunks, json_array_elements(records) AS record
     WHERE record ->> 'completedAtMs' IS NOT NULL`,
  );
  return rows.map((row) => ({ ...row, iteration: JSON.parse(row.iteration) }));
}

/** How often an attempt was put off until its host's turn, as far as that was recorded. */
export async function countPutOff(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*) FROM execution_chunks, json_array_elements(records) AS record
     WHERE record ->> 'status' = 'waiting' AND record ->> 'reason' = 'host'`,
  );
  return row?.count ?? 0;
}

async function selectExecutions(
  db: Queryable,
  ids: readonly number[] | null,
  workflowId: number | null,
): Promise<ExecutionRow[]> {
  // The database may still be that of the last release, which has no columns for why.
  return await db.query<ExecutionRow>(
    `SELECT id, status, claim, crashed_attempts, worker_id, error, completed_at, to_jsonb(e) ->> 'cancel_code' AS cancel_code,
       (to_jsonb(e) ->> 'cancelled_for')::bigint AS cancelled_for, input ->> 'marker' AS marker
     FROM executions e WHERE id = ANY($1::bigint[]) OR workflow_id = $2 ORDER BY id`,
    [ids, workflowId],
  );
}
