import {
  type ConfigFault,
  type JsonObject,
  type JsonValue,
  JWT_ALGORITHMS,
  type JwtAlgorithm,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { type Static, type TObject, Type } from 'typebox';

const OPERATIONS = ['hash', 'hmac', 'jwt_sign', 'jwt_verify', 'totp', 'random'] as const;
const HASHES = ['sha256', 'sha384', 'sha512', 'sha1', 'md5'] as const;
const ENCODINGS = ['hex', 'base64', 'base64url'] as const;
const RANDOM = ['uuid', 'bytes', 'password'] as const;

type When = { readonly [name: string]: readonly string[] };
const WITH_KEY: When = { operation: ['hmac', 'jwt_sign', 'jwt_verify', 'totp'] };
const HASHING: When = { operation: ['hash', 'hmac'] };
const JWT: When = { operation: ['jwt_sign', 'jwt_verify'] };

export const cryptoProperties = {
  operation: Type.Unsafe<(typeof OPERATIONS)[number]>({
    type: 'string',
    enum: OPERATIONS,
    title: 'Operation',
    description:
      'What to make: a digest of text, its signature with a key, a token, a one-time code or an unpredictable value.',
    default: 'hash',
    'x-labels': {
      hash: 'Hash',
      hmac: 'HMAC',
      jwt_sign: 'Sign a JWT',
      jwt_verify: 'Verify a JWT',
      totp: 'One-time code (TOTP)',
      random: 'Random value',
    },
  }),
  data: Type.Unsafe<JsonValue>({
    title: 'Data',
    description: 'The text to hash or sign. Anything else is taken as its JSON text.',
    default: '',
    'x-when': HASHING,
  }),
  algorithm: Type.Unsafe<(typeof HASHES)[number]>({
    type: 'string',
    enum: HASHES,
    title: 'Algorithm',
    description: 'MD5 and SHA-1 are broken; use them only where another system demands it.',
    default: 'sha256',
    'x-labels': { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512', sha1: 'SHA-1', md5: 'MD5' },
    'x-when': HASHING,
  }),
  jwt_algorithm: Type.Unsafe<JwtAlgorithm>({
    type: 'string',
    enum: JWT_ALGORITHMS,
    title: 'Algorithm',
    description:
      'HS: a shared secret. The others: a private key to sign, a public one to verify, in PEM format.',
    default: 'HS256',
    'x-labels': Object.fromEntries(JWT_ALGORITHMS.map((name) => [name, name])),
    'x-when': JWT,
  }),
  credential_id: Type.Unsafe<number>({
    ...credentialProperty(
      ['secret'],
      'Credential',
      'The key. For one-time codes: the secret in Base32.',
      'optional',
    ),
    'x-when': WITH_KEY,
  }),
  key: Type.String({
    title: 'Key',
    description:
      "Instead of a credential, for keys that aren't secret or come from another node. Everyone who can read the workflow sees what's here.",
    default: '',
    maxLength: 20_000,
    'x-when': WITH_KEY,
  }),
  claims: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Claims',
    description: 'What the token says, such as {"sub": "17"}. iat is added.',
    default: {},
    'x-when': { operation: ['jwt_sign'] },
  }),
  expires_in_s: Type.Integer({
    title: 'Expires in',
    description: 'After how many seconds the token expires (exp); 0 for never.',
    minimum: 0,
    maximum: 10 * 366 * 86_400,
    default: 3_600,
    'x-when': { operation: ['jwt_sign'] },
  }),
  key_id: Type.String({
    title: 'Key ID',
    description: 'kid in the header of the token. May be empty.',
    default: '',
    maxLength: 500,
    'x-when': { operation: ['jwt_sign'] },
  }),
  token: Type.String({
    title: 'Token',
    description: 'The token to verify, with or without Bearer in front.',
    default: '',
    'x-filled': true,
    maxLength: 100_000,
    'x-when': { operation: ['jwt_verify'] },
  }),
  issuer: Type.String({
    title: 'Issuer',
    description: 'What iss must be. Empty: anything.',
    default: '',
    maxLength: 1_000,
    'x-when': { operation: ['jwt_verify'] },
  }),
  audience: Type.String({
    title: 'Audience',
    description: 'What aud must be or contain. Empty: anything.',
    default: '',
    maxLength: 1_000,
    'x-when': { operation: ['jwt_verify'] },
  }),
  digits: Type.Integer({
    title: 'Digits',
    description: 'Digits of the code.',
    minimum: 6,
    maximum: 8,
    default: 6,
    'x-when': { operation: ['totp'] },
  }),
  period_s: Type.Integer({
    title: 'Period',
    description: 'After how many seconds the code changes.',
    minimum: 1,
    maximum: 3_600,
    default: 30,
    'x-when': { operation: ['totp'] },
  }),
  random: Type.Unsafe<(typeof RANDOM)[number]>({
    type: 'string',
    enum: RANDOM,
    title: 'Kind',
    description:
      'UUID: version 4. Bytes: encoded as below. Password: letters and digits that are easy to tell apart.',
    default: 'uuid',
    'x-labels': { uuid: 'UUID', bytes: 'Bytes', password: 'Password' },
    'x-when': { operation: ['random'] },
  }),
  length: Type.Integer({
    title: 'Length',
    description: 'Number of bytes or characters.',
    minimum: 1,
    maximum: 1_024,
    default: 32,
    'x-when': { random: ['bytes', 'password'], operation: ['random'] },
  }),
  encoding: Type.Unsafe<(typeof ENCODINGS)[number]>({
    type: 'string',
    enum: ENCODINGS,
    title: 'Encoding',
    description: 'How bytes are written.',
    default: 'hex',
    'x-labels': { hex: 'Hexadecimal', base64: 'Base64', base64url: 'Base64 for URLs' },
    'x-when': { operation: ['hash', 'hmac', 'random'] },
  }),
};

/** A key is needed, from one place or the other. */
export function findKeyGaps({
  operation,
  credential_id: id = 0,
  key = '',
}: JsonObject): readonly ConfigFault[] {
  const isMissing = WITH_KEY.operation?.includes(operation as string) === true && id === 0 && key === '';
  return isMissing ? [{ pointer: '/credential_id', message: message('nodes.gap_key') }] : [];
}

export type CryptoConfig = Static<TObject<typeof cryptoProperties>>;
