import { randomBytes } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { type AuditActor, type AuditOrigin, insertAudit } from '../audit/store.ts';
import { hashToken } from '../sessions/tokens.ts';
import type { Role } from '../values/roles.ts';
import { insertInvitation } from './store.ts';

export interface InvitationWish {
  readonly organisationId: number;
  /** Null: for whoever has the link. */
  readonly email: string | null;
  readonly role: Role;
  /**
   * Whether its maker answers for the whole service, and so for giving the link to whom the address belongs: the operator,
   * or who administers the service.
   */
  readonly isVouchedFor: boolean;
}

/** An invitation just made. The token is in its link only. */
export interface MadeInvitation {
  readonly id: number;
  readonly token: string;
}

/** Makes an invitation and records it. */
export async function makeInvitation(
  tx: Queryable,
  { organisationId, email, role, isVouchedFor }: InvitationWish,
  by: AuditActor & { readonly actor: 'operator' | 'user' },
  { sourceIp = null, requestId = null }: AuditOrigin,
): Promise<MadeInvitation> {
  const token = randomBytes(32).toString('base64url');
  const id = await insertInvitation(tx, {
    organisationId,
    tokenHash: hashToken(token),
    email,
    role,
    invitedBy: by.actor === 'operator' ? null : by.userId,
    provesAddress: isVouchedFor && email !== null,
  });
  const details = { invitation_id: id, role, email };
  await insertAudit(tx, { organisationId, action: 'invitation.created', by, sourceIp, requestId, details });
  return { id, token };
}

/** The link of an invitation: its token stands behind #, where browsers send it to nobody. */
export function invitationUrl(publicUrl: string, { token }: MadeInvitation): string {
  return `${publicUrl}/invitation#token=${token}`;
}
