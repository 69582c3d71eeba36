import { createHmac } from 'node:crypto';
import { readWebhookOptions, type SignatureOptions } from '@millrace/nodes';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifySignature } from './signature.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const NOW_S = NOW_MS / 1_000;

function options(preset: string, more: object = {}): SignatureOptions {
  const read = readWebhookOptions({ signature: { preset, credential_id: 1, ...more } });
  if (read === null || read.signature === null) throw new Error('the settings do not fit');
  return read.signature;
}

interface Example {
  readonly name: string;
  readonly options: SignatureOptions;
  readonly secret: string;
  readonly body: string;
  readonly headers: { readonly [name: string]: string };
  readonly nowMs: number;
}

function verdictOf(
  example: Example,
  change: Partial<Omit<Example, 'body'>> & { body?: string | Buffer; secrets?: string[] } = {},
): string {
  const { options: how, secret, body, headers, nowMs } = { ...example, ...change };
  const call = { body: Buffer.isBuffer(body) ? body : Buffer.from(body, 'utf8'), headers };
  return verifySignature(how, change.secrets ?? [secret], call, nowMs).kind;
}

/** What Stripe's documentation tells to do by hand, by Node's own HMAC. */
function stripeHeader(secret: string, time: number, body: string): string {
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  return `t=${time},v1=${signature},v0=${'0'.repeat(64)}`;
}

const STRIPE_BODY = '{"id":"evt_1","object":"event","type":"invoice.paid","amount":4200}';
const STANDARD_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const STANDARD_BODY = '{"test": 2432232314}';

/** Examples as those who sign publish them, or made by code of theirs. */
const EXAMPLES: readonly Example[] = [
  {
    // docs.github.com, "Validating webhook deliveries": the values for testing an implementation.
    name: 'GitHub',
    options: options('github'),
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
    nowMs: NOW_MS,
  },
  {
    // docs.slack.dev, "Verifying requests from Slack": the example request.
    name: 'Slack',
    options: options('slack'),
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    nowMs: 1_531_420_618_000,
  },
  {
    name: 'Stripe',
    options: options('stripe'),
    secret: 'whsec_5f3c2a1b',
    body: STRIPE_BODY,
    headers: { 'stripe-signature': stripeHeader('whsec_5f3c2a1b', NOW_S, STRIPE_BODY) },
    nowMs: NOW_MS,
  },
  {
    // The vector of the library's own tests.
    name: 'Standard Webhooks',
    options: options('standard_webhooks'),
    secret: STANDARD_SECRET,
    body: STANDARD_BODY,
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    nowMs: 1_614_265_330_000,
  },
  {
    // RFC 4231, test case 2.
    name: 'HMAC SHA-512 in hex',
    options: options('hmac', { header: 'X-Sign', algorithm: 'sha512', prefix: 'v1:' }),
    secret: 'Jefe',
    body: 'what do ya want for nothing?',
    headers: {
      'x-sign':
        'v1:164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    },
    nowMs: NOW_MS,
  },
  {
    // RFC 4231, test case 2, in base64.
    name: 'HMAC SHA-256 in base64',
    options: options('hmac', { header: 'X-Sign', encoding: 'base64' }),
    secret: 'Jefe',
    body: 'what do ya want for nothing?',
    headers: { 'x-sign': 'W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=' },
    nowMs: NOW_MS,
  },
  {
    name: 'HMAC with a time in milliseconds',
    options: options('hmac', {
      header: 'X-Sign',
      timestamp_header: 'X-Time',
      signed: 'timestamp.body',
    }),
    secret: 'key',
    body: '{"a":"ü"}',
    headers: {
      'x-time': String(NOW_MS),
      'x-sign': createHmac('sha256', 'key').update(`${NOW_MS}.{"a":"ü"}`).digest('hex'),
    },
    nowMs: NOW_MS,
  },
];

const withTime = EXAMPLES.filter(({ name }) => /Slack|Stripe|Standard|time/.test(name));
const timeOf = ({ nowMs }: Example) => nowMs;

describe.each(EXAMPLES)('$name', (example) => {
  const signatureHeader = Object.keys(example.headers).find((name) => /sign/.test(name)) ?? '';

  test('the published example is valid', () => {
    expect(verdictOf(example)).toBe('valid');
  });

  test('no byte of the body can be changed, added or left out', () => {
    const bytes = Buffer.from(example.body, 'utf8');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect([at, verdictOf(example, { body: changed })]).toEqual([at, 'invalid']);
    }
    expect(verdictOf(example, { body: `${example.body} ` })).toBe('invalid');
    expect(verdictOf(example, { body: example.body.slice(0, -1) })).toBe('invalid');
    expect(verdictOf(example, { body: '' })).toBe('invalid');
  });

  test('no character of the signed headers can be changed', () => {
    for (const [name, value] of Object.entries(example.headers)) {
      // Of Stripe's header only the time and v1 count.
      const length = example.name === 'Stripe' ? value.indexOf(',v0') : value.length;
      for (let at = 0; at < length; at += 1) {
        const other = value[at] === '0' ? '1' : '0';
        const headers = { ...example.headers, [name]: value.slice(0, at) + other + value.slice(at + 1) };
        expect([name, at, verdictOf(example, { headers })]).toEqual([name, at, 'invalid']);
      }
    }
  });

  test('every header must be there', () => {
    for (const name of Object.keys(example.headers)) {
      const { [name]: _left, ...headers } = example.headers;
      expect([name, verdictOf(example, { headers })]).toEqual([name, 'invalid']);
      expect([name, verdictOf(example, { headers: { ...example.headers, [name]: '' } })]).toEqual([
        name,
        'invalid',
      ]);
    }
  });

  test('another secret does not do; one of two does', () => {
    expect(verdictOf(example, { secret: `${example.secret}b3Ro` })).toBe('invalid');
    expect(verdictOf(example, { secrets: [] })).toBe('invalid');
    expect(verdictOf(example, { secrets: ['b3RoZXI=', example.secret] })).toBe('valid');
    expect(verdictOf(example, { secrets: [example.secret, 'b3RoZXI='] })).toBe('valid');
  });

  test('shortened signatures are none', () => {
    const value = example.headers[signatureHeader] ?? '';
    for (const short of [value.slice(0, -1), value.slice(0, -2), value.slice(0, 10)]) {
      if (example.name === 'Stripe') continue;
      expect(verdictOf(example, { headers: { ...example.headers, [signatureHeader]: short } })).toBe(
        'invalid',
      );
    }
  });
});

