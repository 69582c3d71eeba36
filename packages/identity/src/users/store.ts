import type { Me } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';

export type Language = NonNullable<Me['user']['language']>;

/** A user's account, as needed for signing in. */
export interface UserRow {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly email_verified_at: Date | null;
  readonly password_hash: string | null;
  readonly totp_ciphertext: Buffer | null;
  readonly totp_confirmed_at: Date | null;
  /** The database's clock. */
  readonly now: Date;
}

/** Whether anyone has an account yet, or ever had one: the first account is created only once. */
export async function hasUser(db: Queryable): Promise<boolean> {
  return (await db.query('SELECT FROM users LIMIT 1')).length > 0;
}

/** Locks account creation until the transaction ends. */
export async function lockUsers(tx: Queryable): Promise<void> {
  await tx.query('LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE');
}

/** @param email in lower case */
export async function findUserByEmail(db: Queryable, email: string): Promise<UserRow | undefined> {
  const [row] = await db.query<UserRow>(
    `SELECT id, email, name, email_verified_at, password_hash, totp_ciphertext, totp_confirmed_at, now()
     FROM users WHERE email = $1 AND removed_at IS NULL`,
    [email],
  );
  return row;
}

/** The account with this id, which must exist. */
export async function getUser(db: Queryable, id: number): Promise<UserRow> {
  const [row] = await db.query<UserRow>(
    `SELECT id, email, name, email_verified_at, password_hash, totp_ciphertext, totp_confirmed_at, now()
     FROM users WHERE id = $1`,
    [id],
  );
  if (row === undefined) throw new Error(`user ${id} is gone although a session refers to it`);
  return row;
}

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  /** Whether the address is certainly theirs. */
  readonly isVerified: boolean;
}

/** Undefined if there is already an account with this address. */
export async function insertUser(tx: Queryable, user: NewUser): Promise<number | undefined> {
  const [row] = await tx.query<{ id: number }>(
    `INSERT INTO users (email, name, password_hash, email_verified_at, shows_first_steps)
     VALUES ($1, $2, $3, CASE WHEN $4 THEN now() END, true)
     ON CONFLICT (email) WHERE removed_at IS NULL DO NOTHING RETURNING id`,
    [user.email, user.name, user.passwordHash, user.isVerified],
  );
  return row?.id;
}

export async function setUserName(db: Queryable, id: number, name: string): Promise<void> {
  await db.query('UPDATE users SET name = $2 WHERE id = $1', [id, name]);
}

/** How a user wants to see the admin area. */
export interface Preferences {
  /** Null if they never chose one. */
  readonly language: Language | null;
  /** Whether the first steps are shown: to new accounts, until they dismiss them. */
  readonly shows_first_steps: boolean;
}

export async function getPreferences(db: Queryable, id: number): Promise<Preferences> {
  const [row] = await db.query<Preferences>('SELECT language, shows_first_steps FROM users WHERE id = $1', [
    id,
  ]);
  return row ?? { language: null, shows_first_steps: false };
}

export async function setShowsFirstSteps(db: Queryable, id: number, shows: boolean): Promise<void> {
  await db.query('UPDATE users SET shows_first_steps = $2 WHERE id = $1', [id, shows]);
}

export async function setLanguage(db: Queryable, id: number, language: Language): Promise<void> {
  await db.query('UPDATE users SET language = $2 WHERE id = $1', [id, language]);
}

/**
 * Whether the checked credentials are still sufficient: the password is the same, and no second factor was added. Locks both
 * until the transaction ends.
 * @param checked the account as it was when they were checked
 */
export async function lockProof(tx: Queryable, checked: UserRow): Promise<boolean> {
  const rows = await tx.query(
    `SELECT FROM users WHERE id = $1 AND removed_at IS NULL AND password_hash = $2
       AND (totp_confirmed_at IS NULL OR $3::boolean) FOR SHARE`,
    [checked.id, checked.password_hash, checked.totp_confirmed_at !== null],
  );
  return rows.length > 0;
}

/** Null removes the account's password. */
export async function setPasswordHash(db: Queryable, id: number, hash: string | null): Promise<void> {
  await db.query('UPDATE users SET password_hash = $2 WHERE id = $1 AND removed_at IS NULL', [id, hash]);
}

/** Replaces the hash that was checked. Returns false if it was replaced in the meantime. */
export async function replacePasswordHash(
  db: Queryable,
  id: number,
  before: string | null,
  after: string,
): Promise<boolean> {
  const rows = await db.query(
    'UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2 RETURNING id',
    [id, before, after],
  );
  return rows.length > 0;
}

export async function markEmailVerified(tx: Queryable, id: number): Promise<void> {
  await tx.query('UPDATE users SET email_verified_at = coalesce(email_verified_at, now()) WHERE id = $1', [
    id,
  ]);
}

/** An account as the operator sees it. */
export interface UserItemRow {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly is_address_proved: boolean;
  readonly has_password: boolean;
  readonly has_second_factor: boolean;
  readonly created_at: Date;
}

/** All accounts, oldest first. */
export async function listUsers(db: Queryable): Promise<UserItemRow[]> {
  return db.query<UserItemRow>(
    `SELECT id, email, name, email_verified_at IS NOT NULL AS is_address_proved,
       password_hash IS NOT NULL AS has_password,
       totp_confirmed_at IS NOT NULL AS has_second_factor, created_at
     FROM users WHERE removed_at IS NULL ORDER BY id`,
  );
}
