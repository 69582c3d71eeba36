import type { Database } from '@millrace/database/database';
import { decideStarts, lockUndecidedWorkflow } from './concurrency-statements.ts';

/** Starts decided by one statement: few enough that others that need the rows hardly wait. */
const MAX_DECIDED = 200;

/**
 * Decides all starts with `on_limit` `skip` or `cancel_running`, workflow by workflow. Any number of processes may do so at the same time; if
 * one fails, the next call of any process continues. Returns the executions it cancelled.
 */
export async function decideAllStarts(db: Database): Promise<number[]> {
  const cancelled: number[] = [];
  for (let workflowId: number | undefined = 0; workflowId !== undefined; ) {
    const after: number = workflowId;
    workflowId = await db.transaction(async (tx) => {
      const [workflow] = await lockUndecidedWorkflow(tx, after);
      if (workflow === undefined) return undefined;
      const decided = await decideStarts(tx, workflow.id, MAX_DECIDED);
      cancelled.push(...decided.filter((row) => row.is_cancelled).map((row) => row.id));
      return decided.length === 0 ? workflow.id : workflow.id - 1;
    });
  }
  return cancelled;
}
