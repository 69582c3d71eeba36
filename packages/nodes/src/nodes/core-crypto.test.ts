import { createHash, createHmac, generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { type JsonObject, parseJson, stringifyJson, success } from '@millrace/engine';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreCrypto } from './core-crypto.ts';

const run = async (config: JsonObject, more: Omit<RunOptions, 'config'> = {}) =>
  (await runNode(coreCrypto, { ...more, config })).result;

async function outputOf(config: JsonObject, more: Omit<RunOptions, 'config'> = {}): Promise<JsonObject> {
  const result = await run(config, more);
  if (result.kind !== 'success') throw new Error(JSON.stringify(result));
  return result.output;
}

const NOW_S = Date.parse('2026-01-01T00:00:00Z') / 1000;

it('is an effect: what it returns is stored before anything uses it, so that a resumed execution sees the same', () => {
  expect(coreCrypto.kind).toBe('effect');
});

describe('hash and hmac', () => {
  it.each(['md5', 'sha1', 'sha256', 'sha384', 'sha512'])(
    'take %s of text in UTF-8, however long',
    async (algorithm) => {
      const data = `é${'x'.repeat(2_500_000)}`;
      expect(await outputOf({ operation: 'hash', data, algorithm })).toEqual({
        value: createHash(algorithm).update(data).digest('hex'),
      });
      expect(await outputOf({ operation: 'hmac', data, algorithm, key: 'k', encoding: 'base64url' })).toEqual(
        {
          value: createHmac(algorithm, 'k').update(data).digest('base64url'),
        },
      );
    },
  );

  it('take the JSON text of anything else', async () => {
    const data = parseJson('{"n":12345678901234567890.10}');
    expect(await outputOf({ operation: 'hash', data, algorithm: 'md5' })).toEqual({
      value: createHash('md5').update(stringifyJson(data)).digest('hex'),
    });
  });

  it('need exactly one key', async () => {
    const credential = { type: 'secret', value: 'k' } as const;
    const both = { operation: 'hmac', key: 'k', credential_id: 3 };
    expect(await run(both, { credential })).toMatchObject({ code: 'invalid_config' });
    expect(await run({ operation: 'hmac' })).toMatchObject({ code: 'invalid_config' });
    expect(await outputOf({ operation: 'hmac', credential_id: 3 }, { credential })).toEqual(
      await outputOf({ operation: 'hmac', key: 'k' }),
    );
  });
});

