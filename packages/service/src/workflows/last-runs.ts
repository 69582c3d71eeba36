import type { Database, Queryable } from '@millrace/database/database';
import { tryLock } from '@millrace/database/locks';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import type { Logger } from 'pino';

const INTERVAL_MS = 10_000;
/** Executions checked by one transaction. */
const BATCH = 50_000;

/**
 * Records the last execution of each workflow, for ordering the list, every few seconds and in one process at a time. Starts don't do it
 * themselves: updating one row of a workflow would make them wait for each other.
 */
export function createLastRunNotes(deps: { readonly db: Database; readonly log: Logger }): PeriodicTask {
  return createPeriodicTask({
    work: (isStopping) => noteLastRuns(deps.db, isStopping),
    pauseMs: () => INTERVAL_MS,
    onFailure: (error) =>
      deps.log.warn({ err: error }, 'could not note the last runs of workflows; retrying'),
  });
}

/** Records everything that has started since the last time, unless another process is doing it. */
export async function noteLastRuns(db: Database, isStopping: () => boolean = () => false): Promise<void> {
  for (let hasMore = await hasNewRuns(db); hasMore && !isStopping(); ) {
    hasMore = await db.transaction(
      async (tx) => (await tryLock(tx, 'last runs')) && (await noteBatch(tx, BATCH)),
    );
  }
}

/** Read without a transaction, because usually there is nothing. */
async function hasNewRuns(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>(
    'SELECT EXISTS (SELECT FROM executions WHERE id > (SELECT execution_id FROM last_run_marks)) AS found',
    [],
    'has_new_runs',
  );
  return row?.found === true;
}

/**
 * Ids are assigned before rows are committed, so those of the last minute are checked again. Workflows that are being changed are skipped
 * until the next time.
 * @returns whether there may be more
 */
export async function noteBatch(tx: Queryable, batch: number): Promise<boolean> {
  const [row] = await tx.query<{ has_more: boolean }>(
    `WITH seen AS (
       SELECT e.id, e.workflow_id, e.created_at < now() - interval '1 minute' AS is_settled
       FROM executions e WHERE e.id > (SELECT execution_id FROM last_run_marks) ORDER BY e.id LIMIT $1
     ), last AS (
       SELECT workflow_id, max(id) AS id FROM seen GROUP BY workflow_id
     ), locked AS (
       SELECT w.id, l.id AS execution_id FROM workflows w JOIN last l ON l.workflow_id = w.id
       WHERE w.last_execution_id < l.id ORDER BY w.id FOR NO KEY UPDATE OF w SKIP LOCKED
     ), noted AS (
       UPDATE workflows w SET last_execution_id = l.execution_id FROM locked l WHERE w.id = l.id
     ), settled AS (
       SELECT max(id) AS id FROM seen WHERE is_settled
     ), moved AS (
       UPDATE last_run_marks SET execution_id = s.id FROM settled s WHERE s.id IS NOT NULL
     )
     SELECT count(*) = $1 AND bool_and(is_settled) AS has_more FROM seen`,
    [batch],
  );
  return row?.has_more === true;
}
