import {
  HttpClientError,
  type HttpResponse,
  type JsonObject,
  parseJson,
  stringifyJson,
} from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { type RunOptions, runNode, TEST_NOW_MS } from '@millrace/node-kit/testing';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { readSecret, signatureHeaders } from '../webhook-output/sign.ts';
import { httpWebhookOutput } from './http-webhook-output.ts';

const URL = 'https://partner.example.com/hooks';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OLD_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

const answer = (status: number, headers: HttpResponse['headers'] = {}): HttpResponse => ({
  status,
  headers,
  body: new Uint8Array(),
});

async function post(config: JsonObject = {}, options: Omit<RunOptions, 'config'> = {}) {
  const { result, requests } = await runNode(httpWebhookOutput, {
    http: [answer(204)],
    credential: { type: 'secret', value: SECRET },
    ...options,
    config: { url: URL, credential_id: 5, payload: { id: 17 }, ...config },
  });
  const [request] = requests;
  return {
    result,
    request,
    requests,
    body: request === undefined ? '' : (request.body as string),
    headers: request?.headers ?? {},
  };
}

/** Returns a different secret for each id. */
function secrets(byId: { readonly [id: number]: string }): NonNullable<RunOptions['services']> {
  return {
    credentials: { open: async (id) => ({ type: 'secret', value: byId[id] ?? '' }) as never },
  };
}

describe('the signature', () => {
  // The worked example of the Standard Webhooks specification and of its libraries' tests.
  it('matches the published example', async () => {
    const key = readSecret(SECRET);
    if (key === undefined) throw new Error('the secret is one');
    const message = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      atMs: 1_614_265_330_000,
      body: '{"test": 2432232314}',
    };
    expect(await signatureHeaders(message, [key])).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it.each(['{"test": 2432232314}', '{"name":"Zoë 支付 🎉"}', '', 'null'])(
    "is the library's own for %j",
    async (body) => {
      const key = readSecret(SECRET);
      if (key === undefined) throw new Error('the secret is one');
      const headers = await signatureHeaders({ id: 'msg_1', atMs: TEST_NOW_MS, body }, [key]);
      expect(headers['webhook-signature']).toBe(
        new Webhook(SECRET).sign('msg_1', new Date(TEST_NOW_MS), body),
      );
    },
  );

  it('is accepted by the library', async () => {
    const { body, headers } = await post({ payload: { text: 'Zoë 🎉' } }, { now: Date.now() });
    expect(new Webhook(SECRET).verify(body, headers)).toEqual({ text: 'Zoë 🎉' });
    expect(() => new Webhook(OLD_SECRET).verify(body, headers)).toThrow('No matching signature');
    expect(() => new Webhook(SECRET).verify(`${body} `, headers)).toThrow('No matching signature');
  });

  it('is made with both secrets while they change', async () => {
    const services = secrets({ 5: SECRET, 6: OLD_SECRET });
    const { body, headers } = await post({ previous_credential_id: 6 }, { now: Date.now(), services });
    for (const secret of [SECRET, OLD_SECRET]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual({ id: 17 });
    }
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });

  it('treats a secret without its prefix the same', async () => {
    const { headers } = await post({}, { services: secrets({ 5: SECRET.slice(6) }) });
    expect(headers['webhook-signature']).toBe((await post()).headers['webhook-signature']);
  });

  it.each(['', 'whsec_', 'not base64!', 'whsec_a'])('is not made with the secret %j', async (value) => {
    const { result, requests } = await post({}, { services: secrets({ 5: value }) });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', retryable: false });
    expect(requests).toEqual([]);
  });
});

describe('the request', () => {
  it('is one POST that follows no redirect', async () => {
    const { request } = await post({ timeout_ms: 99 });
    expect(request).toMatchObject({ method: 'POST', url: URL, timeoutMs: 99, maxRedirects: 0 });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-timestamp': '1767225600',
    });
  });

  it('keeps its id over attempts and is signed again', async () => {
    const [first, second] = [
      await post({}, { idempotencyKey: 'k', attempt: 1, now: 1_000_000 }),
      await post({}, { idempotencyKey: 'k', attempt: 2, now: 9_000_000 }),
    ];
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(second.headers['webhook-id']).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(second.headers['webhook-timestamp']).toBe('9000');
    expect(second.headers['webhook-signature']).not.toBe(first.headers['webhook-signature']);
    expect((await post({}, { idempotencyKey: 'other' })).headers['webhook-id']).not.toBe(
      first.headers['webhook-id'],
    );
  });

  it('has the payload, with big numbers unchanged', async () => {
    const payload = parseJson('{"n":9007199254740993,"__proto__":1}');
    expect((await post({ payload })).body).toBe('{"n":9007199254740993,"__proto__":1}');
  });

  it('has the preceding outputs if there is no payload', async () => {
    const { body } = await post({ payload: null }, { inputs: { a: { x: 1 }, b: { y: 2 } } });
    expect(body).toBe('{"a":{"x":1},"b":{"y":2}}');
  });

  it('is an event with a name, with the time of its first attempt', async () => {
    const first = await post({ event_type: 'order.paid' }, { http: [answer(500)] });
    expect(parseJson(first.body)).toEqual({
      type: 'order.paid',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: { id: 17 },
    });
    const { result } = first;
    const previousOutput = result.kind === 'failure' ? (result.output ?? {}) : {};
    const again = await post(
      { event_type: 'order.paid' },
      { attempt: 2, now: TEST_NOW_MS + 60_000, previousOutput },
    );
    expect(again.body).toBe(first.body);
  });

  it("has the author's headers, but not instead of its own", async () => {
    const { headers } = await post({
      headers: { 'X-Tenant': 'a', 'Webhook-Id': 'forged', 'CONTENT-TYPE': 'text/x' },
    });
    expect(headers).toMatchObject({ 'x-tenant': 'a', 'content-type': 'text/x' });
    expect(headers['webhook-id']).not.toBe('forged');
  });

  it.each([
    [{ url: 'ftp://x' }, 'invalid_url'],
    [{ headers: { host: 'evil' } }, 'invalid_config'],
    [{ headers: { x: 'a\r\nb' } }, 'invalid_config'],
    [{ event_type: 'a b' }, 'invalid_config'],
    [{ credential_id: 0 }, 'invalid_config'],
  ])('is refused before sending: %j', async (config, code) => {
    const { result, requests } = await post(config);
    expect(result).toMatchObject({ kind: 'failure', code, retryable: false });
    expect(requests).toEqual([]);
  });
});

