import { Buffer } from 'node:buffer';

/** Key length in bytes. */
export const KEY_BYTES = 32;
/** 32 random bytes have fewer distinct values once in 10^33 times; a key typed by hand often has. */
const MIN_DIFFERENT_BYTES = 10;

/**
 * Reads a key from hexadecimal, base64 or base64url, with or without padding. Passphrases aren't accepted: stretching one needs a salt that
 * would have to be kept as carefully as a key.
 * @returns undefined when the string isn't a key, or its bytes are hardly random
 */
export function parseSecretKey(text: string): Buffer | undefined {
  const bytes = /^[0-9A-Fa-f]{64}$/.test(text)
    ? Buffer.from(text, 'hex')
    : // The last of 43 characters carries four bits; any other character there isn't base64 of 32 bytes.
      /^[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?$/.test(text)
      ? Buffer.from(text, 'base64')
      : Buffer.alloc(0);
  return bytes.length === KEY_BYTES && new Set(bytes).size >= MIN_DIFFERENT_BYTES ? bytes : undefined;
}

export function formatSecretKey(key: Buffer): string {
  return key.toString('base64');
}
