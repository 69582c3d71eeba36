import { isAtLeast, type Role } from '@millrace/admin-api';
import type { Database, Queryable } from '@millrace/database/database';
import { joinTransaction } from '@millrace/database/join-transaction';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { isUnproved, proveAddress } from '../addresses/proof.ts';
import { type AuditOrigin, insertAudit, type RequestOrigin } from '../audit/store.ts';
import {
  lockOpenInvitation,
  lockOpenInvitationsFor,
  markAccepted,
  type OpenInvitation,
} from '../invitations/store.ts';
import { addMember, findMember } from '../members/store.ts';
import { findUserByEmail, insertUser, setPasswordHash, setUserName, type UserRow } from '../users/store.ts';

/** The invitation behind a link, locked until the transaction ends. @throws ApiError `link_not_valid` */
export async function requireOpenInvitation(tx: Queryable, tokenHash: Buffer): Promise<OpenInvitation> {
  const invitation = await lockOpenInvitation(tx, tokenHash);
  if (invitation === undefined) {
    throw new ApiError('link_not_valid', message('identity.invitation_gone'));
  }
  return invitation;
}

/** @throws ApiError `address_taken` if the invitation is for another address */
export function refuseOtherAddress({ email }: OpenInvitation, address: string): void {
  if (email === null || email === address) return;
  throw new ApiError('address_taken', message('identity.invitation_for_someone_else', { email }));
}

export interface NewAccount {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/**
 * Creates an account by invitation, or takes over one whose address nobody has proved to be theirs, if the link proves it. A
 * link that proves nothing must not give access to what belongs to the real owner of the address, so an address with
 * memberships elsewhere, or a higher role than the invitation grants, is refused.
 * @throws ApiError `account_exists`, `address_taken`
 */
export async function createAccountByInvitation(
  tx: Queryable,
  invitation: OpenInvitation,
  account: NewAccount,
  origin: RequestOrigin,
): Promise<number> {
  refuseOtherAddress(invitation, account.email);
  const known = await findUserByEmail(tx, account.email);
  if (known !== undefined) {
    if (!takesOver(invitation, known)) throw accountExists();
    await proveAddress(tx, known, 'owner', origin);
    await setUserName(tx, known.id, account.name);
    await setPasswordHash(tx, known.id, account.passwordHash);
    return known.id;
  }
  if (!invitation.proves_address) await refuseGivenElsewhere(tx, invitation, account.email);
  const userId = await insertUser(tx, { ...account, isVerified: invitation.proves_address });
  if (userId === undefined) throw accountExists();
  return userId;
}

/** Whether the link's holder takes over the existing account: the link proves that the address is theirs, and nothing has before. */
export function takesOver(invitation: OpenInvitation, account: UserRow | undefined): boolean {
  return invitation.proves_address && isUnproved(account);
}

async function refuseGivenElsewhere(tx: Queryable, invitation: OpenInvitation, email: string): Promise<void> {
  const roles = await listRolesOf(tx, email);
  const isMore = roles.some(
    ({ organisation_id: id, role }) => id !== invitation.organisation_id || !isAtLeast(invitation.role, role),
  );
  if (isMore) {
    throw new ApiError('address_taken', message('identity.invitation_of_member'));
  }
}

function accountExists(): ApiError {
  return new ApiError('account_exists', message('identity.invitation_account_exists'));
}

/** Accepts all open invitations of someone whose address was just proved to be theirs. */
export async function acceptAll(
  db: Database,
  tx: Queryable,
  person: { readonly id: number; readonly email: string },
  origin: AuditOrigin,
): Promise<void> {
  for (const invitation of await lockOpenInvitationsFor(tx, person.email)) {
    await joinByInvitation(db, tx, invitation, person, origin);
  }
}

/** @throws ApiError `already_member` if the invitation would change nothing */
export async function refuseMember(tx: Queryable, invitation: OpenInvitation, email: string): Promise<void> {
  const present = await findMember(tx, invitation.organisation_id, email);
  if (present === undefined || !isAtLeast(present.role, invitation.role)) return;
  throw new ApiError(
    'already_member',
    message('identity.invitation_already_member', { organisation: invitation.organisation }),
  );
}

/** Makes a user a member, never lowering their role, and ends the invitation. */
export async function joinByInvitation(
  db: Database,
  tx: Queryable,
  invitation: OpenInvitation,
  user: { readonly id: number; readonly email: string },
  origin: AuditOrigin,
): Promise<void> {
  const { organisation_id: organisationId, role } = invitation;
  const by = { actor: 'user', userId: user.id, memberId: null, ...origin } as const;
  const present = await findMember(tx, organisationId, user.email);
  const member =
    present !== undefined && isAtLeast(present.role, role)
      ? present
      : await addMember(joinTransaction(db, tx), organisationId, user.email, role, by);
  await markAccepted(tx, invitation.id, user.id);
  await insertAudit(tx, {
    organisationId,
    action: 'invitation.accepted',
    by,
    memberId: member.id,
    details: { invitation_id: invitation.id, role, email: user.email },
  });
}

async function listRolesOf(
  tx: Queryable,
  email: string,
): Promise<{ readonly organisation_id: number; readonly role: Role }[]> {
  return tx.query('SELECT organisation_id, role FROM members WHERE email = $1 AND removed_at IS NULL', [
    email,
  ]);
}
