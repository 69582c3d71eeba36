import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HttpClient, parseJson } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { PollDeps } from '@millrace/polling/poll';
import { createPoller, type Poller } from '@millrace/polling/poller';
import { pruneItems } from '@millrace/polling/store';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { notePollFailure } from '@millrace/service/alerts/polls';
import { createPerson } from '@millrace/testing/admin';
import {
  createTestServices,
  startTestService,
  type TestKey,
  type TestService,
} from '@millrace/testing/service';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

let service: TestService;
let services: ReturnType<typeof createTestServices>['services'];
let key: TestKey;
let server: Server;
/** What the source answers next; a function may wait. */
let source: () => Promise<Answer> | Answer;
let requests: string[] = [];
let authorizations: (string | undefined)[] = [];

interface Answer {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body: unknown;
}

beforeAll(async () => {
  service = await startTestService({
    runsWorker: false,
    config: {
      allowHosts: ['127.0.0.1', 'localhost'],
      secretKeys: { current: randomBytes(32), previous: [] },
    },
  });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  ({ services } = createTestServices(service.deps));
  server = createServer((request, response) => {
    requests.push(request.url ?? '');
    authorizations.push(request.headers.authorization);
    void answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
async function answer(response: ServerResponse): Promise<void> {
  const { status = 200, headers = {}, body } = await source();
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await services.close();
  await service.stop();
});
beforeEach(async () => {
  requests = [];
  authorizations = [];
  key = await service.createKey();
});
afterEach(() => service.database.db.query('DELETE FROM polls'));

const url = (path = '/') => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

/** One more poller on the same database, as in another process. */
function poller(more: Partial<PollDeps> = {}): Poller {
  const { deps } = service;
  return createPoller({
    ...deps,
    ...{ http: deps.egress.http, services, maxSteps: 1_000_000, maxItemBytes: 10_000 },
    ...{ enterQueue: async () => () => undefined, tellAlerts: notePollFailure },
    ...more,
  });
}

async function create(config: object, type = 'trigger.poll', status = 'active'): Promise<number> {
  const nodes = [
    { id: 'start', type, data: { config } },
    { id: 'set', type: 'core.set', data: { config: { values: { done: true } } } },
  ];
  const flow = { nodes, edges: [{ source: 'start', target: 'set' }] };
  const answer = await service.api('POST', '/workflows', {
    key,
    body: { name: 'polls', flow_data: flow, status },
  });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json.id;
}

async function change(id: number, body: object): Promise<void> {
  const answer = await service.api('PUT', `/workflows/${id}`, { key, body });
  if (answer.status !== 200) throw new Error(answer.text);
}

/** Makes a poll due and polls. */
async function poll(id: number, by = poller()): Promise<void> {
  await service.database.db.query('UPDATE polls SET next_poll_at = now() WHERE workflow_id = $1', [id]);
  await by.runDue();
}

/** Data of the executions that were started, in their order. */
async function started(id: number) {
  const rows = await service.database.db.query<{ input: string; trigger_type: string }>(
    'SELECT input, trigger_type FROM executions WHERE workflow_id = $1 ORDER BY id',
    [id],
  );
  expect(rows.every(({ trigger_type: type }) => type === 'poll')).toBe(true);
  return rows.map(({ input }) => parseJson(input));
}

async function stateOf(id: number) {
  const [row] = await service.database.db.query<{
    failures: number;
    last_error: string | null;
    is_primed: boolean;
    is_told: boolean;
    is_active: boolean;
    pause_s: number;
  }>(
    `SELECT failures, last_error, is_primed, is_told, next_poll_at IS NOT NULL AS is_active,
       extract(epoch FROM next_poll_at - last_poll_at)::double precision AS pause_s
     FROM polls WHERE workflow_id = $1`,
    [id],
  );
  if (row === undefined) throw new Error('the workflow does not poll');
  return { ...row, code: row.last_error === null ? null : JSON.parse(row.last_error).code };
}

const item = (id: number | string, more: object = {}) => ({ id, ...more });

test('skips what is there at first, and starts each new item once, in the order of the list', async () => {
  source = () => ({ body: [item(1), item(2)] });
  const id = await create({ url: url() });
  await poll(id);
  expect(await started(id)).toEqual([]);
  source = () => ({ body: [item(1), item(2), item('a'), item('b')] });
  await poll(id);
  await poll(id);
  expect(await started(id)).toEqual([item('a'), item('b')]);
  expect(await stateOf(id)).toMatchObject({ failures: 0, code: null, pause_s: 300 });
});

test('starts what is there at first when it is asked to, a hundred at a time', async () => {
  source = () => ({ body: { data: { list: Array.from({ length: 230 }, (_, at) => ({ key: { n: at } })) } } });
  const id = await create({ url: url(), list_path: 'data.list', id_path: 'key.n', existing: 'start' });
  await poll(id);
  expect(await started(id)).toHaveLength(100);
  expect(await stateOf(id)).toMatchObject({ is_primed: false, pause_s: 5 });
  await poll(id);
  await poll(id);
  expect(await started(id)).toEqual(Array.from({ length: 230 }, (_, at) => ({ key: { n: at } })));
  expect(await stateOf(id)).toMatchObject({ is_primed: true, pause_s: 300 });
});

test('four pollers at once start each item once', async () => {
  source = () => ({ body: [item(1), item(2), item(3)] });
  const ids = await Promise.all(Array.from({ length: 8 }, () => create({ url: url(), existing: 'start' })));
  await Promise.all(Array.from({ length: 4 }, () => poller().runDue()));
  for (const id of ids) expect(await started(id)).toEqual([item(1), item(2), item(3)]);
});

test('a poll whose claim has ended stores nothing', async () => {
  const id = await create({ url: url(), existing: 'start' });
  let isFirst = true;
  source = async () => {
    if (isFirst) {
      isFirst = false;
      // Meanwhile, its lease has ended and another process polls.
      await service.database.db.query('UPDATE polls SET leased_until = NULL WHERE workflow_id = $1', [id]);
      await poller().runDue();
      return { body: [item(1), item('late')] };
    }
    return { body: [item(1)] };
  };
  await poller().runDue();
  expect(await started(id)).toEqual([item(1)]);
});

test('a workflow that is deactivated while it is polled for starts nothing', async () => {
  const id = await create({ url: url(), existing: 'start' });
  source = async () => {
    await change(id, { status: 'inactive' });
    return { body: [item(1)] };
  };
  await poller().runDue();
  expect(await started(id)).toEqual([]);
  expect(await stateOf(id)).toMatchObject({ is_active: false });
});

test('another interval continues; another address and another activation begin afresh', async () => {
  source = () => ({ body: [item(1)] });
  const id = await create({ url: url() });
  const flow = (config: object) => ({
    flow_data: { nodes: [{ id: 'start', type: 'trigger.poll', data: { config } }], edges: [] },
  });
  await poll(id);
  await change(id, flow({ url: url(), interval_s: 60 }));
  source = () => ({ body: [item(1), item(2)] });
  await poll(id);
  expect(await started(id)).toEqual([item(2)]);
  expect(await stateOf(id)).toMatchObject({ pause_s: 60 });
  await change(id, flow({ url: url('/other') }));
  source = () => ({ body: [item(3)] });
  await poll(id);
  await change(id, { status: 'inactive' });
  await change(id, { status: 'active' });
  source = () => ({ body: [item(3), item(4)] });
  await poll(id);
  source = () => ({ body: [item(4), item(5)] });
  await poll(id);
  expect(await started(id)).toEqual([item(2), item(5)]);
});

test('pauses for longer with each failure, and tells alert rules once', async () => {
  const { db } = service.database;
  await db.query(
    `INSERT INTO alert_rules (organisation_id, name, kind, channel, target, language, group_seconds)
     VALUES ($1, 'failures', 'failure', 'webhook', '{}', 'en', 0)`,
    [key.organisationId],
  );
  const incidents = () =>
    db.query<{ workflow_id: number; occurrences: number; error: string }>(
      'SELECT workflow_id, occurrences, error FROM alert_incidents WHERE organisation_id = $1',
      [key.organisationId],
    );
  source = () => ({ status: 500, body: 'broken' });
  const id = await create({ url: url(), interval_s: 60 });
  const pauses: number[] = [];
  for (let at = 0; at < 8; at += 1) {
    await poll(id);
    pauses.push((await stateOf(id)).pause_s);
    if (at < 2) expect(await incidents()).toEqual([]);
  }
  expect(pauses).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600]);
  expect(await stateOf(id)).toMatchObject({ failures: 8, code: 'http_status', is_told: true });
  const told = await incidents();
  expect(told).toMatchObject([{ workflow_id: id, occurrences: 1 }]);
  expect(told[0]?.error).toContain('http_status');
  source = () => ({ body: [] });
  await poll(id);
  expect(await stateOf(id)).toMatchObject({ failures: 0, code: null, is_told: false, pause_s: 60 });
});

test('leaves a source alone for as long as it asks', async () => {
  source = () => ({ status: 429, headers: { 'retry-after': '7200' }, body: '' });
  const there = url().replace('127.0.0.1', 'localhost');
  const id = await create({ url: there });
  await poll(id);
  expect((await stateOf(id)).pause_s).toBeGreaterThanOrEqual(7_200);
  const other = await create({ url: there });
  await poll(other);
  expect(await stateOf(other)).toMatchObject({ code: 'host_busy', is_told: false });
  expect(requests).toHaveLength(1);
});

test.each([
  ['no list', { body: { items: 1 } }, { list_path: 'items' }, 'invalid_response'],
  ['an item without an id', { body: [{ name: 'x' }] }, {}, 'invalid_response'],
  ['no JSON', { body: '<html>' }, {}, 'invalid_response'],
  ['too many items', { body: Array.from({ length: 10_001 }, () => 1) }, { id_path: '' }, 'too_many_items'],
  ['a redirect to a page that needs a login', { status: 403, body: '' }, {}, 'http_status'],
  ['too large a response', { body: 'x'.repeat(2_000) }, { max_response_bytes: 1_000 }, 'response_too_large'],
])('tells of %s at once', async (_what, answer: Answer, config, code) => {
  source = () => answer;
  const id = await create({ url: url(), ...config });
  await poll(id);
  expect(await stateOf(id)).toMatchObject({ failures: 1, code, is_told: true });
  expect(await started(id)).toEqual([]);
});

test('skips an item that is too large for a start, and starts the others', async () => {
  source = () => ({ body: [item(1), item(2, { text: 'x'.repeat(11_000) }), item(3)] });
  const id = await create({ url: url(), existing: 'start' });
  await poll(id);
  expect(await started(id)).toEqual([item(1), item(3)]);
  expect(await stateOf(id)).toMatchObject({ failures: 0, code: 'item_too_large', is_told: true });
});

test('waits while the queue of the organisation is full, and loses nothing', async () => {
  source = () => ({ body: [item(1)] });
  const id = await create({ url: url(), existing: 'start' });
  const full = poller({
    enterQueue: () => Promise.reject(new ApiError('queue_full', message('service.queue_full', { max: 1 }))),
  });
  await poll(id, full);
  expect(await started(id)).toEqual([]);
  expect(await stateOf(id)).toMatchObject({ failures: 1, code: 'queue_full', is_told: false });
  await poll(id);
  expect(await started(id)).toEqual([item(1)]);
});

test('items without a path of an id are new when anything in them changes', async () => {
  source = () => ({ body: [{ name: 'Ada', visits: 1 }] });
  const id = await create({ url: url(), id_path: '' });
  await poll(id);
  source = () => ({ body: [{ visits: 1, name: 'Ada' }] });
  await poll(id);
  source = () => ({ body: [{ name: 'Ada', visits: 2 }] });
  await poll(id);
  expect(await started(id)).toEqual([{ name: 'Ada', visits: 2 }]);
});

test('forgets what is no longer listed after a month, but not while the source fails', async () => {
  const { db } = service.database;
  source = () => ({ body: [item(1), item(2)] });
  const id = await create({ url: url() });
  await poll(id);
  const age = (days: number) =>
    db.query(`UPDATE polled_items SET seen_at = now() - $1 * interval '1 day'`, [days]);
  const count = async () => (await db.query('SELECT FROM polled_items WHERE workflow_id = $1', [id])).length;
  await age(40);
  await db.query(`UPDATE polls SET last_success_at = now() - interval '20 days'`);
  expect(await pruneItems(db, 30, 100)).toBe(0);
  source = () => ({ body: [item(2)] });
  await poll(id);
  expect(await pruneItems(db, 30, 100)).toBe(1);
  expect(await count()).toBe(1);
});

test('slow sources of one organisation leave places for others', async () => {
  const release: (() => void)[] = [];
  source = () => new Promise((resolve) => release.push(() => resolve({ body: [item(1)] })));
  for (let at = 0; at < 5; at += 1) await create({ url: url(), existing: 'start' });
  const own = poller();
  await own.start();
  await expect.poll(() => release.length).toBe(3);
  key = await service.createKey();
  source = () => ({ body: [item(7)] });
  const id = await create({ url: url(), existing: 'start' });
  await expect.poll(() => started(id)).toEqual([item(7)]);
  expect(requests).toHaveLength(4);
  for (const each of release) each();
  await own.stop();
});

test('a poller that stops gives back what it is polling for', async () => {
  let arrived: (() => void) | undefined;
  const fetched = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  source = () => {
    arrived?.();
    return new Promise<Answer>(() => undefined);
  };
  const id = await create({ url: url(), existing: 'start' });
  const stopping = poller();
  await stopping.start();
  await fetched;
  await stopping.stop();
  source = () => ({ body: [item(1)] });
  await poller().runDue();
  expect(await started(id)).toEqual([item(1)]);
});

test('reads a feed, oldest item first', async () => {
  const feed = (...ids: number[]) =>
    `<rss version="2.0"><channel><title>T</title>${ids
      .map((n) => `<item><guid>${n}</guid><title>Item ${n}</title></item>`)
      .join('')}</channel></rss>`;
  source = () => ({ headers: { 'content-type': 'application/rss+xml' }, body: feed(2, 1) });
  const id = await create({ url: url('/feed') }, 'trigger.rss');
  await poll(id);
  source = () => ({ headers: { 'content-type': 'application/rss+xml' }, body: feed(4, 3, 2, 1) });
  await poll(id);
  expect(await started(id)).toMatchObject([{ title: 'Item 3' }, { title: 'Item 4' }]);
});

test('polls with a credential, whose secret is masked where the source repeats it', async () => {
  const person = await createPerson(service, 'org_admin');
  const params = { org: person.organisationId };
  key = await service.createKey({ organisationId: person.organisationId });
  const fields = { token: 'a-secret-token' };
  const body = { name: 'source', type: 'bearer', hosts: ['127.0.0.1'], fields };
  const credential = (await person.call('POST /orgs/:org/credentials', { params, body })).data.id;
  source = () => ({ body: [item(1, { link: 'https://x.example/?t=a-secret-token' })] });
  const auth = { type: 'credential', credential_id: credential };
  const id = await create({ url: url(), auth, existing: 'start' });
  await poll(id);
  expect(authorizations).toEqual(['Bearer a-secret-token']);
  expect(await started(id)).toEqual([item(1, { link: 'https://x.example/?t=***' })]);
});

/** Gmail, as far as the service can tell: its client reaches the test's server under Gmail's address. */
async function pollGmail(person: Awaited<ReturnType<typeof createPerson>>) {
  const toGmail = (organisationId: number): HttpClient => {
    const client = service.deps.egress.http(organisationId);
    return {
      send: (request, ...rest) =>
        client.send(
          { ...request, url: request.url.replace('https://gmail.googleapis.com', url('')) },
          ...rest,
        ),
    };
  };
  const egress = Object.create(service.deps.egress, {
    http: { value: toGmail },
  }) as typeof service.deps.egress;
  const made = createTestServices({ ...service.deps, egress });
  const params = { org: person.organisationId };
  const fields = { token: 'a-secret-token' };
  const body = { name: 'mail', type: 'bearer', hosts: ['gmail.googleapis.com'], fields };
  const credential = (await person.call('POST /orgs/:org/credentials', { params, body })).data.id;
  const id = await create({ credential_id: credential }, 'trigger.gmail.new_message');
  const by = poller({ services: made.services, http: toGmail });
  return { id, credential, poll: () => poll(id, by), close: () => made.services.close() };
}

test('reads each new item where the list has too little, and starts none that is gone', async () => {
  const person = await createPerson(service, 'org_admin');
  key = await service.createKey({ organisationId: person.organisationId });
  const mail = await pollGmail(person);
  let listed = ['m1'];
  let broken = false;
  source = () => {
    const path = requests.at(-1)?.split('?')[0] ?? '';
    const [, id] = /messages\/(\w+)$/.exec(path) ?? [];
    if (id === undefined) return { body: { messages: listed.map((each) => ({ id: each })) } };
    if (id === 'm2') return { status: 404, body: { error: { message: 'gone' } } };
    return broken ? { status: 500, body: {} } : { body: { id, snippet: 'see a-secret-token' } };
  };
  await mail.poll();
  // What was there isn't read.
  expect(requests.map((path) => path.split('?')[0])).toEqual(['/gmail/v1/users/me/messages']);
  listed = ['m3', 'm2', 'm1'];
  broken = true;
  await mail.poll();
  expect(await started(mail.id)).toEqual([]);
  expect(await stateOf(mail.id)).toMatchObject({ failures: 1, code: 'connector_unavailable' });
  broken = false;
  await mail.poll();
  expect(await started(mail.id)).toEqual([{ id: 'm3', snippet: 'see ***' }]);
  requests = [];
  await mail.poll();
  expect(requests).toHaveLength(1);
  expect(await stateOf(mail.id)).toMatchObject({ failures: 0, code: null });
  await mail.close();
});

test('reads and starts no more items at a time than a poll has time for, and loses none', async () => {
  const person = await createPerson(service, 'org_admin');
  key = await service.createKey({ organisationId: person.organisationId });
  const mail = await pollGmail(person);
  let listed: string[] = [];
  source = () => {
    const [, id] = /messages\/(\w+)/.exec(requests.at(-1) ?? '') ?? [];
    return { body: id === undefined ? { messages: listed.map((each) => ({ id: each })) } : { id } };
  };
  await mail.poll();
  // Newest first, as Gmail lists them.
  listed = Array.from({ length: 30 }, (_, at) => `m${30 - at}`);
  await mail.poll();
  expect(await started(mail.id)).toHaveLength(25);
  expect((await stateOf(mail.id)).pause_s).toBe(5);
  requests = [];
  await mail.poll();
  expect(requests).toHaveLength(1 + 5);
  expect(await started(mail.id)).toEqual(listed.toReversed().map((id) => ({ id })));
  await mail.close();
});

test('the workflow page reads when it polls and what failed, and polls now', async () => {
  const person = await createPerson(service, 'org_admin');
  key = await service.createKey({ organisationId: person.organisationId });
  source = () => ({ body: 'nothing of use' });
  const id = await create({ url: url() });
  const params = { org: person.organisationId, id };
  const read = async () =>
    (await person.call('GET /orgs/:org/workflows/:id/polling', { params })).data.polling;
  await poll(id);
  expect(await read()).toMatchObject({
    is_polling: false,
    next_poll_at: expect.any(String),
    last_success_at: null,
    failures: 1,
    last_error: { code: 'invalid_response', message: expect.stringContaining('JSON') },
  });
  source = () => ({ body: [] });
  await person.call('POST /orgs/:org/workflows/:id/polling', { params });
  await poller().runDue();
  expect(await read()).toMatchObject({ failures: 0, last_error: null, started: 0 });
  await change(id, { status: 'inactive' });
  const refused = await person.call('POST /orgs/:org/workflows/:id/polling', { params });
  expect([refused.status, refused.json.code]).toEqual([409, 'workflow_inactive']);
  expect((await read())?.next_poll_at).toBeNull();
});

test('several triggers of a workflow poll on their own: each item starts an execution at its trigger', async () => {
  source = () => ({ body: { items: [{ id: 'same' }] } });
  const trigger = (id: string, path: string) => ({
    ...{ id, type: 'trigger.poll' },
    data: { config: { url: url(path), list_path: 'items', interval_s: 60, existing: 'start' } },
  });
  const flow = (...ids: string[]) => ({
    nodes: [{ id: 'manual', type: 'trigger.manual', data: {} }, ...ids.map((id) => trigger(id, `/${id}`))],
    edges: [],
  });
  const body = { name: 'polls', flow_data: flow('one', 'two'), status: 'active' };
  const created = await service.api('POST', '/workflows', { key, body });
  expect(created.status, created.text).toBe(201);
  const { id } = created.json;
  await poll(id);
  await poll(id);
  expect(requests.toSorted()).toEqual(['/one', '/one', '/two', '/two']);
  const rows = await service.database.db.query<{ id: number }>(
    'SELECT id FROM executions WHERE workflow_id = $1 ORDER BY id',
    [id],
  );
  const starts = await Promise.all(rows.map((row) => service.api('GET', `/executions/${row.id}`, { key })));
  const triggers = starts.map(({ json }) => Object.keys(json.node_outputs as object).join());
  expect(triggers.toSorted()).toEqual(['one', 'two']);
  // One is removed: the other goes on, and knows what it has found.
  await change(id, { flow_data: flow('two') });
  const due = await service.database.db.query(
    'SELECT node_id FROM polls WHERE workflow_id = $1 AND next_poll_at IS NOT NULL',
    [id],
  );
  expect(due).toEqual([{ node_id: 'two' }]);
  await service.database.db.query("UPDATE polls SET next_poll_at = now() WHERE node_id = 'two'");
  await poller().runDue();
  expect(await started(id)).toHaveLength(2);
});

test('two triggers of a service in one workflow keep positions and items of their own', async () => {
  const person = await createPerson(service, 'org_admin');
  key = await service.createKey({ organisationId: person.organisationId });
  const mail = await pollGmail(person);
  source = () => ({
    body: requests.at(-1)?.includes('/messages/') === true ? { id: 'm1' } : { messages: [{ id: 'm1' }] },
  });
  const trigger = (id: string) => ({
    ...{ id, type: 'trigger.gmail.new_message' },
    data: { config: { credential_id: mail.credential, query: `label:${id}`, existing: 'start' } },
  });
  await change(mail.id, { flow_data: { nodes: [trigger('one'), trigger('two')], edges: [] } });
  await mail.poll();
  await mail.poll();
  expect(await started(mail.id)).toHaveLength(2);
  const since: { readonly [id: string]: string } = {
    one: '2026-01-01T00:00:00Z',
    two: '2026-01-02T00:00:00Z',
  };
  for (const [id, time] of Object.entries(since)) {
    const text = JSON.stringify({ since: time });
    await service.database.db.query('UPDATE polls SET position = $2::json WHERE node_id = $1', [id, text]);
  }
  requests = [];
  await mail.poll();
  const asked = requests.map((path) => new URL(path, 'http://x').searchParams.get('q'));
  expect(asked.toSorted()).toEqual(['label:one after:1767225600', 'label:two after:1767312000']);
  expect(await started(mail.id)).toHaveLength(2);
  await mail.close();
});
