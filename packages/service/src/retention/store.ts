import type { Queryable } from '@millrace/database/database';
import { readInOrder } from '../executions/in-order.ts';

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
 * stays: ids grow with time, so the youngest execution that is old enough bounds the scan of each workflow's index. Executions that started
 * before it and ended later are read again in every round.
 */
export async function pruneExecutions(
  tx: Queryable,
  status: EndedStatus,
  days: number,
  afterWorkflowId: number,
  limit: number,
): Promise<PrunedExecutions> {
  await readInOrder(tx);
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
         -- Status and id together, as in other lists of one status: see listOfOneStatus.
         WHERE e.workflow_id = p.id AND e.status <> 'running' AND (e.status, e.id) >= ($1, 0::bigint)
           AND (e.status, e.id) <= ($1, d.youngest_id) AND e.completed_at < d.before
         ORDER BY e.status, e.id LIMIT $5
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

/** The expired entries at the beginning of a chain. */
interface ExpiredBeginning {
  readonly organisation_id: number;
  readonly through: number;
}

/** Chains per batch. */
const CHAINS_AT_ONCE = 20;

/**
 * Deletes expired entries from the beginnings of a few chains, at most `limit` from each. The rest of a chain can still be verified, because
 * it keeps the hash of the last deleted entry. An entry for a repeated event expires by its last occurrence, a missing one by the time at
 * which it was sealed.
 */
export async function pruneAuditLog(
  tx: Queryable,
  days: number,
  limit: number,
): Promise<{ readonly deleted: number; readonly isLast: boolean }> {
  const beginnings = await tx.query<ExpiredBeginning>(
    `WITH cutoff AS MATERIALIZED (SELECT now() - $1::double precision * interval '1 day' AS before),
     expiring AS MATERIALIZED (
       SELECT c.organisation_id, c.dropped, f.before FROM audit_chains c CROSS JOIN LATERAL (
         SELECT cutoff.before, coalesce(a.last_occurred_at, a.occurred_at, s.sealed_at) < cutoff.before AS is_expired
         FROM cutoff, audit_seals s LEFT JOIN audit_log a ON a.id = s.entry_id
         WHERE s.organisation_id = c.organisation_id AND s.position = c.dropped + 1) f
       WHERE f.is_expired ORDER BY c.organisation_id LIMIT $3)
     SELECT b.organisation_id, t.through FROM expiring b CROSS JOIN LATERAL (
       SELECT max(p.position) AS through FROM (
         SELECT s.position, bool_and(coalesce(a.last_occurred_at, a.occurred_at, s.sealed_at) < b.before)
           OVER (ORDER BY s.position) AS is_expired
         FROM audit_seals s LEFT JOIN audit_log a ON a.id = s.entry_id
         WHERE s.organisation_id = b.organisation_id AND s.position BETWEEN b.dropped + 1 AND b.dropped + $2::bigint) p
       WHERE p.is_expired) t`,
    [days, limit, CHAINS_AT_ONCE],
  );
  let deleted = 0;
  for (const beginning of beginnings) deleted += await dropBeginning(tx, beginning);
  return { deleted, isLast: beginnings.length < CHAINS_AT_ONCE && deleted < limit };
}

/** Moves the start of the chain first: until then, triggers refuse to delete its entries. */
async function dropBeginning(tx: Queryable, { organisation_id, through }: ExpiredBeginning): Promise<number> {
  const values = [organisation_id, through];
  await tx.query(
    `UPDATE audit_chains c SET dropped = s.position, dropped_hash = s.hash FROM audit_seals s
     WHERE c.organisation_id = $1 AND s.organisation_id = $1 AND s.position = $2`,
    values,
  );
  await tx.query(
    `DELETE FROM audit_log WHERE id IN (
       SELECT entry_id FROM audit_seals WHERE organisation_id = $1 AND position <= $2)`,
    values,
  );
  const seals = await tx.query(
    'DELETE FROM audit_seals WHERE organisation_id = $1 AND position <= $2 RETURNING position',
    values,
  );
  return seals.length;
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
