import {
  createHash,
  createHmac,
  type Hash,
  type Hmac,
  randomBytes,
  randomInt,
  randomUUID,
} from 'node:crypto';
import { type JsonObject, type JsonValue, type NodeContext, stringifyWork, success } from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { Secret, TOTP } from 'otpauth';
import { type CryptoConfig, cryptoProperties, findKeyGaps } from '../crypto/config.ts';
import { signToken, verifyToken } from '../crypto/tokens.ts';

export const coreCrypto = checkedNode({
  type: 'core.crypto',
  title: 'Crypto',
  description:
    'Hashes and signs text, signs and verifies JSON web tokens, makes one-time codes and random values. The output is {value}; for jwt_verify {valid, claims, reason}, where claims are empty unless the token is valid; for totp {value, valid_until}. Results are stored with the execution, so that it sees the same after a restart. Keys from a credential never appear in an output.',
  icon: 'key-round',
  // Random values and the time must not differ when an execution is resumed: what an effect returned is stored before it is used.
  kind: 'effect',
  properties: cryptoProperties,
  required: ['operation'],
  findGaps: findKeyGaps,
  form: {
    main: [
      ...([
        'operation',
        'data',
        'algorithm',
        'jwt_algorithm',
        'token',
        'credential_id',
        'key',
        'claims',
      ] as const),
      ...([
        'expires_in_s',
        'key_id',
        'issuer',
        'audience',
        'digits',
        'period_s',
        'random',
        'length',
      ] as const),
      'encoding',
    ],
  },
  synonyms: [
    'hash',
    'sha256',
    'md5',
    'hmac',
    'sign',
    'jwt',
    'token',
    'totp',
    '2fa',
    'uuid',
    'random',
    'password',
  ],
  examples: [
    {
      title: 'Hash an e-mail address',
      config: { operation: 'hash', data: '{{trigger.data.email}}' },
      trigger: { email: 'ada@example.org' },
      expect: { output: { value: 'cfe00dde46ef942601ffafb9e2825e802858b460e586b8305b344c1eb826357d' } },
    },
    {
      title: 'Sign a request',
      config: { operation: 'hmac', data: 'timestamp=1&amount=2', credential_id: 3, encoding: 'base64' },
      credential: { type: 'secret', value: 'your-secret' },
      expect: { output: { value: 'RLTyAnz41Nbe8aHYGl2XBcyfOUcgMwzLf9kOVrd/89s=' } },
    },
    {
      title: 'Refuse a token that someone changed',
      config: { operation: 'jwt_verify', token: '{{trigger.data.token}}', key: 'your-secret' },
      trigger: { token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.AAAA' },
      expect: { output: { valid: false, claims: null, reason: 'signature' } },
    },
    {
      title: 'A one-time code',
      config: { operation: 'totp', credential_id: 4 },
      credential: { type: 'secret', value: 'JBSW Y3DP EHPK 3PXP' },
      expect: { output: { value: '260025', valid_until: '2026-01-01T00:00:30.000Z' } },
    },
  ],
  async run(config, context) {
    return success(await OPERATIONS[config.operation](config, context));
  },
});

const OPERATIONS: {
  readonly [Name in CryptoConfig['operation']]: (
    config: CryptoConfig,
    context: NodeContext,
  ) => JsonObject | Promise<JsonObject>;
} = {
  hash: async ({ algorithm, data, encoding }, context) => ({
    value: await digest(createHash(algorithm), data, encoding, context),
  }),
  hmac: async (config, context) => {
    const { algorithm, data, encoding } = config;
    const hmac = createHmac(algorithm, await keyOf(config, context));
    return { value: await digest(hmac, data, encoding, context) };
  },
  jwt_sign: async (config, context) => {
    const { claims, jwt_algorithm: algorithm, expires_in_s: lifetime, key_id: keyId } = config;
    const key = await keyOf(config, context);
    const iat = Math.floor(context.now() / 1000);
    const all = { iat, ...(lifetime === 0 ? {} : { exp: iat + lifetime }), ...claims };
    return { value: await signToken(all, { algorithm, key, keyId }) };
  },
  jwt_verify: async (config, context) => {
    const { token, jwt_algorithm: algorithm, issuer, audience } = config;
    const key = await keyOf(config, context);
    return verifyToken(token, { algorithm, key, issuer, audience, nowMs: context.now() });
  },
  totp: async (config, context) => {
    const { digits, period_s: period } = config;
    const secret = readBase32(await keyOf(config, context));
    const nowMs = context.now();
    const value = new TOTP({ secret, digits, period }).generate({ timestamp: nowMs });
    const endsAtMs = (Math.floor(nowMs / 1000 / period) + 1) * period * 1000;
    return { value, valid_until: new Date(endsAtMs).toISOString() };
  },
  random: ({ random, length, encoding }) => {
    if (random === 'uuid') return { value: randomUUID() };
    if (random === 'bytes') return { value: randomBytes(length).toString(encoding) };
    return { value: Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)]).join('') };
  },
};

/** Without 0 and O, 1, l and I. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** The key of the credential or the config. */
async function keyOf(
  { credential_id: id, key }: CryptoConfig,
  { credentials }: NodeContext,
): Promise<string> {
  if ((id === 0) === (key === '')) throw new NodeProblem(message('nodes.one_key'));
  return id === 0 ? key : (await credentials.open(id, { types: ['secret'] })).value;
}

function readBase32(text: string): Secret {
  try {
    const secret = Secret.fromBase32(text.replace(/[\s=-]/g, '').toUpperCase());
    if (secret.bytes.length > 0) return secret;
  } catch {
    // Not Base32.
  }
  throw new NodeProblem(message('nodes.wrong_totp_key'));
}

/** Bytes that are hashed at a stretch, which takes a few milliseconds. */
const PIECE_BYTES = 1024 * 1024;

async function digest(
  hash: Hash | Hmac,
  data: JsonValue,
  encoding: CryptoConfig['encoding'],
  context: NodeContext,
): Promise<string> {
  const text = typeof data === 'string' ? data : await context.inTurns((meter) => stringifyWork(data, meter));
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    hash.update(bytes.subarray(at, at + PIECE_BYTES));
  }
  return hash.digest(encoding);
}
