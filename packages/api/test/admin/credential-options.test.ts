import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@millrace/engine';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type Outside, openOutside, type Received, type Reply } from '@millrace/testing/outside';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const ENDPOINT = 'GET /orgs/:org/credentials/:credential/options';

let service: TestService;
let outside: Outside;
let editor: TestPerson;
beforeAll(async () => {
  const secretKeys = { current: randomBytes(32), previous: [] };
  service = await startTestService({ runsWorker: false, config: { secretKeys, allowHosts: ['127.0.0.1'] } });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
});
// A new organisation and a new outside each time: lists are kept for a minute and limited per organisation.
beforeEach(async () => {
  outside = await openOutside();
  editor = await createPerson(service, 'editor');
  return () => outside.close();
});
afterAll(() => service.stop());

let names = 0;
async function store(type: string, fields: JsonObject): Promise<number> {
  names += 1;
  const params = { org: editor.organisationId };
  const body = { name: `${type} ${names}`, type, hosts: [], fields: { ...fields, base_url: outside.url } };
  const { status, data } = await editor.call('POST /orgs/:org/credentials', { params, body });
  expect(status).toBe(200);
  return data.id;
}

const paramsOf = (credential: number, person = editor) => ({ org: person.organisationId, credential });

async function list(credential: number, query: { search?: string; cursor?: string } = {}) {
  const { status, data } = await editor.call(ENDPOINT, { params: paramsOf(credential), query });
  expect(status).toBe(200);
  return data;
}

/** The response for requests with the right key. */
const forKey =
  (header: string, value: string, good: (request: Received) => unknown, bad: Reply = { status: 401 }) =>
  (request: Received): Reply =>
    request.headers[header] === value ? { body: good(request) } : bad;

describe('the models of a provider', () => {
  test.each([
    ['openai_compatible', 'authorization', 'Bearer canary-key'],
    ['anthropic', 'x-api-key', 'canary-key'],
    ['google', 'x-goog-api-key', 'canary-key'],
  ] as const)('are listed from %s, all pages', async (provider, header, value) => {
    const pages = {
      openai_compatible: () => ({ data: [{ id: 'model-10' }, { id: 'model-9', name: 'Nine' }] }),
      anthropic: ({ query }: Received) =>
        query.after_id === 'model-9'
          ? { data: [{ id: 'model-10' }], has_more: false, last_id: 'model-10' }
          : { data: [{ id: 'model-9', display_name: 'Nine' }], has_more: true, last_id: 'model-9' },
      google: ({ query }: Received) =>
        query.pageToken === 'p&2'
          ? { models: [{ name: 'models/model-10', supportedGenerationMethods: ['generateContent'] }] }
          : {
              models: [
                { name: 'models/embed', supportedGenerationMethods: ['embedContent'] },
                { name: 'models/model-9', displayName: 'Nine' },
              ],
              nextPageToken: 'p&2',
            },
    };
    outside.on('GET /models', forKey(header, value, pages[provider]));
    expect(await list(await store('ai', { provider, api_key: 'canary-key' }))).toEqual({
      items: [
        { value: 'model-10', label: 'model-10', group: null },
        { value: 'model-9', label: 'Nine', group: null },
      ],
      ...{ next_cursor: null, is_complete: true, failure: null },
    });
  });

  test.each<[string, Reply, object]>([
    ['a wrong key', { status: 401 }, { code: 'refused', key: 'service.options_refused' }],
    ['an error', { status: 503 }, { code: 'other_status', key: 'service.options_status' }],
    ['another answer', { body: 'hello' }, { code: 'ai_invalid_response', key: 'service.options_not_list' }],
    ['a redirect', { status: 302, headers: { location: '/login' } }, { code: 'other_status' }],
  ])('say what is wrong: %s', async (_what, reply, failure) => {
    outside.on('GET /models', reply);
    const id = await store('ai', { provider: 'openai_compatible', api_key: 'canary-key' });
    expect(await list(id)).toMatchObject({ items: [], failure });
    // What was mended is found at once.
    outside.on('GET /models', { body: { data: [{ id: 'model-1' }] } });
    expect((await list(id)).items).toHaveLength(1);
  });

  test('say so if the server is down or not allowed', async () => {
    const id = await store('ai', { provider: 'openai_compatible', api_key: 'canary-key' });
    const admin = await createPerson(service, 'org_admin', { organisationId: editor.organisationId });
    const settings = { params: { org: editor.organisationId }, body: { allowed_hosts: ['api.example.com'] } };
    await admin.call('PATCH /orgs/:org/settings', settings);
    expect((await list(id)).failure?.code).toBe('target_not_allowed');
    expect(outside.received).toEqual([]);
    await admin.call('PATCH /orgs/:org/settings', { ...settings, body: { allowed_hosts: null } });
    await outside.close();
    expect((await list(id)).failure?.code).toBe('connection_failed');
    outside = await openOutside();
  });

  test('are fetched once for requests that come together, and again after the credential changed', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    outside.on('GET /models', async () => {
      await held;
      return { body: { data: [{ id: 'model-1' }] } };
    });
    const id = await store('ai', { provider: 'openai_compatible', api_key: 'canary-key' });
    const first = list(id);
    await outside.arrival('GET /models', 1);
    const second = list(id, { search: 'none of them' });
    release();
    expect([(await first).items.length, (await second).items.length]).toEqual([1, 0]);
    await list(id);
    expect(outside.received).toHaveLength(1);
    const body = { fields: { api_key: 'canary-other' } };
    await editor.call('PATCH /orgs/:org/credentials/:credential', { params: paramsOf(id), body });
    await list(id);
    expect(outside.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer canary-key',
      'Bearer canary-other',
    ]);
  });

  test('are searched by all words and come in pages; far more than anyone reads are cut', async () => {
    const data = Array.from({ length: 5_250 }, (_, index) => ({ id: `vendor/model-${index + 1}` }));
    outside.on('GET /models', { body: { data: [...data, { id: '' }, { id: 'vendor/model-1' }] } });
    const id = await store('ai', { provider: 'openai_compatible', api_key: 'canary-key' });
    const first = await list(id);
    expect([first.items.length, first.is_complete, first.next_cursor]).toEqual([100, false, '100']);
    const last = await list(id, { cursor: '4950' });
    expect([last.items.length, last.next_cursor]).toEqual([50, null]);
    const found = await list(id, { search: ' 1234 VENDOR' });
    expect(found.items.map(({ value }) => value)).toEqual(['vendor/model-1234']);
    const wrong = await editor.call(ENDPOINT, { params: paramsOf(id), query: { cursor: 'x' } });
    expect([wrong.status, wrong.json.errors?.[0]?.pointer]).toEqual([422, '/cursor']);
  });
});

