import type { Queryable } from '@millrace/database/database';
import { type AuditActor, insertAudit } from '../audit/store.ts';
import {
  type EndedInvitation,
  revokeInvitationsBeyondRights,
  revokeInvitationsBy,
  revokeInvitationsFor,
} from './store.ts';

/** Permanently ends an address's open invitations. */
export async function endInvitationsFor(tx: Queryable, email: string, by: AuditActor): Promise<void> {
  await auditAll(tx, await revokeInvitationsFor(tx, email), by);
}

/** Permanently ends the invitations an account has made. */
export async function endInvitationsBy(tx: Queryable, userId: number, by: AuditActor): Promise<void> {
  await auditAll(tx, await revokeInvitationsBy(tx, userId), by);
}

/**
 * Permanently ends the invitations made by the user of this address that they could no longer make: regaining the right must
 * not revive an old link.
 */
export async function endInvitationsBeyondRights(
  tx: Queryable,
  email: string,
  by: AuditActor,
): Promise<void> {
  await auditAll(tx, await revokeInvitationsBeyondRights(tx, email), by);
}

async function auditAll(tx: Queryable, ended: readonly EndedInvitation[], by: AuditActor): Promise<void> {
  for (const { id, organisation_id: organisationId, role, email } of ended) {
    const details = { invitation_id: id, role, email };
    await insertAudit(tx, { organisationId, action: 'invitation.revoked', by, details });
  }
}
