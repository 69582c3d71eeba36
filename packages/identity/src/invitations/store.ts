import type { InvitationState, Role } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';

/** Invitations are valid for seven days. */
const VALID_DAYS = 7;

/** An invitation as listed for the organisation. */
export interface InvitationRow {
  readonly id: number;
  readonly email: string | null;
  readonly role: Role;
  readonly state: InvitationState;
  readonly invited_by_email: string | null;
  readonly by_operator: boolean;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
}

export interface NewInvitation {
  readonly organisationId: number;
  readonly tokenHash: Buffer;
  /** Null if anyone with the link may use it. */
  readonly email: string | null;
  readonly role: Role;
  /** The inviting account; null for the operator. */
  readonly invitedBy: number | null;
  /** Whether accepting proves that the address is the acceptor's. */
  readonly provesAddress: boolean;
}

/** Stores an invitation. Returns its id. */
export async function insertInvitation(tx: Queryable, invitation: NewInvitation): Promise<number> {
  const row = await queryRow<{ id: number }>(
    tx,
    `INSERT INTO invitations (organisation_id, token_hash, email, role, invited_by, by_operator, proves_address, expires_at)
     VALUES ($1, $2, $3, $4, $5, $5::bigint IS NULL, $6, now() + $7 * interval '1 day') RETURNING id`,
    [
      invitation.organisationId,
      invitation.tokenHash,
      invitation.email,
      invitation.role,
      invitation.invitedBy,
      invitation.provesAddress,
      VALID_DAYS,
    ],
  );
  return row.id;
}

export interface InvitationFilter {
  readonly belowId?: number | null;
  readonly id?: number | null;
  readonly limit: number;
}

/**
 * An organisation's invitations, latest first. One whose maker may no longer grant the role counts as revoked; their role
 * may come from another organisation, so `db` must see them all.
 */
export async function listInvitations(
  db: Queryable,
  organisationId: number,
  { belowId = null, id = null, limit }: InvitationFilter,
): Promise<InvitationRow[]> {
  return db.query<InvitationRow>(
    `SELECT i.id, i.email, i.role, u.email AS invited_by_email, i.by_operator, i.created_at, i.expires_at,
       coalesce(i.accepted_at, i.revoked_at) AS ended_at,
       CASE WHEN i.accepted_at IS NOT NULL THEN 'accepted'
         WHEN i.revoked_at IS NOT NULL THEN 'revoked'
         WHEN i.expires_at <= now() THEN 'expired'
         WHEN invitation_stands(i) THEN 'open'
         ELSE 'revoked' END AS state
     FROM invitations i LEFT JOIN users u ON u.id = i.invited_by
     WHERE i.organisation_id = $1 AND ($2::bigint IS NULL OR i.id < $2) AND ($3::bigint IS NULL OR i.id = $3)
     ORDER BY i.id DESC LIMIT $4`,
    [organisationId, belowId, id, limit],
  );
}

/** Revokes an open invitation. Undefined if this organisation has no open one with this id. */
export async function revokeInvitation(
  tx: Queryable,
  organisationId: number,
  id: number,
): Promise<{ readonly email: string | null; readonly role: Role } | undefined> {
  const [row] = await tx.query<{ email: string | null; role: Role }>(
    `UPDATE invitations SET revoked_at = now()
     WHERE organisation_id = $1 AND id = $2 AND accepted_at IS NULL AND revoked_at IS NULL
     RETURNING email, role`,
    [organisationId, id],
  );
  return row;
}

/** An invitation revoked together with what it depended on. */
export interface EndedInvitation {
  readonly id: number;
  readonly organisation_id: number;
  readonly email: string | null;
  readonly role: Role;
}

/** Revokes an address's open invitations. `tx` must see all organisations, here and below. */
export async function revokeInvitationsFor(tx: Queryable, email: string): Promise<EndedInvitation[]> {
  return tx.query<EndedInvitation>(
    `UPDATE invitations SET revoked_at = now()
     WHERE email = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now()
     RETURNING id, organisation_id, email, role`,
    [email],
  );
}

/** Revokes the open invitations an account has made. */
export async function revokeInvitationsBy(tx: Queryable, userId: number): Promise<EndedInvitation[]> {
  return tx.query<EndedInvitation>(
    `UPDATE invitations SET revoked_at = now()
     WHERE invited_by = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now()
     RETURNING id, organisation_id, email, role`,
    [userId],
  );
}

/** Revokes the open invitations made by the user of this address that they could no longer make. */
export async function revokeInvitationsBeyondRights(
  tx: Queryable,
  email: string,
): Promise<EndedInvitation[]> {
  return tx.query<EndedInvitation>(
    `UPDATE invitations i SET revoked_at = now()
     WHERE i.invited_by IN (SELECT id FROM users WHERE email = $1)
       AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now() AND NOT invitation_stands(i)
     RETURNING i.id, i.organisation_id, i.email, i.role`,
    [email],
  );
}

/** An invitation that can be accepted now. */
export interface OpenInvitation {
  readonly id: number;
  readonly organisation_id: number;
  readonly organisation: string;
  readonly email: string | null;
  readonly role: Role;
  readonly proves_address: boolean;
  readonly expires_at: Date;
}

/** The open invitation with this token, locked until the transaction ends. `tx` must see all organisations. */
export async function lockOpenInvitation(
  tx: Queryable,
  tokenHash: Buffer,
): Promise<OpenInvitation | undefined> {
  const [row] = await tx.query<OpenInvitation>(
    `SELECT i.id, i.organisation_id, o.name AS organisation, i.email, i.role, i.proves_address, i.expires_at
     FROM invitations i JOIN organisations o ON o.id = i.organisation_id
     WHERE i.token_hash = $1 AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()
       AND invitation_stands(i)
     FOR UPDATE OF i`,
    [tokenHash],
  );
  return row;
}

/** Open invitations for exactly this address, locked until the transaction ends. `tx` must see all organisations. */
export async function lockOpenInvitationsFor(tx: Queryable, email: string): Promise<OpenInvitation[]> {
  return tx.query<OpenInvitation>(
    `SELECT i.id, i.organisation_id, o.name AS organisation, i.email, i.role, i.proves_address, i.expires_at
     FROM invitations i JOIN organisations o ON o.id = i.organisation_id
     WHERE i.email = $1 AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()
       AND invitation_stands(i)
     ORDER BY i.id FOR UPDATE OF i`,
    [email],
  );
}

/** Marks a locked invitation as accepted. */
export async function markAccepted(tx: Queryable, id: number, userId: number): Promise<void> {
  await tx.query('UPDATE invitations SET accepted_at = now(), accepted_by = $2 WHERE id = $1', [id, userId]);
}

/** Deletes invitations that haven't been acceptable for this many days. */
export async function pruneInvitations(tx: Queryable, days: number, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM invitations WHERE id IN (
       SELECT id FROM invitations WHERE expires_at < now() - $1::double precision * interval '1 day'
       ORDER BY expires_at LIMIT $2) RETURNING id`,
    [days, limit],
  );
  return rows.length;
}