describe('the channels of a chat service', () => {
  const auth = 'authorization';

  test('of Slack come in pages, with private ones if the token may see them', async () => {
    const channels = ({ query }: Received) =>
      query.types?.includes('private_channel')
        ? { ok: false, error: 'missing_scope' }
        : query.cursor === 'c='
          ? { ok: true, channels: [{ id: 'C2', name: 'alerts' }], response_metadata: { next_cursor: '' } }
          : { ok: true, channels: [{ id: 'C1', name: 'shop' }], response_metadata: { next_cursor: 'c=' } };
    outside.on('GET /conversations.list', forKey(auth, 'Bearer 17:canary', channels));
    const { items } = await list(await store('chat', { service: 'slack', token: '17:canary' }));
    expect(items.map(({ value, label }) => [value, label])).toEqual([
      ['C2', '#alerts'],
      ['C1', '#shop'],
    ]);
  });

  test('of Discord are the text channels of each server', async () => {
    const [north, south] = ['100000000000000001', '100000000000000002'];
    const guilds = [
      { id: south, name: 'South' },
      { id: north, name: 'North' },
    ];
    outside.on(
      'GET /users/@me/guilds',
      forKey(auth, 'Bot 17:canary', () => guilds),
    );
    outside.on(`GET /guilds/${north}/channels`, {
      body: [
        { id: '1', name: 'general', type: 0 },
        { id: '2', name: 'voice', type: 2 },
      ],
    });
    outside.on(`GET /guilds/${south}/channels`, { body: [{ id: '3', name: 'news', type: 5 }] });
    const { items } = await list(await store('chat', { service: 'discord', token: '17:canary' }));
    expect(items).toEqual([
      { value: '1', label: '#general', group: 'North' },
      { value: '3', label: '#news', group: 'South' },
    ]);
  });

  test.each<[string, string, [string, string], unknown, readonly string[]]>([
    [
      'mattermost',
      'GET /api/v4/users/me/channels',
      [auth, 'Bearer 17:canary'],
      [
        { id: 'aaa', display_name: 'Town Square', name: 'town-square', type: 'O' },
        { id: 'ddd', display_name: '', name: 'x__y', type: 'D' },
      ],
      ['aaa Town Square'],
    ],
    [
      'google_chat',
      'GET /v1/spaces',
      [auth, 'Bearer 17:canary'],
      { spaces: [{ name: 'spaces/AAA', displayName: 'Shop' }, { name: 'spaces/BBB' }] },
      ['spaces/AAA Shop', 'spaces/BBB spaces/BBB'],
    ],
    [
      'chatwork',
      'GET /rooms',
      ['x-chatworktoken', '17:canary'],
      [{ room_id: 123, name: 'Sales', type: 'group' }],
      ['123 Sales'],
    ],
  ])('of %s are listed', async (name, line, [header, value], body, expected) => {
    outside.on(
      line,
      forKey(header, value, () => body),
    );
    const { items } = await list(await store('chat', { service: name, token: '17:canary' }));
    expect(items.map((item) => `${item.value} ${item.label}`).toSorted()).toEqual(expected);
    const wrong = await list(await store('chat', { service: name, token: '17:wrong' }));
    expect(wrong.failure).toMatchObject({ code: 'refused', key: 'service.options_reason' });
  });

  test('of services without a list, and of webhooks, are typed', async () => {
    const telegram = await store('chat', { service: 'telegram', token: '17:canary' });
    expect((await list(telegram)).failure?.code).toBe('not_listed');
    const webhook_url = `${outside.url}/hooks/canary`;
    const hook = await store('chat', { service: 'mattermost', webhook_url });
    expect((await list(hook)).failure?.code).toBe('not_listed');
    expect(outside.received).toEqual([]);
  });
});

