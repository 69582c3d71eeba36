import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonArray, isJsonObject, tryParseJson } from '@millrace/engine';
import { isMessage, type Message, message } from '@millrace/messages';
import type { SignatureOptions } from '@millrace/triggers';
import {
  decode,
  headerOf,
  malformed,
  missing,
  readSignature,
  readTime,
  readTimestamp,
} from './proof-headers.ts';

/** A call as received. */
export interface SignedCall {
  readonly method: string;
  /** The called address with the public URL of the service; some services sign it. */
  readonly url: string;
  /** Unmodified bytes of the body. */
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/** What a call carries as its proof, in a few forms for all schemes. */
export type Claim =
  | {
      readonly kind: 'hmac';
      readonly algorithm: 'sha1' | 'sha256' | 'sha512';
      /** What was signed, in this order. */
      readonly signed: readonly (string | Buffer)[];
      /** Any of them may be the matching one. */
      readonly signatures: readonly Buffer[];
      /** Epoch seconds; null if the time isn't signed. */
      readonly timestampS: number | null;
    }
  | {
      readonly kind: 'token';
      /** Each must be the expected one. */
      readonly tokens: readonly string[];
      readonly expected: (secret: string) => string;
    }
  | {
      readonly kind: 'public_key';
      readonly key: KeyObject;
      /** Null: the key's algorithm defines it. */
      readonly hash: 'sha256' | null;
      readonly signed: readonly (string | Buffer)[];
      /** Any of them may be the matching one. */
      readonly signatures: readonly Buffer[];
      /** Epoch seconds; null if the time isn't signed. */
      readonly timestampS: number | null;
    };

/** What a call carries as its proof; a message if there is nothing to check. */
export function readClaim(options: SignatureOptions, call: SignedCall): Claim | Message {
  switch (options.preset) {
    case 'github':
    case 'meta':
      return readPlain(call, { ...GITHUB, timestamp_header: '' });
    case 'slack':
      return readTimed(call, SLACK);
    case 'stripe':
      return readStripe(call);
    case 'standard_webhooks':
      return readStandardWebhooks(call, 'v1');
    case 'standard_webhooks_key':
      return byKey(options, readStandardWebhooks(call, 'v1a'));
    case 'hmac':
      return readPlain(call, options);
    case 'ed25519':
      return byKey(options, readPlain(call, options));
    case 'discord':
      return byKey(options, readTimed(call, DISCORD));
    case 'sendgrid':
      return byKey(options, readTimed(call, SENDGRID), 'sha256');
    case 'gitlab':
      return readToken(call, 'X-Gitlab-Token');
    case 'telegram':
      return readToken(call, 'X-Telegram-Bot-Api-Secret-Token');
    case 'hubspot':
      return readTimed(call, HUBSPOT);
    case 'zendesk':
      return readTimed(call, ZENDESK);
    case 'zoom':
      return readTimed(call, ZOOM);
    case 'paddle':
      return readPaddle(call);
    case 'square':
      return readOf(call, 'X-Square-Hmacsha256-Signature', {
        encoding: 'base64',
        signed: [call.url, call.body],
      });
    case 'twilio':
      return readTwilio(call);
    case 'microsoft':
      return readClientStates(call);
    case 'token':
      return readOwnToken(options, call);
    case 'basic':
      return readBasic(options, call);
    case 'jwt_secret':
    case 'jwt_public_key':
    case 'jwt_jwks':
      throw new Error('a JWT is not a signature of the call');
  }
}

const GITHUB = {
  header: 'X-Hub-Signature-256',
  prefix: 'sha256=',
  algorithm: 'sha256',
  encoding: 'hex',
  signed: 'body',
} as const;

type PlainOptions = Pick<
  SignatureOptions,
  'header' | 'prefix' | 'algorithm' | 'encoding' | 'timestamp_header' | 'signed'
>;

type HmacClaim = Extract<Claim, { kind: 'hmac' }>;

function readPlain({ body, headers }: SignedCall, options: PlainOptions): HmacClaim | Message {
  const signature = readSignature(headers, options);
  if (isMessage(signature)) return signature;
  const base = { kind: 'hmac', algorithm: options.algorithm, signatures: [signature] } as const;
  if (options.timestamp_header === '') return { ...base, signed: [body], timestampS: null };
  const at = readTime(headers, options.timestamp_header);
  if (isMessage(at)) return at;
  const { time, timestampS } = at;
  const signed = {
    body: [body],
    'timestamp.body': [time, '.', body],
    timestamp_body: [time, body],
  }[options.signed];
  return { ...base, signed, timestampS };
}

function readStripe({ body, headers }: SignedCall): Claim | Message {
  const text = headerOf(headers, 'Stripe-Signature');
  if (text === null) return missing('Stripe-Signature');
  const members = text.split(',').map((member) => {
    const at = member.indexOf('=');
    return { name: member.slice(0, at).trim(), value: member.slice(at + 1).trim() };
  });
  const [time, ...others] = members.filter(({ name }) => name === 't').map(({ value }) => value);
  const timestampS = readTimestamp(time ?? '');
  const signatures = members.flatMap(({ name, value }) =>
    name === 'v1' ? (decode(value, 'hex') ?? []) : [],
  );
  if (time === undefined || timestampS === null || others.length > 0 || signatures.length === 0) {
    return malformed('Stripe-Signature');
  }
  return { kind: 'hmac', algorithm: 'sha256', signed: [`${time}.`, body], signatures, timestampS };
}

/** What is signed in the same way, but with a key pair. @param hash null: that of Ed25519 */
function byKey(
  options: SignatureOptions,
  claim: HmacClaim | Message,
  hash: 'sha256' | null = null,
): Claim | Message {
  if (isMessage(claim)) return claim;
  const { signed, signatures, timestampS } = claim;
  return { kind: 'public_key', key: publicKeyOf(options), hash, signed, signatures, timestampS };
}

/** @param scheme `v1` with a shared secret, `v1a` with a key pair; a call may have signatures of both */
function readStandardWebhooks({ body, headers }: SignedCall, scheme: 'v1' | 'v1a'): HmacClaim | Message {
  // Svix, where the specification comes from, still sends its own names; the two are never mixed in one call.
  const isSigned = (prefix: string): boolean => headerOf(headers, `${prefix}-signature`) !== null;
  const prefix = !isSigned('webhook') && isSigned('svix') ? 'svix' : 'webhook';
  const names = [`${prefix}-id`, `${prefix}-timestamp`, `${prefix}-signature`] as const;
  const [id, time, text] = names.map((name) => headerOf(headers, name));
  if (!id) return missing(names[0]);
  if (!time) return missing(names[1]);
  if (!text) return missing(names[2]);
  const timestampS = readTimestamp(time);
  if (timestampS === null) return malformed(names[1]);
  const signatures = text.split(' ').flatMap((versioned) => {
    const [version, signature = '', ...rest] = versioned.split(',');
    return version === scheme && rest.length === 0 ? (decode(signature, 'base64') ?? []) : [];
  });
  if (signatures.length === 0) return malformed(names[2]);
  return { kind: 'hmac', algorithm: 'sha256', signed: [`${id}.${time}.`, body], signatures, timestampS };
}

/** One signature in a header, without a time. */
function readOf(
  { headers }: SignedCall,
  header: string,
  {
    encoding,
    signed,
    algorithm = 'sha256',
  }: {
    encoding: 'hex' | 'base64';
    signed: readonly (string | Buffer)[];
    algorithm?: 'sha1' | 'sha256';
  },
): Claim | Message {
  const signature = readSignature(headers, { header, encoding });
  if (isMessage(signature)) return signature;
  return { kind: 'hmac', algorithm, signed, signatures: [signature], timestampS: null };
}

/** A signature and its time in a header each. */
interface TimedScheme {
  readonly header: string;
  readonly timeHeader: string;
  readonly prefix: string;
  readonly encoding: 'hex' | 'base64';
  /** Default: epoch seconds or milliseconds. */
  readonly parseTime?: (text: string) => number | null;
  readonly signed: (call: SignedCall, time: string) => readonly (string | Buffer)[];
}

const SLACK: TimedScheme = {
  header: 'X-Slack-Signature',
  timeHeader: 'X-Slack-Request-Timestamp',
  prefix: 'v0=',
  encoding: 'hex',
  signed: ({ body }, time) => [`v0:${time}:`, body],
};
const ZOOM: TimedScheme = {
  header: 'x-zm-signature',
  timeHeader: 'x-zm-request-timestamp',
  prefix: 'v0=',
  encoding: 'hex',
  parseTime: readTimeOrMoment,
  signed: ({ body }, time) => [`v0:${time}:`, body],
};
const ZENDESK: TimedScheme = {
  header: 'X-Zendesk-Webhook-Signature',
  timeHeader: 'X-Zendesk-Webhook-Signature-Timestamp',
  prefix: '',
  encoding: 'base64',
  parseTime: readTimeOrMoment,
  signed: ({ body }, time) => [time, body],
};
const HUBSPOT: TimedScheme = {
  header: 'X-HubSpot-Signature-v3',
  timeHeader: 'X-HubSpot-Request-Timestamp',
  prefix: '',
  encoding: 'base64',
  parseTime: readTimeOrMoment,
  signed: ({ method, url, body }, time) => [method, unescapeForHubspot(url), body, time],
};

/** HubSpot signs the address with these characters unescaped. */
function unescapeForHubspot(url: string): string {
  return url.replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, (escaped) =>
    String.fromCharCode(Number.parseInt(escaped.slice(1), 16)),
  );
}

