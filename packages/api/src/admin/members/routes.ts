import type { Member } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { notFound } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { invitationUrl } from '@millrace/identity/invitations/making';
import { findMemberItem, listMembersBelow, type MemberItemRow } from '@millrace/identity/members/pages';
import { refuseAboveOwn, refuseLastAdmin } from '@millrace/identity/members/rules';
import { removeMember, setMemberRole } from '@millrace/identity/members/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { adminRoute } from '../http/route.ts';

/** Members of an organisation and their roles. */
export function memberRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /orgs/:org/members', (call) => {
    const { id } = call.organisation;
    return readPage(call, {
      read: (belowId, limit) => db.forOrganisation(id, (tx) => listMembersBelow(tx, id, belowId, limit)),
      present,
    });
  });

  adminRoute(app, deps, 'PATCH /orgs/:org/members/:member', async (call) => {
    const { organisation, session, actor, body } = call;
    const member = await requireMemberItem(db, organisation.id, call.params.member);
    refuseAboveOwn(organisation, body.role);
    const given = await setMemberRole(db, organisation.id, member.email, body.role, actor, {
      isVouchedFor: session.isSystemAdmin,
      check: async (tx, before) => {
        refuseAboveOwn(organisation, before.role);
        await refuseLastAdmin(tx, before, body.role);
      },
    });
    return given.kind === 'member'
      ? { member: present({ ...member, role: given.row.role }), invitation_url: null }
      : { member: present(member), invitation_url: invitationUrl(config.publicUrl, given.invitation) };
  });

  adminRoute(app, deps, 'POST /orgs/:org/leave', async ({ organisation, session, actor }) => {
    if (organisation.memberId === null) throw notFound('member');
    await removeMember(db, organisation.id, session.email, actor, {
      check: (tx, before) => refuseLastAdmin(tx, before, null),
    });
  });

  adminRoute(app, deps, 'DELETE /orgs/:org/members/:member', async (call) => {
    const { organisation, actor } = call;
    const member = await requireMemberItem(db, organisation.id, call.params.member);
    await removeMember(db, organisation.id, member.email, actor, {
      check: async (tx, before) => {
        refuseAboveOwn(organisation, before.role);
        await refuseLastAdmin(tx, before, null);
      },
    });
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
