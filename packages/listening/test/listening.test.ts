import type { JsonObject } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { claimListener, keyOf, releaseListener, renewListeners } from '@millrace/listening/store';
import { message } from '@millrace/messages';
import { pruneItems } from '@millrace/polling/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqsQueue } from './sqs-queue.ts';
import { PATIENCE, useListening } from './world.ts';

const world = useListening();
let queue: SqsQueue;
let credential = 0;

beforeEach(async () => {
  queue = await SqsQueue.start();
  const keys = {
    access_key_id: 'AKIDEXAMPLE',
    secret_access_key: 'canary-secret',
    region: 'us-east-1',
    service: 'sqs',
  };
  credential = await world.credential('aws', keys, ['127.0.0.1']);
});
afterEach(() => queue.stop());

const receiver = (config: JsonObject = {}, more: JsonObject = {}) =>
  world.workflow('trigger.sqs', { credential_id: credential, queue_url: queue.url, ...config }, more);
/** Waits until the connection of this number is the only one that receives. */
const connectedFor = (times: number) =>
  expect
    .poll(
      () => [queue.actions.filter((each) => each === 'GetQueueAttributes').length, queue.receivers],
      PATIENCE,
    )
    .toEqual([times, 1]);
const texts = async (id: number) => (await world.started(id)).map(({ text }) => text);

test('starts each message once, and deletes it after the start', async () => {
  await world.listener();
  const id = await receiver();
  queue.before = async (action) => {
    // The start is stored when the source is told of it.
    if (action === 'DeleteMessageBatch') expect(await world.started(id)).toHaveLength(2);
  };
  queue.send('1', '2');
  expect(await world.startedOf(id, 2)).toMatchObject([
    {
      id: 'm-1',
      text: '1',
      attributes: { kind: 'order' },
      sent_at: '2026-01-02T09:00:00.000Z',
      receive_count: expect.anything(),
    },
    { id: 'm-2', text: '2' },
  ]);
  await expect.poll(() => queue.messages, PATIENCE).toEqual([]);
  expect(
    queue.authorizations.every((each) => each.startsWith('AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/')),
  ).toBe(true);
});

test('a message that is delivered again after its start is deleted, and starts nothing', async () => {
  const first = await world.listener();
  const id = await receiver();
  const { promise, resolve } = Promise.withResolvers<void>();
  queue.before = async (action) => {
    if (action === 'DeleteMessageBatch') await promise;
  };
  queue.send('1');
  await world.startedOf(id, 1);
  await first.stop();
  resolve();
  queue.before = () => undefined;
  queue.messages.splice(0);
  queue.send('1');
  await world.listener();
  await expect.poll(() => queue.messages, PATIENCE).toEqual([]);
  expect(await world.started(id)).toHaveLength(1);
});

test('while starts are refused, reads nothing more and loses nothing', async () => {
  let isFull = true;
  const enterQueue = async (): Promise<() => void> => {
    if (isFull) throw new ApiError('queue_full', message('api.not_polling'));
    return () => undefined;
  };
  await world.listener({ enterQueue });
  const id = await receiver();
  queue.send('1');
  await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe('queue_full');
  queue.send('2');
  const { length } = queue.actions;
  await expect.poll(async () => (await world.stateOf(id)).is_connected, PATIENCE).toBe(true);
  expect(queue.actions).toHaveLength(length);
  isFull = false;
  await world.startedOf(id, 2);
  await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe(null);
  expect(await texts(id)).toEqual(['1', '2']);
});

test('two processes keep one connection, and the other takes over when the first one stops', async () => {
  const first = await world.listener();
  const id = await receiver();
  await world.connected(id);
  await world.listener();
  queue.send('1', '2', '3');
  await world.startedOf(id, 3);
  expect(queue.actions.filter((each) => each === 'GetQueueAttributes')).toHaveLength(1);
  await first.stop();
  await connectedFor(2);
  queue.send('4');
  await world.startedOf(id, 4);
});

test('another process takes over once the lease of a dead one has ended, and what the first one received is not stored by it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = await world.listener({
    enterQueue: async () => {
      await promise;
      return () => undefined;
    },
  });
  const id = await receiver();
  queue.send('1');
  await expect.poll(() => queue.messages[0]?.receives, PATIENCE).toBe(1);
  // As if the first one were suspended for longer than its lease.
  await world
    .db()
    .query(`UPDATE polls SET leased_until = now(), claim = claim + 1 WHERE workflow_id = $1`, [id]);
  await world.listener();
  queue.redeliver();
  await world.startedOf(id, 1);
  resolve();
  await slow.stop();
  expect(await world.started(id)).toHaveLength(1);
});

test('ends within seconds when the workflow is deactivated or put into test mode, and reads nothing then', async () => {
  await world.listener();
  const id = await receiver();
  await world.connected(id);
  await world.change(id, { status: 'inactive' });
  await expect.poll(() => queue.receivers, PATIENCE).toBe(0);
  queue.send('1');
  await world.change(id, { status: 'active', is_test_mode: true });
  const other = await receiver({}, { name: 'other' });
  await world.startedOf(other, 1);
  expect(await world.started(id)).toEqual([]);
});

