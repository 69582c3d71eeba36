import type { Queryable } from '@millrace/database/database';
import type { JsonObject } from '@millrace/engine';
import type { AuditAction, AuditOrigin } from '../audit/store.ts';

/** Fields of an entry about an account, besides whose it is. */
export interface UserAudit extends AuditOrigin {
  readonly action: AuditAction;
  /** `service` for actions possibly by someone else, such as trying passwords. Default: the user. */
  readonly actor?: 'user' | 'service' | 'operator';
  readonly details?: JsonObject;
}

/** Writes the entry to the log of each organisation the user is currently a member of. */
export async function auditUser(
  tx: Queryable,
  user: { readonly id: number; readonly email: string },
  entry: UserAudit,
): Promise<void> {
  const actor = entry.actor ?? 'user';
  await tx.query(
    `INSERT INTO audit_log (organisation_id, action, actor, member_id, source_ip, request_id, details, user_id)
     SELECT m.organisation_id, $2, $3, m.id, $4, $5, $6, $7 FROM members m
     WHERE m.email = $1 AND m.removed_at IS NULL`,
    [
      user.email,
      entry.action,
      actor,
      entry.sourceIp ?? null,
      entry.requestId ?? null,
      JSON.stringify({ email: user.email, ...entry.details }),
      actor === 'user' ? user.id : null,
    ],
  );
}
