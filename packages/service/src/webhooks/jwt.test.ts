import { type JsonObject, stringifyJson } from '@millrace/engine';
import { readWebhookOptions, type SignatureOptions } from '@millrace/triggers';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createKeySets, verifyJwt } from './jwt.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const NOW_S = NOW_MS / 1_000;
const SECRET = 'a secret of at least 32 characters';

function options(preset: string, more: object = {}): SignatureOptions {
  const read = readWebhookOptions({ signature: { preset, ...more } });
  if (read?.signature == null) throw new Error('the settings do not fit');
  return read.signature;
}

const rsa = await generateKeyPair('RS256', { extractable: true });
const ec = await generateKeyPair('ES256', { extractable: true });
const ed = await generateKeyPair('Ed25519', { extractable: true });

type Key = Parameters<SignJWT['sign']>[0];

const signed = (alg: string, key: Key, claims: JsonObject = { exp: NOW_S + 60 }, kid?: string) =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) }).sign(key);

const NO_SETS = (): never => {
  throw new Error('no key set is needed');
};

const verdict = async (
  how: SignatureOptions,
  token: string,
  secrets: readonly string[] = [],
  sets = NO_SETS,
) => (await verifyJwt(how, secrets, { headers: { authorization: `Bearer ${token}` } }, NOW_MS, sets)).kind;

describe('with a secret', () => {
  const how = options('jwt_secret', { issuer: 'me', audience: 'you' });
  const claims = { iss: 'me', aud: 'you', exp: NOW_S + 60 };

  test('the signature, issuer, audience and time count, and either secret', async () => {
    const token = await signed('HS256', Buffer.from(SECRET), claims);
    expect(await verdict(how, token, ['old', SECRET])).toBe('valid');
    expect(await verdict(how, token, [`${SECRET}x`])).toBe('invalid');
    expect(await verdict(how, token, [])).toBe('invalid');
    const other = async (more: JsonObject) =>
      verdict(how, await signed('HS256', Buffer.from(SECRET), { ...claims, ...more }), [SECRET]);
    expect(await other({ iss: 'x' })).toBe('invalid');
    expect(await other({ aud: 'x' })).toBe('invalid');
    expect(await other({ exp: NOW_S - 31 })).toBe('stale');
    expect(await other({ nbf: NOW_S + 60 })).toBe('stale');
  });

  test('without an end, it is accepted for the tolerance after it was issued', async () => {
    const at = async (claim: JsonObject) =>
      verdict(options('jwt_secret'), await signed('HS512', Buffer.from(SECRET.repeat(2)), claim), [
        SECRET.repeat(2),
      ]);
    expect(await at({ iat: NOW_S - 300 })).toBe('valid');
    expect(await at({ iat: NOW_S - 301 })).toBe('stale');
    expect(await at({})).toBe('stale');
  });

  test('invalid and unsigned JWTs are refused', async () => {
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{}').toString('base64url')}.`;
    for (const token of ['', 'x', 'a.b.c', none]) expect(await verdict(how, token, [SECRET])).toBe('invalid');
  });
});

describe('with a public key', () => {
  test.each([
    ['RS256', rsa],
    ['ES256', ec],
    ['EdDSA', ed],
  ] as const)('%s, also if its PEM has lost its line breaks', async (alg, pair) => {
    const pem = await exportSPKI(pair.publicKey);
    for (const key of [pem, pem.replaceAll('\n', ' ')]) {
      const how = options('jwt_public_key', { public_key: key });
      expect(await verdict(how, await signed(alg, pair.privateKey))).toBe('valid');
    }
  });

  test('the key is never used as a secret', async () => {
    const pem = await exportSPKI(rsa.publicKey);
    const forged = await signed('HS256', Buffer.from(pem));
    expect(await verdict(options('jwt_public_key', { public_key: pem }), forged)).toBe('invalid');
  });
});

describe('with a key set', () => {
  const how = options('jwt_jwks', { jwks_url: 'https://issuer.example.com/jwks.json' });

  /** Key sets from a service that answers with this. */
  const servedBy = (answer: () => Response | Promise<Response>) => {
    const asked: string[] = [];
    const fetch = async (url: string) => {
      asked.push(url);
      return answer();
    };
    const sets = createKeySets({ fetch: () => ({ fetch }) });
    return {
      asked,
      check: (token: string) => verdict(how, token, [], ((url: string) => sets(1, url)) as never),
    };
  };
  const json = (value: unknown) => new Response(stringifyJson(value as JsonObject), { status: 200 });

  test('the set is fetched once, and its keys are found by their ids', async () => {
    const keys = [
      { ...(await exportJWK(rsa.publicKey)), kid: 'r', alg: 'RS256' },
      { ...(await exportJWK(ec.publicKey)), kid: 'e', alg: 'ES256' },
    ];
    const { asked, check } = servedBy(() => json({ keys }));
    const claims = { exp: NOW_S + 60 };
    expect(await check(await signed('RS256', rsa.privateKey, claims, 'r'))).toBe('valid');
    expect(await check(await signed('ES256', ec.privateKey, claims, 'e'))).toBe('valid');
    expect(await check(await signed('ES256', ec.privateKey, claims, 'made up'))).toBe('invalid');
    expect(await check(await signed('ES256', ec.privateKey, claims, 'made up too'))).toBe('invalid');
    expect(asked).toEqual(['https://issuer.example.com/jwks.json']);
  });

  test.each([
    ['does not answer', () => Promise.reject(new Error('refused'))],
    ['answers with an error', () => new Response('', { status: 502 })],
    ['answers with something else', () => new Response('<html>', { status: 200 })],
  ] as const)('a service that %s makes the call be repeated later', async (_name, answer) => {
    const { check } = servedBy(answer);
    await expect(check(await signed('RS256', rsa.privateKey, {}, 'r'))).rejects.toMatchObject({
      code: 'keys_unreachable',
      headers: { 'retry-after': '30' },
    });
  });
});
