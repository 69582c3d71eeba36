import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { createSigningSecret, selectSigningSecret } from '@millrace/secrets/signing-secret';

const RANDOM_BYTES = 32;
const SIGNATURE_BYTES = 16;

/** 48 bytes in base64url: each token has only one spelling. */
export const TOKEN_FORM = /^[A-Za-z0-9_-]{64}$/;

/**
 * A new session token: random bytes, signed. A valid signature shows that the token was issued, so an invented token is
 * distinguished from an ended one without querying the database. Whether it grants access is up to the session's row alone.
 */
export async function makeSessionToken(db: Queryable): Promise<string> {
  const random = randomBytes(RANDOM_BYTES);
  return Buffer.concat([random, sign(await selectSigningSecret(db, 'device'), random)]).toString('base64url');
}

/** Whether a token of this form was issued by {@link makeSessionToken}. */
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

/** Tokens are random, so a plain hash is enough: reading the table doesn't let anyone sign in. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
