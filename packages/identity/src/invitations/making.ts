import { randomBytes } from 'node:crypto';
import type { Role } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { type AuditActor, insertAudit } from '../audit/store.ts';
import { hashToken } from '../sessions/tokens.ts';
import { insertInvitation } from './store.ts';

export interface InvitationRequest {
  readonly organisationId: number;
  /** Null if anyone with the link may use it. */
  readonly email: string | null;
  readonly role: Role;
  /**
   * Whether its maker is responsible for the whole service, and so for giving the link to the owner of the address: the
   * operator, or a system administrator.
   */
  readonly isVouchedFor: boolean;
}

/** A new invitation. Only its link contains the token. */
export interface MadeInvitation {
  readonly id: number;
  readonly token: string;
}

/** Creates an invitation and records it. */
export async function makeInvitation(
  tx: Queryable,
  { organisationId, email, role, isVouchedFor }: InvitationRequest,
  by: AuditActor & { readonly actor: 'operator' | 'user' },
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
  await insertAudit(tx, { organisationId, action: 'invitation.created', by, details });
  return { id, token };
}

/** The link of an invitation: its token follows #, which browsers never send. */
export function invitationUrl(publicUrl: string, { token }: MadeInvitation): string {
  return `${publicUrl}/invitation#token=${token}`;
}
