import type { Queryable } from '@millrace/database/database';
import { ApiError, validationError } from '@millrace/errors/errors';
import { originOf } from '@millrace/http/origin';
import type { AuditAction } from '@millrace/identity/audit/store';
import { auditUser } from '@millrace/identity/users/audit';
import { beginEnrolment, confirmEnrolment, newRecoveryCodes } from '@millrace/identity/users/second-factor';
import { removeSecondFactor } from '@millrace/identity/users/second-factor-store';
import { getUser, type UserRow } from '@millrace/identity/users/store';
import { message } from '@millrace/messages';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import type { Proofs } from '../sessions/proofs.ts';

/** The signed-in user's second factor: an app that shows codes. */
export function secondFactorRoutes(app: FastifyInstance, deps: AppDeps, proofs: Proofs): void {
  const { db, secretKeys } = deps;

  adminRoute(app, deps, 'POST /me/second-factor', async ({ session, body, request }) => {
    const user = await proofs.confirm(request, session, body);
    return db.transaction((tx) => beginEnrolment(tx, secretKeys, user));
  });

  adminRoute(app, deps, 'POST /me/second-factor/confirm', async ({ session, body, request }) =>
    db.transaction(async (tx) => {
      const user = await getUser(tx, session.userId);
      const codes = await confirmEnrolment(tx, secretKeys, user, body.code);
      if (codes === null) {
        const fault = message('api.code_not_shown');
        throw validationError([{ pointer: '/code', code: 'wrong_code', message: fault }]);
      }
      await audit(tx, user, 'user.second_factor_on', request);
      return { recovery_codes: [...codes] };
    }),
  );

  adminRoute(app, deps, 'POST /me/second-factor/recovery-codes', async ({ session, body, request }) => {
    refuseWhenOff(session.hasSecondFactor);
    const user = await proofs.confirm(request, session, body);
    return db.transaction(async (tx) => {
      await audit(tx, user, 'user.recovery_codes_replaced', request);
      return { recovery_codes: [...(await newRecoveryCodes(tx, user.id))] };
    });
  });

  adminRoute(app, deps, 'POST /me/second-factor/off', async ({ session, body, request }) => {
    refuseWhenOff(session.hasSecondFactor);
    const user = await proofs.confirm(request, session, body);
    await db.transaction(async (tx) => {
      await removeSecondFactor(tx, user.id);
      await audit(tx, user, 'user.second_factor_off', request);
    });
  });
}

function refuseWhenOff(isOn: boolean): void {
  if (!isOn) throw new ApiError('second_factor_off', message('api.second_factor_not_on'));
}

function audit(tx: Queryable, user: UserRow, action: AuditAction, request: FastifyRequest): Promise<void> {
  return auditUser(tx, user, { action, ...originOf(request) });
}
