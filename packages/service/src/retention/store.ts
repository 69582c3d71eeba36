import type { Queryable } from '@millrace/database/database';

/** Held until the end of the transaction; false if another process holds it. */
export async function tryPruneLock(tx: Queryable): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('millrace prune', 0)) AS locked`,
  );
  return row?.locked === true;
}

export type EndedStatus = 'completed' | 'failed' | 'cancelled';

/** Workflows per statement. */
export const WORKFLOWS_AT_ONCE = 5_000;

export interface PrunedExecutions {
  readonly deleted: number;
  /** The next batch starts after this workflow; null if this was the last. */
  readonly lastWorkflowId: number | null;
}

/**
 * Deletes executions of one status that ended longer ago than the retention of the service, or of their organisation if that
 * is shorter: at most `limit`, from the next {@link WORKFLOWS_AT_ONCE} workflows. It reads what it deletes and not what
 * stays: ids grow with time, so the youngest execution that is old enough bounds the scan of each workflow's index.
 */
export async function pruneExecutions(
  tx: Queryable,
  status: EndedStatus,
  days: number,
  afterWorkflowId: number,
  limit: number,
): Promise<PrunedExecutions> {
  const [row] = await tx.query<{ deleted: number; last_workflow_id: number | null }>(
    `WITH page AS MATERIALIZED (
       SELECT id, organisation_id FROM workflows WHERE id > $3 ORDER BY id LIMIT $4
     ), cutoffs AS MATERIALIZED (
       SELECT p.organisation_id, now() - least($2::double precision, CASE $1::text
           WHEN 'completed' THEN s.retention_days_completed
           WHEN 'failed' THEN s.retention_days_failed
           ELSE s.retention_days_cancelled END) * interval '1 day' AS before
       FROM (SELECT DISTINCT organisation_id FROM page) p LEFT JOIN organisation_settings s USING (organisation_id)
     ), due AS MATERIALIZED (
       -- The time is a value here. As an expression it would be no condition for the index, because row-level security comes first.
       SELECT c.organisation_id, c.before, (
         SELECT e.id FROM executions e WHERE e.organisation_id = c.organisation_id AND e.created_at < c.before
         ORDER BY e.created_at DESC LIMIT 1) AS youngest_id
       FROM cutoffs c
     ), doomed AS (
       SELECT old.id FROM page p JOIN due d USING (organisation_id) CROSS JOIN LATERAL (
         SELECT e.id FROM executions e
         -- By -id, or the planner may walk through all executions in the order of their ids.
         WHERE e.workflow_id = p.id AND e.status = $1 AND e.status <> 'running' AND -e.id >= -d.youngest_id
           AND e.completed_at < d.before
         ORDER BY -e.id DESC LIMIT $5
       ) old LIMIT $5
     ), deleted AS (
       DELETE FROM executions e USING doomed WHERE e.id = doomed.id AND e.completed_at IS NOT NULL RETURNING e.id
     )
     SELECT (SELECT count(*) FROM deleted) AS deleted,
       CASE WHEN count(*) = $4 THEN max(id) END AS last_workflow_id
     FROM page`,
    [status, days, afterWorkflowId, WORKFLOWS_AT_ONCE, limit],
  );
  return { deleted: row?.deleted ?? 0, lastWorkflowId: row?.last_workflow_id ?? null };
}

/** An entry for a repeated event expires by its last occurrence. */
export async function pruneAuditLog(tx: Queryable, days: number, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM audit_log WHERE id IN (
       SELECT id FROM audit_log WHERE occurred_at < now() - $1::double precision * interval '1 day'
         AND coalesce(last_occurred_at, occurred_at) < now() - $1::double precision * interval '1 day'
       ORDER BY occurred_at LIMIT $2)
     RETURNING id`,
    [days, limit],
  );
  return rows.length;
}

export async function pruneIdempotencyRecords(
  tx: Queryable,
  maxAgeMs: number,
  limit: number,
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM idempotency_records i USING (
       SELECT key_family_id, route, idempotency_key FROM idempotency_records
       WHERE created_at < now() - $1::double precision * interval '1 millisecond'
       ORDER BY created_at LIMIT $2
     ) old
     WHERE i.key_family_id = old.key_family_id AND i.route = old.route AND i.idempotency_key = old.idempotency_key
       AND i.created_at < now() - $1::double precision * interval '1 millisecond'
     RETURNING i.status`,
    [maxAgeMs, limit],
  );
  return rows.length;
}

/** Workers whose lease expired long ago and that have no executions left: those have been taken over. */
export async function pruneWorkers(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM workers WHERE id IN (
       SELECT w.id FROM workers w
       WHERE w.lease_expires_at < now() - interval '1 hour'
         AND NOT EXISTS (SELECT FROM executions e WHERE e.worker_id = w.id AND e.status = 'running')
       LIMIT $1)
     RETURNING id`,
    [limit],
  );
  return rows.length;
}
