import { hash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_ID_LENGTH = 12;
const SECRET_BYTES = 32;
const CHECKSUM_LENGTH = 6;
const FORMAT = /^mr_([A-Za-z0-9]{12})_([A-Za-z0-9_-]{43})([A-Za-z0-9]{6})$/;

/** A newly generated key. `text` and `secret` are shown once and never stored. */
export interface GeneratedApiKey {
  /** The part that may appear in logs: 12 of `[A-Za-z0-9]`. */
  readonly keyId: string;
  /** 256 random bits as 43 base64url characters. */
  readonly secret: string;
  /** CRC-32 of everything before it, as 6 base62 characters: lets scanners recognise keys, and distinguishes typos from guesses. */
  readonly checksum: string;
  /** What the client sends: `mr_<keyId>_<secret><checksum>`. */
  readonly text: string;
  /** SHA-256 of the secret's 43 characters. */
  readonly secretHash: Buffer;
  /** The last 4 characters of `text`. */
  readonly lastFour: string;
}

/** A key as a client sent it. */
export interface ParsedApiKey {
  readonly keyId: string;
  readonly secret: string;
  /** False for a mistyped or invented key; treat it as a wrong secret. */
  readonly checksumValid: boolean;
}

/** Generates a new key from the system's secure random numbers. */
export function generateApiKey(): GeneratedApiKey {
  const keyId = Array.from({ length: KEY_ID_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const checksum = checksumOf(keyId, secret);
  const text = `mr_${keyId}_${secret}${checksum}`;
  return { keyId, secret, checksum, text, secretHash: hashSecret(secret), lastFour: text.slice(-4) };
}

/** Parses a key; null if the string doesn't have the format of a key at all. */
export function parseApiKey(text: string): ParsedApiKey | null {
  const [, keyId, secret, checksum] = FORMAT.exec(text) ?? [];
  if (keyId === undefined || secret === undefined) return null;
  return { keyId, secret, checksumValid: checksum === checksumOf(keyId, secret) };
}

/** SHA-256 of a secret, 32 bytes: the stored form. Compare with `timingSafeEqual`. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

function checksumOf(keyId: string, secret: string): string {
  let rest = crc32(`mr_${keyId}_${secret}`);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