describe('a list of options', () => {
  test('repeats no secret, is no use of the credential, and is for people who may use it', async () => {
    outside.on('GET /rooms', { status: 400, body: { errors: ['bad token 17:canary-echo'] } });
    const id = await store('chat', { service: 'chatwork', token: '17:canary-echo' });
    const { failure } = await list(id);
    expect(failure?.message).toContain('bad token ***');
    expect(JSON.stringify(failure) + service.logs.join('\n')).not.toContain('canary');
    const { data } = await editor.call('GET /orgs/:org/credentials', {
      params: { org: editor.organisationId },
    });
    expect(data.items.map((item) => item.last_used_at)).toEqual([null]);
    const { organisationId } = editor;
    const people = [
      await createPerson(service, 'viewer', { organisationId }),
      await createPerson(service, 'org_admin'),
    ];
    const statuses = people.map(
      async (person) => (await person.call(ENDPOINT, { params: paramsOf(id, person), query: {} })).status,
    );
    expect(await Promise.all(statuses)).toEqual([403, 404]);
  });

  test('needs a type whose service lists something, and is limited per organisation', async () => {
    const params = { org: editor.organisationId };
    const body = { name: 'a secret', type: 'secret', hosts: [], fields: { value: 'canary' } };
    const { data } = await editor.call('POST /orgs/:org/credentials', { params, body });
    const ask = () => editor.call(ENDPOINT, { params: paramsOf(data.id), query: {} });
    expect((await ask()).json.errors?.[0]?.pointer).toBe('/credential');
    for (let count = 1; count < 120; count += 1) await ask();
    expect((await ask()).status).toBe(429);
    const other = await createPerson(service, 'editor');
    expect((await other.call(ENDPOINT, { params: paramsOf(data.id, other), query: {} })).status).toBe(404);
  });
});

