import type { AuditAction } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import type { JsonObject } from '@millrace/engine';

export type { AuditAction } from '@millrace/admin-api';

/** Where the request for a change came from. */
export interface RequestOrigin {
  readonly sourceIp: string;
  readonly requestId: string;
}

/** Null or absent for actions of the operator or the service. */
export type AuditOrigin = { readonly [Name in keyof RequestOrigin]?: RequestOrigin[Name] | null };

/** Who performed a recorded action, and from where. */
export type AuditActor = AuditOrigin &
  (
    | { readonly actor: 'operator' }
    | { readonly actor: 'service' }
    | { readonly actor: 'member'; readonly memberId: number }
    /** A signed-in user; a system administrator may act in organisations they are not a member of. */
    | { readonly actor: 'user'; readonly userId: number; readonly memberId: number | null }
    | { readonly actor: 'api_key'; readonly apiKeyId: number }
  );

export interface AuditEntry {
  readonly organisationId: number;
  readonly action: AuditAction;
  readonly by: AuditActor;
  /** The key the entry is about, if the actor is another; the actor's own key otherwise. */
  readonly apiKeyId?: number;
  /** The member the entry is about, if the actor is another; the actor's own row otherwise. */
  readonly memberId?: number;
  /** Must not contain secrets: entries are shown and exported. */
  readonly details?: JsonObject;
}

/** Writes one entry. Pass the transaction of what it records, so that neither exists without the other. */
export async function insertAudit(db: Queryable, entry: AuditEntry): Promise<void> {
  const { by } = entry;
  await db.query(
    `INSERT INTO audit_log (organisation_id, action, actor, api_key_id, member_id, source_ip, request_id, details, user_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      entry.organisationId,
      entry.action,
      by.actor,
      entry.apiKeyId ?? (by.actor === 'api_key' ? by.apiKeyId : null),
      entry.memberId ?? (by.actor === 'member' || by.actor === 'user' ? by.memberId : null),
      by.sourceIp ?? null,
      by.requestId ?? null,
      JSON.stringify(entry.details ?? {}),
      by.actor === 'user' ? by.userId : null,
    ],
  );
}
