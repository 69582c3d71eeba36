import { isAtLeast } from '@millrace/admin-api';
import {
  beginConnection,
  type ConnectDeps,
  type Connecting,
  claimConnection,
  finishConnection,
  OAUTH_CALLBACK,
  STATE_FORM,
} from '@millrace/credentials/oauth/connect';
import { TokenError } from '@millrace/egress/token-endpoint';
import { ApiError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { describeError } from '@millrace/http/logging';
import { originOf } from '@millrace/http/origin';
import { applyRateLimit, createRateLimiter } from '@millrace/http/rate-limit';
import type { Session } from '@millrace/identity/sessions/session';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { createSessionEntry } from '../http/session.ts';

/** Passed to the credentials page in its query. */
type Problem = 'refused' | 'rejected' | 'unavailable' | 'failed';

/** Per organisation: each leaves a row until it is used or forgotten. */
const STARTS_PER_MINUTE = 60;

/** The redirect URI to register with a provider. */
export function redirectUriOf({ publicUrl }: Pick<AppDeps['config'], 'publicUrl'>): string {
  return `${publicUrl}${OAUTH_CALLBACK}`;
}

/**
 * Connecting credentials: a person approves at the provider and comes back with a code.
 * @param refuse turns errors of decryption into those of the API
 */
export function connectionRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  refuse: (error: unknown) => never,
): void {
  const { config, db, secretKeys: keys, egress } = deps;
  const connectDeps: ConnectDeps = { db, keys, egress, redirectUri: redirectUriOf(config) };
  const limiter = createRateLimiter(STARTS_PER_MINUTE);

  adminRoute(
    app,
    deps,
    'POST /orgs/:org/credentials/:credential/connection',
    async ({ session, organisation: { id }, params, reply }) => {
      applyRateLimit(limiter, 'credential-connections', String(id), reply);
      const credentialId = pathId(params.credential, 'credential');
      const connecting = { organisationId: id, credentialId, sessionId: session.id };
      const url = await beginConnection(connectDeps, connecting).catch(refuse);
      return { authorization_url: url.href };
    },
  );

  const requireSession = createSessionEntry(db, config);
  const page = { config: { public: true, produces: ['*/*'] }, schema: { hide: true } } as const;

  // By nature a navigation from another site; the state, which only this session can use, shows that the person started here.
  app.get(OAUTH_CALLBACK, page, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const returned = new URL(connectDeps.redirectUri);
    returned.search = new URL(request.originalUrl, config.publicUrl).search;
    const found = await findConnecting(request, returned);
    if (found === null) return reply.redirect(`${config.publicUrl}/?connection=stale`);
    const { connecting, session } = found;
    const problem = await finish(connecting, returned, session, request);
    const result = problem === null ? 'connected' : problem;
    const query = `connection=${result}&credential=${connecting.credentialId}`;
    return reply.redirect(`${config.publicUrl}/o/${connecting.organisationId}/credentials?${query}`);
  });

  /** Null if it wasn't started here, or too long ago. */
  async function findConnecting(
    request: FastifyRequest,
    returned: URL,
  ): Promise<{ readonly connecting: Connecting; readonly session: Session } | null> {
    const state = returned.searchParams.get('state') ?? '';
    if (!STATE_FORM.test(state)) return null;
    const signedIn = await requireSession(request, { countsAsUse: true }).catch(ifSignedOut);
    if (signedIn === null) return null;
    const connecting = await claimConnection(connectDeps, signedIn.id, state);
    if (connecting === undefined) return null;
    const { organisationId } = connecting;
    // Roles may have changed meanwhile.
    const session = await requireSession(request, { countsAsUse: false, organisationId }).catch(ifSignedOut);
    const role = session?.organisation?.role;
    return session !== null && role !== undefined && isAtLeast(role, 'editor')
      ? { connecting, session }
      : null;
  }

  async function finish(
    connecting: Connecting,
    returned: URL,
    { userId, organisation }: Session,
    request: FastifyRequest,
  ): Promise<Problem | null> {
    const memberId = organisation?.memberId ?? null;
    try {
      const by = { actor: 'user', userId, memberId, ...originOf(request) } as const;
      await finishConnection(connectDeps, connecting, returned, by);
      return null;
    } catch (error) {
      const problem = problemOf(error, returned);
      request.log.warn(
        { err: describeError(error), problem, credential_id: connecting.credentialId },
        'connection refused',
      );
      return problem;
    }
  }
}

/** Signed out, no longer a member, or too many made-up cookies: there is nothing to connect. */
function ifSignedOut(error: unknown): null {
  if (error instanceof ApiError) return null;
  throw error;
}

function problemOf(error: unknown, returned: URL): Problem {
  if (returned.searchParams.get('error') === 'access_denied') return 'refused';
  if (error instanceof TokenError) return error.kind === 'unavailable' ? 'unavailable' : 'rejected';
  return 'failed';
}
