import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  callWebhook,
  githubHeaders,
  startWebhookWorld,
  type WebhookCall,
  type WebhookWorld,
} from './webhooks-world.ts';

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
afterAll(() => world.service.stop());

const callBy = (method: string, hash: string, call: WebhookCall = {}) =>
  callWebhook(world.service.url, method, hash, call);

const ended = (json: { readonly [member: string]: unknown }) =>
  world.service.finished(Number(json.execution_id));

describe('methods', () => {
  test('those of the settings start an execution, others are 405 and named', async () => {
    const { id, hash } = await world.createWebhook({ methods: ['GET', 'DELETE'], query: ['page'] });
    const answer = await callBy('GET', hash, { rest: '?page=2&other=1' });
    expect([answer.status, answer.json.success]).toEqual([202, true]);
    expect(await ended(answer.json)).toMatchObject({
      status: 'completed',
      input_data: {},
      node_outputs: {
        start: {
          output: { data: {}, request: { method: 'GET', query: { page: '2' }, headers: {}, params: {} } },
        },
      },
    });
    expect((await callBy('DELETE', hash)).status).toBe(202);
    expect((await callBy('POST', hash, { body: '{}' })).status).toBe(202);
    for (const method of ['HEAD', 'PUT', 'PATCH', 'OPTIONS']) {
      const refused = await callBy(method, hash);
      expect([method, refused.status]).toEqual([method, 405]);
    }
    expect((await callBy('PUT', hash)).headers.get('allow')).toBe('GET, POST, DELETE');
    expect(await world.executionsOf(id)).toHaveLength(3);
  });

  test('HEAD is answered without a body', async () => {
    const { id, hash } = await world.createWebhook({ methods: ['HEAD'] });
    const answer = await callBy('HEAD', hash);
    expect([answer.status, answer.text]).toEqual([202, '']);
    expect(await world.executionsOf(id)).toHaveLength(1);
  });

  test('an address that is unknown, closed or for POST only can not be told apart by another method', async () => {
    const open = await world.createWebhook({});
    const closed = await world.createWebhook({ methods: ['GET'] });
    const { key } = world.service;
    await world.service.api('PUT', `/workflows/${closed.id}`, { key, body: { status: 'inactive' } });
    const shape = ({ request_id: _, ...rest }: JsonObject) => rest;
    const answers = [];
    for (const hash of [open.hash, closed.hash, 'x'.repeat(43), 'short']) {
      const { status, json, headers } = await callBy('GET', hash);
      answers.push([status, headers.get('allow'), shape(json)]);
    }
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(answers[0]).toMatchObject([405, 'POST', { code: 'method_not_allowed' }]);
  });

  test('repeats of an event by its query parameter start one execution', async () => {
    const deduplicate = { by: 'query', name: 'event', missing: 'refuse' };
    const { id, hash } = await world.createWebhook({ methods: ['GET'], deduplicate });
    const calls = await Promise.all(
      Array.from({ length: 10 }, () => callBy('GET', hash, { rest: '?event=e1' })),
    );
    expect(new Set(calls.map(({ json }) => json.execution_id)).size).toBe(1);
    expect(await world.executionsOf(id)).toHaveLength(1);
    expect((await callBy('GET', hash)).json).toMatchObject({
      code: 'validation_failed',
      errors: [{ message: 'must come with the ID of the event in the query parameter event' }],
    });
  });

  test('addresses that are not allowed are refused by every method', async () => {
    const { hash } = await world.createWebhook({ methods: ['GET'], ip_allow_list: ['203.0.113.7'] });
    expect((await callBy('GET', hash)).json.code).toBe('ip_not_allowed');
  });
});

