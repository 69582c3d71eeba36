import type { Database, Queryable } from '@millrace/database/database';
import { message } from '@millrace/messages';
import { isUnproved, lockAddress, proveAddress } from '../addresses/proof.ts';
import { lockOpenInvitationsFor } from '../invitations/store.ts';
import { deleteSessions } from '../sessions/store.ts';
import { endSetupLinks } from '../setup/store.ts';
import { auditUser } from '../users/audit.ts';
import { refuseSamePassword, refuseWeakPassword } from '../users/password-rules.ts';
import { hashPassword } from '../users/passwords.ts';
import { removeSecondFactor } from '../users/second-factor-store.ts';
import { findUserByEmail, insertUser, lockUsers, setPasswordHash, type UserRow } from '../users/store.ts';
import { AccountError } from '../values/account-error.ts';
import { checkEmail, normaliseEmail } from '../values/email.ts';
import { acceptAll } from './accept.ts';
import { type RemovedAccount, removeAccount } from './removal.ts';

/** The account whose password was set. */
export interface PasswordSet {
  readonly email: string;
  /** True if the account is new. */
  readonly isNew: boolean;
}

/**
 * Sets a password, creating an account for a member without one; all of the user's sessions end.
 * @throws AccountError `invalid_value`, `user_not_found` if the address is unknown
 * @throws ApiError 422 if the password is too easy to guess, or is the current one
 */
export async function setPasswordByOperator(
  db: Database,
  text: string,
  password: string,
): Promise<PasswordSet> {
  const email = checkEmail(text);
  const known = await findUserByEmail(db, email);
  const name = known?.name ?? email.split('@', 1)[0] ?? email;
  await refuseWeakPassword(password, { email, name }, '/password');
  await refuseSamePassword(known?.password_hash ?? null, password, '/password');
  const passwordHash = await hashPassword(password);
  return db.transaction(async (tx) => {
    await lockAddress(tx, email);
    await lockUsers(tx);
    const before = await findUserByEmail(tx, email);
    const user = before ?? (await createForMember(tx, { email, name }));
    // Someone who sets passwords knows whom they are for.
    if (before !== undefined) await proveAddress(tx, before, 'operator', {});
    await setPasswordHash(tx, user.id, passwordHash);
    if (before === undefined || isUnproved(before)) await acceptAll(db, tx, user, {});
    await deleteSessions(tx, user.id, null);
    await endSetupLinks(tx);
    await auditUser(tx, user, { action: 'user.password_changed', actor: 'operator' });
    return { email, isNew: known === undefined };
  });
}

async function createForMember(
  tx: Queryable,
  { email, name }: { readonly email: string; readonly name: string },
): Promise<Pick<UserRow, 'id' | 'email'>> {
  const members = await tx.query('SELECT FROM members WHERE email = $1 AND removed_at IS NULL LIMIT 1', [
    email,
  ]);
  const isInvited = (await lockOpenInvitationsFor(tx, email)).length > 0;
  if (members.length === 0 && !isInvited) throw userNotFound(email);
  const id = await insertUser(tx, { email, name, passwordHash: null, isVerified: true });
  if (id === undefined) throw new Error('an account was made although all others were kept from it');
  return { id, email };
}

/**
 * Switches off the second factor of someone who has lost it, with all recovery codes.
 * @returns false if it was off
 * @throws AccountError `user_not_found`
 */
export async function switchSecondFactorOffByOperator(db: Database, text: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const user = await requireUser(tx, text);
    if (!(await removeSecondFactor(tx, user.id))) return false;
    await auditUser(tx, user, { action: 'user.second_factor_off', actor: 'operator' });
    return true;
  });
}

/**
 * Ends all of a user's sessions. Returns how many.
 * @throws AccountError `user_not_found`
 */
export async function endSessionsByOperator(db: Database, text: string): Promise<number> {
  return db.transaction(async (tx) => {
    const user = await requireUser(tx, text);
    const ended = await deleteSessions(tx, user.id, null);
    const details = { ended };
    await auditUser(tx, user, { action: 'session.others_ended', actor: 'operator', details });
    return ended;
  });
}

/**
 * Removes a user from the service, as the admin area does.
 * @throws AccountError `user_not_found`
 * @throws ApiError `last_admin`
 */
export async function removeAccountByOperator(db: Database, text: string): Promise<RemovedAccount> {
  const { id } = await requireUser(db, text);
  return removeAccount(db, id, { actor: 'operator' });
}

async function requireUser(tx: Queryable, text: string): Promise<UserRow> {
  const user = await findUserByEmail(tx, normaliseEmail(text));
  if (user === undefined) throw userNotFound(text);
  return user;
}

function userNotFound(text: string): AccountError {
  return new AccountError('user_not_found', message('identity.user_unknown', { email: text }));
}
