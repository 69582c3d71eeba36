import type { Queryable } from '@millrace/database/database';
import { ApiError, notFound } from '@millrace/errors/errors';
import { createAttemptLimit } from '@millrace/http/attempt-limit';
import { pathId } from '@millrace/http/ids';
import { sourceOf } from '@millrace/http/rate-limit';
import type { Membership, Session } from '@millrace/identity/sessions/session';
import {
  deleteSessionOfToken,
  findSession,
  insertSession,
  type SessionRow,
} from '@millrace/identity/sessions/store';
import {
  createTokenCheck,
  hashToken,
  makeSessionToken,
  TOKEN_FORM,
} from '@millrace/identity/sessions/tokens';
import { message } from '@millrace/messages';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiSettings } from '../../settings.ts';
import { cookieName, formatCookie, readCookie } from './cookies.ts';

/** Starts a session and sends its cookie: always a new token, to prevent session fixation. The browser's previous session ends. */
export async function beginSession(
  db: Queryable,
  config: ApiSettings,
  request: FastifyRequest,
  reply: FastifyReply,
  userId: number,
): Promise<number> {
  const before = readToken(config, request);
  if (before !== null) await deleteSessionOfToken(db, hashToken(before));
  const token = await makeSessionToken(db);
  const id = await insertSession(db, {
    userId,
    tokenHash: hashToken(token),
    lifetimeMs: config.sessions.lifetimeMs,
    sourceIp: request.ip,
    userAgent: request.headers['user-agent'] ?? '',
  });
  const maxAge = Math.floor(config.sessions.lifetimeMs / 1000);
  reply.header('set-cookie', formatCookie(config, cookieName(config, 'session'), token, maxAge));
  return id;
}

function readToken(config: ApiSettings, request: FastifyRequest): string | null {
  return readCookie(request, cookieName(config, 'session'), TOKEN_FORM);
}

/** Makes the browser delete the cookie. */
export function clearCookie(config: ApiSettings, reply: FastifyReply): void {
  reply.header('set-cookie', formatCookie(config, cookieName(config, 'session'), '', 0));
}

/**
 * The session of a request, with the role in the organisation named by its path.
 * @throws ApiError `signed_out` (401); `not_found` if the organisation doesn't exist or the user isn't a member;
 * `too_many_failed_authentications` (429) for made-up tokens
 */
export type RequireSession = (
  request: FastifyRequest,
  options: {
    readonly countsAsUse: boolean;
    /** Default: the one in the path, if there is one. */
    readonly organisationId?: number;
  },
) => Promise<Session>;

export function createSessionEntry(db: Queryable, config: ApiSettings): RequireSession {
  const isOurs = createTokenCheck(db);
  // Separate from the limit on sign-ins: sharing an address with someone who guesses must not prevent signing in.
  const madeUp = createAttemptLimit(config.limits.failedAuthPerMinutePerIp);

  return async (request, { countsAsUse, organisationId: given }) => {
    const token = readToken(config, request);
    if (token === null) throw signedOut();
    if (!(await isOurs(token))) {
      madeUp.begin(sourceOf(request.ip));
      throw signedOut();
    }
    const { org } = request.params as { readonly org?: string };
    const organisationId = given ?? (org === undefined ? null : pathId(org, 'organisation'));
    const { idleMs } = config.sessions;
    const row = await findSession(db, { tokenHash: hashToken(token), organisationId, idleMs, countsAsUse });
    if (row === undefined) throw signedOut();
    return toSession(row, organisationId);
  };
}

function toSession(row: SessionRow, organisationId: number | null): Session {
  return {
    id: row.id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    userId: row.user_id,
    email: row.email,
    name: row.name,
    hasPassword: row.has_password,
    hasSecondFactor: row.has_second_factor,
    isSystemAdmin: row.is_system_admin,
    organisation: organisationId === null ? null : toMembership(row, organisationId),
  };
}

function toMembership(row: SessionRow, id: number): Membership {
  const role = row.is_system_admin ? 'system_admin' : row.role;
  // Non-members must not learn that it exists.
  if (role === null || !row.organisation_exists) throw notFound('organisation');
  return { id, role, memberId: row.member_id };
}

function signedOut(): ApiError {
  return new ApiError('signed_out', message('api.admin_signed_out'));
}
