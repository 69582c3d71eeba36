import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { createSigningSecret, selectSigningSecret } from '@millrace/secrets/signing-secret';

const RANDOM_BYTES = 32;
const SIGNATURE_BYTES = 16;

/** 48 bytes in base64url: each token has one spelling. */
export const TOKEN_FORM = /^[A-Za-z0-9_-]{64}$/;

/**
 * A new token of a session: random bytes, signed. What is signed was given out once, so a made-up token is told from an
 * ended one without a look into the database. Whether it opens anything the session's row alone says.
 */
export async function makeSessionToken(db: Queryable): Promise<string> {
  const random = randomBytes(RANDOM_BYTES);
  return Buffer.concat([random, sign(await selectSigningSecret(db, 'device'), random)]).toString('base64url');
}

/** Whether a token of this form was given out by {@link makeSessionToken}. */
export type TokenCheck = (token: string) => Promise<boolean>;

export function createTokenCheck(db: Queryable): TokenCheck {
  const loadSecret = createSigningSecret(db, 'device');
  return async (token) => {
    const bytes = Buffer.from(token, 'base64url');
    const expected = sign(await loadSecret(), bytes.subarray(0, RANDOM_BYTES));
    return timingSafeEqual(bytes.subarray(RANDOM_BYTES), expected);
  };
}

function sign(secret: Buffer, random: Buffer): Buffer {
  return createHmac('sha256', secret).update('session ').update(random).digest().subarray(0, SIGNATURE_BYTES);
}

/** Tokens are random, so a plain hash is enough: who reads the table cannot sign in with it. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
