import { type Static, Type } from 'typebox';
import { Email } from './accounts.ts';
import type { Endpoints } from './endpoint.ts';
import { Closed, Id, Nullable, PageOf, pageQuery, RoleName, Timestamp } from './forms.ts';

/** A member of an organisation. */
export const Member = Closed({
  id: Id,
  email: Type.String(),
  /** Null while there is no account with this address. */
  name: Nullable(Type.String()),
  role: RoleName,
  /** False: an account was created with the address, but nobody has proved that it is theirs. */
  is_address_proved: Type.Boolean(),
  has_second_factor: Type.Boolean(),
  /** Last use of one of their current sessions. */
  last_seen_at: Nullable(Timestamp),
  created_at: Timestamp,
});
export type Member = Static<typeof Member>;

export const INVITATION_STATES = ['open', 'accepted', 'revoked', 'expired'] as const;
export type InvitationState = (typeof INVITATION_STATES)[number];

/** A link that makes the person who opens it a member. */
export const Invitation = Closed({
  id: Id,
  /** The intended recipient; null: anyone with the link. */
  email: Nullable(Type.String()),
  role: RoleName,
  state: Type.Enum([...INVITATION_STATES], { type: 'string' }),
  /** E-mail address of the inviter; null for the operator. */
  invited_by: Nullable(Type.String()),
  is_by_operator: Type.Boolean(),
  created_at: Timestamp,
  expires_at: Timestamp,
  /** When it was accepted or revoked. */
  ended_at: Nullable(Timestamp),
});
export type Invitation = Static<typeof Invitation>;

export const Organisation = Closed({ id: Id, name: Type.String(), created_at: Timestamp });
export type Organisation = Static<typeof Organisation>;

/** Someone who can sign in, whatever their memberships. */
export const Account = Closed({
  id: Id,
  email: Type.String(),
  name: Type.String(),
  /** False: nobody has proved that the address is theirs. */
  is_address_proved: Type.Boolean(),
  /** False: only single sign-on. */
  has_password: Type.Boolean(),
  has_second_factor: Type.Boolean(),
  /** Last use of one of their current sessions. */
  last_seen_at: Nullable(Timestamp),
  created_at: Timestamp,
  /** By name; 100 at most. */
  organisations: Type.Array(Closed({ id: Id, name: Type.String(), role: RoleName })),
});
export type Account = Static<typeof Account>;

const OrganisationName = Type.Unsafe<string>({ type: 'string', 'x-name': [1, 255] });

export const PEOPLE_ENDPOINTS = {
  'GET /organisations': {
    access: 'system_admin',
    summary: 'All organisations',
    query: Closed(pageQuery),
    response: PageOf(Organisation),
  },
  'POST /organisations': {
    access: 'system_admin',
    summary: 'Create an organisation',
    body: Closed({ name: OrganisationName }),
    response: Organisation,
  },
  'PATCH /orgs/:org': {
    access: 'org_admin',
    summary: 'Rename the organisation',
    body: Closed({ name: OrganisationName }),
    response: Organisation,
  },
  'GET /users': {
    access: 'system_admin',
    summary: 'All accounts, newest first',
    query: Closed({
      ...pageQuery,
      /** Part of the address or the name. */
      search: Type.Optional(Type.String({ maxLength: 254 })),
    }),
    response: PageOf(Account),
  },
  'DELETE /users/:user': {
    access: 'system_admin',
    summary: 'Remove an account: sessions and memberships end at once; what the person did stays on record',
  },
  'GET /orgs/:org/members': {
    access: 'org_admin',
    summary: 'Members, newest first',
    query: Closed(pageQuery),
    response: PageOf(Member),
  },
  'PATCH /orgs/:org/members/:member': {
    access: 'org_admin',
    summary:
      'Give a member another role, from their next request on. For an unproved address, a higher one becomes a pending invitation',
    body: Closed({ role: RoleName }),
    response: Closed({
      member: Member,
      /** Link of the invitation that carries the role, shown only once; null: the member already has the role. */
      invitation_url: Nullable(Type.String()),
    }),
  },
  'POST /orgs/:org/leave': {
    access: 'viewer',
    summary: 'End my membership; keys issued in it lose all rights at once',
  },
  'DELETE /orgs/:org/members/:member': {
    access: 'org_admin',
    summary: 'Remove a member; keys issued for them lose all rights at once',
  },
  'GET /orgs/:org/invitations': {
    access: 'org_admin',
    summary: 'Invitations, newest first',
    query: Closed(pageQuery),
    response: PageOf(Invitation),
  },
  'POST /orgs/:org/invitations': {
    access: 'org_admin',
    summary: 'Create an invitation; its link is shown only once',
    body: Closed({ role: RoleName, email: Type.Optional(Email) }),
    response: Closed({ invitation: Invitation, url: Type.String() }),
  },
  'DELETE /orgs/:org/invitations/:invitation': {
    access: 'org_admin',
    summary: 'Revoke an open invitation',
  },
} as const satisfies Endpoints;
