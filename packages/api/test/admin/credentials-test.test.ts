import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { testCredential } from '@millrace/credentials/checks/check-credential';
import type { JsonObject } from '@millrace/engine';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type MailServer, openMailServer } from '@millrace/testing/mail-server';
import { type Outside, openOutside, type Reply } from '@millrace/testing/outside';
import { openProxy } from '@millrace/testing/proxy';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

let service: TestService;
let outside: Outside;
let mail: MailServer;
let editor: TestPerson;
beforeAll(async () => {
  const secretKeys = { current: randomBytes(32), previous: [] };
  const config = { secretKeys, allowHosts: ['127.0.0.1'] };
  service = await startTestService({ runsWorker: false, config });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  outside = await openOutside();
  mail = await openMailServer();
});
// A new organisation each time: tests are limited per organisation.
beforeEach(async () => {
  editor = await createPerson(service, 'editor');
});
afterAll(async () => {
  await service.stop();
  await Promise.all([outside.close(), mail.close()]);
});

let names = 0;
async function store(type: string, fields: JsonObject, hosts: readonly string[] = []): Promise<number> {
  names += 1;
  const body = { name: `${type} ${names}`, type, hosts: [...hosts], fields };
  const params = { org: editor.organisationId };
  const { status, data } = await editor.call('POST /orgs/:org/credentials', { params, body });
  expect(status).toBe(200);
  return data.id;
}

const params = (credential: number, person = editor) => ({ org: person.organisationId, credential });

async function run(credential: number, url?: string) {
  const body = url === undefined ? {} : { url };
  const options = { params: params(credential), body };
  const { status, data } = await editor.call('POST /orgs/:org/credentials/:credential/test', options);
  expect(status).toBe(200);
  return data;
}

/** A response for the right key only; all other requests, including those without a key, get the other response. */
const only =
  (header: string, value: string, good: Reply, otherwise: Reply = { status: 401 }) =>
  ({ headers }: { headers: { readonly [name: string]: string } }): Reply =>
    headers[header] === value ? good : otherwise;

describe('a token bound to hosts', () => {
  const bearer = (token = 'canary-right') => store('bearer', { token }, ['127.0.0.1']);

  test('works if the page refuses requests without it', async () => {
    outside.on('GET /mine', only('authorization', 'Bearer canary-right', { body: { name: 'Ada' } }));
    const right = await run(await bearer(), `${outside.url}/mine?key=canary-query`);
    expect(right).toMatchObject({
      outcome: 'works',
      code: 'accepted',
      status: 200,
      where: `${outside.url}/mine`,
    });
    const wrong = await run(await bearer('canary-wrong'), `${outside.url}/mine`);
    expect(wrong).toMatchObject({ outcome: 'failed', code: 'refused', status: 401 });
  });

  test.each<[string, Reply, object]>([
    ['open', { status: 200 }, { outcome: 'unsure', code: 'open_to_all', status: 200 }],
    ['forbidden', { status: 403 }, { outcome: 'failed', code: 'forbidden', status: 403 }],
    ['missing', { status: 404 }, { outcome: 'unsure', code: 'other_status', status: 404 }],
    ['broken', { status: 500 }, { outcome: 'unsure', code: 'other_status', status: 500 }],
    ['moved', { status: 302, headers: { location: '/login' } }, { outcome: 'unsure', code: 'redirected' }],
  ])('is judged by the answer: %s', async (path, reply, expected) => {
    outside.on(`GET /${path}`, reply);
    expect(await run(await bearer(), `${outside.url}/${path}`)).toMatchObject(expected);
    expect(outside.to('GET /login')).toEqual([]);
  });

  test('is only sent to hosts allowed by itself, the organisation and the service', async () => {
    outside.forget();
    const elsewhere = await store('bearer', { token: 'canary' }, ['api.example.com']);
    expect((await run(elsewhere, `${outside.url}/mine`)).code).toBe('credential_host_not_allowed');
    const inside = await store('bearer', { token: 'canary' }, ['10.0.0.1']);
    expect((await run(inside, 'http://10.0.0.1/')).code).toBe('target_not_allowed');
    const admin = await createPerson(service, 'org_admin', { organisationId: editor.organisationId });
    const org = { org: editor.organisationId };
    const settings = { params: org, body: { allowed_hosts: ['api.example.com'] } };
    await admin.call('PATCH /orgs/:org/settings', settings);
    expect((await run(await bearer(), `${outside.url}/mine`)).code).toBe('target_not_allowed');
    expect(outside.received).toEqual([]);
  });

  test.each([undefined, 'mine', 'ftp://127.0.0.1/', 'http://ada:secret@127.0.0.1/'])(
    'needs a URL: %j is refused',
    async (url) => {
      const options = { params: params(await bearer()), body: url === undefined ? {} : { url } };
      const answer = await editor.call('POST /orgs/:org/credentials/:credential/test', options);
      expect([answer.status, answer.json.errors?.[0]?.pointer]).toEqual([422, '/url']);
    },
  );
});

