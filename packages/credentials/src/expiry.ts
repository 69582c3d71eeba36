import type { Database, Queryable } from '@millrace/database/database';
import { notFound } from '@millrace/errors/errors';
import { type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { findCredential } from './store.ts';

/** When what a credential holds ends, as it was entered; null: never, or nobody said. @throws ApiError `not_found` */
export async function findExpiry(tx: Queryable, organisationId: number, id: number): Promise<Date | null> {
  const [row] = await tx.query<{ expires_at: Date | null }>(
    'SELECT expires_at FROM credentials WHERE organisation_id = $1 AND id = $2',
    [organisationId, id],
  );
  if (row === undefined) throw notFound('credential');
  return row.expires_at;
}

/** Stores it and records that. The credential works as before: only alerts depend on it. @throws ApiError `not_found` */
export async function setExpiry(
  db: Database,
  organisationId: number,
  id: number,
  expiresAt: Date | null,
  by: AuditActor,
): Promise<void> {
  await db.forOrganisation(organisationId, async (tx) => {
    const credential = await findCredential(tx, organisationId, id);
    if (credential === undefined) throw notFound('credential');
    await tx.query('UPDATE credentials SET expires_at = $3 WHERE organisation_id = $1 AND id = $2', [
      organisationId,
      id,
      expiresAt,
    ]);
    const { name, type } = credential;
    const details = { credential_id: id, name, type, expires_at: expiresAt?.toISOString() ?? null };
    await insertAudit(tx, { organisationId, action: 'credential.updated', by, details });
  });
}
