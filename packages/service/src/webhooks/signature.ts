import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isMessage, type Message, message } from '@millrace/messages';
import type { SignatureOptions } from '@millrace/nodes';

/** A signed call as received. */
export interface SignedCall {
  /** Unmodified bytes of the body. */
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/**
 * The result of checking a signature. `stale`: it is valid, but its time is too far from now, so it may be a replayed call.
 * Reasons are safe for the caller: they reveal nothing about the secret.
 */
export type SignatureVerdict =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: Message }
  | { readonly kind: 'stale'; readonly reason: Message };

/** A call's signature data, in one form for all schemes. */
interface Claim {
  readonly algorithm: 'sha256' | 'sha512';
  /** What was signed, in this order. */
  readonly signed: readonly (string | Buffer)[];
  /** Any of them may be the matching one. */
  readonly signatures: readonly Buffer[];
  /** Epoch seconds; null if the time isn't signed. */
  readonly timestampS: number | null;
}

/**
 * Checks who a call is from. Signatures are compared in constant time, each one with each secret.
 *
 * GitHub: docs.github.com, "Validating webhook deliveries". Stripe: docs.stripe.com/webhooks, "Verify manually".
 * Slack: docs.slack.dev, "Verifying requests from Slack". Standard Webhooks: the specification of that name, 1.0.0.
 * @param secrets the current one and, while the sender is changing it, the previous one
 * @param nowMs epoch milliseconds
 */
export function verifySignature(
  options: SignatureOptions,
  secrets: readonly string[],
  call: SignedCall,
  nowMs: number,
): SignatureVerdict {
  const claim = readClaim(options, call);
  if (isMessage(claim)) return { kind: 'invalid', reason: claim };
  const matches = secrets.flatMap((secret) => {
    const hmac = createHmac(claim.algorithm, keyOf(options, secret));
    for (const part of claim.signed) hmac.update(part);
    const expected = hmac.digest();
    return claim.signatures.map((signature) => isEqual(signature, expected));
  });
  if (!matches.includes(true)) return { kind: 'invalid', reason: message('service.signature_other_secret') };
  const { timestampS } = claim;
  if (timestampS === null || Math.abs(nowMs / 1_000 - timestampS) <= options.tolerance_s)
    return { kind: 'valid' };
  return { kind: 'stale', reason: message('service.signature_stale', { seconds: options.tolerance_s }) };
}

function isEqual(signature: Buffer, expected: Buffer): boolean {
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

/** Keys are the secret's bytes as text, except for Standard Webhooks, which encodes them in base64. */
function keyOf({ preset }: SignatureOptions, secret: string): Buffer {
  if (preset !== 'standard_webhooks') return Buffer.from(secret, 'utf8');
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

/** Returns a message if there is nothing to check. */
function readClaim(options: SignatureOptions, call: SignedCall): Claim | Message {
  switch (options.preset) {
    case 'github':
      return readPlain(call, { ...GITHUB, timestamp_header: '' });
    case 'slack':
      return readSlack(call);
    case 'stripe':
      return readStripe(call);
    case 'standard_webhooks':
      return readStandardWebhooks(call);
    case 'hmac':
      return readPlain(call, options);
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

function readPlain({ body, headers }: SignedCall, options: PlainOptions): Claim | Message {
  const text = headerOf(headers, options.header);
  if (text === null) return missing(options.header);
  const signature = text.startsWith(options.prefix)
    ? decode(text.slice(options.prefix.length), options.encoding)
    : null;
  if (signature === null) return malformed(options.header);
  const base = { algorithm: options.algorithm, signatures: [signature] };
  if (options.timestamp_header === '') return { ...base, signed: [body], timestampS: null };
  const time = headerOf(headers, options.timestamp_header);
  if (time === null) return missing(options.timestamp_header);
  const timestampS = readTimestamp(time);
  if (timestampS === null) return malformed(options.timestamp_header);
  return { ...base, signed: options.signed === 'body' ? [body] : [time, '.', body], timestampS };
}

function readSlack({ body, headers }: SignedCall): Claim | Message {
  const time = headerOf(headers, 'X-Slack-Request-Timestamp');
  if (time === null) return missing('X-Slack-Request-Timestamp');
  const timestampS = readTimestamp(time);
  if (timestampS === null) return malformed('X-Slack-Request-Timestamp');
  const text = headerOf(headers, 'X-Slack-Signature');
  if (text === null) return missing('X-Slack-Signature');
  const signature = text.startsWith('v0=') ? decode(text.slice(3), 'hex') : null;
  if (signature === null) return malformed('X-Slack-Signature');
  return { algorithm: 'sha256', signed: [`v0:${time}:`, body], signatures: [signature], timestampS };
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
  return { algorithm: 'sha256', signed: [`${time}.`, body], signatures, timestampS };
}

function readStandardWebhooks({ body, headers }: SignedCall): Claim | Message {
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
    return version === 'v1' && rest.length === 0 ? (decode(signature, 'base64') ?? []) : [];
  });
  if (signatures.length === 0) return malformed(names[2]);
  return { algorithm: 'sha256', signed: [`${id}.${time}.`, body], signatures, timestampS };
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Any text that decodes to the same bytes is that signature, but no characters may be left over or missing. */
function decode(text: string, encoding: 'hex' | 'base64'): Buffer | null {
  if (encoding === 'hex') return /^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : null;
}

/** As seconds this would be a year nobody signs for, so from here on the number is in milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000;

/** Epoch seconds. */
function readTimestamp(text: string): number | null {
  if (!/^\d{1,15}$/.test(text)) return null;
  const number = Number(text);
  return number >= MILLISECONDS_FROM ? number / 1_000 : number;
}

function missing(header: string): Message {
  return message('service.signature_header_missing', { header });
}

function malformed(header: string): Message {
  return message('service.signature_header_malformed', { header });
}