describe('a mail server', () => {
  test('is signed in to, without sending anything', async () => {
    const { host, port } = mail.credential;
    const where = `${host}:${port}`;
    const right = await run(await store('smtp', mail.credential));
    expect(right).toMatchObject({ outcome: 'works', code: 'accepted', where });
    const wrong = await run(await store('smtp', { ...mail.credential, password: 'canary-wrong' }));
    expect(wrong).toMatchObject({ outcome: 'failed', code: 'mail_auth_failed', where });
    const clear = await run(await store('smtp', { ...mail.credential, security: 'starttls' }));
    expect(clear).toMatchObject({ outcome: 'failed', code: 'mail_tls_failed', where });
    expect(mail.received).toEqual([]);
  });

  test("that doesn't respond times out", async () => {
    // It accepts connections and leaves it to the other side to close them.
    const silent = createServer((socket) => void socket.on('error', () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const credentialId = await store('smtp', { host: '127.0.0.1', port, security: 'none' });
    const { db, secretKeys: keys, log, egress } = service.deps;
    const { organisationId } = editor;
    const result = await testCredential(
      { db, keys, log, egress, timeLimitMs: 100 },
      { organisationId, credentialId, url: undefined, by: { actor: 'operator' } },
    );
    expect(result).toMatchObject({ outcome: 'failed', code: 'timeout', where: `127.0.0.1:${port}` });
    await new Promise((resolve) => silent.close(resolve));
  });
});

test('a database runs SELECT 1', async () => {
  const proxy = await openProxy(service.database.url);
  const url = new URL(proxy.url);
  const fields = {
    host: url.hostname,
    port: Number(url.port),
    database: url.pathname.slice(1),
    username: url.username,
    password: decodeURIComponent(url.password),
    tls: 'off',
  };
  const where = `${url.hostname}:${url.port}`;
  expect(await run(await store('sql', fields))).toMatchObject({ outcome: 'works', code: 'accepted', where });
  const missing = await run(await store('sql', { ...fields, database: 'nowhere' }));
  expect(missing).toMatchObject({ outcome: 'failed', code: 'sql_error', where });
  expect(missing.refusal?.message).toContain('"nowhere" does not exist');
  const refused = await run(await store('sql', { ...fields, port: 1 }));
  expect(refused).toMatchObject({
    outcome: 'failed',
    code: 'sql_connection_failed',
    where: `${url.hostname}:1`,
  });
  await proxy.close();
});

describe('a model provider', () => {
  const ai = (path: string, api_key = 'canary-key', provider = 'openai_compatible') =>
    store('ai', { provider, base_url: `${outside.url}${path}`, api_key });
  const list = { body: { data: [{ id: 'small' }] } };

  test.each([
    ['openai_compatible', 'authorization', 'Bearer canary-key', list],
    ['anthropic', 'x-api-key', 'canary-key', list],
    ['google', 'x-goog-api-key', 'canary-key', { body: { models: [] } }],
  ])('%s lists its models', async (provider, header, value, good) => {
    outside.on('GET /v1/models', only(header, value, good));
    const where = `${outside.url}/v1/models`;
    expect(await run(await ai('/v1/', 'canary-key', provider))).toMatchObject({
      outcome: 'works',
      code: 'accepted',
      where,
    });
    const wrong = await run(await ai('/v1', 'canary-wrong', provider));
    expect(wrong).toMatchObject({ outcome: 'failed', code: 'refused', status: 401 });
  });

  test("that doesn't exist is reported with its address", async () => {
    const base_url = 'http://127.0.0.1:1/v1';
    const id = await store('ai', { provider: 'openai_compatible', base_url, api_key: 'canary' });
    const where = `${base_url}/models`;
    expect(await run(id)).toMatchObject({ outcome: 'failed', code: 'connection_failed', where });
  });

  test.each<[string, Reply, object]>([
    ['a list open to everyone', list, { outcome: 'unsure', code: 'open_to_all' }],
    ['a page instead of a list', { body: '<html>' }, { outcome: 'failed', code: 'ai_invalid_response' }],
    ['no list', { status: 404 }, { outcome: 'unsure', code: 'no_model_list' }],
    [
      'a refusal as Google writes it',
      { status: 400, body: { error: { details: [{ reason: 'API_KEY_INVALID' }] } } },
      { outcome: 'failed', code: 'refused' },
    ],
  ])('%s', async (_name, reply, expected) => {
    outside.on('GET /other/models', reply);
    expect(await run(await ai('/other'))).toMatchObject(expected);
  });
});

describe('a chat service', () => {
  test.each([
    ['slack', 'POST /auth.test', 'authorization', 'Bearer 17:canary', { body: { ok: true } }],
    ['discord', 'GET /users/@me', 'authorization', 'Bot 17:canary', { body: { id: '1' } }],
    ['mattermost', 'GET /api/v4/users/me', 'authorization', 'Bearer 17:canary', { body: { id: 'x' } }],
    ['line', 'GET /v2/bot/info', 'authorization', 'Bearer 17:canary', { body: { userId: 'U1' } }],
    ['chatwork', 'GET /me', 'x-chatworktoken', '17:canary', { body: { account_id: 1 } }],
    ['google_chat', 'GET /v1/spaces', 'authorization', 'Bearer 17:canary', { body: {} }],
  ])('%s is asked whose credential it is', async (name, line, header, value, good) => {
    outside.on(line, only(header, value, good));
    const chat = (token: string) => store('chat', { service: name, token, base_url: outside.url });
    expect(await run(await chat('17:canary'))).toMatchObject({ outcome: 'works', code: 'accepted' });
    expect(await run(await chat('17:wrong'))).toMatchObject({ outcome: 'failed', code: 'chat_auth_failed' });
  });

  test('telegram takes the token in the URL, which is not shown', async () => {
    outside.on('GET /bot17:canary/getMe', { body: { ok: true, result: { id: 17 } } });
    const chat = (token: string) => store('chat', { service: 'telegram', token, base_url: outside.url });
    const where = `${outside.url}/bot[hidden]/getMe`;
    expect(await run(await chat('17:canary'))).toMatchObject({ outcome: 'works', where });
    expect(await run(await chat('17:other'))).toMatchObject({
      outcome: 'failed',
      code: 'chat_auth_failed',
      where,
    });
  });

  test('a URL that only accepts messages is connected to, and gets none', async () => {
    outside.forget();
    const webhook_url = `${outside.url}/hooks/canary`;
    const fields = { service: 'mattermost', base_url: outside.url, webhook_url };
    const result = await run(await store('chat', fields));
    expect(result).toMatchObject({ outcome: 'unsure', code: 'reached', where: `${outside.url}/[hidden]` });
    expect(outside.received).toEqual([]);
  });

  test('a URL of another service is reported', async () => {
    const result = await run(await store('chat', { service: 'slack', webhook_url: `${outside.url}/canary` }));
    expect(result).toMatchObject({ outcome: 'failed', code: 'invalid_credential' });
    expect(result.refusal?.message).toContain('does not lead to Slack');
  });
});

describe('every test', () => {
  test('is recorded with its result, without secrets in response, log or audit row', async () => {
    const echo: Reply = { status: 500, body: 'no' };
    outside.on('GET /echo/canary-echo', echo);
    const id = await store('header', { name: 'x-key', value: 'canary-echo' }, ['127.0.0.1']);
    const options = { params: params(id), body: { url: `${outside.url}/echo/canary-echo` } };
    const { text } = await editor.call('POST /orgs/:org/credentials/:credential/test', options);
    const rows = await service.database.db.query<{ details: string; source_ip: string }>(
      `SELECT details, source_ip FROM audit_log WHERE action = 'credential.tested' AND user_id = $1`,
      [editor.userId],
    );
    expect(rows.map((row) => [JSON.parse(row.details), row.source_ip])).toEqual([
      [
        expect.objectContaining({
          credential_id: id,
          outcome: 'unsure',
          code: 'other_status',
          where: `${outside.url}/echo/***`,
        }),
        '127.0.0.1',
      ],
    ]);
    const all = await service.database.db.query('SELECT details FROM audit_log');
    expect(text + JSON.stringify(all) + service.logs.join('\n')).not.toMatch(/canary/);
  });

  test('decrypts; secrets that are never sent are not sent', async () => {
    const id = await store('secret', { value: 'canary' });
    expect(await run(id)).toMatchObject({ outcome: 'works', code: 'readable', where: null });
    await service.database.db.query('UPDATE credentials SET key_id = NULL, ciphertext = NULL WHERE id = $1', [
      id,
    ]);
    expect(await run(id)).toMatchObject({ outcome: 'failed', code: 'credential_unreadable' });
    const refused = await editor.call('POST /orgs/:org/credentials/:credential/test', {
      params: params(id),
      body: { url: 'https://api.example.com/' },
    });
    expect([refused.status, refused.json.errors?.[0]?.pointer]).toEqual([422, '/url']);
  });

  test("doesn't change the last use", async () => {
    await run(await store('secret', { value: 'canary' }));
    const { data } = await editor.call('GET /orgs/:org/credentials', {
      params: { org: editor.organisationId },
    });
    expect(data.items.map((item) => item.last_used_at)).toEqual([null]);
  });

  test('is for people who may change credentials, in their own organisation', async () => {
    const id = await store('secret', { value: 'canary' });
    const organisationId = editor.organisationId;
    const viewer = await createPerson(service, 'viewer', { organisationId });
    const stranger = await createPerson(service, 'org_admin');
    const statuses = await Promise.all(
      [viewer, stranger].map(
        async (person) =>
          (
            await person.call('POST /orgs/:org/credentials/:credential/test', {
              params: params(id, person),
              body: {},
            })
          ).status,
      ),
    );
    expect(statuses).toEqual([403, 404]);
  });

  test('counts: more than twenty a minute are refused', async () => {
    const id = await store('secret', { value: 'canary' });
    for (let count = 0; count < 20; count += 1) await run(id);
    const options = { params: params(id), body: {} };
    const answer = await editor.call('POST /orgs/:org/credentials/:credential/test', options);
    expect([answer.status, answer.json.code]).toEqual([429, 'rate_limited']);
    const other = await createPerson(service, 'editor');
    const theirs = await other.call('GET /orgs/:org/credentials', { params: { org: other.organisationId } });
    expect(theirs.status).toBe(200);
  });
});
