import { HttpClientError, isJsonObject } from '@millrace/engine';
import { type Message, message, verbatim } from '@millrace/messages';
import * as client from 'openid-client';
import type { GuardedFetch } from './guarded-fetch.ts';

/** Of one exchange with a token endpoint. Less than the lease of whoever fetches tokens. */
export const EXCHANGE_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 256 * 1024;

/** What a provider gave out. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** Null: the provider doesn't say. */
  readonly lifetimeS: number | null;
}

/** Why there is no token: `ended`: the grant is no longer valid; `refused`: anything else in the request; `unavailable`: try later. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly kind: 'ended' | 'refused' | 'unavailable';
  /** In the words of the provider, if it said anything. */
  readonly reason: Message;

  constructor(kind: TokenError['kind'], reason: Message, options?: ErrorOptions) {
    super(kind, options);
    this.kind = kind;
    this.reason = reason;
  }
}

/** How a client is known to its provider, and how that is reached. */
export interface TokenClient {
  /** Of the organisation that asks. */
  readonly fetch: Pick<GuardedFetch, 'fetch'>;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly auth: client.ClientAuth;
}

/**
 * Fetches tokens of the client itself (RFC 6749, 4.4).
 * @param signal ends it earlier than its own limit
 * @throws TokenError
 */
export function clientCredentials(
  asked: TokenClient,
  parameters: URLSearchParams,
  signal?: AbortSignal,
): Promise<Tokens> {
  return exchange(() => client.clientCredentialsGrant(configureClient(asked, null, signal), parameters));
}

/**
 * Name and secret in the header. The library's own would encode `-`, `_` and `.`, too, which is right (RFC 6749, 2.3.1), but not every
 * provider decodes what it is sent.
 */
export function basicAuthentication(secret: string): client.ClientAuth {
  return (_server, { client_id: clientId }, _body, headers) => {
    const pair = [clientId, secret].map(encodeURIComponent).join(':');
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  };
}

/** What the library needs for one exchange. */
export function configureClient(
  { fetch, tokenUrl, clientId, auth }: TokenClient,
  issuer: string | null = null,
  until?: AbortSignal,
): client.Configuration {
  const metadata = { issuer: issuer ?? new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const config = new client.Configuration(metadata, clientId, undefined, auth);
  config.timeout = EXCHANGE_TIMEOUT_MS / 1000;
  config[client.customFetch] = (url, options) => fetchPlainly(fetch, url, options, until);
  // Whether http may be used is up to the guarded fetch, as for nodes.
  client.allowInsecureRequests(config);
  return config;
}

async function fetchPlainly(
  guarded: TokenClient['fetch'],
  url: string,
  { method, headers, body, signal }: client.CustomFetchOptions,
  until: AbortSignal | undefined,
): Promise<Response> {
  const init = {
    method,
    headers,
    body: new URLSearchParams(body as URLSearchParams).toString(),
    signal: AbortSignal.any([signal, until].filter((each) => each !== undefined)),
  };
  const response = await guarded.fetch(url, init, MAX_RESPONSE_BYTES);
  const text = await response.text();
  const given = parseFields(text);
  if (given === null) return new Response(text, { status: response.status, headers: response.headers });
  const { status, fields } = conform(response.status, given);
  return Response.json(fields, { status });
}

type Fields = { readonly [name: string]: unknown };

function parseFields(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** What providers say when a grant is no longer valid, besides `invalid_grant`. */
const ENDED = new Set([
  'bad_refresh_token',
  'invalid_refresh_token',
  'token_revoked',
  'token_expired',
  'account_inactive',
]);

/** A response as RFC 6749 has it: providers differ. */
export function conform(
  status: number,
  { id_token: _nobodyChecksIt, authed_user: person, ...given }: Fields,
): { readonly status: number; readonly fields: Fields } {
  // Slack puts the token of the person beside that of the bot, or instead of it.
  const fields: Fields =
    given.access_token === undefined && isJsonObject(person) ? { ...given, ...person } : given;
  if (typeof fields.access_token === 'string') {
    const { expires_in: lifetime } = fields;
    const seconds =
      typeof lifetime === 'string' && /^\d{1,15}$/.test(lifetime) ? { expires_in: Number(lifetime) } : {};
    return { status, fields: { ...fields, ...seconds, token_type: 'bearer' } };
  }
  const code = [fields.error, fields.status].find((each) => typeof each === 'string');
  if (code === undefined) return { status, fields };
  const error = ENDED.has(code.toLowerCase()) ? 'invalid_grant' : code;
  return { status: Math.max(status, 400), fields: { ...fields, error } };
}

/** @throws TokenError */
export async function exchange(
  call: () => Promise<{ access_token: string; refresh_token?: string; expires_in?: number }>,
): Promise<Tokens> {
  try {
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifetimeS } = await call();
    return { accessToken, refreshToken: refreshToken ?? null, lifetimeS: lifetimeS ?? null };
  } catch (error) {
    throw toTokenError(error);
  }
}

function toTokenError(error: unknown): unknown {
  if (error instanceof client.ResponseBodyError) {
    const { error: code, error_description: text, status } = error;
    const reason = verbatim(text === undefined ? code : `${code}: ${text.slice(0, 500)}`);
    if (status >= 500 || status === 429 || code === 'temporarily_unavailable' || code === 'server_error') {
      return new TokenError('unavailable', reason, { cause: error });
    }
    return new TokenError(code === 'invalid_grant' ? 'ended' : 'refused', reason, { cause: error });
  }
  if (error instanceof client.AuthorizationResponseError) {
    return new TokenError('refused', verbatim(error.error_description ?? error.error), { cause: error });
  }
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof HttpClientError) {
      const isLasting = cause.code === 'target_not_allowed' || cause.code === 'invalid_url';
      return new TokenError(isLasting ? 'refused' : 'unavailable', cause.explanation, { cause: error });
    }
    if (cause.name === 'TimeoutError' || cause.name === 'AbortError') {
      return new TokenError('unavailable', message('ports.token_timeout'), { cause: error });
    }
  }
  if (!(error instanceof client.ClientError) && !(error instanceof client.WWWAuthenticateChallengeError))
    return error;
  const { cause } = error;
  if (cause instanceof Response && cause.status >= 500) {
    return new TokenError('unavailable', message('ports.token_status', { status: cause.status }), {
      cause: error,
    });
  }
  const said =
    cause instanceof Response
      ? message('ports.token_status', { status: cause.status })
      : message('ports.token_unreadable');
  return new TokenError('refused', said, { cause: error });
}
