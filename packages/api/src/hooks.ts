import { Readable } from 'node:stream';
import { findUnsupportedCharacters, type JsonValue } from '@millrace/engine';
import { ApiError, unavailable } from '@millrace/errors/errors';
import { type Authenticator, createAuthenticator } from '@millrace/http/auth';
import { refuseContentEncoding } from '@millrace/http/body';
import { BodyBudget, reserveBody } from '@millrace/http/body-budget';
import type { Principal } from '@millrace/http/context';
import { DOCS_PATH } from '@millrace/http/docs-page';
import { usePresentIds } from '@millrace/http/former-ids';
import { readIdempotencyKey } from '@millrace/http/idempotency';
import { lingerAfterEarlyResponses } from '@millrace/http/linger';
import { describeError, logRequest, noteCause } from '@millrace/http/logging';
import { refuseUnacceptable } from '@millrace/http/negotiation';
import { addOverloadProtection, whileOverloaded } from '@millrace/http/overload';
import { type AdminPages, ASSETS_PATH } from '@millrace/http/pages';
import { sendProblem, toApiError } from '@millrace/http/problem';
import {
  applyRateLimit,
  createRateLimiter,
  RATE_LIMIT_HEADERS,
  type RateLimiter,
  sourceOf,
} from '@millrace/http/rate-limit';
import { countRefusal, countRequest } from '@millrace/http/request-meters';
import { respondToUnmatched, watchRoutes } from '@millrace/http/routing';
import { securityHeaders } from '@millrace/http/security-headers';
import { endWhenRefused, isStream } from '@millrace/http/stream';
import { addTracing } from '@millrace/http/tracing';
import { warnOfUntrustedProxy } from '@millrace/http/untrusted-proxy';
import { unsupportedCharacter } from '@millrace/http/validation';
import { message } from '@millrace/messages';
import { reportRefusal } from '@millrace/public-addresses/webhooks/refusals';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAdminEntry } from './admin/http/route.ts';
import type { AppDeps } from './app-deps.ts';

/**
 * Installs the checks of every request, in this order: 401, 403, 429, negotiation, body syntax, idempotency; then validation and the
 * handler's look-ups. Register it before any route.
 * @returns the deps of routes that are served while the service is overloaded
 */
export function addRequestHooks(app: FastifyInstance, deps: AppDeps, pages: AdminPages | null): AppDeps {
  app.decorateRequest('principal', null);
  app.decorateRequest('session', null);
  app.decorateRequest('grant', null);
  app.decorateRequest('confirmKey', async () => {});
  app.decorateRequest('idempotencyKey', null);
  app.decorateRequest('forgetSecret', null);
  app.decorateRequest('bodyRoom', null);
  app.decorateRequest('countRequests', null);
  addTracing(app, deps.tracer ?? null);
  const pressure = addOverloadProtection(app, deps);
  const urgent = { ...deps, db: whileOverloaded(pressure, deps.db, deps.reservedDb ?? deps.db) };
  addSecurityHeaders(app, deps.config.publicUrl);
  lingerAfterEarlyResponses(app);
  warnOfUntrustedProxy(app, deps.config);
  const authenticator = createAuthenticator(deps.db, deps.config.limits.failedAuthPerMinutePerIp);
  addEntryChecks(app, deps, urgent, pages, authenticator);
  // Callbacks rather than promises where nothing is awaited: a promise for each hook of each request is a large part of the cost of a start.
  app.addHook('preValidation', (request, _reply, done) => {
    // A stream is only beginning to arrive.
    if (!(request.body instanceof Readable)) request.bodyRoom?.arrived();
    const { emptyBodyIsObject, idempotent } = request.routeOptions.config;
    if (emptyBodyIsObject === true && request.body === undefined) request.body = {};
    if (idempotent === true && request.headers['idempotency-key'] !== undefined) {
      readIdempotencyKey(request).then((key) => {
        request.idempotencyKey = key;
        done();
      }, done);
    } else {
      done();
    }
  });
  app.addHook('preHandler', (request, _reply, done) => {
    try {
      refuseUnsupportedCharacters(request);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply);
    if (deps.meters !== undefined) countRequest(deps.meters, request, reply);
    done();
  });
  app.setErrorHandler(async (error, request, reply) => {
    const thrown = toApiError(error, request);
    if (thrown.code === 'database_unavailable') authenticator.forget();
    const publicError = await unlessRefused(thrown, request, reply);
    if (deps.meters !== undefined) countRefusal(deps.meters, publicError);
    reportRefusal(deps.db, request, publicError);
    return respondToError(publicError, request, reply);
  });
  return urgent;
}

