import type { Database, Queryable } from '@millrace/database/database';
import { joinTransaction } from '@millrace/database/join-transaction';
import { acceptAll } from '../accounts/accept.ts';
import { lockAddress, proveAddress } from '../addresses/proof.ts';
import type { RequestOrigin } from '../audit/store.ts';
import { lockOpenInvitationsFor } from '../invitations/store.ts';
import { addMember } from '../members/store.ts';
import { findFirstOrganisation } from '../organisations/store.ts';
import { endSetupLinks } from '../setup/store.ts';
import { findUserByEmail, hasUser, insertUser, lockUsers } from '../users/store.ts';
import { isEmail, normaliseEmail } from '../values/email.ts';
import type { Identity } from './provider.ts';
import type { SingleSignOnSettings } from './settings.ts';

/** Why someone signed in by the provider is refused; the sign-in page explains each. */
export type Refusal = 'email_unverified' | 'unknown_person' | 'setup_needed';

interface Person {
  readonly id: number;
  readonly email: string;
}

/**
 * The account of the person the provider signed in: the one with the verified address, or a new one for someone made a
 * member or invited by that address.
 */
export async function findPerson(
  db: Database,
  { newMembers }: Pick<SingleSignOnSettings, 'newMembers'>,
  identity: Identity,
  origin: RequestOrigin,
): Promise<Person | Refusal> {
  if (!identity.isVerified || !isEmail(identity.email)) return 'email_unverified';
  const email = normaliseEmail(identity.email);
  return db.transaction(async (tx) => {
    await lockAddress(tx, email);
    await lockUsers(tx);
    const known = await findUserByEmail(tx, email);
    if (known !== undefined) {
      await proveAddress(tx, known, 'owner', origin);
      await acceptAll(db, tx, known, origin);
      return known;
    }
    const refusal = await refuseStranger(tx, email, newMembers);
    if (refusal !== null) return refusal;
    const name = identity.name ?? email.split('@', 1)[0] ?? email;
    const id = await insertUser(tx, { email, name, passwordHash: null, isVerified: true });
    if (id === undefined) throw new Error('an account was made although all others were kept from it');
    const person = { id, email };
    await endSetupLinks(tx);
    await acceptAll(db, tx, person, origin);
    if (newMembers !== null && !(await isMember(tx, email))) {
      await joinFirst(joinTransaction(db, tx), person, newMembers, origin);
    }
    return person;
  });
}

async function refuseStranger(
  tx: Queryable,
  email: string,
  newMembers: 'viewer' | 'editor' | null,
): Promise<Refusal | null> {
  // The first account determines who administers the service: it must not go to whoever arrives first.
  if (!(await hasUser(tx))) return (await isSystemAdmin(tx, email)) ? null : 'setup_needed';
  const isExpected = (await isMember(tx, email)) || (await lockOpenInvitationsFor(tx, email)).length > 0;
  return isExpected || newMembers !== null ? null : 'unknown_person';
}

async function joinFirst(
  db: Database,
  { id: userId, email }: Person,
  role: 'viewer' | 'editor',
  origin: RequestOrigin,
): Promise<void> {
  const organisation = await findFirstOrganisation(db);
  if (organisation === undefined) return;
  await addMember(db, organisation.id, email, role, { actor: 'user', userId, memberId: null, ...origin });
}

async function isMember(tx: Queryable, email: string): Promise<boolean> {
  const rows = await tx.query('SELECT FROM members WHERE email = $1 AND removed_at IS NULL LIMIT 1', [email]);
  return rows.length > 0;
}

async function isSystemAdmin(tx: Queryable, email: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT FROM members WHERE email = $1 AND removed_at IS NULL AND role = 'system_admin' LIMIT 1`,
    [email],
  );
  return rows.length > 0;
}