describe('trigger.request', () => {
  const READING = {
    nodes: [
      {
        id: 'read',
        type: 'core.set',
        config: {
          values: {
            topic: '{{trigger.request.headers["x-topic"]}}',
            order: '{{trigger.request.params.id}}',
            all: '{{trigger.request}}',
          },
        },
      },
    ],
    edges: [{ source: 'start', target: 'read' }],
  };

  test('has what the settings list, for nodes, reruns and names; secrets are never stored', async () => {
    const { id, hash } = await world.createWebhook(
      { path: 'orders/:id', headers: ['X-Topic'], query: ['page'] },
      READING,
    );
    const answer = await callBy('POST', hash, {
      rest: '/orders/A%20%C3%A9?page=1&page=2&token=canary-query',
      body: '{"n":1}',
      headers: { 'x-topic': 'paid', authorization: 'Bearer canary-header', cookie: 'canary-cookie' },
    });
    const detail = await ended(answer.json);
    const request = {
      method: 'POST',
      headers: { 'x-topic': 'paid' },
      query: { page: ['1', '2'] },
      params: { id: 'A é' },
    };
    expect(detail).toMatchObject({
      status: 'completed',
      input_data: { n: 1 },
      node_outputs: {
        start: { output: { data: { n: 1 }, request } },
        read: { output: { topic: 'paid', order: 'A é', all: request } },
      },
    });
    const { key } = world.service;
    const path = `/executions/${Number(answer.json.execution_id)}/rerun`;
    const again = await world.service.api('POST', path, { key, body: { from: 'start' } });
    expect(await ended(again.json)).toMatchObject({
      input_data: { n: 1 },
      node_outputs: { start: { output: { request } }, read: { output: { order: 'A é', all: request } } },
    });
    const rows = await world.service.database.db.query(
      `SELECT e.*, (SELECT json_agg(c) FROM execution_chunks c WHERE c.execution_id = e.id) AS chunks
       FROM executions e WHERE e.workflow_id = $1`,
      [id],
    );
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain('canary');
    expect(world.service.logs.filter((line) => line.includes('canary'))).toEqual([]);
  });

  test('another path is the same 404 as an unknown address', async () => {
    const { hash } = await world.createWebhook({ path: 'orders/:id' });
    const unknown = await callBy('POST', 'x'.repeat(43), { rest: '/orders/1', body: '{}' });
    const shape = ({ request_id: _, ...rest }: JsonObject) => rest;
    expect(unknown.status).toBe(404);
    for (const rest of ['', '/', '/orders', '/orders/1/2']) {
      const { status, json } = await callBy('POST', hash, { rest, body: '{}' });
      expect([rest, status, json.code]).toEqual([rest, 404, 'not_found']);
    }
    expect(shape((await callBy('POST', hash, { rest: '/x/1', body: '{}' })).json)).toMatchObject({
      ...shape(unknown.json),
      instance: expect.any(String),
    });
  });

  test('the name of the execution can read it', async () => {
    const { key } = world.service;
    const config = { query: ['order'] };
    const { id, hash } = await world.createWebhook(config);
    const body = {
      flow_data: {
        nodes: [{ id: 'start', type: 'trigger.webhook', data: { config } }],
        edges: [],
        settings: { display_name: 'Order {{trigger.request.query.order}}' },
      },
    };
    expect((await world.service.api('PUT', `/workflows/${id}`, { key, body })).status).toBe(200);
    const { json } = await callBy('POST', hash, { rest: '?order=17', body: '{}' });
    expect((await ended(json)).display_name).toBe('Order 17');
  });
});

