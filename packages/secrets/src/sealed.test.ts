import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseSecretKey } from './key-text.ts';
import { keyIdOf, masterKey, seal, unseal } from './sealed.ts';

const key = masterKey(randomBytes(32));
const damaged = expect.objectContaining({ name: 'SecretError', code: 'secret_damaged' });

describe('an encrypted text', () => {
  test.each(['', 'token', 'pä\0ß 支 \u{1f511}', 'x'.repeat(100_000)])('decrypts again: %#', (text) => {
    expect(unseal(key, seal(key, text, 'record 1'), 'record 1')).toBe(text);
  });

  test('reveals neither the text nor that two texts are the same', () => {
    const [one, other] = [seal(key, 'canary-secret', 'r'), seal(key, 'canary-secret', 'r')];
    expect(one.includes('canary')).toBe(false);
    expect(one.equals(other)).toBe(false);
    // Neither the salt nor the nonce is reused.
    expect(one.subarray(9, 25).equals(other.subarray(9, 25))).toBe(false);
    expect(one.subarray(25, 37).equals(other.subarray(25, 37))).toBe(false);
  });

  test("doesn't decrypt if a bit is changed or its end is cut off", () => {
    const sealed = seal(key, 'token', 'record 1');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => unseal(key, changed, 'record 1'), `bit ${bit}`).toThrow(damaged);
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => unseal(key, sealed.subarray(0, length), 'record 1')).toThrow(damaged);
    }
  });

  test("doesn't decrypt for another record or with another key", () => {
    const sealed = seal(key, 'token', 'record 1');
    expect(() => unseal(key, sealed, 'record 2')).toThrow(damaged);
    const other = masterKey(randomBytes(32));
    expect(() => unseal(other, sealed, 'record 1')).toThrow(damaged);
    expect(() => unseal({ id: key.id, bytes: other.bytes }, sealed, 'record 1')).toThrow(damaged);
  });

  test('names its key by a permanent id', () => {
    expect(keyIdOf(seal(key, 'token', 'r'))).toBe(key.id);
  });

  // Stored ciphertexts must stay readable forever: these come from the first version of the format.
  test('of the first version decrypts', () => {
    const first = masterKey(Buffer.from(Array.from({ length: 32 }, (_, index) => index)));
    const sealed = Buffer.from(
      'ARdq6kDs+dKmdDWJT6V9ydafxZC65OXzDGL+Lr53RTKU+oata6SOMkbun1bC3N1q8FX3/SgW3+nDxg==',
      'base64',
    );
    expect(first.id).toBe('176aea40ecf9d2a6');
    expect(unseal(first, sealed, 'record 1')).toBe('token');
  });
});

describe('the text of a key', () => {
  const bytes = randomBytes(32);

  test.each([
    ['hexadecimal', bytes.toString('hex')],
    ['hexadecimal in capitals', bytes.toString('hex').toUpperCase()],
    ['base64', bytes.toString('base64')],
    ['base64 without padding', bytes.toString('base64').replace('=', '')],
    ['base64url', bytes.toString('base64url')],
  ])('%s', (_form, text) => {
    expect(parseSecretKey(text)?.equals(bytes)).toBe(true);
  });

  test.each([
    ['a passphrase', 'correct horse battery staple and more'],
    ['31 bytes', randomBytes(31).toString('base64')],
    ['33 bytes', randomBytes(33).toString('base64')],
    ['zeros', '0'.repeat(64)],
    ['one character, 43 times', 'A'.repeat(43)],
    ['nothing', ''],
  ])('%s is not a key', (_what, text) => {
    expect(parseSecretKey(text)).toBeUndefined();
  });
});
