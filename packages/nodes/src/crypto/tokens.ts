import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import {
  type JsonObject,
  type JsonValue,
  type JwtAlgorithm,
  parseJson,
  stringifyJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { CompactSign, errors, jwtVerify } from 'jose';

/** Clocks of two systems differ by as much. */
const CLOCK_TOLERANCE_S = 5;

/**
 * A signed token.
 * @throws NodeProblem when the key doesn't fit the algorithm
 */
export async function signToken(
  claims: JsonObject,
  {
    algorithm,
    key,
    keyId,
  }: { readonly algorithm: JwtAlgorithm; readonly key: string; readonly keyId: string },
): Promise<string> {
  const header = { alg: algorithm, typ: 'JWT', ...(keyId === '' ? {} : { kid: keyId }) };
  const payload = new TextEncoder().encode(stringifyJson(claims));
  return withKey(algorithm, () =>
    new CompactSign(payload).setProtectedHeader(header).sign(keyFor(algorithm, key, createPrivateKey)),
  );
}

/** Why a token isn't accepted, by the error of the library. */
const REASONS: { readonly [code: string]: string } = {
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'claim',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
};

/**
 * Checks a token. Only those of a valid one are claims.
 * @throws NodeProblem when the key doesn't fit the algorithm
 */
export async function verifyToken(
  token: string,
  expected: {
    readonly algorithm: JwtAlgorithm;
    readonly key: string;
    readonly issuer: string;
    readonly audience: string;
    readonly nowMs: number;
  },
): Promise<{ readonly valid: boolean; readonly claims: JsonValue; readonly reason: string | null }> {
  const { algorithm, key, issuer, audience, nowMs } = expected;
  const bare = token.trim().replace(/^Bearer\s+/i, '');
  return withKey(algorithm, async () => {
    const secret = keyFor(algorithm, key, createPublicKey);
    try {
      await jwtVerify(bare, secret, {
        algorithms: [algorithm],
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: new Date(nowMs),
        ...(issuer === '' ? {} : { issuer }),
        ...(audience === '' ? {} : { audience }),
      });
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      return { valid: false, claims: null, reason: REASONS[error.code] ?? 'malformed' };
    }
    // Read again, because the library rounds large numbers.
    const [, payload = ''] = bare.split('.');
    return {
      valid: true,
      claims: parseJson(Buffer.from(payload, 'base64url').toString('utf8')),
      reason: null,
    };
  });
}

/** PEM that was copied out of JSON may have its line breaks escaped. */
function keyFor(
  algorithm: JwtAlgorithm,
  key: string,
  read: (pem: string) => KeyObject,
): KeyObject | Uint8Array {
  return algorithm.startsWith('HS') ? new TextEncoder().encode(key) : read(key.replaceAll('\\n', '\n'));
}

/** What isn't an error of the token is one of the key: its text, its kind or its length. Its message may contain parts of it. */
async function withKey<Result>(algorithm: JwtAlgorithm, use: () => Promise<Result>): Promise<Result> {
  try {
    return await use();
  } catch {
    throw new NodeProblem(message('nodes.key_mismatch', { algorithm }));
  }
}
