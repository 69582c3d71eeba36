import { createHmac } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { githubHeaders, startWebhookWorld, type WebhookWorld } from './webhooks-world.ts';

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld({ withWorker: false });
});
afterAll(() => world.service.stop());

const SECRET = 'correct horse battery staple';
const BODY = '{ "b": 1,\n "a": "\\u00fc" }';

describe('202', () => {
  test('a call signed over the bytes of its body, white space and escapes as sent', async () => {
    const { id, hash } = await world.createWebhook({
      signature: { preset: 'github', credential_id: await world.createSecret(SECRET) },
    });
    const { status, json } = await world.call(hash, BODY, githubHeaders(SECRET, BODY));
    expect(status).toBe(202);
    expect(await world.executionsOf(id)).toEqual([json.execution_id]);
  });

  test('a signed form, and a signed call without a body', async () => {
    const credential = await world.createSecret(SECRET);
    const { hash } = await world.createWebhook({
      signature: { preset: 'github', credential_id: credential },
    });
    const form = 'payload=%7B%22a%22%3A1%7D&x=a+b';
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await world.call(hash, form, { ...type, ...githubHeaders(SECRET, form) })).status).toBe(202);
    const empty = await world.service.api('POST', `/webhooks/${hash}`, {
      headers: githubHeaders(SECRET, ''),
    });
    expect(empty.status).toBe(202);
  });

  test("by the database's clock, and both secrets while the sender changes to a new one", async () => {
    const signature = {
      preset: 'slack',
      credential_id: await world.createSecret('new'),
      previous_credential_id: await world.createSecret('old'),
    };
    const { hash } = await world.createWebhook({ signature });
    const [row] = await world.service.database.db.query<{ s: number }>(
      'SELECT extract(epoch FROM now())::bigint AS s',
    );
    const headers = (secret: string, time: number) => ({
      'x-slack-request-timestamp': String(time),
      'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${time}:{}`).digest('hex')}`,
    });
    const now = row?.s ?? 0;
    expect((await world.call(hash, '{}', headers('new', now))).status).toBe(202);
    expect((await world.call(hash, '{}', headers('old', now))).status).toBe(202);
    expect((await world.call(hash, '{}', headers('other', now))).json.code).toBe('invalid_signature');
    const stale = await world.call(hash, '{}', headers('new', now - 310));
    expect([stale.status, stale.json.code]).toEqual([401, 'stale_signature']);
    expect(stale.json.detail).toContain('300 seconds');
  });

  test('one of the two credentials is gone: the other still works', async () => {
    const signature = {
      preset: 'github',
      credential_id: 999_999,
      previous_credential_id: await world.createSecret(SECRET),
    };
    const { hash } = await world.createWebhook({ signature }, { status: 'draft' });
    expect((await world.call(hash, BODY, githubHeaders(SECRET, BODY))).status).toBe(202);
    expect(
      world.service.logs.some((line) => line.includes('credential_not_found') && line.includes('999999')),
    ).toBe(true);
  });
});

describe('401', () => {
  test('nothing is started, and the response says what is wrong', async () => {
    const { id, hash } = await world.createWebhook({
      signature: { preset: 'github', credential_id: await world.createSecret(SECRET) },
    });
    const unsigned = await world.call(hash, BODY);
    expect([unsigned.status, unsigned.json.code]).toEqual([401, 'invalid_signature']);
    expect(unsigned.json.detail).toContain('X-Hub-Signature-256 is missing');
    expect(unsigned.headers.get('www-authenticate')).toBe('Signature');
    const signed = githubHeaders(SECRET, BODY);
    expect((await world.call(hash, BODY.replace('1', '2'), signed)).status).toBe(401);
    expect((await world.call(hash, BODY.trim().replace('\n', ''), signed)).status).toBe(401);
    expect((await world.call(hash, BODY, githubHeaders('wrong', BODY))).status).toBe(401);
    expect(await world.executionsOf(id)).toEqual([]);
  });

  test('without a usable credential no call is accepted, and the log says why', async () => {
    const another = await world.service.createOrganisation();
    const foreign = await world.createSecret(SECRET, another);
    for (const credential of [888_888, foreign]) {
      const { id, hash } = await world.createWebhook(
        { signature: { preset: 'github', credential_id: credential } },
        { status: 'draft' },
      );
      const { status, json } = await world.call(hash, BODY, githubHeaders(SECRET, BODY));
      expect([status, json.code]).toEqual([401, 'invalid_signature']);
      expect(json.detail).toContain('choose another credential');
      expect(await world.executionsOf(id)).toEqual([]);
      expect(world.service.logs.some((line) => line.includes(`"credential_id":${credential}`))).toBe(true);
    }
  });

  test('a workflow with problems is protected all the same', async () => {
    const credential = await world.createSecret(SECRET);
    const unfinished = { nodes: [{ id: 'lost', type: 'no.such' }], status: 'draft' };
    const signed = await world.createWebhook(
      { signature: { preset: 'github', credential_id: credential } },
      unfinished,
    );
    expect((await world.call(signed.hash, BODY)).status).toBe(401);
    expect((await world.call(signed.hash, BODY, githubHeaders(SECRET, BODY))).status).toBe(202);
    const faulty = await world.createWebhook({ signature: 'github' }, unfinished);
    const refused = await world.call(faulty.hash, BODY, githubHeaders(SECRET, BODY));
    expect([refused.status, refused.json.code]).toEqual([401, 'invalid_signature']);
    const open = await world.createWebhook({}, unfinished);
    expect((await world.call(open.hash, BODY)).status).toBe(202);
  });

  test('the secret appears in no log line', () => {
    expect(world.service.logs.length).toBeGreaterThan(10);
    expect(world.service.logs.filter((line) => line.includes(SECRET))).toEqual([]);
  });
});