describe('bodies', () => {
  const dataOf = async (answer: { json: JsonObject }) => (await ended(answer.json)).input_data;

  test('any type: forms become objects, files are described, other types are text', async () => {
    const { hash } = await world.createWebhook({ body: 'any' });
    const form = new FormData();
    form.append('a', '1');
    form.append('a', '2');
    form.append('__proto__', 'p');
    form.append('scan', new File(['12345'], 'scan.pdf', { type: 'application/pdf' }));
    const data = await dataOf(await callBy('POST', hash, { body: form }));
    expect(JSON.stringify(data)).toBe(
      '{"a":["1","2"],"__proto__":"p","scan":{"name":"scan.pdf","type":"application/pdf","size":5}}',
    );
    const typed = (body: string, type: string) =>
      callBy('POST', hash, { body, headers: { 'content-type': type } });
    expect(await dataOf(await typed('<a>é</a>', 'application/xml'))).toEqual({ data: '<a>é</a>' });
    expect(await dataOf(await typed('hello', 'text/plain'))).toEqual({ data: 'hello' });
    expect(await dataOf(await typed('{"n":1}', 'application/json'))).toEqual({ n: 1 });
    expect(await dataOf(await typed('a=1', 'application/x-www-form-urlencoded'))).toEqual({ a: '1' });
    const refused = [
      await typed('{', 'application/json'),
      await typed('--x', 'multipart/form-data; boundary=x'),
      await typed('--x', 'multipart/form-data'),
      await typed('--x\r\n'.repeat(1_100), 'multipart/form-data; boundary=x'),
      await typed('a=1&'.repeat(10_000), 'application/x-www-form-urlencoded'),
      await typed('x', 'text/plain; charset=utf-16'),
    ];
    expect(refused.map(({ status, json }) => [status, json.code])).toEqual([
      [400, 'invalid_json'],
      [400, 'invalid_body'],
      [400, 'invalid_body'],
      [400, 'invalid_body'],
      [400, 'invalid_body'],
      [415, 'unsupported_media_type'],
    ]);
  });

  test('always text: the body as it is, whatever its type', async () => {
    const { hash } = await world.createWebhook({ body: 'raw', methods: ['PUT'] });
    const call = (body: string, type: string) =>
      callBy('PUT', hash, { body, headers: { 'content-type': type } });
    expect(await dataOf(await call('{"n": 1}', 'application/json'))).toEqual({ data: '{"n": 1}' });
    expect(await dataOf(await callBy('PUT', hash))).toEqual({ data: '' });
    const response = await fetch(`${world.service.url}/api/v1/webhooks/${hash}`, {
      method: 'PUT',
      body: new Uint8Array([0xff]),
    });
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_body' }]);
  });
});

test('the first thing that is wrong is reported, whatever else is', async () => {
  const credential_id = await world.createSecret('s');
  const settings = (body: string) => ({
    path: 'orders/:id',
    body,
    deduplicate: { by: 'query', name: 'event', missing: 'refuse' },
    signature: { preset: 'github', credential_id },
  });
  const { hash } = await world.createWebhook(settings('json'));
  const raw = await world.createWebhook(settings('raw'));
  const at = (rest: string, body: string, headers = {}) => callBy('POST', hash, { rest, body, headers });
  const answers = [
    await at('/other', '{}'),
    await callBy('PUT', hash, { rest: '/orders/1', body: '{' }),
    await at('/orders/1', '{'),
    await at('/orders/1', '{}'),
    await callBy('POST', raw.hash, { rest: '/orders/1', body: new FormData() }),
    await at('/orders/1', '{}', githubHeaders('s', '{}')),
    await at('/orders/1?event=1', '{}', githubHeaders('s', '{}')),
  ];
  expect(answers.map(({ status, json }) => [status, json.code])).toEqual([
    [404, 'not_found'],
    [405, 'method_not_allowed'],
    [400, 'invalid_json'],
    [401, 'invalid_signature'],
    [401, 'invalid_signature'],
    [422, 'validation_failed'],
    [202, undefined],
  ]);
  const closed = await world.createWebhook({ ...settings('json'), ip_allow_list: ['203.0.113.7'] });
  expect((await callBy('PUT', closed.hash, { rest: '/other' })).json.code).toBe('not_found');
  expect((await callBy('PUT', closed.hash, { rest: '/orders/1' })).json.code).toBe('ip_not_allowed');
});

/** The time by the database's clock, which is the one that counts. */
async function databaseSeconds(): Promise<string> {
  const [row] = await world.service.database.db.query<{ s: number }>(
    'SELECT extract(epoch FROM now())::bigint AS s',
  );
  return String(row?.s);
}

