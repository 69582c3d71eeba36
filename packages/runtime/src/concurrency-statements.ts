import type { Queryable } from '@millrace/database/database';
import { CANCELLED_BY_CONCURRENCY } from '@millrace/engine';

const UNDECIDED = "status = 'queued' AND on_limit IS NOT NULL AND held_until IS NULL";
const DECIDED = 'completed_at IS NULL AND concurrency_limit IS NOT NULL AND on_limit IS NULL';

/**
 * Locks the next workflow with undecided starts until the end of the transaction, so that they are decided one after the other across
 * all processes. Returns no row if there is none.
 */
export async function lockUndecidedWorkflow(
  tx: Queryable,
  afterWorkflowId: number,
): Promise<{ id: number }[]> {
  return tx.query(
    `SELECT id FROM workflows WHERE id = (
       SELECT workflow_id FROM executions WHERE ${UNDECIDED} AND workflow_id > $1 ORDER BY workflow_id LIMIT 1
     ) FOR NO KEY UPDATE`,
    [afterWorkflowId],
  );
}

export interface DecidedRow {
  readonly id: number;
  readonly is_cancelled: boolean;
}

/**
 * Decides up to `limit` undecided starts of a locked workflow in the order of their ids, for each key up to the first one with another
 * setting. With `skip`, starts over the limit end. With `cancel_running`, the newest ones stay, and older ones end; if more of them would end
 * than `limit` divided by the number of keys, the rest is left to the next call. Returns what has changed; no rows if all is decided.
 */
export async function decideStarts(tx: Queryable, workflowId: number, limit: number): Promise<DecidedRow[]> {
  return tx.query(
    `WITH undecided AS MATERIALIZED (
       SELECT id, concurrency_key, concurrency_limit, on_limit FROM executions
       WHERE ${UNDECIDED} AND workflow_id = $1 ORDER BY id LIMIT $2::integer
     ), compared AS (
       SELECT *, row_number() OVER k AS place,
         on_limit = first_value(on_limit) OVER k AND concurrency_limit = first_value(concurrency_limit) OVER k AS is_alike
       FROM undecided WINDOW k AS (PARTITION BY concurrency_key ORDER BY id)
     ), alike AS MATERIALIZED (
       SELECT * FROM (
         SELECT *, bool_and(is_alike) OVER (PARTITION BY concurrency_key ORDER BY id) AS are_all_alike FROM compared
       ) c WHERE are_all_alike
     ), key AS MATERIALIZED (
       SELECT concurrency_key, concurrency_limit, on_limit, min(id) AS first_id, greatest($2 / count(*) OVER (), 1) AS room
       FROM alike GROUP BY concurrency_key, concurrency_limit, on_limit
     ), older AS MATERIALIZED (
       SELECT k.concurrency_key, o.id, o.place FROM key k CROSS JOIN LATERAL (
         SELECT id, row_number() OVER (ORDER BY id DESC) AS place FROM executions
         WHERE ${DECIDED} AND workflow_id = $1 AND concurrency_key = k.concurrency_key
         ORDER BY id DESC LIMIT k.concurrency_limit + CASE k.on_limit WHEN 'cancel_running' THEN k.room ELSE 0 END
       ) o
     ), busy AS MATERIALIZED (
       SELECT k.*, coalesce(o.executions, 0) AS executions, o.oldest_id
       FROM key k LEFT JOIN (
         SELECT concurrency_key, count(*) AS executions, min(id) AS oldest_id FROM older GROUP BY concurrency_key
       ) o USING (concurrency_key)
     ), verdict AS MATERIALIZED (
       -- Skipped because of what was there or was started before.
       SELECT a.id, b.on_limit, CASE WHEN a.place > b.concurrency_limit - b.executions
         THEN coalesce(b.oldest_id, b.first_id) END AS cancelled_for
       FROM alike a JOIN busy b USING (concurrency_key) WHERE b.on_limit = 'skip'
       UNION ALL
       -- Cancelled by the start that is newer by as many places as the limit.
       SELECT a.id, b.on_limit, n.id
       FROM alike a JOIN busy b USING (concurrency_key)
       LEFT JOIN alike n ON n.concurrency_key = a.concurrency_key AND n.place = a.place + b.concurrency_limit
       WHERE b.on_limit = 'cancel_running' AND b.executions < b.concurrency_limit + b.room
       UNION ALL
       SELECT o.id, b.on_limit, n.id
       FROM older o JOIN busy b USING (concurrency_key)
       JOIN alike n ON n.concurrency_key = o.concurrency_key AND n.place = greatest(b.concurrency_limit - o.place + 1, 1)
       WHERE b.on_limit = 'cancel_running'
     ), locked AS MATERIALIZED (
       SELECT e.id, e.status = 'running' AS frees_place FROM executions e
       WHERE e.id IN (SELECT id FROM verdict) AND e.completed_at IS NULL ORDER BY e.id FOR NO KEY UPDATE
     )
     UPDATE executions e SET
       on_limit = NULL,
       status = CASE WHEN v.cancelled_for IS NULL THEN e.status ELSE 'cancelled' END,
       cancel_code = CASE WHEN v.cancelled_for IS NOT NULL THEN CASE v.on_limit WHEN 'skip' THEN $3 ELSE $4 END END,
       cancelled_for = v.cancelled_for,
       worker_id = CASE WHEN v.cancelled_for IS NULL THEN e.worker_id END,
       wake_at = CASE WHEN v.cancelled_for IS NULL THEN e.wake_at END,
       completed_at = CASE WHEN v.cancelled_for IS NOT NULL
         THEN greatest(date_trunc('milliseconds', clock_timestamp()), e.started_at, e.created_at) END
     FROM verdict v JOIN locked l USING (id)
     WHERE e.id = v.id AND e.completed_at IS NULL
     RETURNING e.id, v.cancelled_for IS NOT NULL AS is_cancelled,
       CASE WHEN v.cancelled_for IS NOT NULL THEN pg_notify('millrace_executions', e.id || '!') END,
       CASE WHEN v.cancelled_for IS NULL OR l.frees_place THEN pg_notify('millrace_queue', '') END`,
    [workflowId, limit, CANCELLED_BY_CONCURRENCY.skip, CANCELLED_BY_CONCURRENCY.cancel_running],
  );
}