describe('the lists of a connector', () => {
  const QUEUES = {
    id: 'queues',
    operation: 'list_queues',
    settings: { team: '{{args.team}}', kind: 'all' },
    fallback: { kind: 'open' },
    when: '{{args.item.closed != true}}',
    value: '{{args.item.id}}',
    label: '{{args.item.name}} ({{args.group.name}})',
    groups: { operation: 'list_sites', items: '{{args.output.sites}}', label: '{{args.item.name}}' },
  };
  const text = (title: string, more: object = {}) => ({
    type: 'string',
    title,
    description: 'Its ID.',
    ...more,
  });

  /** A connector for the fake service, uploaded by the organisation. */
  async function upload(): Promise<void> {
    const { host, hostname } = new URL(outside.url);
    const reads = { effect: false, required: [], description: 'Lists them.' };
    const file = {
      ...{ id: 'helpdesk', title: 'Helpdesk', base_url: `http://${host}`, hosts: [hostname] },
      authentication: { types: ['header'], description: 'A key.' },
      reason: '{{args.response.body.error}}',
      lists: [QUEUES],
      operations: [
        {
          ...{ id: 'list_sites', title: 'List sites', settings: {}, ...reads },
          request: { method: 'GET', path: '/sites' },
          output: { sites: '{{args.response.body}}' },
        },
        {
          ...{ id: 'list_queues', title: 'List queues', ...reads },
          settings: { team: text('Team'), kind: text('Kind') },
          request: {
            method: 'GET',
            path: '/queues',
            query: { team: '{{args.team}}', kind: '{{args.kind}}' },
          },
          pagination: {
            ...{ type: 'cursor', items: '{{args.response.body.queues}}' },
            next: '{{args.response.body.next}}',
            into: { in: 'query', name: 'after' },
            size: { in: 'query', name: 'limit', max: 100 },
          },
        },
        {
          ...{ id: 'get_ticket', title: 'Get a ticket', ...reads },
          settings: { team: text('Team'), queue: text('Queue', { 'x-list': 'queues' }) },
          request: { method: 'GET', path: '/{{args.team}}/{{args.queue}}' },
          output: { ticket: '{{args.response.body}}' },
        },
      ],
    };
    const admin = await createPerson(service, 'org_admin', { organisationId: editor.organisationId });
    const { status, json } = await admin.call('POST /orgs/:org/connectors', {
      params: { org: editor.organisationId },
      body: { file: JSON.stringify(file) },
    });
    expect([status, json.errors]).toEqual([200, undefined]);
  }

  async function storeKey(type = 'header', hosts = [new URL(outside.url).hostname]): Promise<number> {
    const fields = type === 'header' ? { name: 'X-Key', value: 'canary-key' } : { token: 'canary-key' };
    names += 1;
    const { status, data } = await editor.call('POST /orgs/:org/credentials', {
      params: { org: editor.organisationId },
      body: { name: `key ${names}`, type, hosts, fields },
    });
    expect(status).toBe(200);
    return data.id;
  }

  const ask = (credential: number, query: { list?: string; settings?: string } = {}) =>
    editor.call(ENDPOINT, {
      params: paramsOf(credential),
      query: { list: 'own.helpdesk.queues', settings: JSON.stringify({ team: 'shop' }), ...query },
    });

  test('come from its operations, page by page, for each group, with what the credential may list', async () => {
    await upload();
    outside.on(
      'GET /sites',
      forKey('x-key', 'canary-key', () => [{ name: 'North' }]),
    );
    outside.on('GET /queues', ({ query }) => {
      if (query.team !== 'shop' || query.kind !== 'open') return { status: 403, body: { error: 'not all' } };
      const isFirst = query.after === undefined;
      return {
        body: {
          queues: isFirst
            ? [
                { id: 'q2', name: 'B' },
                { id: 'q9', name: 'Z', closed: true },
              ]
            : [{ id: 1, name: 'A' }],
          next: isFirst ? 'more' : null,
        },
      };
    });
    const { data } = await ask(await storeKey());
    expect(data.failure).toBeNull();
    expect(data.items).toEqual([
      { value: '1', label: 'A (North)', group: 'North' },
      { value: 'q2', label: 'B (North)', group: 'North' },
    ]);
  });

  test('say what the service refuses, without secrets, and go to no host but those of the credential', async () => {
    await upload();
    outside.on('GET /sites', { status: 401, body: { error: 'no such key: canary-key' } });
    const { data } = await ask(await storeKey());
    expect(data.failure).toMatchObject({ code: 'connector_auth_failed' });
    expect(JSON.stringify(data)).not.toContain('canary');
    const elsewhere = await ask(await storeKey('header', ['api.example.com']));
    expect(elsewhere.data.failure?.code).toBe('credential_host_not_allowed');
    expect(outside.received).toHaveLength(1);
  });

  test('need settings, a list and a credential that fit', async () => {
    await upload();
    const id = await storeKey();
    const missing = await ask(id, { settings: '{}' });
    expect(missing.data.failure).toMatchObject({ code: 'setting_missing' });
    const pointers = [
      ask(id, { list: 'own.helpdesk.others' }),
      ask(id, { list: 'own.nobody.queues' }),
      ask(id, { list: 'nobody.queues' }),
      ask(id, { settings: '[1]' }),
      ask(await storeKey('bearer')),
    ].map(async (each) => (await each).json.errors?.[0]?.pointer);
    expect(await Promise.all(pointers)).toEqual(['/list', '/list', '/list', '/settings', '/credential']);
    expect(outside.received).toEqual([]);
  });
});