describe('challenges', () => {
  const sent = ({ status, headers, text }: { status: number; headers: Headers; text: string }) => {
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*;sandbox$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    return [status, headers.get('content-type'), text];
  };
  const TEXT = 'text/plain; charset=utf-8';

  test('Slack: its text comes back, other events start an execution', async () => {
    const { id, hash } = await world.createWebhook({ challenge: { type: 'slack' } });
    const body = JSON.stringify({ type: 'url_verification', challenge: '<script>1</script>' });
    expect(sent(await callBy('POST', hash, { body }))).toEqual([200, TEXT, '<script>1</script>']);
    expect(await world.executionsOf(id)).toEqual([]);
    expect((await callBy('POST', hash, { body: '{"type":"event_callback"}' })).status).toBe(202);
    const plain = await world.createWebhook({});
    expect((await callBy('POST', plain.hash, { body })).status).toBe(202);
  });

  test('Microsoft Graph: the token comes back although the call proves nothing', async () => {
    const { id, hash } = await world.createWebhook({
      challenge: { type: 'microsoft' },
      signature: { preset: 'microsoft', credential_id: await world.createSecret('state') },
    });
    const rest = '?validationToken=Validation%3A+%3Cb%3E%20Token';
    expect(sent(await callBy('POST', hash, { rest }))).toEqual([200, TEXT, 'Validation: <b> Token']);
    const notify = (...states: string[]) =>
      callBy('POST', hash, {
        body: JSON.stringify({ value: states.map((clientState) => ({ clientState })) }),
      });
    expect((await notify('state', 'state')).status).toBe(202);
    expect([(await notify('state', 'other')).status, (await notify()).status]).toEqual([401, 401]);
    expect(await world.executionsOf(id)).toHaveLength(1);
  });

  test('Meta: by GET and with the right token only', async () => {
    const credential_id = await world.createSecret('verify-me');
    const { id, hash } = await world.createWebhook({ challenge: { type: 'meta', credential_id } });
    const ask = (token: string) =>
      callBy('GET', hash, { rest: `?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}` });
    expect(sent(await ask('verify-me'))).toEqual([200, TEXT, '1158201444']);
    expect((await ask('verify')).json.code).toBe('invalid_signature');
    expect((await callBy('GET', hash)).status).toBe(405);
    expect(await world.executionsOf(id)).toEqual([]);
  });

  test('Zoom: signed calls only, and never with a text that could be signed as a call', async () => {
    const secret = 'zoom-secret';
    const { id, hash } = await world.createWebhook({
      challenge: { type: 'zoom' },
      signature: { preset: 'zoom', credential_id: await world.createSecret(secret) },
    });
    const time = await databaseSeconds();
    const validate = (plainToken: string, key = secret) => {
      const body = JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken } });
      const signature = createHmac('sha256', key).update(`v0:${time}:${body}`).digest('hex');
      const headers = { 'x-zm-request-timestamp': time, 'x-zm-signature': `v0=${signature}` };
      return callBy('POST', hash, { body, headers });
    };
    const answer = await validate('qgg8vlvZRS6UYooatFL8Aw');
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        plainToken: 'qgg8vlvZRS6UYooatFL8Aw',
        encryptedToken: createHmac('sha256', secret).update('qgg8vlvZRS6UYooatFL8Aw').digest('hex'),
      },
    ]);
    expect((await validate('qgg8vlvZRS6UYooatFL8Aw', 'other')).status).toBe(401);
    expect(await world.executionsOf(id)).toEqual([]);
    // It is an event like any other then.
    expect((await validate(`v0:${time}:{}`)).status).toBe(202);
  });

  test('Discord: a signed PING gets a PONG, an unsigned one is refused, commands start an execution', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const public_key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
    const { id, hash } = await world.createWebhook({
      challenge: { type: 'discord' },
      signature: { preset: 'discord', public_key },
    });
    const time = await databaseSeconds();
    const send = (body: string, signed = body) =>
      callBy('POST', hash, {
        body,
        headers: {
          'content-type': 'application/json',
          'x-signature-timestamp': time,
          'x-signature-ed25519': sign(null, Buffer.from(time + signed), privateKey).toString('hex'),
        },
      });
    const ping = '{"type":1,"id":"1"}';
    expect(sent(await send(ping))).toEqual([200, 'application/json; charset=utf-8', '{"type":1}']);
    const forged = await send(ping, '{"type":1}');
    expect([forged.status, forged.json.code]).toEqual([401, 'invalid_signature']);
    expect((await callBy('POST', hash, { body: ping })).status).toBe(401);
    expect(await world.executionsOf(id)).toEqual([]);
    expect((await send('{"type":2,"id":"2"}')).status).toBe(202);
    expect(await world.executionsOf(id)).toHaveLength(1);
  });

  test('an address that is not allowed gets no answer', async () => {
    const { hash } = await world.createWebhook({
      challenge: { type: 'microsoft' },
      ip_allow_list: ['203.0.113.7'],
    });
    expect((await callBy('POST', hash, { rest: '?validationToken=x' })).json.code).toBe('ip_not_allowed');
  });
});
