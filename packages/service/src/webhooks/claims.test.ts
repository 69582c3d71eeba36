import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { readWebhookOptions, type SignatureOptions } from '@millrace/triggers';
import { describe, expect, test } from 'vitest';
import { publicKeyOf } from './claims.ts';
import { verifySignature } from './signature.ts';

function options(preset: string, more: object = {}): SignatureOptions {
  const read = readWebhookOptions({ signature: { preset, credential_id: 1, ...more } });
  if (read?.signature == null) throw new Error('the settings do not fit');
  return read.signature;
}

interface Example {
  readonly name: string;
  readonly options: SignatureOptions;
  readonly secret: string | null;
  readonly method?: string;
  readonly url: string;
  readonly body: string;
  readonly headers: { readonly [name: string]: string };
  readonly nowMs: number;
  /** Whether a time is signed. */
  readonly isTimed: boolean;
}

const URL_HERE = 'https://millrace.example.com/api/v1/webhooks/hash?a=%2Fb';
const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const NOW_S = String(NOW_MS / 1_000);
const hmac = (secret: string, text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', secret).update(text).digest(encoding);

const TWILIO_URL = 'https://mycompany.com/myapp.php?foo=1&bar=2';
const SENDGRID_EVENT = {
  email: 'hello@world.com',
  event: 'dropped',
  reason: 'Bounced Address',
  sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
  sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
  'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
  timestamp: 1_600_112_492,
};
const discord = generateKeyPairSync('ed25519');
const DISCORD_BODY = '{"type":2,"data":{"name":"größer"}}';

const pair = generateKeyPairSync('ed25519');
const PEM = pair.publicKey.export({ format: 'pem', type: 'spki' }).toString();
const RAW = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
const signedByPair = (text: string, encoding: 'hex' | 'base64') =>
  sign(null, Buffer.from(text), pair.privateKey).toString(encoding);

const EXAMPLES: readonly Example[] = [
  {
    // The second vector of RFC 8032, section 7.1.
    name: 'Ed25519, the body alone',
    options: options('ed25519', {
      header: 'X-Signature',
      public_key: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    }),
    secret: null,
    url: URL_HERE,
    body: 'r',
    headers: {
      'x-signature':
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    },
    nowMs: NOW_MS,
    isTimed: false,
  },
  ...[
    { signed: 'timestamp.body', text: `${NOW_S}.{"n":1}`, key: PEM.replaceAll('\n', '') },
    { signed: 'timestamp_body', text: `${NOW_S}{"n":1}`, key: RAW.toString('base64') },
  ].map(({ signed, text, key }) => ({
    name: `Ed25519, ${signed}`,
    options: options('ed25519', {
      ...{ header: 'X-Signature', timestamp_header: 'X-Time', prefix: 'ed25519=', encoding: 'base64' },
      ...{ signed, public_key: key },
    }),
    secret: null,
    url: URL_HERE,
    body: '{"n":1}',
    headers: { 'x-time': NOW_S, 'x-signature': `ed25519=${signedByPair(text, 'base64')}` },
    nowMs: NOW_MS,
    isTimed: true,
  })),
  {
    // As the specification of Standard Webhooks has it, which has no vector of this scheme.
    name: 'Standard Webhooks with a public key',
    options: options('standard_webhooks_key', { public_key: `whpk_${RAW.toString('base64')}` }),
    secret: null,
    url: URL_HERE,
    body: '{"n":1}',
    headers: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': NOW_S,
      'webhook-signature': `v1a,${signedByPair(`msg_1.${NOW_S}.{"n":1}`, 'base64')}`,
    },
    nowMs: NOW_MS,
    isTimed: true,
  },
  {
    // The vector of Twilio's own libraries.
    name: 'Twilio, a form',
    options: options('twilio'),
    secret: '12345',
    url: TWILIO_URL,
    body: 'To=%2B18005551212&CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309',
    headers: {
      'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
      'content-type': 'application/x-www-form-urlencoded',
    },
    nowMs: NOW_MS,
    isTimed: false,
  },
  {
    // The vector of Twilio's own libraries, too.
    name: 'Twilio, JSON',
    options: options('twilio'),
    secret: '12345',
    url: `${TWILIO_URL}&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620`,
    body: '{"property": "value", "boolean": true}',
    headers: { 'x-twilio-signature': 'a9nBmqA0ju/hNViExpshrM61xv4=' },
    nowMs: NOW_MS,
    isTimed: false,
  },
  {
    // The vector of Square's own libraries.
    name: 'Square',
    options: options('square'),
    secret: 'Ibxx_5AKakO-3qeNVR61Dw',
    url: 'https://webhook.site/679a4f3a-dcfa-49ee-bac5-9d0edad886b9',
    body: '{"merchant_id":"MLEFBHHSJGVHD","type":"webhooks.test_notification","event_id":"ac3ac95b-f97d-458c-a6e6-18981597e05f","created_at":"2022-07-13T20:30:59.037339943Z","data":{"type":"webhooks","id":"bc368e64-01aa-407e-b46e-3231809b1129"}}',
    headers: { 'x-square-hmacsha256-signature': 'GF4YkrJgGBDZ9NIYbNXBnMzqb2HoL4RW/S6vkZ9/2N4=' },
    nowMs: NOW_MS,
    isTimed: false,
  },
  {
    // The vector of SendGrid's own libraries.
    name: 'SendGrid',
    options: options('sendgrid', {
      public_key:
        'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    }),
    secret: null,
    url: URL_HERE,
    body: `${JSON.stringify([SENDGRID_EVENT])}\r\n`,
    headers: {
      'x-twilio-email-event-webhook-timestamp': '1600112502',
      'x-twilio-email-event-webhook-signature':
        'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
    },
    nowMs: 1_600_112_502_000,
    isTimed: true,
  },
  {
    name: 'Discord',
    options: options('discord', {
      public_key: discord.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex'),
    }),
    secret: null,
    url: URL_HERE,
    body: DISCORD_BODY,
    headers: {
      'x-signature-timestamp': NOW_S,
      'x-signature-ed25519': sign(null, Buffer.from(NOW_S + DISCORD_BODY), discord.privateKey).toString(
        'hex',
      ),
    },
    nowMs: NOW_MS,
    isTimed: true,
  },
  {
    name: 'Zendesk',
    options: options('zendesk'),
    // The secret for tests in Zendesk's reference.
    secret: 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==',
    url: URL_HERE,
    body: '{"ticket":7}',
    headers: {
      'x-zendesk-webhook-signature-timestamp': '2026-01-01T00:00:00Z',
      'x-zendesk-webhook-signature': hmac(
        'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==',
        '2026-01-01T00:00:00Z{"ticket":7}',
        'base64',
      ),
    },
    nowMs: NOW_MS,
    isTimed: true,
  },
  {
    name: 'HubSpot, whose addresses are signed unescaped',
    options: options('hubspot'),
    secret: 'client-secret',
    method: 'PUT',
    url: URL_HERE,
    body: '[{"eventId":1}]',
    headers: {
      'x-hubspot-request-timestamp': String(NOW_MS),
      'x-hubspot-signature-v3': hmac(
        'client-secret',
        `PUThttps://millrace.example.com/api/v1/webhooks/hash?a=/b[{"eventId":1}]${NOW_MS}`,
        'base64',
      ),
    },
    nowMs: NOW_MS,
    isTimed: true,
  },
  {
    name: 'Paddle',
    options: options('paddle'),
    secret: 'pdl_ntfset_1',
    url: URL_HERE,
    body: '{"event_id":"evt_1"}',
    headers: {
      'paddle-signature': `ts=${NOW_S};h1=${hmac('pdl_ntfset_1', `${NOW_S}:{"event_id":"evt_1"}`, 'hex')}`,
    },
    nowMs: NOW_MS,
    isTimed: true,
  },
  {
    name: 'Zoom',
    options: options('zoom'),
    secret: 'zoom',
    url: URL_HERE,
    body: '{"event":"meeting.started"}',
    headers: {
      'x-zm-request-timestamp': NOW_S,
      'x-zm-signature': `v0=${hmac('zoom', `v0:${NOW_S}:{"event":"meeting.started"}`, 'hex')}`,
    },
    nowMs: NOW_MS,
    isTimed: true,
  },
  {
    name: 'Meta',
    options: options('meta'),
    secret: 'app',
    url: URL_HERE,
    body: '{"object":"page"}',
    headers: { 'x-hub-signature-256': `sha256=${hmac('app', '{"object":"page"}', 'hex')}` },
    nowMs: NOW_MS,
    isTimed: false,
  },
];

function verdictOf(
  example: Example,
  change: Partial<Omit<Example, 'body'>> & { body?: string | Buffer; secrets?: string[] } = {},
): string {
  const { options: how, secret, body, headers, nowMs, method = 'POST', url } = { ...example, ...change };
  const secrets = change.secrets ?? (secret === null ? [] : [secret]);
  return verifySignature(how, secrets, { method, url, body: Buffer.from(body), headers }, nowMs).kind;
}

describe.each(EXAMPLES)('$name', (example) => {
  const signed = Object.entries(example.headers).filter(([name]) => name !== 'content-type');

  test('the example is valid, and without its headers it is not', () => {
    expect(verdictOf(example)).toBe('valid');
    for (const [name] of signed) {
      const { [name]: _left, ...headers } = example.headers;
      expect([name, verdictOf(example, { headers })]).toEqual([name, 'invalid']);
    }
  });

  test('no byte of the body and no character of the headers can be changed', () => {
    const bytes = Buffer.from(example.body);
    for (let at = 0; at < bytes.length; at += 1) {
      const body = Buffer.from(bytes);
      body[at] = (body[at] ?? 0) ^ 1;
      expect([at, verdictOf(example, { body })]).toEqual([at, 'invalid']);
    }
    for (const [name, value] of signed) {
      for (let at = 0; at < value.length; at += 1) {
        const changed = value.slice(0, at) + (value[at] === '0' ? '1' : '0') + value.slice(at + 1);
        const headers = { ...example.headers, [name]: changed };
        expect([name, at, verdictOf(example, { headers })]).toEqual([name, at, 'invalid']);
      }
      const headers = { ...example.headers, [name]: value.slice(0, -1) };
      expect([name, verdictOf(example, { headers })]).toEqual([name, 'invalid']);
    }
  });

  test('neither another key nor another address is accepted', () => {
    if (example.secret !== null) {
      expect(verdictOf(example, { secrets: ['other'] })).toBe('invalid');
      expect(verdictOf(example, { secrets: [] })).toBe('invalid');
      expect(verdictOf(example, { secrets: ['other', example.secret] })).toBe('valid');
    }
    const isOfAddress = /Twilio|Square|HubSpot/.test(example.name);
    expect(verdictOf(example, { url: `${example.url}#` })).toBe(isOfAddress ? 'invalid' : 'valid');
  });

  test('a time may be off by the tolerance, and without one there is no end', () => {
    for (const side of [-1, 1]) {
      const at = (s: number) => verdictOf(example, { nowMs: example.nowMs + side * s * 1_000 });
      expect([at(300), at(301)]).toEqual(['valid', example.isTimed ? 'stale' : 'valid']);
    }
  });
});

test('a Standard Webhook with a public key may carry further signatures, but must have one with the key', () => {
  const [example] = EXAMPLES.filter(({ name }) => name === 'Standard Webhooks with a public key');
  if (example === undefined) throw new Error('the example is missing');
  const right = example.headers['webhook-signature'] ?? '';
  const other = `v1a,${signedByPair('something else', 'base64')}`;
  const verdict = (text: string) =>
    verdictOf(example, { headers: { ...example.headers, 'webhook-signature': text } });
  expect(verdict(`v1,${Buffer.alloc(32).toString('base64')} ${other} ${right}`)).toBe('valid');
  expect(verdict(other)).toBe('invalid');
  expect(verdict(right.replace('v1a,', 'v1,'))).toBe('invalid');
});

test('a key of another kind is no Ed25519 key', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  expect(() => publicKeyOf(options('ed25519', { header: 'X-Signature', public_key: key }))).toThrow(
    'Ed25519',
  );
});

describe('tokens', () => {
  const call = { method: 'POST', url: `${URL_HERE}&key=t%201`, body: Buffer.from('{}'), headers: {} };
  const verdict = (how: SignatureOptions, headers: { [name: string]: string }, url = call.url) =>
    verifySignature(how, ['t 1'], { ...call, headers, url }, NOW_MS).kind;

  test.each([
    ['gitlab', 'x-gitlab-token', {}],
    ['telegram', 'x-telegram-bot-api-secret-token', {}],
    ['token', 'x-own', { name: 'X-Own' }],
  ] as const)('%s: the header %s is the secret', (preset, header, more) => {
    const how = options(preset, more);
    expect(verdict(how, { [header]: 't 1' })).toBe('valid');
    for (const other of ['t', 't 1 ', 'T 1', '']) expect(verdict(how, { [header]: other })).toBe('invalid');
    expect(verdict(how, {})).toBe('invalid');
  });

  test('a parameter of the address', () => {
    const how = options('token', { location: 'query', name: 'key' });
    expect(verdict(how, {})).toBe('valid');
    expect(verdict(how, {}, `${URL_HERE}&key=t`)).toBe('invalid');
    expect(verdict(how, {}, URL_HERE)).toBe('invalid');
  });

  test('no secret, no call', () => {
    const headers = { 'x-gitlab-token': 't' };
    expect(verifySignature(options('gitlab'), [], { ...call, headers }, NOW_MS).kind).toBe('invalid');
  });
});
