import { createHash, randomBytes } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { SecretKeys } from '@millrace/secrets/keys';
import { Secret, TOTP } from 'otpauth';
import {
  confirmSecret,
  putUnconfirmedSecret,
  replaceRecoveryCodes,
  takeRecoveryCode,
  takeStep,
} from './second-factor-store.ts';
import type { UserRow } from './store.ts';

/** Supported by every authenticator app (RFC 6238). */
const TOTP_FORM = { issuer: 'Millrace', algorithm: 'SHA1', digits: 6, period: 30 } as const;
const PERIOD_MS = TOTP_FORM.period * 1000;
/** Codes of one step before and after are accepted too: phone clocks differ. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
const RECOVERY_CODE_CHARACTERS = 16;
/** Crockford's, whose characters can't be confused. 16 of 32 characters give 80 bits, so a plain hash is enough. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** The context of a sealed secret, which opens for this account only. */
export function secondFactorOf(userId: number): string {
  return `second factor of user ${userId}`;
}

/** What an app is set up with. */
export interface Enrolment {
  /** Base32, for typing in. */
  readonly secret: string;
  /** `otpauth://totp/...` */
  readonly uri: string;
}

/**
 * Stores a new secret, which takes effect only once its first code is confirmed.
 * @throws ApiError `second_factor_on`
 */
export async function beginEnrolment(
  tx: Queryable,
  keys: SecretKeys,
  user: { readonly id: number; readonly email: string },
): Promise<Enrolment> {
  const secret = new Secret({ size: 20 });
  const sealed = await keys.seal(tx, secret.base32, secondFactorOf(user.id));
  if (!(await putUnconfirmedSecret(tx, user.id, sealed))) throw isOn();
  const totp = new TOTP({ ...TOTP_FORM, label: user.email, secret });
  return { secret: secret.base32, uri: totp.toString() };
}

/**
 * Switches the second factor on with the app's first code.
 * @returns the recovery codes; null if the code is wrong
 * @throws ApiError `second_factor_on`, `second_factor_off` if no enrolment was started
 */
export async function confirmEnrolment(
  tx: Queryable,
  keys: SecretKeys,
  user: UserRow,
  code: string,
): Promise<readonly string[] | null> {
  if (user.totp_confirmed_at !== null) throw isOn();
  if (user.totp_ciphertext === null) {
    throw new ApiError('second_factor_off', message('identity.second_factor_not_begun'));
  }
  const step = await findStep(keys, user, withoutBlanks(code));
  if (step === null) return null;
  if (!(await confirmSecret(tx, user.id, step))) throw isOn();
  return newRecoveryCodes(tx, user.id);
}

/**
 * Uses up a code of the app or a recovery code; each works once.
 * @returns which of them it was; null if it is neither
 */
export async function takeCode(
  db: Queryable,
  keys: SecretKeys,
  user: UserRow,
  text: string,
): Promise<'app' | 'recovery_code' | null> {
  const code = withoutBlanks(text);
  if (!/^\d{6}$/.test(code)) {
    return (await takeRecoveryCode(db, user.id, hashCode(code))) ? 'recovery_code' : null;
  }
  const step = await findStep(keys, user, code);
  return step !== null && (await takeStep(db, user.id, step)) ? 'app' : null;
}

/** Creates new recovery codes, shown once; the former ones end. */
export async function newRecoveryCodes(tx: Queryable, userId: number): Promise<readonly string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newCode);
  await replaceRecoveryCodes(
    tx,
    userId,
    codes.map((code) => hashCode(withoutBlanks(code))),
  );
  return codes;
}

/** The time step the code belongs to; null if it isn't one near the current time. */
async function findStep(keys: SecretKeys, user: UserRow, code: string): Promise<number | null> {
  if (user.totp_ciphertext === null) return null;
  const secret = Secret.fromBase32(await keys.unseal(user.totp_ciphertext, secondFactorOf(user.id)));
  // By the database's clock, like everything that several machines must agree on.
  const timestamp = user.now.getTime();
  const delta = new TOTP({ ...TOTP_FORM, secret }).validate({ token: code, timestamp, window: WINDOW });
  return delta === null ? null : Math.floor(timestamp / PERIOD_MS) + delta;
}

function newCode(): string {
  const text = [...randomBytes(RECOVERY_CODE_CHARACTERS)].map((byte) => ALPHABET[byte % 32]).join('');
  return text.replace(/(.{4})(?=.)/g, '$1-');
}

function withoutBlanks(code: string): string {
  return code.replace(/[\s-]/g, '').toLowerCase();
}

function hashCode(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}

function isOn(): ApiError {
  return new ApiError('second_factor_on', message('identity.second_factor_on'));
}
