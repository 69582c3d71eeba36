import { originOf } from '@millrace/http/origin';
import {
  createAccountByInvitation,
  joinByInvitation,
  refuseMember,
  refuseOtherAddress,
  requireOpenInvitation,
  takesOver,
} from '@millrace/identity/accounts/accept';
import { lockAddress, proveOwnAddress } from '@millrace/identity/addresses/proof';
import { hashToken } from '@millrace/identity/sessions/tokens';
import { refuseWeakPassword } from '@millrace/identity/users/password-rules';
import { hashPassword } from '@millrace/identity/users/passwords';
import { findUserByEmail, getUser } from '@millrace/identity/users/store';
import { checkEmail } from '@millrace/identity/values/email';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import type { Devices } from '../sessions/devices.ts';
import { enter } from '../sessions/enter.ts';

/** Opening and accepting an invitation link. */
export function acceptRoutes(app: FastifyInstance, deps: AppDeps, devices: Devices): void {
  const { db } = deps;

  adminRoute(app, deps, 'POST /invitation/look-up', async ({ body }) =>
    db.transaction(async (tx) => {
      const invitation = await requireOpenInvitation(tx, hashToken(body.token));
      const { organisation, role, email, expires_at: expiresAt } = invitation;
      const account = email === null ? undefined : await findUserByEmail(tx, email);
      return {
        organisation,
        role,
        email,
        expires_at: expiresAt.toISOString(),
        has_account: email === null ? null : account !== undefined,
        takes_over: takesOver(invitation, account),
      };
    }),
  );

  adminRoute(app, deps, 'POST /invitation/accept', async ({ body, request, reply }) => {
    const [tokenHash, email, name] = [hashToken(body.token), checkEmail(body.email), body.name.trim()];
    // Before any expensive computation, so that callers without a link learn nothing else.
    refuseOtherAddress(await db.transaction((tx) => requireOpenInvitation(tx, tokenHash)), email);
    await refuseWeakPassword(body.password, { email, name }, '/password');
    const passwordHash = await hashPassword(body.password);
    const user = await db.transaction(async (tx) => {
      await lockAddress(tx, email);
      const invitation = await requireOpenInvitation(tx, tokenHash);
      const id = await createAccountByInvitation(
        tx,
        invitation,
        { email, name, passwordHash },
        originOf(request),
      );
      await joinByInvitation(db, tx, invitation, { id, email }, originOf(request));
      return { id, email };
    });
    await enter(deps, devices, request, reply, user, 'invitation');
  });

  adminRoute(app, deps, 'POST /invitation/join', async ({ body, session, request }) =>
    db.transaction(async (tx) => {
      await lockAddress(tx, session.email);
      const invitation = await requireOpenInvitation(tx, hashToken(body.token));
      refuseOtherAddress(invitation, session.email);
      const user = await getUser(tx, session.userId);
      // A signed-in user already has the account; the link proves that the address is theirs.
      if (takesOver(invitation, user)) await proveOwnAddress(tx, user, originOf(request));
      else await refuseMember(tx, invitation, session.email);
      await joinByInvitation(db, tx, invitation, user, originOf(request));
      return { organisation_id: invitation.organisation_id };
    }),
  );
}
