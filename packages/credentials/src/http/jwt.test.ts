import { generateKeyPairSync } from 'node:crypto';
import { normalisePem } from '@millrace/egress/pem';
import { jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { signJwt } from './jwt.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const CLAIMS = {
  key_id: 'k1',
  issuer: 'me',
  subject: 'you',
  audience: 'them',
  lifetime_s: 60,
  claims: '{"role":"reader","exp":1}',
};

describe('a signed token', () => {
  test.each([
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['PS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['EdDSA', generateKeyPairSync('ed25519')],
  ] as const)('is verified with the public key: %s', async (algorithm, { privateKey, publicKey }) => {
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    // As it arrives from a field for one line, and from a JSON file.
    for (const key of [pem, pem.replaceAll('\n', ''), pem.replaceAll('\n', '\\n')]) {
      const token = await signJwt({ ...CLAIMS, algorithm, key }, NOW);
      const { payload, protectedHeader } = await jwtVerify(token, publicKey, { currentDate: new Date(NOW) });
      expect(payload).toEqual({
        iss: 'me',
        sub: 'you',
        aud: 'them',
        role: 'reader',
        iat: NOW / 1000,
        exp: NOW / 1000 + 60,
      });
      expect(protectedHeader).toEqual({ alg: algorithm, typ: 'JWT', kid: 'k1' });
    }
  });

  test('is verified with the shared secret, and has no claims that were left out', async () => {
    const none = { key_id: null, issuer: null, subject: null, audience: null, claims: null };
    const token = await signJwt({ ...none, lifetime_s: 10, algorithm: 'HS256', key: 'shared' }, NOW);
    const key = new TextEncoder().encode('shared');
    const { payload } = await jwtVerify(token, key, { currentDate: new Date(NOW) });
    expect(Object.keys(payload).sort()).toEqual(['exp', 'iat']);
  });

  test('needs a key that can be read', async () => {
    await expect(signJwt({ ...CLAIMS, algorithm: 'RS256', key: 'nonsense' }, NOW)).rejects.toThrow();
    expect(normalisePem('nonsense')).toBe('nonsense');
  });
});
