import type { Role } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';

/** A valid session, with its user's current state. */
export interface SessionRow {
  readonly id: number;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly user_id: number;
  readonly email: string;
  readonly name: string;
  readonly has_password: boolean;
  readonly has_second_factor: boolean;
  readonly is_system_admin: boolean;
  /** The user's role in the requested organisation; null if they have none. */
  readonly role: Role | null;
  /** `members.id` in that organisation; null for a system administrator who is not a member of it. */
  readonly member_id: number | null;
  readonly organisation_exists: boolean;
}

/** Which session to find, and for what. */
export interface SessionSearch {
  readonly tokenHash: Buffer;
  /** The organisation to report the role in; null for none. */
  readonly organisationId: number | null;
  /** A session unused for this long has expired. */
  readonly idleMs: number;
  readonly countsAsUse: boolean;
}

/** Finds a session by its token's hash, and records once a minute that it is in use. */
export async function findSession(
  db: Queryable,
  { tokenHash, organisationId, idleMs, countsAsUse }: SessionSearch,
): Promise<SessionRow | undefined> {
  const [row] = await db.query<SessionRow>(
    `WITH used AS (
       UPDATE sessions SET last_seen_at = now()
       WHERE token_hash = $1 AND expires_at > now() AND last_seen_at > now() - $3 * interval '1 millisecond'
         AND last_seen_at < now() - interval '1 minute' AND $4::boolean
     )
     SELECT s.id, s.created_at, s.expires_at, u.id AS user_id, u.email, u.name,
       u.password_hash IS NOT NULL AS has_password, u.totp_confirmed_at IS NOT NULL AS has_second_factor,
       EXISTS (SELECT FROM members a WHERE a.email = u.email AND a.role = 'system_admin' AND a.removed_at IS NULL)
         AS is_system_admin,
       m.role, m.id AS member_id,
       EXISTS (SELECT FROM organisations o WHERE o.id = $2) AS organisation_exists
     FROM sessions s JOIN users u ON u.id = s.user_id
       LEFT JOIN members m ON m.organisation_id = $2 AND m.email = u.email AND m.removed_at IS NULL
     WHERE s.token_hash = $1 AND s.expires_at > now() AND s.last_seen_at > now() - $3 * interval '1 millisecond'
       AND u.removed_at IS NULL`,
    [tokenHash, organisationId, idleMs, countsAsUse],
    'find_session',
  );
  return row;
}

export interface NewSession {
  readonly userId: number;
  readonly tokenHash: Buffer;
  readonly lifetimeMs: number;
  readonly sourceIp: string;
  readonly userAgent: string;
}

export async function insertSession(db: Queryable, session: NewSession): Promise<number> {
  const row = await queryRow<{ id: number }>(
    db,
    `INSERT INTO sessions (user_id, token_hash, expires_at, source_ip, user_agent)
     VALUES ($1, $2, now() + $3 * interval '1 millisecond', $4, $5) RETURNING id`,
    [
      session.userId,
      session.tokenHash,
      session.lifetimeMs,
      session.sourceIp,
      session.userAgent.slice(0, 500),
    ],
  );
  return row.id;
}

/** Ends one of a user's sessions. Returns false if it doesn't exist. */
export async function deleteSession(db: Queryable, userId: number, id: number): Promise<boolean> {
  const rows = await db.query('DELETE FROM sessions WHERE user_id = $1 AND id = $2 RETURNING id', [
    userId,
    id,
  ]);
  return rows.length > 0;
}

/** Ends the session with this token, if it exists. */
export async function deleteSessionOfToken(db: Queryable, tokenHash: Buffer): Promise<void> {
  await db.query('DELETE FROM sessions WHERE token_hash = $1', [tokenHash]);
}

/** Ends all of a user's sessions, except `butId` if set. Returns how many. */
export async function deleteSessions(db: Queryable, userId: number, butId: number | null): Promise<number> {
  const rows = await db.query(
    'DELETE FROM sessions WHERE user_id = $1 AND id IS DISTINCT FROM $2 RETURNING id',
    [userId, butId],
  );
  return rows.length;
}

/** A session as its user sees it. */
export interface SessionItemRow {
  readonly id: number;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
  readonly source_ip: string | null;
  readonly user_agent: string;
}

/** A user's valid sessions, latest first. */
export async function listSessions(db: Queryable, userId: number, idleMs: number): Promise<SessionItemRow[]> {
  return db.query<SessionItemRow>(
    `SELECT id, created_at, last_seen_at, expires_at, source_ip, user_agent FROM sessions
     WHERE user_id = $1 AND expires_at > now() AND last_seen_at > now() - $2 * interval '1 millisecond'
     ORDER BY id DESC LIMIT 200`,
    [userId, idleMs],
  );
}

/** Deletes expired sessions: too old, or unused for too long. Oldest first, so that the index by age is used. */
export async function pruneSessions(tx: Queryable, idleMs: number, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM sessions WHERE id IN (
       SELECT id FROM sessions
       WHERE expires_at < now() OR last_seen_at < now() - $1::double precision * interval '1 millisecond'
       ORDER BY expires_at LIMIT $2) RETURNING id`,
    [idleMs, limit],
  );
  return rows.length;
}

/** Organisations a user may enter, by name; all of them for a system administrator. */
export async function listUserOrganisations(
  db: Queryable,
  email: string,
  seesAll: boolean,
): Promise<
  { readonly id: number; readonly name: string; readonly role: Role; readonly is_member: boolean }[]
> {
  return db.query(
    `SELECT o.id, o.name, CASE WHEN $2 THEN 'system_admin' ELSE m.role END AS role, m.id IS NOT NULL AS is_member
     FROM organisations o
       LEFT JOIN members m ON m.organisation_id = o.id AND m.email = $1 AND m.removed_at IS NULL
     WHERE $2 OR m.id IS NOT NULL ORDER BY o.name`,
    [email, seesAll],
  );
}
