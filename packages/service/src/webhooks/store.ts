import type { Queryable } from '@millrace/database/database';

export interface NewDelivery {
  readonly workflowId: number;
  readonly organisationId: number;
  /** SHA-256 of the event's id. */
  readonly eventHash: Buffer;
  readonly executionId: number;
  readonly windowS: number;
}

/**
 * Records that an event starts an execution. Returns false if it has already started one within its window. Waits for
 * another transaction recording the same event.
 */
export async function insertDelivery(tx: Queryable, delivery: NewDelivery): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO webhook_deliveries AS d (workflow_id, event_hash, organisation_id, execution_id, expires_at)
     VALUES ($1, $2, $3, $4, now() + $5::integer * interval '1 second')
     ON CONFLICT (workflow_id, event_hash) DO UPDATE
       SET execution_id = EXCLUDED.execution_id, expires_at = EXCLUDED.expires_at
       WHERE d.expires_at <= now()
     RETURNING d.execution_id`,
    [
      delivery.workflowId,
      delivery.eventHash,
      delivery.organisationId,
      delivery.executionId,
      delivery.windowS,
    ],
  );
  return rows.length === 1;
}

/** The execution an event started; undefined if none is known. */
export async function findDelivery(
  tx: Queryable,
  workflowId: number,
  eventHash: Buffer,
): Promise<number | undefined> {
  const [row] = await tx.query<{ execution_id: number }>(
    'SELECT execution_id FROM webhook_deliveries WHERE workflow_id = $1 AND event_hash = $2',
    [workflowId, eventHash],
  );
  return row?.execution_id;
}

/** Deletes events whose window has ended. */
export async function pruneDeliveries(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM webhook_deliveries d USING (
       SELECT workflow_id, event_hash FROM webhook_deliveries WHERE expires_at <= now() ORDER BY expires_at LIMIT $1
     ) old
     WHERE d.workflow_id = old.workflow_id AND d.event_hash = old.event_hash AND d.expires_at <= now()
     RETURNING d.execution_id`,
    [limit],
  );
  return rows.length;
}

/** A replaced hash that still works. */
export interface FormerHashRow {
  readonly hash: string;
  readonly valid_until: Date;
}

/** A workflow's replaced hashes that still work, latest first. */
export async function listFormerHashes(tx: Queryable, workflowId: number): Promise<FormerHashRow[]> {
  return tx.query<FormerHashRow>(
    `SELECT hash, valid_until FROM former_webhook_hashes
     WHERE workflow_id = $1 AND valid_until > now() ORDER BY valid_until DESC`,
    [workflowId],
  );
}

/** Sets a new hash for a workflow; the previous one works for the given number of hours. */
export async function replaceHash(
  tx: Queryable,
  workflowId: number,
  hash: string,
  overlapHours: number,
): Promise<void> {
  await tx.query(
    `WITH former AS (
       INSERT INTO former_webhook_hashes (hash, workflow_id, organisation_id, valid_until)
       SELECT webhook_hash, id, organisation_id, date_trunc('milliseconds', now()) + $3::integer * interval '1 hour'
       FROM workflows WHERE id = $1 AND $3 > 0
     )
     UPDATE workflows SET webhook_hash = $2 WHERE id = $1`,
    [workflowId, hash, overlapHours],
  );
}

/** Ends a workflow's former hashes at once. */
export async function deleteFormerHashes(tx: Queryable, workflowId: number): Promise<void> {
  await tx.query('DELETE FROM former_webhook_hashes WHERE workflow_id = $1', [workflowId]);
}

/** Deletes former hashes that no longer work. */
export async function pruneFormerHashes(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM former_webhook_hashes WHERE hash IN (
       SELECT hash FROM former_webhook_hashes WHERE valid_until <= now() ORDER BY valid_until LIMIT $1)
     RETURNING hash`,
    [limit],
  );
  return rows.length;
}
