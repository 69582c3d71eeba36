import type { Queryable } from '@millrace/database/database';
import type { JsonObject } from '@millrace/engine';
import type { AuditAction, AuditOrigin } from '../audit/store.ts';

/** What an entry about an account says besides whose it is. */
export interface UserAudit extends AuditOrigin {
  readonly action: AuditAction;
  /** `service` for what somebody else may have done, such as trying passwords. Default: the user. */
  readonly actor?: 'user' | 'service' | 'operator';
  readonly details?: JsonObject;
}

/** Writes the entry into the log of each organisation that the user is a member of now. */
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
