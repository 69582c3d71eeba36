import { isAtLeast, type Role } from '@millrace/admin-api';
import type { Database, Queryable } from '../../db/database.ts';
import { joinTransaction } from '../../db/join-transaction.ts';
import { ApiError } from '../../errors.ts';
import type { RequestOrigin } from '../../http/admin/origin.ts';
import { insertAudit } from '../audit/store.ts';
import { addMember, findMember } from '../members/store.ts';
import { findUserByEmail, insertUser } from '../users/store.ts';
import { lockOpenInvitation, markAccepted, type OpenInvitation } from './store.ts';

/** The invitation of a link, held until the transaction ends. @throws ApiError `link_not_valid` */
export async function requireOpenInvitation(tx: Queryable, tokenHash: Buffer): Promise<OpenInvitation> {
  const invitation = await lockOpenInvitation(tx, tokenHash);
  if (invitation === undefined) {
    throw new ApiError(
      'link_not_valid',
      'The invitation was used or revoked, or has expired. Ask whoever sent it for a new one.',
    );
  }
  return invitation;
}

/** @throws ApiError `address_taken` when the invitation is for another address */
export function refuseOtherAddress({ email }: OpenInvitation, address: string): void {
  if (email === null || email === address) return;
  throw new ApiError('address_taken', `The invitation is for ${email}.`);
}

export interface NewAccount {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/**
 * Makes an account by an invitation. Nobody has proved that the address is theirs, so it must not bring what belongs
 * to whoever really has it: an address that is a member elsewhere, or of more than the invitation gives, is refused.
 * @throws ApiError `account_exists`, `address_taken`
 */
export async function createAccountByInvitation(
  tx: Queryable,
  invitation: OpenInvitation,
  account: NewAccount,
): Promise<number> {
  refuseOtherAddress(invitation, account.email);
  if ((await findUserByEmail(tx, account.email)) !== undefined) throw accountExists();
  const roles = await listRolesOf(tx, account.email);
  const isMore = roles.some(
    ({ organisation_id: id, role }) => id !== invitation.organisation_id || !isAtLeast(invitation.role, role),
  );
  if (isMore) {
    throw new ApiError(
      'address_taken',
      'This address was given a membership already. Its account is made by single sign-on or by the operator (millrace users set-password).',
    );
  }
  const userId = await insertUser(tx, { ...account, isVerified: false });
  if (userId === undefined) throw accountExists();
  return userId;
}

function accountExists(): ApiError {
  return new ApiError('account_exists', 'There is an account with this address. Sign in to join with it.');
}

/** @throws ApiError `already_member` when the invitation would bring nothing */
export async function refuseMember(tx: Queryable, invitation: OpenInvitation, email: string): Promise<void> {
  const present = await findMember(tx, invitation.organisation_id, email);
  if (present === undefined || !isAtLeast(present.role, invitation.role)) return;
  throw new ApiError('already_member', `You are a member of "${invitation.organisation}" already.`);
}

/** Makes a user a member, without taking a higher role from them, and ends the invitation. */
export async function joinByInvitation(
  db: Database,
  tx: Queryable,
  invitation: OpenInvitation,
  user: { readonly id: number; readonly email: string },
  origin: RequestOrigin,
): Promise<void> {
  const { organisation_id: organisationId, role } = invitation;
  const by = { actor: 'user', userId: user.id, memberId: null } as const;
  const present = await findMember(tx, organisationId, user.email);
  const member =
    present !== undefined && isAtLeast(present.role, role)
      ? present
      : await addMember(joinTransaction(db, tx), organisationId, user.email, role, by, origin);
  await markAccepted(tx, invitation.id, user.id);
  await insertAudit(tx, {
    organisationId,
    action: 'invitation.accepted',
    by,
    memberId: member.id,
    ...origin,
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
