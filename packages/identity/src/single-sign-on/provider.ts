import * as client from 'openid-client';
import { cleanName } from '../values/names.ts';
import type { SingleSignOnSettings } from './settings.ts';

const TIMEOUT_SECONDS = 15;

/** What has to be remembered while the browser is at the provider. */
export interface Journey {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Whom the provider signed in. */
export interface Identity {
  readonly email: string;
  /** Whether the provider says that the address is theirs. */
  readonly isVerified: boolean;
  readonly name: string | null;
}

/** The provider is down, or says so. */
export class ProviderUnavailableError extends Error {
  override readonly name = 'ProviderUnavailableError';
}

/** An OpenID Connect provider: authorization code flow with PKCE, state and nonce. */
export interface Provider {
  /** Where the browser has to go. Throws when the provider cannot be reached. */
  begin(): Promise<{ readonly url: URL; readonly journey: Journey }>;
  /**
   * Ends the journey with the URL that the browser came back with. Throws when anything about it is not as it was begun.
   * @throws ProviderUnavailableError
   */
  finish(url: URL, journey: Journey): Promise<Identity>;
}

/** @param redirectUri where the browser comes back to */
export function createProvider(config: SingleSignOnSettings, redirectUri: string): Provider {
  let discovered: Promise<client.Configuration> | undefined;
  const discover = (): Promise<client.Configuration> => {
    // A failed look-up is not kept: the next sign-in tries again.
    discovered ??= discoverProvider(config).catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return discovered;
  };
  return {
    async begin() {
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
    async finish(url, { state, nonce, codeVerifier }) {
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
      // Many providers tell the address there only.
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
      // Only this machine may be named by http: the configuration sees to it.
      ...(url.protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : {}),
    },
  );
}

/** What a provider sends the browser back with when it is down itself (RFC 6749, 4.1.2.1). */
const DOWN: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);
const TOO_MANY_REQUESTS = 429;

/** A response that came whole and was not that of a server in trouble. */
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

/** The library wraps what its requests fail with. */
function throwUnavailable(error: unknown): never {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderUnavailableError) throw cause;
  }
  throw error;
}

/** Null: no address is told. */
function readIdentity(claims: { readonly [name: string]: unknown }): Identity | null {
  const { email, email_verified: isVerified, name } = claims;
  if (typeof email !== 'string' || email === '') return null;
  return {
    email,
    isVerified: isVerified === true,
    name: typeof name === 'string' ? cleanName(name) || null : null,
  };
}
