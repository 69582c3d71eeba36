import type { KeyObject } from 'node:crypto';
import type { Egress } from '@millrace/egress/egress';
import { remember } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { SignatureOptions } from '@millrace/triggers';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { publicKeyOf, type SignedCall } from './claims.ts';
import type { SignatureVerdict } from './signature.ts';

/** Finds the key of a JWT in a set that an issuer publishes. */
export type KeySets = (organisationId: number, url: string) => JWTVerifyGetKey;

const MAX_KEY_SETS = 500;
const MAX_BYTES = 256 * 1024;
const FETCH_TIMEOUT_MS = 5_000;

/**
 * The key sets of webhooks, fetched when they are needed and kept for ten minutes; an unknown key fetches its set again twice a minute at
 * most, so that made-up calls can't do so at will.
 */
export function createKeySets(egress: Pick<Egress, 'fetch'>): KeySets {
  const sets = new Map<string, JWTVerifyGetKey>();
  return (organisationId, url) => {
    const name = `${organisationId} ${url}`;
    const known = sets.get(name);
    if (known !== undefined) return known;
    const keys = createRemoteJWKSet(new URL(url), {
      timeoutDuration: FETCH_TIMEOUT_MS,
      [customFetch]: (address, { signal }) =>
        egress.fetch(organisationId).fetch(address, { signal }, MAX_BYTES),
    });
    remember(sets, name, keys, MAX_KEY_SETS);
    return keys;
  };
}

/** How far the clocks of issuers may be off. */
const CLOCK_TOLERANCE_S = 30;
const WITH_SECRET = ['HS256', 'HS384', 'HS512'];
const WITH_KEY = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/**
 * Checks the JWT that a call carries as its bearer token. Without an expiry, it is accepted for the tolerance after it was issued. It proves
 * who calls, but not what is sent: the body isn't part of it.
 * @throws ApiError `keys_unreachable` if the issuer's keys can't be fetched
 */
export async function verifyJwt(
  options: SignatureOptions,
  secrets: readonly string[],
  { headers }: Pick<SignedCall, 'headers'>,
  nowMs: number,
  keySet: (url: string) => JWTVerifyGetKey,
): Promise<SignatureVerdict> {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) return { kind: 'invalid', reason: message('service.token_missing') };
  let verdict: SignatureVerdict = { kind: 'invalid', reason: message('service.jwt_wrong') };
  for (const key of keysOf(options, secrets, keySet)) {
    verdict = await verifyWith(token, key, options, nowMs);
    if (verdict.kind !== 'invalid') return verdict;
  }
  return verdict;
}

type Key = Uint8Array | KeyObject | JWTVerifyGetKey;

function keysOf(
  options: SignatureOptions,
  secrets: readonly string[],
  keySet: (url: string) => JWTVerifyGetKey,
): readonly Key[] {
  const { preset, jwks_url: url } = options;
  if (preset === 'jwt_secret') return secrets.map((secret) => Buffer.from(secret, 'utf8'));
  return [preset === 'jwt_jwks' ? keySet(url) : publicKeyOf(options)];
}

async function verifyWith(
  token: string,
  key: Key,
  { preset, issuer, audience, tolerance_s: toleranceS }: SignatureOptions,
  nowMs: number,
): Promise<SignatureVerdict> {
  const options = {
    // A public key is never used as a secret, regardless of the JWT's header.
    algorithms: preset === 'jwt_secret' ? WITH_SECRET : WITH_KEY,
    currentDate: new Date(nowMs),
    clockTolerance: CLOCK_TOLERANCE_S,
    ...(issuer === '' ? {} : { issuer }),
    ...(audience === '' ? {} : { audience }),
  };
  try {
    // Overloads for a key and for a function that finds one.
    const { payload } =
      typeof key === 'function' ? await jwtVerify(token, key, options) : await jwtVerify(token, key, options);
    if (payload.exp !== undefined) return { kind: 'valid' };
    const ageS = nowMs / 1_000 - (payload.iat ?? Number.NEGATIVE_INFINITY);
    return Math.abs(ageS) <= toleranceS ? { kind: 'valid' } : STALE;
  } catch (cause) {
    if (cause instanceof errors.JWTExpired) return STALE;
    if (cause instanceof errors.JWTClaimValidationFailed && cause.claim === 'nbf') return STALE;
    // The library's other errors are about the token, except for a key set that it couldn't get.
    if (cause instanceof errors.JOSEError && !(cause instanceof errors.JWKSTimeout) && !isUnusableSet(cause))
      return { kind: 'invalid', reason: message('service.jwt_wrong') };
    if (preset !== 'jwt_jwks') return { kind: 'invalid', reason: message('service.jwt_wrong') };
    throw new ApiError('keys_unreachable', message('service.keys_unreachable'), {
      headers: { 'retry-after': '30' },
      cause,
    });
  }
}

const STALE = { kind: 'stale', reason: message('service.jwt_stale') } as const;

/** The library's plain error is for a response that isn't a key set. */
function isUnusableSet(error: errors.JOSEError): boolean {
  return error.code === 'ERR_JOSE_GENERIC' || error instanceof errors.JWKSInvalid;
}