describe('403', () => {
  test('an address that is not allowed', async () => {
    const { id, hash } = await world.createWebhook({ ip_allow_list: ['203.0.113.0/24'] });
    const { status, json } = await world.call(hash, '{}');
    expect([status, json.code]).toEqual([403, 'ip_not_allowed']);
    expect(await world.executionsOf(id)).toEqual([]);
    const allowed = await world.createWebhook({ ip_allow_list: ['203.0.113.0/24', '127.0.0.0/8'] });
    expect((await world.call(allowed.hash, '{}')).status).toBe(202);
  });

  test('forwarded addresses count only behind a trusted proxy', async () => {
    const config = { ip_allow_list: ['203.0.113.0/24'] };
    const forwarded = { 'x-forwarded-for': '203.0.113.9' };
    const { hash } = await world.createWebhook(config);
    expect((await world.call(hash, '{}', forwarded)).status).toBe(403);
    const proxied = await startWebhookWorld({ withWorker: false, config: { trustProxy: 1 } });
    try {
      const behind = await proxied.createWebhook(config);
      expect((await proxied.call(behind.hash, '{}', forwarded)).status).toBe(202);
      expect((await proxied.call(behind.hash, '{}', { 'x-forwarded-for': '203.0.114.9' })).status).toBe(403);
    } finally {
      await proxied.service.stop();
    }
  });
});

describe('what calls carry instead of a signature', () => {
  test('a token in a header or in the query, which is never kept', async () => {
    const credential_id = await world.createSecret('canary-token');
    const inHeader = await world.createWebhook({
      signature: { preset: 'token', name: 'X-Caller', prefix: 'Key ', credential_id },
      headers: ['X-Caller', 'X-Topic'],
    });
    const inQuery = await world.createWebhook({
      signature: { preset: 'token', location: 'query', name: 'caller', credential_id },
      query: ['caller', 'page'],
    });
    const answers = [
      await world.call(inHeader.hash, '{}', { 'x-caller': 'Key canary-token', 'x-topic': 't' }),
      await world.call(`${inQuery.hash}?caller=canary-token&page=1`, '{}'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    const refused = [
      await world.call(inHeader.hash, '{}', { 'x-caller': 'canary-token' }),
      await world.call(inHeader.hash, '{}'),
      await world.call(`${inQuery.hash}?caller=other`, '{}'),
      await world.call(`${inQuery.hash}?caller=canary-token&caller=canary-token`, '{}'),
    ];
    expect(refused.map(({ status, json }) => [status, json.code])).toEqual(
      refused.map(() => [401, 'invalid_signature']),
    );
    const rows = await world.service.database.db.query(
      'SELECT c.records::text AS records FROM execution_chunks c WHERE c.execution_id = ANY($1::bigint[])',
      [answers.map(({ json }) => json.execution_id)],
    );
    expect(JSON.stringify(rows)).toContain('page');
    expect(JSON.stringify(rows)).not.toContain('canary');
    expect(world.service.logs.filter((line) => line.includes('canary'))).toEqual([]);
  });

  test('a user name and a password; without them, the response asks for them', async () => {
    const { hash } = await world.createWebhook({
      signature: { preset: 'basic', username: 'ada', credential_id: await world.createSecret('s:ä') },
    });
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    expect((await world.call(hash, '{}', basic('ada:s:ä'))).status).toBe(202);
    for (const text of ['ada:s', 'eve:s:ä', 'ada', ''])
      expect([text, (await world.call(hash, '{}', basic(text))).status]).toEqual([text, 401]);
    const { headers } = await world.call(hash, '{}');
    expect(headers.get('www-authenticate')).toBe('Basic realm="webhook"');
  });

  test('a JWT with a secret', async () => {
    const secret = 'a secret of at least 32 characters';
    const { hash } = await world.createWebhook({
      signature: {
        preset: 'jwt_secret',
        issuer: 'https://issuer.example.com',
        credential_id: await world.createSecret(secret),
      },
    });
    const signed = async (key: string, claims: object) =>
      new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(key));
    const claims = { iss: 'https://issuer.example.com', exp: 4_000_000_000 };
    const call = async (key: string, more: object = {}) =>
      world.call(hash, '{}', { authorization: `Bearer ${await signed(key, { ...claims, ...more })}` });
    expect((await call(secret)).status).toBe(202);
    expect((await call(secret, { exp: 1_000_000_000 })).json.code).toBe('stale_signature');
    expect((await call(`${secret}!`)).json.code).toBe('invalid_signature');
    expect((await call(secret, { iss: 'other' })).json.code).toBe('invalid_signature');
    expect((await world.call(hash, '{}')).headers.get('www-authenticate')).toBe('Bearer');
  });
});

test('an address that is part of the signature is that of the public URL', async () => {
  const { hash } = await world.createWebhook({
    signature: { preset: 'square', credential_id: await world.createSecret(SECRET) },
  });
  const url = `${world.service.deps.config.publicUrl}/api/v1/webhooks/${hash}`;
  const sign = (address: string) => ({
    'x-square-hmacsha256-signature': createHmac('sha256', SECRET)
      .update(`${address}${BODY}`)
      .digest('base64'),
  });
  expect((await world.call(hash, BODY, sign(url))).status).toBe(202);
  expect((await world.call(hash, BODY, sign(`http://other.example.com/${hash}`))).status).toBe(401);
});