function addEntryChecks(
  app: FastifyInstance,
  deps: AppDeps,
  urgent: AppDeps,
  pages: AdminPages | null,
  authenticator: Authenticator,
): void {
  const { limits } = deps.config;
  const enterAdmin = createAdminEntry(urgent);
  const perKey = createRateLimiter(limits.requestsPerMinutePerKey);
  // Separate, so that filling one with made-up callers doesn't lock out those of another.
  const perSession = createRateLimiter(limits.requestsPerMinutePerKey);
  const perAddress = createRateLimiter(limits.requestsPerMinutePerKey);
  const perOrganisation = createRateLimiter(0);
  const perWebhook = createRateLimiter(limits.requestsPerMinutePerWebhook);
  const bodies = new BodyBudget(limits.bodyBudgetBytes);
  if (deps.meters !== undefined) {
    deps.meters.bodies = () => ({ total: bodies.totalBytes, used: bodies.usedBytes });
  }
  const table = watchRoutes(app, [DOCS_PATH, ASSETS_PATH]);
  /** Requests without a session are limited by address. */
  function limitSession({ session, ip }: FastifyRequest, reply: FastifyReply): void {
    if (session === null) applyRateLimit(perAddress, 'per-session', sourceOf(ip), reply);
    else applyRateLimit(perSession, 'per-session', String(session.id), reply);
  }
  function limitKey(principal: Principal, count: number, reply: FastifyReply): void {
    limitOrganisation(perOrganisation, principal, count, reply);
    applyRateLimit(perKey, 'per-key', principal.keyId, reply, { count });
  }
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (closing) {
      reply.header('connection', 'close');
      throw unavailable('shutting_down', message('api.shutting_down'));
    }
    refuseWithoutHost(request);
    if (request.is404) return respondToUnmatched(table, pages, request, reply);
    const { scope, admin, webhook, callback, produces, sendsFile, recallsKey } = request.routeOptions.config;
    if (scope !== undefined) {
      reply.header('cache-control', 'no-store');
      const recalled = recallsKey === true ? authenticator.recall(request, scope) : null;
      const principal = recalled?.principal ?? (await authenticator.authenticate(request, scope));
      request.principal = principal;
      if (recalled !== null) {
        let confirmed: Promise<void> | undefined;
        request.grant = recalled.grant;
        request.confirmKey = () => {
          confirmed ??= authenticator.authenticate(request, scope).then((current) => {
            request.principal = current;
            if (current.requestsPerMinute !== principal.requestsPerMinute)
              limitOrganisation(perOrganisation, current, 1, reply);
          });
          return confirmed;
        };
      }
      usePresentIds(request, principal);
      limitKey(principal, 1, reply);
      request.countRequests = (count) => limitKey(principal, count, reply);
      if (isStream(produces) || sendsFile === true)
        endWhenRefused(reply, () => authenticator.recheck(principal, scope), deps.streamCheckMs);
    } else if (admin !== undefined) {
      reply.header('cache-control', 'no-store');
      request.session = await enterAdmin(admin, request);
      limitSession(request, reply);
      // A file may be long, and its reader slow.
      if (isStream(produces) || admin.file !== undefined)
        endWhenRefused(reply, () => enterAdmin(admin, request), deps.streamCheckMs);
    } else if (webhook === true || callback === true) {
      reply.header('cache-control', 'no-store');
      const secret = secretOf(request);
      request.forgetSecret = () => perWebhook.forget(secret);
      applyRateLimit(perWebhook, 'per-webhook', secret, reply);
    }
    refuseUnacceptable(request);
    refuseContentEncoding(request);
    reserveBody(bodies, request, reply);
    return undefined;
  });

  // Sending a body slowly must not preserve a right that is revoked meanwhile.
  app.addHook('preHandler', (request, _reply, done) => {
    const { admin } = request.routeOptions.config;
    if (admin === undefined || !isChange(request)) {
      done();
      return;
    }
    enterAdmin(admin, request).then((session) => {
      request.session = session;
      done();
    }, done);
  });
}

/** Whoever sends a key that isn't valid any more learns nothing but that. */
async function unlessRefused(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ApiError> {
  // The database couldn't be asked.
  if (error.code === 'database_unavailable' || error.code === 'statement_timeout') return error;
  try {
    await request.confirmKey();
    return error;
  } catch (refusal) {
    for (const name of RATE_LIMIT_HEADERS) reply.removeHeader(name);
    return toApiError(refusal, request);
  }
}

/** Whether the request may have a body. */
function isChange({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** The organisation's limit for all its keys together, if set. */
function limitOrganisation(
  limiter: RateLimiter,
  principal: Principal,
  count: number,
  reply: FastifyReply,
): void {
  const { organisationId, requestsPerMinute } = principal;
  if (requestsPerMinute === null) return;
  const own = { limit: requestsPerMinute, count };
  applyRateLimit(limiter, 'per-organisation', String(organisationId), reply, own);
}

/** @throws ApiError `invalid_request`, as required by RFC 9112, 3.2 */
function refuseWithoutHost({ raw }: FastifyRequest): void {
  if (raw.headers.host !== undefined || raw.httpVersion !== '1.1') return;
  throw new ApiError('invalid_request', message('api.host_missing'));
}

function secretOf(request: FastifyRequest): string {
  const { hash, token } = request.params as { readonly hash?: string; readonly token?: string };
  return hash ?? token ?? '';
}

function refuseUnsupportedCharacters(request: FastifyRequest): void {
  const { webhook, callback } = request.routeOptions.config;
  if (!request.bodyNeedsScan || webhook === true || callback === true) return;
  const pointer = findUnsupportedCharacters(request.body as JsonValue);
  if (pointer !== null) throw unsupportedCharacter(pointer);
}

async function respondToError(
  publicError: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (publicError.status >= 500) {
    noteCause(request, publicError.cause ?? publicError);
    request.log.error(
      { err: describeError(publicError.cause ?? publicError), code: publicError.code },
      'request error',
    );
  }
  return sendProblem(publicError, request, reply);
}

function addSecurityHeaders(app: FastifyInstance, publicUrl: string): void {
  const headers = securityHeaders(publicUrl);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
}
