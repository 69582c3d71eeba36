import { describeError } from '@millrace/http/logging';
import { originOf } from '@millrace/http/origin';
import { findPerson, type Refusal } from '@millrace/identity/single-sign-on/people';
import {
  createProvider,
  type Journey,
  ProviderUnavailableError,
} from '@millrace/identity/single-sign-on/provider';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { cookieName, formatCookie, readCookie } from '../http/cookies.ts';
import { ADMIN_BASE } from '../http/route.ts';
import type { Devices } from '../sessions/devices.ts';
import { enter } from '../sessions/enter.ts';

const BASE = `${ADMIN_BASE}/single-sign-on`;
const COOKIE_FORM = /^[A-Za-z0-9_-]{1,2000}$/;
/** Time allowed for signing in at the provider. */
const JOURNEY_SECONDS = 15 * 60;
const MAX_PATH_LENGTH = 500;

/** Passed to the sign-in page in its query. */
type Problem = Refusal | 'unavailable' | 'refused' | 'stale' | 'failed';

interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface PendingSignIn extends Journey {
  readonly returnTo: string;
}

/**
 * Signing in with a provider. Both are pages the browser navigates to, not calls of the page's scripts; the return is by nature a
 * navigation from another site, protected by the state that only this browser has.
 */
export function singleSignOnRoutes(app: FastifyInstance, deps: AppDeps, devices: Devices): void {
  const { config, db } = deps;
  const { singleSignOn, publicUrl } = config;
  if (singleSignOn === null) return;
  const provider = createProvider(singleSignOn, `${publicUrl}${BASE}/callback`);
  const name = cookieName(config, 'single_sign_on');
  const page = { config: { public: true, produces: ['*/*'] }, schema: { hide: true } } as const;

  const refuse = (call: Call, problem: Problem, returnTo: string, error?: unknown) => {
    const cause = error === undefined ? {} : { err: describeError(error) };
    call.request.log.warn({ ...cause, problem }, 'single sign-on refused');
    const next = returnTo === '/' ? '' : `&next=${encodeURIComponent(returnTo)}`;
    return call.reply.redirect(`${publicUrl}/sign-in?problem=${problem}${next}`);
  };

  app.get(`${BASE}/start`, page, async (request, reply) => {
    const returnTo = localPath((request.query as { readonly return_to?: unknown }).return_to);
    const started = await provider.begin().catch((error: unknown) => ({ error }));
    if ('error' in started) return refuse({ request, reply }, 'unavailable', returnTo, started.error);
    const pending: PendingSignIn = { ...started.journey, returnTo };
    const value = Buffer.from(JSON.stringify(pending)).toString('base64url');
    reply.header('set-cookie', formatCookie(config, name, value, JOURNEY_SECONDS));
    return reply.header('cache-control', 'no-store').redirect(started.url.href);
  });

  app.get(`${BASE}/callback`, page, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const pending = readPending(readCookie(request, name, COOKIE_FORM));
    const url = new URL(`${publicUrl}${BASE}/callback`);
    url.search = new URL(request.originalUrl, publicUrl).search;
    // Started in another browser, too long ago, or before the current attempt, which may still complete.
    if (pending === null || url.searchParams.get('state') !== pending.state) {
      return refuse({ request, reply }, 'stale', pending?.returnTo ?? '/');
    }
    // Single use: another response of the provider needs a new sign-in.
    reply.header('set-cookie', formatCookie(config, name, '', 0));
    const { returnTo } = pending;
    const identity = await provider.finish(url, pending).catch((error: unknown) => ({ error }));
    if ('error' in identity) {
      const { error } = identity;
      return refuse({ request, reply }, problemOf(error, url), returnTo, error);
    }
    const person = await findPerson(db, singleSignOn, identity, originOf(request));
    if (typeof person === 'string') return refuse({ request, reply }, person, returnTo);
    await enter(deps, devices, request, reply, person, 'single_sign_on');
    return reply.redirect(`${publicUrl}${returnTo}`);
  });
}

/** Why the return from the provider failed. */
function problemOf(error: unknown, url: URL): Problem {
  if (error instanceof ProviderUnavailableError) return 'unavailable';
  return url.searchParams.get('error') === 'access_denied' ? 'refused' : 'failed';
}

function readPending(cookie: string | null): PendingSignIn | null {
  if (cookie === null) return null;
  try {
    const { state, nonce, codeVerifier, returnTo } = JSON.parse(
      Buffer.from(cookie, 'base64url').toString(),
    ) as { readonly [name in keyof PendingSignIn]: unknown };
    if (typeof state !== 'string' || typeof nonce !== 'string' || typeof codeVerifier !== 'string')
      return null;
    return { state, nonce, codeVerifier, returnTo: localPath(returnTo) };
  } catch {
    return null;
  }
}

/** A path on this site; `/` for everything else, which prevents open redirects. */
function localPath(text: unknown): string {
  const isPath = typeof text === 'string' && /^\/[^\\\s]*$/.test(text) && text.length <= MAX_PATH_LENGTH;
  return isPath ? text : '/';
}
