import { createHash } from 'node:crypto';
import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateApiKey, hashSecret, parseApiKey } from './key.ts';

describe('generateApiKey', () => {
  it('creates keys in the documented format', () => {
    const key = generateApiKey();
    expect(key.text).toMatch(/^mr_[A-Za-z0-9]{12}_[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}$/);
    expect(key.text).toBe(`mr_${key.keyId}_${key.secret}${key.checksum}`);
    expect(key.lastFour).toBe(key.text.slice(-4));
    expect(Buffer.from(key.secret, 'base64url')).toHaveLength(32);
    expect(key.secretHash).toEqual(createHash('sha256').update(key.secret).digest());
  });

  it('creates a different id and secret each time', () => {
    const keys = Array.from({ length: 500 }, generateApiKey);
    expect(new Set(keys.map((key) => key.keyId)).size).toBe(500);
    expect(new Set(keys.map((key) => key.secret)).size).toBe(500);
  });

  it('creates keys that parse back to their parts', () => {
    for (let count = 0; count < 500; count += 1) {
      const { keyId, secret, text } = generateApiKey();
      expect(parseApiKey(text)).toEqual({ keyId, secret, checksumValid: true });
    }
  });
});

describe('parseApiKey', () => {
  it('computes the checksum as CRC-32 of what precedes it, in base62 with digits first', () => {
    // Computed with Python's zlib.crc32.
    const text = `mr_abcdefghijkl_${'A'.repeat(43)}`;
    expect(parseApiKey(`${text}1J89b6`)?.checksumValid).toBe(true);
  });

  it('detects any single changed character', () => {
    const key = generateApiKey();
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: key.text.length - 1 }),
        fc.constantFrom(...'aZ09_-'),
        (at, other) => {
          fc.pre(key.text[at] !== other);
          const changed = `${key.text.slice(0, at)}${other}${key.text.slice(at + 1)}`;
          expect(parseApiKey(changed)?.checksumValid ?? false).toBe(false);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('returns null for any other format, and never throws', () => {
    const { text } = generateApiKey();
    for (const other of [
      '',
      'mr_',
      text.slice(1),
      `${text}x`,
      text.slice(0, -1),
      ` ${text}`,
      `${text}\n`,
      text.replace('mr_', 'MR_'),
    ]) {
      expect(parseApiKey(other), other).toBeNull();
    }
    fc.assert(
      fc.property(fc.string(), (noise) => {
        expect(parseApiKey(noise)).toBeNull();
      }),
    );
  });
});

describe('hashSecret', () => {
  it('distinguishes secrets that decode to the same bytes', () => {
    // The last of 43 base64url characters has two unused bits: there "A" and "B" decode to the same.
    const secret = 'A'.repeat(43);
    const twin = `${'A'.repeat(42)}B`;
    expect(Buffer.from(secret, 'base64url')).toEqual(Buffer.from(twin, 'base64url'));
    expect(hashSecret(secret)).not.toEqual(hashSecret(twin));
  });
});
