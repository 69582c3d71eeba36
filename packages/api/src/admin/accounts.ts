import { originOf } from '@millrace/http/origin';
import { listUserOrganisations } from '@millrace/identity/sessions/store';
import { auditUser } from '@millrace/identity/users/audit';
import {
  getPreferences,
  hasUser,
  setLanguage,
  setShowsFirstSteps,
  setUserName,
} from '@millrace/identity/users/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../app-deps.ts';
import { SERVICE_VERSION } from '../version.ts';
import { adminRoute } from './http/route.ts';
import { acceptRoutes } from './invitations/accept-routes.ts';
import { invitationRoutes } from './invitations/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { organisationRoutes } from './organisations/routes.ts';
import { createDevices } from './sessions/devices.ts';
import { createProofs } from './sessions/proofs.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { setupRoutes } from './setup/routes.ts';
import { singleSignOnRoutes } from './single-sign-on/routes.ts';
import { passwordRoutes } from './users/password-routes.ts';
import { userRoutes } from './users/routes.ts';
import { secondFactorRoutes } from './users/second-factor-routes.ts';

/** Accounts, sign-in and membership. */
export function accountRoutes(app: FastifyInstance, deps: AppDeps): void {
  const devices = createDevices(deps.db, deps.config);
  const proofs = createProofs(deps, devices);
  meRoutes(app, deps);
  sessionRoutes(app, deps, devices, proofs);
  passwordRoutes(app, deps, proofs);
  secondFactorRoutes(app, deps, proofs);
  setupRoutes(app, deps, devices);
  singleSignOnRoutes(app, deps, devices);
  acceptRoutes(app, deps, devices);
  organisationRoutes(app, deps);
  memberRoutes(app, deps);
  invitationRoutes(app, deps);
  userRoutes(app, deps);
}

function meRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;

  adminRoute(app, deps, 'GET /state', async () => ({
    needs_setup: !(await hasUser(db)),
    single_sign_on: config.singleSignOn?.name ?? null,
    version: SERVICE_VERSION,
  }));

  adminRoute(app, deps, 'GET /me', async ({ session }) => ({
    user: {
      id: session.userId,
      email: session.email,
      name: session.name,
      is_system_admin: session.isSystemAdmin,
      has_password: session.hasPassword,
      has_second_factor: session.hasSecondFactor,
      ...(await getPreferences(db, session.userId)),
    },
    organisations: await listUserOrganisations(db, session.email, session.isSystemAdmin),
    session: {
      id: session.id,
      created_at: session.createdAt.toISOString(),
      expires_at: session.expiresAt.toISOString(),
    },
  }));

  // Display preferences, so not audited.
  adminRoute(app, deps, 'PUT /me/language', async ({ session, body }) => {
    await setLanguage(db, session.userId, body.language);
  });
  adminRoute(app, deps, 'PUT /me/first-steps', async ({ session, body }) => {
    await setShowsFirstSteps(db, session.userId, body.shown);
  });

  adminRoute(app, deps, 'PATCH /me', async ({ session, body, request }) => {
    const name = body.name.trim();
    const user = { id: session.userId, email: session.email };
    await db.transaction(async (tx) => {
      await setUserName(tx, user.id, name);
      const details = { before: session.name, name };
      await auditUser(tx, user, { action: 'user.renamed', ...originOf(request), details });
    });
  });
}
