import { loadOnce } from '@millrace/engine';
import * as client from 'openid-client';
import { cleanName } from '../values/names.ts';
import type { SingleSignOnSettings } from './settings.ts';

const TIMEOUT_SECONDS = 15;

/** What to remember while the browser is at the provider. */
export interface Journey {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** The person the provider signed in. */
export interface Identity {
  readonly email: string;
  /** Whether the provider has verified that the address is theirs. */
  readonly isVerified: boolean;
  readonly name: string | null;
}

/** The provider is down, or reports that it is. */
export class ProviderUnavailableError extends Error {
  override readonly name = 'ProviderUnavailableError';
}

export type Provider = ReturnType<typeof createProvider>;

/** @param redirectUri where the browser returns to */
export function createProvider(config: SingleSignOnSettings, redirectUri: string) {
  const discover = loadOnce(() => discoverProvider(config));
  return {
    /** The URL to send the browser to. Throws if the provider can't be reached. */
    async begin(): Promise<{ readonly url: URL; readonly journey: Journey }> {
      const provider = await discover();
      const journey = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        codeVerifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        code_challenge: await client.calculatePKCECodeChallenge(journey.codeVerifier),
        code_challenge_method: 'S256',
        state: journey.state,
        nonce: journey.nonce,
      });
      return { url, journey };
    },
    /**
     * Completes the sign-in with the URL the browser returned with. Throws if anything about it doesn't match how it was
     * started.
     * @throws ProviderUnavailableError
     */
    async finish(url: URL, { state, nonce, codeVerifier }: Journey): Promise<Identity> {
      const problem = url.searchParams.get('error') ?? '';
      if (DOWN.has(problem)) throw new ProviderUnavailableError(`the provider says ${problem}`);
      const provider = await discover().catch(throwUnavailable);
      const tokens = await client
        .authorizationCodeGrant(provider, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        })
        .catch(throwUnavailable);
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the provider sent no ID token');
      const inToken = readIdentity(claims);
      // Many providers return the address only there.
      return (
        inToken ??
        readIdentity(
          await client.fetchUserInfo(provider, tokens.access_token, claims.sub).catch(throwUnavailable),
        ) ?? {
          email: '',
          isVerified: false,
          name: null,
        }
      );
    },
  };
}

function discoverProvider({
  issuer,
  clientId,
  clientSecret,
}: SingleSignOnSettings): Promise<client.Configuration> {
  const url = new URL(issuer);
  return client.discovery(
    url,
    clientId,
    {},
    clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret),
    {
      timeout: TIMEOUT_SECONDS,
      [client.customFetch]: fetchOrSayDown,
      // Configuration ensures that only this machine may be used over http.
      ...(url.protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : {}),
    },
  );
}

/** Errors the provider redirects back with when it is down itself (RFC 6749, 4.1.2.1). */
const DOWN: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);
const TOO_MANY_REQUESTS = 429;

/** A complete response that isn't a server error. */
async function fetchOrSayDown(url: string, options: client.CustomFetchOptions): Promise<Response> {
  const { response, body } = await fetchWhole(url, options).catch((cause: unknown) => {
    throw new ProviderUnavailableError('the provider cannot be reached', { cause });
  });
  const { status } = response;
  if (status >= 500 || status === TOO_MANY_REQUESTS) {
    throw new ProviderUnavailableError(`the provider answered with status ${status}`);
  }
  return new Response(body.byteLength === 0 ? null : body, response);
}

async function fetchWhole(
  url: string,
  options: client.CustomFetchOptions,
): Promise<{ readonly response: Response; readonly body: ArrayBuffer }> {
  const response = await fetch(url, options as RequestInit);
  return { response, body: await response.arrayBuffer() };
}

/** The library wraps the errors of its requests. */
function throwUnavailable(error: unknown): never {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderUnavailableError) throw cause;
  }
  throw error;
}

/** Null if there is no address. */
function readIdentity(claims: { readonly [name: string]: unknown }): Identity | null {
  const { email, email_verified: isVerified, name } = claims;
  if (typeof email !== 'string' || email === '') return null;
  return {
    email,
    isVerified: isVerified === true,
    name: typeof name === 'string' ? cleanName(name) || null : null,
  };
}