function readTimed(call: SignedCall, scheme: TimedScheme): HmacClaim | Message {
  const at = readTime(call.headers, scheme.timeHeader, scheme.parseTime);
  if (isMessage(at)) return at;
  const signature = readSignature(call.headers, scheme);
  if (isMessage(signature)) return signature;
  const { time, timestampS } = at;
  const signed = scheme.signed(call, time);
  return { kind: 'hmac', algorithm: 'sha256', signed, signatures: [signature], timestampS };
}

function readTimeOrMoment(text: string): number | null {
  return readTimestamp(text) ?? readMoment(text);
}

/** A time as Zendesk writes it. */
function readMoment(text: string): number | null {
  const at = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at / 1_000;
}

function readPaddle({ body, headers }: SignedCall): Claim | Message {
  const text = headerOf(headers, 'Paddle-Signature');
  if (text === null) return missing('Paddle-Signature');
  const members = text.split(';').map((member) => member.trim());
  const valuesOf = (name: string) =>
    members.filter((member) => member.startsWith(`${name}=`)).map((member) => member.slice(name.length + 1));
  const [time = '', ...others] = valuesOf('ts');
  const timestampS = readTimestamp(time);
  const signatures = valuesOf('h1').flatMap((value) => decode(value, 'hex') ?? []);
  if (timestampS === null || others.length > 0 || signatures.length === 0)
    return malformed('Paddle-Signature');
  return { kind: 'hmac', algorithm: 'sha256', signed: [`${time}:`, body], signatures, timestampS };
}