describe.each(withTime)('$name: the time', (example) => {
  test('may be off by the tolerance, on either side', () => {
    for (const side of [-1, 1]) {
      const at = (s: number) => ({ nowMs: timeOf(example) + side * s * 1_000 });
      expect(verdictOf(example, at(300))).toBe('valid');
      expect(verdictOf(example, at(301))).toBe('stale');
      const strict = { ...example.options, tolerance_s: 10 };
      expect(verdictOf(example, { options: strict, ...at(10) })).toBe('valid');
      expect(verdictOf(example, { options: strict, ...at(11) })).toBe('stale');
    }
  });

  test('is told to be stale only of a call that is signed', () => {
    expect(verdictOf(example, { nowMs: timeOf(example) + 1e9, secret: 'b3RoZXI=' })).toBe('invalid');
  });
});

describe('several signatures', () => {
  test('Stripe: any v1 may be the right one; v0 never is', () => {
    const right = stripeHeader('s', NOW_S, STRIPE_BODY);
    const v1 = right.split(',')[1] ?? '';
    const verdict = (header: string) =>
      verifySignature(
        options('stripe'),
        ['s'],
        { body: Buffer.from(STRIPE_BODY), headers: { 'stripe-signature': header } },
        NOW_MS,
      ).kind;
    expect(verdict(`t=${NOW_S},v1=${'ab'.repeat(32)},${v1}`)).toBe('valid');
    expect(verdict(`t=${NOW_S},${v1.replace('v1', 'v0')}`)).toBe('invalid');
    expect(verdict(`t=${NOW_S},t=${NOW_S},${v1}`)).toBe('invalid');
    expect(verdict(`${v1}`)).toBe('invalid');
    expect(verdict('nonsense')).toBe('invalid');
  });

  test('Standard Webhooks: what the library signs is valid, among others too', () => {
    const id = 'msg_1';
    const body = '{"text":"größer 🎉"}';
    const signature = new Webhook(STANDARD_SECRET).sign(id, new Date(NOW_MS), body);
    const verdict = (header: string, secret = STANDARD_SECRET) =>
      verifySignature(
        options('standard_webhooks'),
        [secret],
        {
          body: Buffer.from(body),
          headers: { 'webhook-id': id, 'webhook-timestamp': String(NOW_S), 'webhook-signature': header },
        },
        NOW_MS,
      ).kind;
    expect(verdict(signature)).toBe('valid');
    expect(verdict(signature, STANDARD_SECRET.replace('whsec_', ''))).toBe('valid');
    expect(verdict(`v1,${Buffer.alloc(32).toString('base64')} ${signature} v1a,abc=`)).toBe('valid');
    expect(verdict(signature.replace('v1,', 'v2,'))).toBe('invalid');
    expect(verdict(signature.replace('v1,', 'v1a,'))).toBe('invalid');
  });
});

test('svix-* headers are taken like webhook-*, and never mixed with them', () => {
  const body = '{"n":1}';
  const signature = new Webhook(STANDARD_SECRET).sign('msg_1', new Date(NOW_MS), body);
  const verdict = (headers: { [name: string]: string }) =>
    verifySignature(
      options('standard_webhooks'),
      [STANDARD_SECRET],
      { body: Buffer.from(body), headers },
      NOW_MS,
    );
  const time = String(NOW_S);
  const svix = { 'svix-id': 'msg_1', 'svix-timestamp': time, 'svix-signature': signature };
  expect(verdict(svix)).toEqual({ kind: 'valid' });
  expect(verdict({ ...svix, 'webhook-id': 'msg_2', 'webhook-timestamp': time })).toEqual({ kind: 'valid' });
  expect(verdict({ ...svix, 'webhook-signature': 'v1,AAAA' })).toMatchObject({
    kind: 'invalid',
    reason: { key: 'service.signature_header_missing', params: { header: 'webhook-id' } },
  });
  expect(verdict({ ...svix, 'svix-timestamp': '' })).toMatchObject({
    reason: { key: 'service.signature_header_missing', params: { header: 'svix-timestamp' } },
  });
  expect(verdict({ ...svix, 'svix-timestamp': String(NOW_S - 1_000) }).kind).toBe('invalid');
  expect(verdict({})).toMatchObject({
    reason: { key: 'service.signature_header_missing', params: { header: 'webhook-id' } },
  });
});

test('bytes that are no UTF-8 are signed as they are', () => {
  const body = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]);
  const headers = { 'x-hub-signature-256': `sha256=${createHmac('sha256', 's').update(body).digest('hex')}` };
  expect(verifySignature(options('github'), ['s'], { body, headers }, NOW_MS).kind).toBe('valid');
});
