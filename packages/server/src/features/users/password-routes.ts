import type { FastifyInstance } from 'fastify';
import { validationError } from '../../errors.ts';
import { originOf } from '../../http/admin/origin.ts';
import { adminRoute } from '../../http/admin/route.ts';
import { beginSession } from '../../http/admin/session.ts';
import type { AppDeps } from '../../http/app-deps.ts';
import type { Proofs } from '../sessions/proofs.ts';
import { deleteSessions } from '../sessions/store.ts';
import { auditUser } from './audit.ts';
import { refuseSamePassword, refuseWeakPassword } from './password-rules.ts';
import { hashPassword } from './passwords.ts';
import { replacePasswordHash } from './store.ts';

/** The own password. */
export function passwordRoutes(app: FastifyInstance, deps: AppDeps, proofs: Proofs): void {
  const { db, config } = deps;

  adminRoute(app, deps, 'PUT /me/password', async ({ session, body, request, reply }) => {
    const { current_password: password, new_password: next } = body;
    const user = await proofs.confirm(request, session, { password }, '/current_password');
    await refuseWeakPassword(next, user, '/new_password');
    await refuseSamePassword(user.password_hash, next, '/new_password');
    const hash = await hashPassword(next);
    await db.transaction(async (tx) => {
      // Changed meanwhile, perhaps to keep out whoever asks now.
      if (!(await replacePasswordHash(tx, user.id, user.password_hash, hash))) {
        throw validationError([
          { pointer: '/current_password', code: 'wrong_password', message: 'is not your password' },
        ]);
      }
      await deleteSessions(tx, user.id, null);
      await auditUser(tx, user, { action: 'user.password_changed', ...originOf(request) });
      await beginSession(tx, config, request, reply, user.id);
    });
    return undefined;
  });
}
