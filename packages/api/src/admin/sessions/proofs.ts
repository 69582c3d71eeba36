import type { Queryable } from '@millrace/database/database';
import { ApiError, validationError } from '@millrace/errors/errors';
import { createAttemptLimit, MINUTE_MS } from '@millrace/http/attempt-limit';
import { originOf } from '@millrace/http/origin';
import { sourceOf } from '@millrace/http/rate-limit';
import type { Session } from '@millrace/identity/sessions/session';
import { auditUser } from '@millrace/identity/users/audit';
import { hashPassword, isPassword, needsRehash } from '@millrace/identity/users/passwords';
import { takeCode } from '@millrace/identity/users/second-factor';
import {
  findUserByEmail,
  getUser,
  lockProof,
  replacePasswordHash,
  type UserRow,
} from '@millrace/identity/users/store';
import { normaliseEmail } from '@millrace/identity/values/email';
import { message } from '@millrace/messages';
import type { FastifyRequest } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import type { Devices } from './devices.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly code?: string;
}

export type Proofs = ReturnType<typeof createProofs>;

/**
 * Authentication with limits against guessing.
 * @param devices knows in which browsers a user has signed in before
 */
export function createProofs({ db, config, secretKeys }: AppDeps, devices: Devices) {
  /** Per address, for unknown browsers: sharing an address with someone who guesses must not prevent signing in from a known one. */
  const perSource = createAttemptLimit(config.limits.failedAuthPerMinutePerIp);
  /** Per account and browser, or per account and address if the browser is unknown. */
  const perBrowser = createAttemptLimit(10, 5 * MINUTE_MS);
  /** Per account, for all unknown browsers together. */
  const perAccount = createAttemptLimit(50, 5 * MINUTE_MS);
  /** Anyone who gets here knows the password, and a code has only six digits. */
  const perCode = createAttemptLimit(5, 15 * MINUTE_MS);

  /** Counts an attempt against every limit that applies; the returned function undoes it. */
  async function countSignIn(request: FastifyRequest, email: string, user: UserRow | undefined) {
    const source = sourceOf(request.ip);
    const device = user === undefined ? null : await devices.nameFor(request, user.id);
    const undo = device === null ? [perSource.begin(source)] : [];
    undo.push(perBrowser.begin(device === null ? `${email} from ${source}` : `browser ${device}`));
    if (device === null) undo.push(perAccount.begin(email));
    const takeBack = (): void => {
      for (const step of undo) step();
    };
    return { device, takeBack };
  }

  async function checkCode(
    request: FastifyRequest,
    user: UserRow,
    text: string,
    name: string,
  ): Promise<boolean> {
    const takeBack = perCode.begin(name);
    const kind = await takeCode(db, secretKeys, user, text);
    if (kind === null) return false;
    takeBack();
    if (kind === 'recovery_code')
      await auditUser(db, user, { action: 'user.recovery_code_used', ...originOf(request) });
    return true;
  }

  return {
    /**
     * The account of these credentials. Callers that create a session must also call `requireUnchanged`.
     * @throws ApiError `invalid_credentials`, `second_factor_required`, `invalid_second_factor`, `too_many_failed_authentications`
     */
    async signIn(request: FastifyRequest, { email: text, password, code }: Credentials): Promise<UserRow> {
      const email = normaliseEmail(text);
      const user = await findUserByEmail(db, email);
      const { device, takeBack } = await countSignIn(request, email, user);
      const isRight = await isPassword(user?.password_hash ?? null, password);
      if (user === undefined || !isRight) {
        if (user !== undefined) await auditFailure(db, user, request, 'password');
        throw invalidCredentials();
      }
      if (user.totp_confirmed_at !== null) {
        if (code === undefined) {
          takeBack();
          throw new ApiError('second_factor_required', message('api.second_factor_required'));
        }
        if (!(await checkCode(request, user, code, device ?? `user ${user.id}`))) {
          await auditFailure(db, user, request, 'second_factor');
          throw new ApiError('invalid_second_factor', message('api.second_factor_wrong'));
        }
      }
      takeBack();
      return rehash(db, user, password);
    },

    /**
     * Refuses an account whose password was changed or which got a second factor since it was checked: checking takes time, and changing the
     * password ended the sessions that existed then.
     * @throws ApiError `invalid_credentials`
     */
    async requireUnchanged(tx: Queryable, user: UserRow): Promise<void> {
      if (!(await lockProof(tx, user))) throw invalidCredentials();
    },

    /**
     * Asks a signed-in user for the password again, and for a code if `code` is given.
     * @param pointer of the password in the body
     * @throws ApiError `no_password`, 422 for wrong values, `too_many_failed_authentications`
     */
    async confirm(
      request: FastifyRequest,
      { userId }: Session,
      { password, code }: Omit<Credentials, 'email'>,
      pointer = '/password',
    ): Promise<UserRow> {
      const user = await getUser(db, userId);
      if (user.password_hash === null) {
        throw new ApiError('no_password', message('api.no_password'));
      }
      const takeBack = perBrowser.begin(`signed in as ${userId}`);
      if (!(await isPassword(user.password_hash, password))) {
        throw validationError([{ pointer, code: 'wrong_password', message: message('api.password_wrong') }]);
      }
      takeBack();
      if (code !== undefined && !(await checkCode(request, user, code, `signed in as ${userId}`))) {
        throw validationError([{ pointer: '/code', code: 'wrong_code', message: message('api.code_wrong') }]);
      }
      return user;
    },
  };
}

function auditFailure(db: Queryable, user: UserRow, request: FastifyRequest, wrong: string): Promise<void> {
  const details = { wrong };
  return auditUser(db, user, {
    action: 'user.sign_in_failed',
    actor: 'service',
    ...originOf(request),
    details,
  });
}

/** The account with its current hash. */
async function rehash(db: Queryable, user: UserRow, password: string): Promise<UserRow> {
  if (user.password_hash === null || !needsRehash(user.password_hash)) return user;
  const hash = await hashPassword(password);
  if (await replacePasswordHash(db, user.id, user.password_hash, hash))
    return { ...user, password_hash: hash };
  // A concurrent sign-in has replaced it, or the password was changed.
  const { password_hash: present } = await getUser(db, user.id);
  return (await isPassword(present, password)) ? { ...user, password_hash: present } : user;
}

function invalidCredentials(): ApiError {
  return new ApiError('invalid_credentials', message('api.sign_in_wrong'));
}
