import type { Queryable } from '@millrace/database/database';
import { type AuditActor, type AuditOrigin, insertAudit } from '../audit/store.ts';
import {
  type EndedInvitation,
  revokeFallenInvitations,
  revokeInvitationsBy,
  revokeInvitationsFor,
} from './store.ts';

/** Ends what is open for an address, for good. */
export async function endInvitationsFor(
  tx: Queryable,
  email: string,
  by: AuditActor,
  origin: AuditOrigin,
): Promise<void> {
  await auditAll(tx, await revokeInvitationsFor(tx, email), by, origin);
}

/** Ends what an account has made, for good. */
export async function endInvitationsBy(
  tx: Queryable,
  userId: number,
  by: AuditActor,
  origin: AuditOrigin,
): Promise<void> {
  await auditAll(tx, await revokeInvitationsBy(tx, userId), by, origin);
}

/**
 * Ends what somebody with this address has made and could not make any more, for good: when they are given the right
 * again, it brings no old link back.
 */
export async function endFallenInvitations(
  tx: Queryable,
  email: string,
  by: AuditActor,
  origin: AuditOrigin,
): Promise<void> {
  await auditAll(tx, await revokeFallenInvitations(tx, email), by, origin);
}

async function auditAll(
  tx: Queryable,
  ended: readonly EndedInvitation[],
  by: AuditActor,
  { sourceIp = null, requestId = null }: AuditOrigin,
): Promise<void> {
  for (const { id, organisation_id: organisationId, role, email } of ended) {
    const details = { invitation_id: id, role, email };
    await insertAudit(tx, { organisationId, action: 'invitation.revoked', by, sourceIp, requestId, details });
  }
}
