import type { Role } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';

/** An account with its memberships, as system administrators see it. */
export interface AccountRow {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly created_at: Date;
  readonly is_address_proved: boolean;
  readonly has_password: boolean;
  readonly has_second_factor: boolean;
  readonly last_seen_at: Date | null;
  readonly organisations: readonly { readonly id: number; readonly name: string; readonly role: Role }[];
}

/** Maximum organisations shown per person. */
const MAX_ORGANISATIONS = 100;

/**
 * Accounts below an id, latest first.
 * @param search part of the address or the name; null for all
 */
export async function listAccountsBelow(
  db: Queryable,
  search: string | null,
  belowId: number | null,
  limit: number,
): Promise<AccountRow[]> {
  const rows = await db.query<Omit<AccountRow, 'organisations'> & { readonly organisations: string }>(
    `SELECT u.id, u.email, u.name, u.created_at, u.email_verified_at IS NOT NULL AS is_address_proved,
       u.password_hash IS NOT NULL AS has_password,
       u.totp_confirmed_at IS NOT NULL AS has_second_factor,
       (SELECT max(s.last_seen_at) FROM sessions s WHERE s.user_id = u.id) AS last_seen_at,
       (SELECT coalesce(json_agg(json_build_object('id', o.id, 'name', o.name, 'role', o.role)), '[]') FROM (
         SELECT o.id, o.name, m.role FROM members m JOIN organisations o ON o.id = m.organisation_id
         WHERE m.email = u.email AND m.removed_at IS NULL ORDER BY o.name LIMIT $4) o) AS organisations
     FROM users u
     WHERE u.removed_at IS NULL AND ($2::bigint IS NULL OR u.id < $2)
       AND ($1::text IS NULL OR position(lower($1) IN u.email) > 0 OR position(lower($1) IN lower(u.name)) > 0)
     ORDER BY u.id DESC LIMIT $3`,
    [search, belowId, limit, MAX_ORGANISATIONS],
  );
  return rows.map((row) => ({ ...row, organisations: JSON.parse(row.organisations) }));
}

/** An existing account, locked against removal and changes until the transaction ends. */
export async function lockAccount(
  tx: Queryable,
  id: number,
): Promise<{ readonly email: string; readonly name: string } | undefined> {
  const [row] = await tx.query<{ email: string; name: string }>(
    'SELECT email, name FROM users WHERE id = $1 AND removed_at IS NULL FOR NO KEY UPDATE',
    [id],
  );
  return row;
}

/** Organisations a user is a member of. */
export async function listMembershipsOf(
  tx: Queryable,
  email: string,
): Promise<{ readonly organisation_id: number; readonly member_id: number; readonly role: Role }[]> {
  return tx.query(
    `SELECT organisation_id, id AS member_id, role FROM members
     WHERE email = $1 AND removed_at IS NULL ORDER BY organisation_id`,
    [email],
  );
}

/** Whether someone with another account is a system administrator. */
export async function hasOtherSystemAdmin(tx: Queryable, email: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT FROM members m JOIN users u ON u.email = m.email AND u.removed_at IS NULL
     WHERE m.role = 'system_admin' AND m.removed_at IS NULL AND m.email <> $1 LIMIT 1`,
    [email],
  );
  return rows.length > 0;
}

/**
 * Removes everything that grants access to an account and everything that was the user's alone: sessions, second factor,
 * drafts, favourites, pinned outputs, views that aren't shared. The row stays for the record of what they did.
 */
export async function emptyAccount(tx: Queryable, id: number): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE user_id = $1', [id]);
  await tx.query('DELETE FROM recovery_codes WHERE user_id = $1', [id]);
  await tx.query('DELETE FROM workflow_drafts WHERE user_id = $1', [id]);
  await tx.query('DELETE FROM workflow_favourites WHERE user_id = $1', [id]);
  await tx.query('DELETE FROM execution_views WHERE user_id = $1 AND NOT is_shared', [id]);
  await tx.query('DELETE FROM sample_listeners WHERE user_id = $1', [id]);
  await tx.query('DELETE FROM pinned_outputs WHERE user_id = $1', [id]);
  await tx.query(
    `UPDATE users SET removed_at = now(), password_hash = NULL, totp_key_id = NULL, totp_ciphertext = NULL,
       totp_confirmed_at = NULL, totp_last_step = NULL WHERE id = $1`,
    [id],
  );
}
