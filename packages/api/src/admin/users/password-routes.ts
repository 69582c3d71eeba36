import { validationError } from '@millrace/errors/errors';
import { originOf } from '@millrace/http/origin';
import { deleteSessions } from '@millrace/identity/sessions/store';
import { auditUser } from '@millrace/identity/users/audit';
import { refuseSamePassword, refuseWeakPassword } from '@millrace/identity/users/password-rules';
import { hashPassword } from '@millrace/identity/users/passwords';
import { replacePasswordHash } from '@millrace/identity/users/store';
import { message } from '@millrace/messages';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { beginSession } from '../http/session.ts';
import type { Proofs } from '../sessions/proofs.ts';

/** The user's own password. */
export function passwordRoutes(app: FastifyInstance, deps: AppDeps, proofs: Proofs): void {
  const { db, config } = deps;

  adminRoute(app, deps, 'PUT /me/password', async ({ session, body, request, reply }) => {
    const { current_password: password, new_password: next } = body;
    const user = await proofs.confirm(request, session, { password }, '/current_password');
    await refuseWeakPassword(next, user, '/new_password');
    await refuseSamePassword(user.password_hash, next, '/new_password');
    const hash = await hashPassword(next);
    await db.transaction(async (tx) => {
      // Changed meanwhile, perhaps to lock this very client out.
      if (!(await replacePasswordHash(tx, user.id, user.password_hash, hash))) {
        throw validationError([
          { pointer: '/current_password', code: 'wrong_password', message: message('api.password_wrong') },
        ]);
      }
      await deleteSessions(tx, user.id, null);
      await auditUser(tx, user, { action: 'user.password_changed', ...originOf(request) });
      await beginSession(tx, config, request, reply, user.id);
    });
  });
}
