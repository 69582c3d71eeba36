import { Buffer } from 'node:buffer';

/** Bytes of a key. */
export const KEY_BYTES = 32;
/** 32 random bytes have fewer different ones once in 10^33 times; a key typed by hand often has. */
const FEWEST_DIFFERENT_BYTES = 10;

/**
 * Reads a key from hexadecimal, base64 or base64url, with or without padding. A passphrase is not taken: stretching one
 * needs a salt that would have to be kept as carefully as a key.
 * @returns undefined when the text is no key, or its bytes are hardly random
 */
export function parseSecretKey(text: string): Buffer | undefined {
  const bytes = /^[0-9A-Fa-f]{64}$/.test(text)
    ? Buffer.from(text, 'hex')
    : // The last of 43 characters carries four bits; other ones in that place are no base64 of 32 bytes.
      /^[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?$/.test(text)
      ? Buffer.from(text, 'base64')
      : Buffer.alloc(0);
  return bytes.length === KEY_BYTES && new Set(bytes).size >= FEWEST_DIFFERENT_BYTES ? bytes : undefined;
}

/** The form in which keys are written. */
export function formatSecretKey(key: Buffer): string {
  return key.toString('base64');
}
