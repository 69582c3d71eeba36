import { isAtLeast, ROLES, type Role } from '@millrace/admin-api';
import type { Database, Queryable } from '@millrace/database/database';
import { joinTransaction } from '@millrace/database/join-transaction';
import { queryRow } from '@millrace/database/query-row';
import { message } from '@millrace/messages';
import { isUnproved, lockAddress } from '../addresses/proof.ts';
import { type AuditAction, type AuditActor, insertAudit } from '../audit/store.ts';
import { endInvitationsBeyondRights } from '../invitations/ending.ts';
import { type MadeInvitation, makeInvitation } from '../invitations/making.ts';
import { findUserByEmail } from '../users/store.ts';
import { AccountError } from '../values/account-error.ts';
import { checkEmail, normaliseEmail } from '../values/email.ts';
import { isRole } from '../values/roles.ts';

export interface MemberRow {
  readonly id: number;
  readonly organisation_id: number;
  readonly email: string;
  readonly role: Role;
  readonly created_at: Date;
}

/** Options of a member change besides who makes it. */
export interface MemberChange {
  /** Called in the transaction with the current member; throws if the change is not allowed. */
  readonly check?: (tx: Queryable, before: MemberRow) => Promise<void>;
}

/** Options of granting a role. */
export interface MembershipGrant extends MemberChange {
  /** Whether the grantor is responsible for the whole service: the operator, or a system administrator. */
  readonly isVouchedFor: boolean;
}

/** The result of granting a role to an address. */
export type GrantResult =
  | { readonly kind: 'member'; readonly row: MemberRow }
  /**
   * The address has an account, but nobody has proved that the address is theirs, so they gain nothing. The role waits as an
   * invitation for the owner of the address.
   */
  | {
      readonly kind: 'waits';
      readonly email: string;
      readonly role: Role;
      readonly invitation: MadeInvitation;
    };

/** Who may name members: a signed-in user, or the operator. */
export type Grantor = AuditActor & { readonly actor: 'operator' | 'user' };

/**
 * Makes the owner of an address a member, or grants them this role. If they have no account, the membership waits for it;
 * see {@link GrantResult} for an account in doubt.
 * @throws AccountError `invalid_value`
 */
export async function grantMembership(
  db: Database,
  organisationId: number,
  email: string,
  role: string,
  by: Grantor,
  change: MembershipGrant,
): Promise<GrantResult> {
  const address = checkEmail(email);
  const checkedRole = checkRole(role);
  return db.transaction(async (tx) => {
    await lockAddress(tx, address);
    const before = await findMember(tx, organisationId, address);
    return give(db, tx, { organisationId, email: address, role: checkedRole, before }, by, change);
  });
}

/**
 * Grants membership to someone who has proved to be the intended person, or grants a current member this role. A removed
 * member who returns is a new one: keys issued before remain without rights.
 * @throws AccountError `invalid_value`
 */
export async function addMember(
  db: Database,
  organisationId: number,
  email: string,
  role: string,
  by: AuditActor,
): Promise<MemberRow> {
  const address = checkEmail(email);
  const checkedRole = checkRole(role);
  return db.transaction(async (tx) => {
    const before = await findMember(tx, organisationId, address);
    const row = await upsertMember(tx, organisationId, address, checkedRole);
    if (before?.role !== row.role) {
      await audit(tx, row, before === undefined ? 'member.added' : 'member.role_changed', by);
      await endInvitationsBeyondRights(tx, address, by);
    }
    return row;
  });
}

/**
 * Changes a current member's role; it limits the member's keys from the next request on. A higher one waits like a
 * membership, see {@link GrantResult}.
 * @throws AccountError `invalid_value`, `member_not_found`
 */
export async function setMemberRole(
  db: Database,
  organisationId: number,
  email: string,
  role: string,
  by: Grantor,
  change: MembershipGrant,
): Promise<GrantResult> {
  const checkedRole = checkRole(role);
  return db.transaction(async (tx) => {
    await lockAddress(tx, normaliseEmail(email));
    const before = await holdMember(tx, organisationId, email);
    await change.check?.(tx, before);
    return give(db, tx, { organisationId, email: before.email, role: checkedRole, before }, by, change);
  });
}

