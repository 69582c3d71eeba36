import type { Queryable } from '@millrace/database/database';
import { takeLock } from '@millrace/database/locks';
import { revokeKeysOfAccount } from '../api-keys/keys.ts';
import type { AuditActor, AuditOrigin } from '../audit/store.ts';
import { endInvitationsBy } from '../invitations/ending.ts';
import { deleteSessions } from '../sessions/store.ts';
import { auditUser } from '../users/audit.ts';
import { removeSecondFactor } from '../users/second-factor-store.ts';
import { markEmailVerified, setPasswordHash, type UserRow } from '../users/store.ts';

/** Locks an address until the transaction ends, so that nobody else decides what it grants: accounts, memberships, proofs. */
export function lockAddress(tx: Queryable, email: string): Promise<void> {
  return takeLock(tx, `address ${email}`);
}

/** Whether the account's address has never been proved to be its owner's. */
export function isUnproved(user: Pick<UserRow, 'email_verified_at'> | undefined): boolean {
  return user !== undefined && user.email_verified_at === null;
}

/**
 * Gives an account to the owner of its address. Someone else may have created it beforehand, so everything that could let
 * them in or act in its name ends: sessions, password, second factor, API keys, invitations. Does nothing if the address was
 * already proved.
 * @param by the owner, or the operator who knows them
 */
export async function proveAddress(
  tx: Queryable,
  user: Pick<UserRow, 'id' | 'email' | 'email_verified_at'>,
  by: 'owner' | 'operator',
  origin: AuditOrigin,
): Promise<void> {
  if (!isUnproved(user)) return;
  const actor: AuditActor =
    by === 'operator'
      ? { actor: 'operator', ...origin }
      : { actor: 'user', userId: user.id, memberId: null, ...origin };
  await markEmailVerified(tx, user.id);
  await deleteSessions(tx, user.id, null);
  await setPasswordHash(tx, user.id, null);
  await removeSecondFactor(tx, user.id);
  await revokeKeysOfAccount(tx, user.id, actor);
  await endInvitationsBy(tx, user.id, actor);
  await auditProof(tx, user, by, origin);
}

/** Records that the signed-in user owns their account's address; ends nothing. */
export async function proveOwnAddress(
  tx: Queryable,
  user: Pick<UserRow, 'id' | 'email' | 'email_verified_at'>,
  origin: AuditOrigin,
): Promise<void> {
  if (!isUnproved(user)) return;
  await markEmailVerified(tx, user.id);
  await auditProof(tx, user, 'owner', origin);
}

function auditProof(
  tx: Queryable,
  user: Pick<UserRow, 'id' | 'email'>,
  by: 'owner' | 'operator',
  origin: AuditOrigin,
): Promise<void> {
  const actor = by === 'owner' ? 'user' : 'operator';
  return auditUser(tx, user, { action: 'user.address_proved', actor, ...origin });
}