test('receives as soon as test mode is off, though nothing else was listened for', async () => {
  await world.listener();
  const id = await receiver({}, { is_test_mode: true });
  queue.send('1');
  await world.change(id, { is_test_mode: false });
  await world.startedOf(id, 1);
});

test('starts the version that was saved last', async () => {
  await world.listener();
  const id = await receiver();
  await world.connected(id);
  const [{ flow_data: flow } = { flow_data: '' }] = await world
    .db()
    .query<{ flow_data: string }>('SELECT flow_data FROM workflow_versions WHERE workflow_id = $1', [id]);
  const parsed = JSON.parse(flow) as { nodes: { data: { config: object } }[] };
  Object.assign(parsed.nodes[1]?.data.config ?? {}, { values: { done: 'changed' } });
  await world.change(id, { flow_data: parsed });
  await connectedFor(2);
  queue.send('1');
  await world.startedOf(id, 1);
  const [row] = await world
    .db()
    .query<{ version: number }>('SELECT workflow_version AS version FROM executions WHERE workflow_id = $1', [
      id,
    ]);
  expect(row?.version).toBe(2);
});

test('shows what fails, tells alert rules once, and recovers', async () => {
  let told = 0;
  await world.listener({
    tellAlerts: async () => {
      told += 1;
    },
  });
  queue.refusal = { status: 500, type: 'InternalFailure' };
  const id = await receiver();
  await expect.poll(async () => (await world.stateOf(id)).failures, PATIENCE).toBeGreaterThan(4);
  expect(await world.stateOf(id)).toMatchObject({ code: 'sqs_request_failed', is_told: true });
  expect(told).toBe(1);
  queue.refusal = null;
  queue.send('1');
  await world.startedOf(id, 1);
  expect(await world.stateOf(id)).toMatchObject({ code: null, failures: 0, is_told: false });
});

test('an organisation that has its share gives its connections turns, and another one is not kept waiting', async () => {
  await world.listener({ limits: { ofOrganisation: 1, turnMs: 0 } });
  await receiver();
  await receiver();
  const claims = async () => {
    const rows = await world.db().query<{ claim: number }>('SELECT claim FROM polls ORDER BY workflow_id');
    return Math.min(...rows.map(({ claim }) => claim));
  };
  await expect.poll(claims, PATIENCE).toBeGreaterThan(1);
});

test('a claim that was given back can be claimed at once, whatever renewal was under way', async () => {
  const id = await receiver();
  const claim = () => claimListener(world.db(), new Map(), [], 30_000);
  const first = await claim();
  if (first === undefined) throw new Error('there is nothing to claim');
  expect([...(await renewListeners(world.db(), [first], 30_000))]).toEqual([keyOf(first)]);
  await releaseListener(world.db(), first);
  expect((await renewListeners(world.db(), [first], 30_000)).size).toBe(0);
  expect(await claim()).toMatchObject({ workflow_id: id, claim: first.claim + 1 });
});

test('forgets ids a day before the last success, and no sooner', async () => {
  await world.listener();
  const id = await receiver();
  queue.send('1', '2');
  await world.startedOf(id, 2);
  const age = (hours: number) =>
    world.db().query(`UPDATE polled_items SET seen_at = now() - $1 * interval '1 hour'`, [hours]);
  await age(23);
  expect(await pruneItems(world.db(), 30, 100)).toBe(0);
  await age(25);
  expect(await pruneItems(world.db(), 30, 100)).toBe(2);
});

test('two triggers of a workflow have connections and ids of their own, and one that is removed ends', async () => {
  const other = await SqsQueue.start();
  const trigger = (id: string, { url }: SqsQueue) => ({
    ...{ id, type: 'trigger.sqs', data: { config: { credential_id: credential, queue_url: url } } },
  });
  const manual = { id: 'manual', type: 'trigger.manual' };
  const flowOf = (...nodes: object[]) => ({ flow_data: { nodes: [manual, ...nodes], edges: [] } });
  await world.listener();
  const id = await receiver();
  await world.change(id, flowOf(trigger('one', queue), trigger('two', other)));
  await expect.poll(() => [queue.receivers, other.receivers], PATIENCE).toEqual([1, 1]);
  queue.send('1');
  other.send('1');
  await world.startedOf(id, 2);
  const rows = await world
    .db()
    .query<{ id: number }>('SELECT id FROM executions WHERE workflow_id = $1', [id]);
  const read = (row: { id: number }) =>
    world.service().api('GET', `/executions/${row.id}`, { key: world.key() });
  const starts = await Promise.all(rows.map(read));
  const triggers = starts.map(({ json }) => Object.keys(json.node_outputs as object).join());
  expect(triggers.toSorted()).toEqual(['one', 'two']);
  await world.change(id, flowOf(trigger('two', other)));
  // The change ends the connection of the other trigger, too, which would take a message with it.
  const connections = () => other.actions.filter((action) => action === 'GetQueueAttributes').length;
  await expect.poll(() => [queue.receivers, other.receivers, connections()], PATIENCE).toEqual([0, 1, 2]);
  queue.send('2');
  other.send('3');
  await world.startedOf(id, 3);
  expect(queue.messages.map(({ body }) => body)).toEqual(['2']);
  await other.stop();
});