/** A form is signed with its fields in order, any other body by a hash in the address. */
function readTwilio(call: SignedCall): Claim | Message {
  const { url, body, headers } = call;
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
  const given = URL.parse(url)?.searchParams.get('bodySHA256') ?? null;
  if (!isForm && body.length > 0 && given !== createHash('sha256').update(body).digest('hex'))
    return message('service.body_hash_wrong');
  const fields = new URLSearchParams(isForm ? body.toString('utf8') : '');
  const names = [...new Set(fields.keys())].sort(byCodeUnits);
  const pairs = names.flatMap((name) =>
    [...new Set(fields.getAll(name))].sort(byCodeUnits).map((value) => name + value),
  );
  return readOf(call, 'X-Twilio-Signature', {
    encoding: 'base64',
    signed: [url, ...pairs],
    algorithm: 'sha1',
  });
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What precedes the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const DISCORD: TimedScheme = {
  header: 'X-Signature-Ed25519',
  timeHeader: 'X-Signature-Timestamp',
  prefix: '',
  encoding: 'hex',
  signed: ({ body }, time) => [time, body],
};
const SENDGRID: TimedScheme = {
  header: 'X-Twilio-Email-Event-Webhook-Signature',
  timeHeader: 'X-Twilio-Email-Event-Webhook-Timestamp',
  prefix: '',
  encoding: 'base64',
  signed: ({ body }, time) => [time, body],
};

/** A key by its 32 bytes. */
function ed25519Key(bytes: Buffer): KeyObject {
  return toKey(Buffer.concat([ED25519_PREFIX, bytes]));
}

/** @throws Error if it is no Ed25519 key: its 32 bytes, in hexadecimal or base64, or one in DER, in base64 or as PEM */
function ed25519KeyOf(text: string): KeyObject {
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : Buffer.from(text.replace(/-----(?:BEGIN|END) PUBLIC KEY-----/g, '').replace(/^whpk_/, ''), 'base64');
  const key = bytes.length === 32 ? ed25519Key(bytes) : toKey(bytes);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is not one of Ed25519');
  return key;
}

function toKey(der: Buffer): KeyObject {
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

/**
 * The key of a check by public key. Of a PEM, line breaks don't matter, because a field of one line drops them.
 * @throws Error if it isn't one
 */
export function publicKeyOf({ preset, public_key: text }: SignatureOptions): KeyObject {
  if (preset === 'discord') return ed25519Key(Buffer.from(text.trim(), 'hex'));
  if (preset === 'sendgrid') return toKey(Buffer.from(text.trim(), 'base64'));
  if (preset === 'ed25519' || preset === 'standard_webhooks_key') return ed25519KeyOf(text.trim());
  return toKey(Buffer.from(text.replace(/-----(?:BEGIN|END) PUBLIC KEY-----/g, ''), 'base64'));
}

const asItIs = (secret: string): string => secret;

function readToken({ headers }: SignedCall, header: string): Claim | Message {
  const token = headerOf(headers, header);
  return token === null ? missing(header) : { kind: 'token', tokens: [token], expected: asItIs };
}

function readOwnToken({ location, name, prefix }: SignatureOptions, call: SignedCall): Claim | Message {
  const values =
    location === 'header'
      ? [headerOf(call.headers, name) ?? ''].filter((value) => value !== '')
      : (URL.parse(call.url)?.searchParams.getAll(name) ?? []);
  const [token, ...others] = values;
  if (token === undefined || others.length > 0) return message('service.token_missing');
  return { kind: 'token', tokens: [token], expected: (secret) => prefix + secret };
}

function readBasic({ username }: SignatureOptions, { headers }: SignedCall): Claim | Message {
  const given = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (given === undefined) return message('service.token_missing');
  const token = Buffer.from(given, 'base64').toString('utf8');
  return { kind: 'token', tokens: [token], expected: (secret) => `${username}:${secret}` };
}

/** Microsoft Graph repeats the secret in each notification of a call. */
function readClientStates({ body }: SignedCall): Claim | Message {
  const parsed = tryParseJson(body.toString('utf8'));
  const list = parsed !== undefined && isJsonObject(parsed) ? (parsed.value ?? null) : null;
  const states = isJsonArray(list)
    ? list.map((each) => (isJsonObject(each) && typeof each.clientState === 'string' ? each.clientState : ''))
    : [];
  if (states.length === 0) return message('service.token_missing');
  return { kind: 'token', tokens: states, expected: asItIs };
}
