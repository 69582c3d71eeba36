import type { Invitation } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { notFound } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { insertAudit } from '@millrace/identity/audit/store';
import { invitationUrl, makeInvitation } from '@millrace/identity/invitations/making';
import { type InvitationRow, listInvitations, revokeInvitation } from '@millrace/identity/invitations/store';
import { refuseAboveOwn } from '@millrace/identity/members/rules';
import { checkEmail } from '@millrace/identity/values/email';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { adminRoute } from '../http/route.ts';

/** Invitations of an organisation: links that make their recipient a member. */
export function invitationRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /orgs/:org/invitations', (call) =>
    readPage(call, {
      read: (belowId, limit) => listInvitations(db, call.organisation.id, { belowId, limit }),
      present,
    }),
  );

  adminRoute(app, deps, 'POST /orgs/:org/invitations', async (call) => {
    const { organisation, session, actor, body } = call;
    refuseAboveOwn(organisation, body.role);
    const email = body.email === undefined ? null : checkEmail(body.email);
    const wish = {
      organisationId: organisation.id,
      email,
      role: body.role,
      isVouchedFor: session.isSystemAdmin,
    };
    const { made, row } = await db.transaction(async (tx) => {
      const made = await makeInvitation(tx, wish, actor);
      return { made, row: await getInvitation(tx, organisation.id, made.id) };
    });
    return { invitation: present(row), url: invitationUrl(config.publicUrl, made) };
  });

  adminRoute(app, deps, 'DELETE /orgs/:org/invitations/:invitation', async (call) => {
    const { organisation, actor } = call;
    const id = pathId(call.params.invitation, 'invitation');
    await db.forOrganisation(organisation.id, async (tx) => {
      const row = await revokeInvitation(tx, organisation.id, id);
      if (row === undefined) throw notFound('invitation');
      await insertAudit(tx, {
        organisationId: organisation.id,
        action: 'invitation.revoked',
        by: actor,
        details: { invitation_id: id, role: row.role, email: row.email },
      });
    });
  });
}

async function getInvitation(tx: Queryable, organisationId: number, id: number): Promise<InvitationRow> {
  const [row] = await listInvitations(tx, organisationId, { id, limit: 1 });
  if (row === undefined) throw new Error(`invitation ${id} is gone although it was just made`);
  return row;
}

function present(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    state: row.state,
    invited_by: row.invited_by_email,
    is_by_operator: row.by_operator,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}
