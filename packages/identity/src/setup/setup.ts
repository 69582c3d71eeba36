import { randomBytes } from 'node:crypto';
import type { Database } from '@millrace/database/database';
import { joinTransaction } from '@millrace/database/join-transaction';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { RequestOrigin } from '../audit/store.ts';
import { addMember } from '../members/store.ts';
import { createOrganisation, findFirstOrganisation } from '../organisations/store.ts';
import { hashToken } from '../sessions/tokens.ts';
import { hasUser, insertUser, lockUsers } from '../users/store.ts';
import { addSetupLink, endSetupLinks, hasSetupLink } from './store.ts';

/**
 * While there are no accounts: a new token with which the first one can be created, once.
 * @returns null if there is an account
 */
export async function makeSetupToken(db: Database): Promise<string | null> {
  if (await hasUser(db)) return null;
  const token = randomBytes(32).toString('base64url');
  await db.transaction((tx) => addSetupLink(tx, hashToken(token)));
  return token;
}

/** @throws ApiError `link_not_valid` */
export async function requireSetupLink(db: Database, tokenHash: Buffer): Promise<void> {
  if (!(await hasUser(db)) && (await hasSetupLink(db, tokenHash))) return;
  throw new ApiError('link_not_valid', message('identity.setup_link_gone'));
}

export interface FirstAccount {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/**
 * Creates the first account, a system administrator's, and ends all setup links.
 * @throws ApiError `link_not_valid`
 */
export async function createFirstAccount(
  db: Database,
  tokenHash: Buffer,
  account: FirstAccount,
  origin: RequestOrigin,
): Promise<number> {
  return db.transaction(async (tx) => {
    await lockUsers(tx);
    const joined = joinTransaction(db, tx);
    await requireSetupLink(joined, tokenHash);
    // Anyone with the link got it from the operator, who runs the service: the address is taken as theirs.
    const userId = await insertUser(tx, { ...account, isVerified: true });
    if (userId === undefined) throw new Error('an account was made although all others were kept from it');
    const by = { actor: 'user', userId, memberId: null, ...origin } as const;
    const { id } = (await findFirstOrganisation(tx)) ?? (await createOrganisation(joined, 'Main', by));
    await addMember(joined, id, account.email, 'system_admin', by);
    await endSetupLinks(tx);
    return userId;
  });
}
