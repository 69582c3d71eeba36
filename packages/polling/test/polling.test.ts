import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { pruneItems } from '@millrace/polling/store';
import { createPerson } from '@millrace/testing/admin';
import { expect, test } from 'vitest';
import { type Answer, usePolling } from './world.ts';

const world = usePolling();
const { url, poller, create, change, poll, started, stateOf } = world;

const item = (id: number | string, more: object = {}) => ({ id, ...more });

test('skips what is there at first, and starts each new item once, in the order of the list', async () => {
  world.source = () => ({ body: [item(1), item(2)] });
  const id = await create({ url: url() });
  await poll(id);
  expect(await started(id)).toEqual([]);
  world.source = () => ({ body: [item(1), item(2), item('a'), item('b')] });
  await poll(id);
  await poll(id);
  expect(await started(id)).toEqual([item('a'), item('b')]);
  expect(await stateOf(id)).toMatchObject({ failures: 0, code: null, pause_s: 300 });
});

test('starts what is there at first when it is asked to, a hundred at a time', async () => {
  world.source = () => ({
    body: { data: { list: Array.from({ length: 230 }, (_, at) => ({ key: { n: at } })) } },
  });
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
  world.source = () => ({ body: [item(1), item(2), item(3)] });
  const ids = await Promise.all(Array.from({ length: 8 }, () => create({ url: url(), existing: 'start' })));
  await Promise.all(Array.from({ length: 4 }, () => poller().runDue()));
  for (const id of ids) expect(await started(id)).toEqual([item(1), item(2), item(3)]);
});