/** Rights are never granted to an account in doubt, but are revoked at once. */
async function give(
  db: Database,
  tx: Queryable,
  request: {
    readonly organisationId: number;
    readonly email: string;
    readonly role: Role;
    readonly before: MemberRow | undefined;
  },
  by: Grantor,
  change: MembershipGrant,
): Promise<GrantResult> {
  const { organisationId, email, role, before } = request;
  const isMore = before === undefined || !isAtLeast(before.role, role);
  if (isMore && isUnproved(await findUserByEmail(tx, email))) {
    const { isVouchedFor } = change;
    const invitation = await makeInvitation(tx, { organisationId, email, role, isVouchedFor }, by);
    return { kind: 'waits', email, role, invitation };
  }
  const row = await addMember(joinTransaction(db, tx), organisationId, email, role, by);
  return { kind: 'member', row };
}

/**
 * Ends a membership; keys issued for this member have no rights from the next request on.
 * @throws AccountError `member_not_found`
 */
export async function removeMember(
  db: Database,
  organisationId: number,
  email: string,
  by: AuditActor,
  change: MemberChange = {},
): Promise<MemberRow> {
  return db.transaction(async (tx) => {
    await change.check?.(tx, await holdMember(tx, organisationId, email));
    const row = await markRemoved(tx, organisationId, normaliseEmail(email));
    if (row === undefined) throw memberNotFound(email);
    await audit(tx, row, 'member.removed', by);
    await endInvitationsBeyondRights(tx, row.email, by);
    return row;
  });
}

/** Current members of an organisation, oldest first. */
export async function listMembers(db: Queryable, organisationId: number): Promise<MemberRow[]> {
  return db.query<MemberRow>(
    `SELECT id, organisation_id, email, role, created_at FROM members
     WHERE organisation_id = $1 AND removed_at IS NULL ORDER BY id`,
    [organisationId],
  );
}

/** A current member by e-mail address, in any case; undefined if there is none. */
export async function findMember(
  db: Queryable,
  organisationId: number,
  email: string,
): Promise<MemberRow | undefined> {
  const rows = await db.query<MemberRow>(
    `SELECT id, organisation_id, email, role, created_at FROM members
     WHERE organisation_id = $1 AND email = $2 AND removed_at IS NULL`,
    [organisationId, normaliseEmail(email)],
  );
  return rows[0];
}

/** Like {@link findMember}. @throws AccountError `member_not_found` */
export async function requireMember(
  db: Queryable,
  organisationId: number,
  email: string,
): Promise<MemberRow> {
  const row = await findMember(db, organisationId, email);
  if (row === undefined) throw memberNotFound(email);
  return row;
}

/** Like {@link requireMember}, locking the member until the transaction ends. */
async function holdMember(tx: Queryable, organisationId: number, email: string): Promise<MemberRow> {
  const [row] = await tx.query<MemberRow>(
    `SELECT id, organisation_id, email, role, created_at FROM members
     WHERE organisation_id = $1 AND email = $2 AND removed_at IS NULL FOR NO KEY UPDATE`,
    [organisationId, normaliseEmail(email)],
  );
  if (row === undefined) throw memberNotFound(email);
  return row;
}

async function upsertMember(
  db: Queryable,
  organisationId: number,
  email: string,
  role: Role,
): Promise<MemberRow> {
  const row = await queryRow<MemberRow>(
    db,
    `INSERT INTO members (organisation_id, email, role) VALUES ($1, $2, $3)
     ON CONFLICT (organisation_id, email) WHERE removed_at IS NULL DO UPDATE SET role = excluded.role
     RETURNING id, organisation_id, email, role, created_at`,
    [organisationId, email, role],
  );
  return row;
}

async function markRemoved(
  db: Queryable,
  organisationId: number,
  email: string,
): Promise<MemberRow | undefined> {
  const rows = await db.query<MemberRow>(
    `UPDATE members SET removed_at = now()
     WHERE organisation_id = $1 AND email = $2 AND removed_at IS NULL
     RETURNING id, organisation_id, email, role, created_at`,
    [organisationId, email],
  );
  return rows[0];
}

async function audit(tx: Queryable, row: MemberRow, action: AuditAction, by: AuditActor): Promise<void> {
  await insertAudit(tx, {
    organisationId: row.organisation_id,
    action,
    by,
    memberId: row.id,
    details: { email: row.email, role: row.role },
  });
}

function memberNotFound(email: string): AccountError {
  return new AccountError('member_not_found', message('identity.member_unknown', { email }));
}

function checkRole(text: string): Role {
  if (isRole(text)) return text;
  throw new AccountError(
    'invalid_value',
    message('identity.role_unknown', { role: text, known: ROLES.join(', ') }),
    '/role',
  );
}