describe('tokens', () => {
  const pemOf = ({ privateKey, publicKey }: KeyPairKeyObjectResult) => ({
    privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
  });
  const rsa = pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }));
  const elliptic = pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  const edwards = pemOf(generateKeyPairSync('ed25519'));
  const shared = { privateKey: 'a-shared-secret', publicKey: 'a-shared-secret' };
  const pairs = { HS256: shared, HS512: shared, RS256: rsa, PS256: rsa, ES256: elliptic, EdDSA: edwards };

  const sign = async (more: JsonObject) =>
    (await outputOf({ operation: 'jwt_sign', key: shared.privateKey, ...more })).value as string;
  const verify = (token: string, more: JsonObject = {}, options: Omit<RunOptions, 'config'> = {}) =>
    outputOf({ operation: 'jwt_verify', key: shared.publicKey, token, ...more }, options);

  it.each(Object.entries(pairs))('with %s can be verified', async (algorithm, { privateKey, publicKey }) => {
    const claims = parseJson('{"sub": "17", "n": 12345678901234567890}');
    const token = await sign({ jwt_algorithm: algorithm, key: privateKey, claims, key_id: 'k1' });
    expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toEqual({
      alg: algorithm,
      typ: 'JWT',
      kid: 'k1',
    });
    const verified = await verify(`Bearer ${token}`, { jwt_algorithm: algorithm, key: publicKey });
    expect(stringifyJson(verified)).toBe(
      `{"valid":true,"claims":{"iat":${NOW_S},"exp":${NOW_S + 3600},"sub":"17","n":12345678901234567890},"reason":null}`,
    );
  });

  it('take keys whose line breaks are escaped', async () => {
    const key = edwards.privateKey.replaceAll('\n', '\\n');
    expect(await sign({ jwt_algorithm: 'EdDSA', key })).toBe(
      await sign({ jwt_algorithm: 'EdDSA', key: edwards.privateKey }),
    );
  });

  const REFUSED = { valid: false, claims: null };

  it('are refused with a reason, and without their claims', async () => {
    const token = await sign({ claims: { iss: 'a', aud: ['b', 'c'] } });
    const [header = '', payload = '', signature = ''] = token.split('.');
    expect(await verify(token, { issuer: 'a', audience: 'c' })).toMatchObject({ valid: true });
    expect(await verify(token, { issuer: 'x' })).toEqual({ ...REFUSED, reason: 'claim' });
    expect(await verify(token, { audience: 'x' })).toEqual({ ...REFUSED, reason: 'claim' });
    expect(await verify(token, { key: 'another' })).toEqual({ ...REFUSED, reason: 'signature' });
    expect(await verify(token, { jwt_algorithm: 'HS512' })).toEqual({ ...REFUSED, reason: 'algorithm' });
    expect(await verify(token, {}, { now: (NOW_S + 3_700) * 1000 })).toEqual({
      ...REFUSED,
      reason: 'expired',
    });
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    expect(await verify(none)).toMatchObject(REFUSED);
    expect(await verify(`${header}.${payload}x.${signature}`)).toMatchObject(REFUSED);
    for (const odd of ['', 'x', 'a.b.c'])
      expect(await verify(odd)).toEqual({ ...REFUSED, reason: 'malformed' });
  });

  it('signed by a shared secret are not taken for those of a public key', async () => {
    const forged = await sign({ key: rsa.publicKey, claims: { admin: true } });
    expect(await verify(forged, { jwt_algorithm: 'RS256', key: rsa.publicKey })).toEqual({
      ...REFUSED,
      reason: 'algorithm',
    });
  });

  it('need a key of the right kind, which no message repeats', async () => {
    const result = await run({ operation: 'jwt_sign', jwt_algorithm: 'RS256', key: 'not-a-pem-key' });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
    expect(JSON.stringify(result)).not.toContain('not-a-pem-key');
    const wrong = {
      operation: 'jwt_verify',
      jwt_algorithm: 'ES256',
      key: rsa.publicKey,
      token: await sign({}),
    };
    expect(
      await run({ ...wrong, token: await sign({ jwt_algorithm: 'ES256', key: elliptic.privateKey }) }),
    ).toMatchObject({ code: 'invalid_config' });
  });
});

describe('totp', () => {
  const SECRET = 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ';

  it('makes the codes of RFC 6238', async () => {
    const config = { operation: 'totp', key: SECRET, digits: 8 };
    expect(await outputOf(config, { now: 59_000 })).toEqual({
      value: '94287082',
      valid_until: '1970-01-01T00:01:00.000Z',
    });
    expect(await outputOf(config, { now: 1_111_111_109_000 })).toMatchObject({ value: '07081804' });
  });

  it.each(['', '!!!', '1890'])('refuses the key %j', async (key) => {
    expect(await run({ operation: 'totp', key })).toMatchObject({ code: 'invalid_config' });
  });
});

describe('random', () => {
  const value = async (config: JsonObject) => (await outputOf({ operation: 'random', ...config })).value;

  it('is a UUID, bytes or a password, another one each time', async () => {
    expect(await value({})).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await value({ random: 'bytes', length: 7 })).toMatch(/^[0-9a-f]{14}$/);
    expect(await value({ random: 'password', length: 40 })).toMatch(/^[A-HJ-NP-Za-km-z2-9]{40}$/);
    expect(await value({ random: 'bytes' })).not.toBe(await value({ random: 'bytes' }));
  });
});

it('fails on a credential of another type', async () => {
  const credential = { type: 'bearer', token: 'x' } as const;
  expect(await run({ operation: 'hmac', credential_id: 3 }, { credential })).not.toEqual(
    success(expect.anything()),
  );
});
