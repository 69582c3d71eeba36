import { originOf } from '@millrace/http/origin';
import { hashToken } from '@millrace/identity/sessions/tokens';
import { createFirstAccount, requireSetupLink } from '@millrace/identity/setup/setup';
import { refuseWeakPassword } from '@millrace/identity/users/password-rules';
import { hashPassword } from '@millrace/identity/users/passwords';
import { checkEmail } from '@millrace/identity/values/email';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import type { Devices } from '../sessions/devices.ts';
import { enter } from '../sessions/enter.ts';

/** The first account, created with the link that the operator gets while there is none. */
export function setupRoutes(app: FastifyInstance, deps: AppDeps, devices: Devices): void {
  adminRoute(app, deps, 'POST /setup', async ({ body, request, reply }) => {
    const [tokenHash, name] = [hashToken(body.token), body.name.trim()];
    // Before any expensive computation, so that callers without a link learn nothing else.
    await requireSetupLink(deps.db, tokenHash);
    const email = checkEmail(body.email);
    await refuseWeakPassword(body.password, { email, name }, '/password');
    const account = { email, name, passwordHash: await hashPassword(body.password) };
    const id = await createFirstAccount(deps.db, tokenHash, account, originOf(request));
    await enter(deps, devices, request, reply, { id, email }, 'set_up');
  });
}
