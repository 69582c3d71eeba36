import type { Role } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { takeLock } from '@millrace/database/locks';
import { queryRow } from '@millrace/database/query-row';

/** A member with details of the account with the same address. */
export interface MemberItemRow {
  readonly id: number;
  readonly email: string;
  readonly role: Role;
  readonly created_at: Date;
  /** Null if there is no account with this address. */
  readonly name: string | null;
  /** False if it is in doubt whose account it is; true if there is none. */
  readonly is_address_proved: boolean;
  readonly has_second_factor: boolean;
  readonly last_seen_at: Date | null;
}

/** Current members below an id, latest first. */
export async function listMembersBelow(
  db: Queryable,
  organisationId: number,
  belowId: number | null,
  limit: number,
): Promise<MemberItemRow[]> {
  return selectMembers(db, organisationId, { id: null, belowId, limit });
}

/** A current member; undefined if this organisation has none with this id. */
export async function findMemberItem(
  db: Queryable,
  organisationId: number,
  id: number,
): Promise<MemberItemRow | undefined> {
  const [row] = await selectMembers(db, organisationId, { id, belowId: null, limit: 1 });
  return row;
}

function selectMembers(
  db: Queryable,
  organisationId: number,
  of: { readonly id: number | null; readonly belowId: number | null; readonly limit: number },
): Promise<MemberItemRow[]> {
  return db.query<MemberItemRow>(
    `SELECT m.id, m.email, m.role, m.created_at, u.name,
       u.id IS NULL OR u.email_verified_at IS NOT NULL AS is_address_proved,
       u.totp_confirmed_at IS NOT NULL AS has_second_factor,
       (SELECT max(s.last_seen_at) FROM sessions s WHERE s.user_id = u.id) AS last_seen_at
     FROM members m LEFT JOIN users u ON u.email = m.email AND u.removed_at IS NULL
     WHERE m.organisation_id = $1 AND m.removed_at IS NULL AND ($2::bigint IS NULL OR m.id < $2)
       AND ($3::bigint IS NULL OR m.id = $3)
     ORDER BY m.id DESC LIMIT $4`,
    [organisationId, of.belowId, of.id, of.limit],
  );
}

/** Locks role removals until the transaction ends, so that the last two administrators can't both leave at once. */
export function lockRoles(tx: Queryable): Promise<void> {
  return takeLock(tx, 'roles');
}

/** Whether anyone besides this member could administer the organisation, and anyone the service. */
export async function findOtherAdmins(
  tx: Queryable,
  organisationId: number,
  memberId: number,
): Promise<{ readonly of_organisation: boolean; readonly of_service: boolean }> {
  const row = await queryRow<{ of_organisation: boolean; of_service: boolean }>(
    tx,
    `SELECT
       EXISTS (SELECT FROM members WHERE organisation_id = $1 AND id <> $2 AND removed_at IS NULL
         AND role IN ('org_admin', 'system_admin')) AS of_organisation,
       EXISTS (SELECT FROM members m JOIN users u ON u.email = m.email AND u.removed_at IS NULL
         WHERE m.id <> $2 AND m.removed_at IS NULL AND m.role = 'system_admin') AS of_service`,
    [organisationId, memberId],
  );
  return row;
}