test('a poll whose claim has ended stores nothing', async () => {
  const id = await create({ url: url(), existing: 'start' });
  let isFirst = true;
  world.source = async () => {
    if (isFirst) {
      isFirst = false;
      // Meanwhile, its lease has ended and another process polls.
      await world.service.database.db.query('UPDATE polls SET leased_until = NULL WHERE workflow_id = $1', [
        id,
      ]);
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
  world.source = async () => {
    await change(id, { status: 'inactive' });
    return { body: [item(1)] };
  };
  await poller().runDue();
  expect(await started(id)).toEqual([]);
  expect(await stateOf(id)).toMatchObject({ is_active: false });
});

test('another interval continues; another address and another activation begin afresh', async () => {
  world.source = () => ({ body: [item(1)] });
  const id = await create({ url: url() });
  const flow = (config: object) => ({
    flow_data: { nodes: [{ id: 'start', type: 'trigger.poll', data: { config } }], edges: [] },
  });
  await poll(id);
  await change(id, flow({ url: url(), interval_s: 60 }));
  world.source = () => ({ body: [item(1), item(2)] });
  await poll(id);
  expect(await started(id)).toEqual([item(2)]);
  expect(await stateOf(id)).toMatchObject({ pause_s: 60 });
  await change(id, flow({ url: url('/other') }));
  world.source = () => ({ body: [item(3)] });
  await poll(id);
  await change(id, { status: 'inactive' });
  await change(id, { status: 'active' });
  world.source = () => ({ body: [item(3), item(4)] });
  await poll(id);
  world.source = () => ({ body: [item(4), item(5)] });
  await poll(id);
  expect(await started(id)).toEqual([item(2), item(5)]);
});

test('pauses for longer with each failure, and tells alert rules once', async () => {
  const { db } = world.service.database;
  await db.query(
    `INSERT INTO alert_rules (organisation_id, name, kind, channel, target, language, group_seconds)
     VALUES ($1, 'failures', 'failure', 'webhook', '{}', 'en', 0)`,
    [world.key.organisationId],
  );
  const incidents = () =>
    db.query<{ workflow_id: number; occurrences: number; error: string }>(
      'SELECT workflow_id, occurrences, error FROM alert_incidents WHERE organisation_id = $1',
      [world.key.organisationId],
    );
  world.source = () => ({ status: 500, body: 'broken' });
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
  world.source = () => ({ body: [] });
  await poll(id);
  expect(await stateOf(id)).toMatchObject({ failures: 0, code: null, is_told: false, pause_s: 60 });
});

test('leaves a source alone for as long as it asks', async () => {
  world.source = () => ({ status: 429, headers: { 'retry-after': '7200' }, body: '' });
  const there = url().replace('127.0.0.1', 'localhost');
  const id = await create({ url: there });
  await poll(id);
  expect((await stateOf(id)).pause_s).toBeGreaterThanOrEqual(7_200);
  const other = await create({ url: there });
  await poll(other);
  expect(await stateOf(other)).toMatchObject({ code: 'host_busy', is_told: false });
  expect(world.requests).toHaveLength(1);
});

test.each([
  ['no list', { body: { items: 1 } }, { list_path: 'items' }, 'invalid_response'],
  ['an item without an id', { body: [{ name: 'x' }] }, {}, 'invalid_response'],
  ['no JSON', { body: '<html>' }, {}, 'invalid_response'],
  ['too many items', { body: Array.from({ length: 10_001 }, () => 1) }, { id_path: '' }, 'too_many_items'],
  ['a redirect to a page that needs a login', { status: 403, body: '' }, {}, 'http_status'],
  ['too large a response', { body: 'x'.repeat(2_000) }, { max_response_bytes: 1_000 }, 'response_too_large'],
])('tells of %s at once', async (_what, answer: Answer, config, code) => {
  world.source = () => answer;
  const id = await create({ url: url(), ...config });
  await poll(id);
  expect(await stateOf(id)).toMatchObject({ failures: 1, code, is_told: true });
  expect(await started(id)).toEqual([]);
});

test('skips an item that is too large for a start, and starts the others', async () => {
  world.source = () => ({ body: [item(1), item(2, { text: 'x'.repeat(11_000) }), item(3)] });
  const id = await create({ url: url(), existing: 'start' });
  await poll(id);
  expect(await started(id)).toEqual([item(1), item(3)]);
  expect(await stateOf(id)).toMatchObject({ failures: 0, code: 'item_too_large', is_told: true });
});

test('waits while the queue of the organisation is full, and loses nothing', async () => {
  world.source = () => ({ body: [item(1)] });
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
  world.source = () => ({ body: [{ name: 'Ada', visits: 1 }] });
  const id = await create({ url: url(), id_path: '' });
  await poll(id);
  world.source = () => ({ body: [{ visits: 1, name: 'Ada' }] });
  await poll(id);
  world.source = () => ({ body: [{ name: 'Ada', visits: 2 }] });
  await poll(id);
  expect(await started(id)).toEqual([{ name: 'Ada', visits: 2 }]);
});

test('forgets what is no longer listed after a month, but not while the source fails', async () => {
  const { db } = world.service.database;
  world.source = () => ({ body: [item(1), item(2)] });
  const id = await create({ url: url() });
  await poll(id);
  const age = (days: number) =>
    db.query(`UPDATE polled_items SET seen_at = now() - $1 * interval '1 day'`, [days]);
  const count = async () => (await db.query('SELECT FROM polled_items WHERE workflow_id = $1', [id])).length;
  await age(40);
  await db.query(`UPDATE polls SET last_success_at = now() - interval '20 days'`);
  expect(await pruneItems(db, 30, 100)).toBe(0);
  world.source = () => ({ body: [item(2)] });
  await poll(id);
  expect(await pruneItems(db, 30, 100)).toBe(1);
  expect(await count()).toBe(1);
});

test('slow sources of one organisation leave places for others', async () => {
  const release: (() => void)[] = [];
  world.source = () => new Promise((resolve) => release.push(() => resolve({ body: [item(1)] })));
  for (let at = 0; at < 5; at += 1) await create({ url: url(), existing: 'start' });
  const own = poller();
  await own.start();
  await expect.poll(() => release.length).toBe(3);
  world.key = await world.service.createKey();
  world.source = () => ({ body: [item(7)] });
  const id = await create({ url: url(), existing: 'start' });
  await expect.poll(() => started(id)).toEqual([item(7)]);
  expect(world.requests).toHaveLength(4);
  for (const each of release) each();
  await own.stop();
});

test('a poller that stops gives back what it is polling for', async () => {
  let arrived: (() => void) | undefined;
  const fetched = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  world.source = () => {
    arrived?.();
    return new Promise<Answer>(() => undefined);
  };
  const id = await create({ url: url(), existing: 'start' });
  const stopping = poller();
  await stopping.start();
  await fetched;
  await stopping.stop();
  world.source = () => ({ body: [item(1)] });
  await poller().runDue();
  expect(await started(id)).toEqual([item(1)]);
});

test('reads a feed, oldest item first', async () => {
  const feed = (...ids: number[]) =>
    `<rss version="2.0"><channel><title>T</title>${ids
      .map((n) => `<item><guid>${n}</guid><title>Item ${n}</title></item>`)
      .join('')}</channel></rss>`;
  world.source = () => ({ headers: { 'content-type': 'application/rss+xml' }, body: feed(2, 1) });
  const id = await create({ url: url('/feed') }, 'trigger.rss');
  await poll(id);
  world.source = () => ({ headers: { 'content-type': 'application/rss+xml' }, body: feed(4, 3, 2, 1) });
  await poll(id);
  expect(await started(id)).toMatchObject([{ title: 'Item 3' }, { title: 'Item 4' }]);
});

test('polls with a credential, whose secret is masked where the source repeats it', async () => {
  const person = await createPerson(world.service, 'org_admin');
  const params = { org: person.organisationId };
  world.key = await world.service.createKey({ organisationId: person.organisationId });
  const fields = { token: 'a-secret-token' };
  const body = { name: 'source', type: 'bearer', hosts: ['127.0.0.1'], fields };
  const credential = (await person.call('POST /orgs/:org/credentials', { params, body })).data.id;
  world.source = () => ({ body: [item(1, { link: 'https://x.example/?t=a-secret-token' })] });
  const auth = { type: 'credential', credential_id: credential };
  const id = await create({ url: url(), auth, existing: 'start' });
  await poll(id);
  expect(world.authorizations).toEqual(['Bearer a-secret-token']);
  expect(await started(id)).toEqual([item(1, { link: 'https://x.example/?t=***' })]);
});

test('the workflow page reads when it polls and what failed, and polls now', async () => {
  const person = await createPerson(world.service, 'org_admin');
  world.key = await world.service.createKey({ organisationId: person.organisationId });
  world.source = () => ({ body: 'nothing of use' });
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
  world.source = () => ({ body: [] });
  await person.call('POST /orgs/:org/workflows/:id/polling', { params });
  await poller().runDue();
  expect(await read()).toMatchObject({ failures: 0, last_error: null, started: 0 });
  await change(id, { status: 'inactive' });
  const refused = await person.call('POST /orgs/:org/workflows/:id/polling', { params });
  expect([refused.status, refused.json.code]).toEqual([409, 'workflow_inactive']);
  expect((await read())?.next_poll_at).toBeNull();
});
