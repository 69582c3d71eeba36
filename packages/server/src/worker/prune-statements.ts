import type { Queryable } from '../db/database.ts';

/** Held to the end of the transaction; false when another process has it. */
export async function tryPruneLock(tx: Queryable): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('millrace prune', 0)) AS locked`,
  );
  return row?.locked === true;
}

export interface PrunedExecutions {
  readonly deleted: number;
  /** Where the next batch begins; null when all that follow are too young. */
  readonly nextAfterId: number | null;
}

/**
 * Looks at the next `batch` executions in the order of their ids and deletes the ended ones that are too old for
 * their status. Ids grow with time, so a batch in which every row is younger than the shortest retention is the last.
 * @param organisationId whose executions alone are looked at; null: all
 */
export async function pruneExecutions(
  tx: Queryable,
  days: { readonly completed: number; readonly failed: number; readonly cancelled: number },
  afterId: number,
  batch: number,
  organisationId: number | null = null,
): Promise<PrunedExecutions> {
  const [row] = await tx.query<{ deleted: number; last_id: number | null; has_old: boolean | null }>(
    `WITH looked_at AS (
       SELECT id, status, created_at, completed_at FROM executions
       WHERE id > $4 AND ($6::bigint IS NULL OR organisation_id = $6) ORDER BY id LIMIT $5
     ), retention (status, days) AS (
       VALUES ('completed', $1::double precision), ('failed', $2), ('cancelled', $3)
     ), doomed AS (
       SELECT id FROM looked_at JOIN retention USING (status) WHERE completed_at < now() - days * interval '1 day'
     ), deleted AS (
       DELETE FROM executions e USING doomed WHERE e.id = doomed.id AND e.completed_at IS NOT NULL RETURNING e.id
     )
     SELECT (SELECT count(*) FROM deleted) AS deleted, max(id) AS last_id,
       bool_or(created_at < now() - (SELECT min(days) FROM retention) * interval '1 day') AS has_old
     FROM looked_at`,
    [days.completed, days.failed, days.cancelled, afterId, batch, organisationId],
  );
  if (row === undefined) return { deleted: 0, nextAfterId: null };
  return { deleted: row.deleted, nextAfterId: row.has_old === true ? row.last_id : null };
}

/** An entry of what happened several times goes by the last time. */
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

/** Workers whose lease is long over and that hold nothing any more: what they held has been taken over. */
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
