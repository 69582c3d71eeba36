import type { Egress } from '@millrace/egress/egress';
import { type CredentialOf, HttpClientError, isJsonObject } from '@millrace/engine';
import { type Message, message, verbatim } from '@millrace/messages';
import { reasonOf } from '@millrace/messages/explained-error';
import * as client from 'openid-client';
import { signJwt } from '../http/jwt.ts';

/** Of one exchange with a token endpoint. Less than the lease of whoever fetches tokens. */
export const EXCHANGE_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 256 * 1024;

/** Types whose tokens are fetched. */
export type TokenCredential = CredentialOf<'oauth2' | 'google_service_account'>;

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

/** A provider as one organisation reaches it. */
export interface TokenEndpoint {
  readonly egress: Pick<Egress, 'fetch'>;
  readonly organisationId: number;
}

/** Where people approve. @param state returned by the provider with its code */
export async function authorizationUrl(
  credential: CredentialOf<'oauth2'>,
  request: { readonly redirectUri: string; readonly state: string; readonly codeVerifier: string },
): Promise<URL> {
  const url = new URL(credential.authorization_url ?? '');
  const parameters = new URLSearchParams(credential.authorization_parameters ?? '');
  const own = {
    response_type: 'code',
    client_id: credential.client_id,
    redirect_uri: request.redirectUri,
    ...(credential.scope === null ? {} : { scope: credential.scope }),
    state: request.state,
    code_challenge: await client.calculatePKCECodeChallenge(request.codeVerifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of [...parameters, ...Object.entries(own)]) url.searchParams.set(name, value);
  return url;
}

/**
 * Exchanges the code that a person's browser brought back.
 * @param returned the address it was sent to, with its query
 * @throws TokenError
 */
export async function exchangeCode(
  endpoint: TokenEndpoint,
  credential: CredentialOf<'oauth2'>,
  returned: URL,
  checks: { readonly state: string; readonly codeVerifier: string },
): Promise<Tokens> {
  const issuer = issuerOf(credential, returned);
  return exchange(() =>
    client.authorizationCodeGrant(
      configure(endpoint, credential, issuer),
      returned,
      { expectedState: checks.state, pkceCodeVerifier: checks.codeVerifier },
      new URLSearchParams(credential.token_parameters ?? ''),
    ),
  );
}

/**
 * Fetches tokens without a person.
 * @param refreshToken of the tokens before; null if the credential needs none
 * @throws TokenError
 */
export async function fetchTokens(
  endpoint: TokenEndpoint,
  credential: TokenCredential,
  refreshToken: string | null,
  nowMs: number,
): Promise<Tokens> {
  if (credential.type === 'google_service_account') return fetchByAssertion(endpoint, credential, nowMs);
  const config = configure(endpoint, credential, null);
  const parameters = new URLSearchParams(credential.token_parameters ?? '');
  if (refreshToken !== null) {
    const next = await exchange(() => client.refreshTokenGrant(config, refreshToken, parameters));
    return { ...next, refreshToken: next.refreshToken ?? refreshToken };
  }
  if (credential.scope !== null) parameters.set('scope', credential.scope);
  return exchange(() => client.clientCredentialsGrant(config, parameters));
}

async function fetchByAssertion(
  endpoint: TokenEndpoint,
  credential: CredentialOf<'google_service_account'>,
  nowMs: number,
): Promise<Tokens> {
  const { client_email: email, private_key: key, token_url: audience, subject, scope } = credential;
  const assertion = await signJwt(
    {
      ...{ algorithm: 'RS256', key, key_id: null, issuer: email, subject, audience, lifetime_s: 3600 },
      claims: JSON.stringify({ scope }),
    },
    nowMs,
  ).catch((error: unknown) => {
    throw new TokenError('refused', reasonOf(error));
  });
  const config = configureClient(
    endpoint,
    { tokenUrl: audience, clientId: email, auth: client.None() },
    null,
  );
  return exchange(() =>
    client.genericGrantRequest(config, 'urn:ietf:params:oauth:grant-type:jwt-bearer', { assertion }),
  );
}

function configure(
  endpoint: TokenEndpoint,
  {
    token_url: tokenUrl,
    client_id: clientId,
    client_secret: secret,
    client_authentication: way,
  }: CredentialOf<'oauth2'>,
  issuer: string | null,
): client.Configuration {
  const auth =
    secret === null
      ? client.None()
      : way === 'basic'
        ? client.ClientSecretBasic(secret)
        : client.ClientSecretPost(secret);
  return configureClient(endpoint, { tokenUrl, clientId, auth }, issuer);
}

function configureClient(
  endpoint: TokenEndpoint,
  {
    tokenUrl,
    clientId,
    auth,
  }: { readonly tokenUrl: string; readonly clientId: string; readonly auth: client.ClientAuth },
  issuer: string | null,
): client.Configuration {
  const metadata = { issuer: issuer ?? new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const config = new client.Configuration(metadata, clientId, undefined, auth);
  config.timeout = EXCHANGE_TIMEOUT_MS / 1000;
  config[client.customFetch] = (url, options) => fetchPlainly(endpoint, url, options);
  // Whether http may be used is up to the guarded fetch, as for nodes.
  client.allowInsecureRequests(config);
  return config;
}

/**
 * The issuer that a provider names in its redirect (RFC 9207), if it is of the origin that was asked: another one would mean that the
 * browser was sent from a different provider.
 */
function issuerOf({ authorization_url: asked }: CredentialOf<'oauth2'>, returned: URL): string | null {
  const issuer = returned.searchParams.get('iss');
  const isAsked = issuer !== null && URL.parse(issuer)?.origin === URL.parse(asked ?? '')?.origin;
  return isAsked ? issuer : null;
}

async function fetchPlainly(
  { egress, organisationId }: TokenEndpoint,
  url: string,
  { method, headers, body, signal }: client.CustomFetchOptions,
): Promise<Response> {
  const init = {
    method,
    headers,
    body: new URLSearchParams(body as URLSearchParams).toString(),
    signal: signal ?? null,
  };
  const response = await egress.fetch(organisationId).fetch(url, init, MAX_RESPONSE_BYTES);
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

async function exchange(
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
