import type { Egress } from '@millrace/egress/egress';
import {
  basicAuthentication,
  clientCredentials,
  configureClient,
  exchange,
  type TokenClient,
  TokenError,
  type Tokens,
} from '@millrace/egress/token-endpoint';
import type { CredentialOf } from '@millrace/engine';
import { reasonOf } from '@millrace/messages/explained-error';
import * as client from 'openid-client';
import { signJwt } from '../http/jwt.ts';
import { currentTokenUrl } from './presets.ts';

/** Types whose tokens are fetched. */
export type TokenCredential = CredentialOf<'oauth2' | 'google_service_account'>;

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
      configureClient(clientOf(endpoint, credential), issuer),
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
  const asked = clientOf(endpoint, credential);
  const parameters = new URLSearchParams(credential.token_parameters ?? '');
  if (refreshToken !== null) {
    const config = configureClient(asked);
    const next = await exchange(() => client.refreshTokenGrant(config, refreshToken, parameters));
    return { ...next, refreshToken: next.refreshToken ?? refreshToken };
  }
  if (credential.scope !== null) parameters.set('scope', credential.scope);
  return clientCredentials(asked, parameters);
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
  const fetch = endpoint.egress.fetch(endpoint.organisationId);
  const config = configureClient({ fetch, tokenUrl: audience, clientId: email, auth: client.None() });
  return exchange(() =>
    client.genericGrantRequest(config, 'urn:ietf:params:oauth:grant-type:jwt-bearer', { assertion }),
  );
}

function clientOf(
  { egress, organisationId }: TokenEndpoint,
  {
    token_url: tokenUrl,
    client_id: clientId,
    client_secret: secret,
    client_authentication: way,
  }: CredentialOf<'oauth2'>,
): TokenClient {
  const auth =
    secret === null
      ? client.None()
      : way === 'basic'
        ? basicAuthentication(secret)
        : client.ClientSecretPost(secret);
  return { fetch: egress.fetch(organisationId), tokenUrl: currentTokenUrl(tokenUrl), clientId, auth };
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
