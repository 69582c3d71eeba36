import type { Member } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { notFound } from '@millrace/errors/errors';
import { invitationUrl } from '@millrace/identity/invitations/making';
import { findMemberItem, listMembersBelow, type MemberItemRow } from '@millrace/identity/members/pages';
import { refuseAboveOwn, refuseLastAdmin } from '@millrace/identity/members/rules';
import { removeMember, setMemberRole } from '@millrace/identity/members/store';
import { toAdminError } from '@millrace/identity/values/account-error';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../http/app-deps.ts';
import { pathId } from '../../http/ids.ts';
import { originOf } from '../../http/origin.ts';
import { createCursors } from '../../http/pagination.ts';
import { toAdminPage } from '../http/list.ts';
import { actorOf, adminRoute } from '../http/route.ts';

/** Members of an organisation and their roles. */
export function memberRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const cursors = createCursors(db);

  adminRoute(app, deps, 'GET /orgs/:org/members', async ({ organisation: { id }, query }) =>
    toAdminPage(cursors, { organisationId: id, endpoint: 'GET members', filters: {} }, query, {
      read: (belowId, limit) => db.forOrganisation(id, (tx) => listMembersBelow(tx, id, belowId, limit)),
      present,
    }),
  );

  adminRoute(app, deps, 'PATCH /orgs/:org/members/:member', async (call) => {
    const { organisation, session, body } = call;
    const member = await requireMemberItem(db, organisation.id, call.params.member);
    refuseAboveOwn(organisation, body.role);
    const given = await setMemberRole(db, organisation.id, member.email, body.role, actorOf(session), {
      ...originOf(call.request),
      isVouchedFor: session.isSystemAdmin,
      check: async (tx, before) => {
        refuseAboveOwn(organisation, before.role);
        await refuseLastAdmin(tx, before, body.role);
      },
    }).catch((error: unknown) => {
      throw toAdminError(error, '/role');
    });
    return given.kind === 'member'
      ? { member: present({ ...member, role: given.row.role }), invitation_url: null }
      : { member: present(member), invitation_url: invitationUrl(config.publicUrl, given.invitation) };
  });

  adminRoute(app, deps, 'POST /orgs/:org/leave', async ({ organisation, session, request }) => {
    if (organisation.memberId === null) throw notFound('member');
    await removeMember(db, organisation.id, session.email, actorOf(session), {
      ...originOf(request),
      check: (tx, before) => refuseLastAdmin(tx, before, null),
    }).catch((error: unknown) => {
      throw toAdminError(error, '');
    });
    return undefined;
  });

  adminRoute(app, deps, 'DELETE /orgs/:org/members/:member', async (call) => {
    const { organisation, session } = call;
    const member = await requireMemberItem(db, organisation.id, call.params.member);
    await removeMember(db, organisation.id, member.email, actorOf(session), {
      ...originOf(call.request),
      check: async (tx, before) => {
        refuseAboveOwn(organisation, before.role);
        await refuseLastAdmin(tx, before, null);
      },
    }).catch((error: unknown) => {
      throw toAdminError(error, '');
    });
    return undefined;
  });
}

async function requireMemberItem(db: Queryable, organisationId: number, id: string): Promise<MemberItemRow> {
  const row = await findMemberItem(db, organisationId, pathId(id, 'member'));
  if (row === undefined) throw notFound('member');
  return row;
}

function present(row: MemberItemRow): Member {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    is_address_proved: row.is_address_proved,
    has_second_factor: row.has_second_factor,
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}