describe('the outcome', () => {
  it.each([200, 201, 202, 204, 299])('%i is delivered', async (status) => {
    const { result } = await post({}, { http: [answer(status)] });
    expect(result).toMatchObject({
      kind: 'success',
      output: { status, webhook_id: expect.stringMatching(/^msg_/) },
    });
  });

  it.each([
    [301, true],
    [302, true],
    [400, true],
    [401, true],
    [404, true],
    [429, true],
    [500, true],
    [504, true],
    [410, false],
  ])('%i is retried: %s', async (status, retryable) => {
    const { result, requests } = await post({}, { http: [answer(status)] });
    expect(result).toMatchObject({ kind: 'failure', retryable, output: { status } });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['connection_failed', true],
    ['timeout', true],
    ['target_not_allowed', false],
  ] as const)('%s is retried: %s', async (code, retryable) => {
    const http = () => Promise.reject(new HttpClientError(code, verbatim('because')));
    const { result } = await post({}, { http });
    expect(result).toMatchObject({
      kind: 'failure',
      code,
      retryable,
      output: { status: null, deliveries: [{ attempt: 1, status: null, error: 'because' }] },
    });
  });

  it.each([
    [1, 5_000],
    [2, 300_000],
    [4, 7_200_000],
    [7, 50_400_000],
    [12, 50_400_000],
  ])('attempt %i is followed by one after %i ms', async (attempt, ms) => {
    const { result } = await post({}, { http: [answer(500)], attempt });
    expect(result).toMatchObject({ retryAfterMs: ms });
  });

  it("waits as long as the receiver asks if that is longer, and leaves delays to the node's own setting", async () => {
    const busy = { http: [answer(503, { 'retry-after': '60' })] };
    expect((await post({}, busy)).result).toMatchObject({ retryAfterMs: 60_000 });
    expect((await post({}, { ...busy, attempt: 2 })).result).toMatchObject({ retryAfterMs: 300_000 });
    expect((await post({ retry_delays_s: [] }, busy)).result).toMatchObject({ retryAfterMs: 60_000 });
    expect((await post({ retry_delays_s: [] }, { http: [answer(500)] })).result).not.toHaveProperty(
      'retryAfterMs',
    );
  });

  it('is attempted eight times by default', () => {
    expect(httpWebhookOutput.defaultRetry).toMatchObject({ maxAttempts: 8 });
  });

  it('has a log of all attempts', async () => {
    let output: JsonObject | undefined;
    for (const [index, status] of [500, 503, 200].entries()) {
      const times = [TEST_NOW_MS + index * 1_000, TEST_NOW_MS + index * 1_000 + 25];
      const { result } = await post(
        {},
        {
          http: [answer(status)],
          attempt: index + 1,
          now: () => times.shift() ?? TEST_NOW_MS + index * 1_000 + 25,
          ...(output === undefined ? {} : { previousOutput: output }),
        },
      );
      if (result.kind === 'success' || result.kind === 'failure') output = result.output;
    }
    expect(output?.deliveries).toEqual([
      { attempt: 1, at: '2026-01-01T00:00:00.000Z', status: 500, duration_ms: 25, error: 'status 500' },
      { attempt: 2, at: '2026-01-01T00:00:01.000Z', status: 503, duration_ms: 25, error: 'status 503' },
      { attempt: 3, at: '2026-01-01T00:00:02.000Z', status: 200, duration_ms: 25, error: null },
    ]);
  });

  it('never contains the secret', async () => {
    for (const status of [200, 410, 500]) {
      const { result } = await post({}, { http: [answer(status)] });
      expect(JSON.stringify(result)).not.toContain(SECRET.slice(6));
    }
  });
});

describe('test mode', () => {
  it('sends nothing and shows the request', async () => {
    const { result, requests } = await post({ headers: { authorization: 'canary' } }, { isTestMode: true });
    expect(requests).toEqual([]);
    expect(result).toMatchObject({
      kind: 'success',
      output: {
        dry_run: true,
        request: {
          method: 'POST',
          url: URL,
          headers: { 'webhook-id': expect.any(String), 'webhook-signature': expect.stringMatching(/^v1,/) },
          body: { id: 17 },
        },
      },
    });
    const text = stringifyJson(result.kind === 'success' ? result.output : null);
    expect(text).not.toContain('canary');
    expect(text).not.toContain(SECRET.slice(6));
  });
});
