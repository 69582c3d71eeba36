import type { JsonObject } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { KafkaTestCluster } from '@millrace/testing/kafka/broker';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nameOf } from '../src/session.ts';
import { PATIENCE, useListening } from './world.ts';

const world = useListening();
let cluster: KafkaTestCluster;
let credential = 0;

beforeEach(async () => {
  cluster = await KafkaTestCluster.start({ accounts: [{ username: 'ada', password: 'canary-pass' }] });
  cluster.topic('orders', 2);
  credential = await world.credential('kafka', fields());
});
afterEach(() => cluster.stop());

const fields = (): JsonObject => ({
  ...{ brokers: cluster.bootstrap, tls: 'off', mechanism: 'scram_sha_256' },
  ...{ username: 'ada', password: 'canary-pass' },
});
const reader = (more: JsonObject = {}) =>
  world.workflow('trigger.kafka', { credential_id: credential, topics: ['orders'], group: 'shop', ...more });
/** Waits for offsets that the group has. */
const committed = (...wanted: readonly number[]) =>
  expect
    .poll(() => wanted.map((_, partition) => cluster.committed('shop', 'orders', partition)), PATIENCE)
    .toEqual(wanted);
const texts = async (id: number) => (await world.started(id)).map(({ text }) => text);

test('starts each message once, and commits its offset after the start', async () => {
  cluster.produce('orders', [{ value: 'before' }]);
  await world.listener();
  const id = await reader();
  await committed(1, 0);
  cluster.before = async (name) => {
    if (name === 'OffsetCommit') expect(await world.started(id)).not.toEqual([]);
  };
  cluster.produce('orders', [
    {
      value: '{"id":1}',
      key: 'customer-17',
      headers: [
        ['kind', 'order'],
        ['raw', Buffer.from([0xff])],
      ],
    },
    { value: Buffer.from([0xff, 0]), key: Buffer.from([0xfe]) },
    { value: null, key: 'gone' },
  ]);
  cluster.produce('orders', [{ value: 'other' }], 1);
  const started = await world.startedOf(id, 4);
  expect(started.filter(({ partition }) => partition === 0)).toEqual([
    {
      ...{ topic: 'orders', partition: 0, offset: 1, timestamp: '2026-01-02T09:00:00.001Z' },
      ...{ key: 'customer-17', key_base64: null, headers: { kind: 'order', raw: '/w==' } },
      ...{
        text: '{"id":1}',
        json: { id: 1 },
        base64: null,
        size: 8,
        is_too_large: false,
        is_tombstone: false,
      },
    },
    expect.objectContaining({
      offset: 2,
      key: null,
      key_base64: '/g==',
      text: null,
      base64: '/wA=',
      size: 2,
    }),
    expect.objectContaining({ offset: 3, key: 'gone', text: null, json: null, size: 0, is_tombstone: true }),
  ]);
  expect(started.filter(({ partition }) => partition === 1)).toMatchObject([{ offset: 0, text: 'other' }]);
  await committed(4, 1);
  expect(cluster.group('shop').members.map(({ instance }) => instance)).toEqual([
    nameOf({ workflow_id: id, node_id: 'start' }),
  ]);
});

test('messages whose commit was lost come again, and start nothing', async () => {
  await world.listener();
  const id = await reader({ existing: 'start' });
  await committed(0, 0);
  cluster.before = (name) => {
    if (name === 'OffsetCommit') cluster.drop();
  };
  cluster.produce('orders', [{ value: '1' }, { value: '2' }]);
  await world.startedOf(id, 2);
  cluster.before = () => undefined;
  await committed(2, 0);
  cluster.produce('orders', [{ value: '3' }]);
  await world.startedOf(id, 3);
  expect(await texts(id)).toEqual(['1', '2', '3']);
});

test('what is sent while nobody listens is started later, also before the first message was', async () => {
  cluster.produce('orders', [{ value: 'old' }]);
  const listener = await world.listener();
  const id = await reader();
  await committed(1, 0);
  await listener.stop();
  expect(cluster.group('shop').members).toEqual([]);
  cluster.produce('orders', [{ value: 'new' }]);
  await world.listener();
  await world.startedOf(id, 1);
  expect(await texts(id)).toEqual(['new']);
});

test('while starts are refused, fetches nothing more, stays in the group and loses nothing', async () => {
  let isFull = true;
  const enterQueue = async (): Promise<() => void> => {
    if (isFull) throw new ApiError('queue_full', message('api.not_polling'));
    return () => undefined;
  };
  await world.listener({ enterQueue });
  const id = await reader({ existing: 'start' });
  cluster.produce('orders', [{ value: '1' }]);
  await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe('queue_full');
  const { length } = cluster.requests;
  cluster.produce('orders', [{ value: '2' }]);
  await expect.poll(() => cluster.requests.slice(length), PATIENCE).toContain('Heartbeat');
  expect(cluster.requests.slice(length)).not.toContain('Fetch');
  isFull = false;
  await world.startedOf(id, 2);
  expect(await texts(id)).toEqual(['1', '2']);
  await committed(2, 0);
});

test('two processes keep one connection, and the other takes over the name in the group', async () => {
  const first = await world.listener();
  const id = await reader();
  await world.connected(id);
  await world.listener();
  cluster.produce('orders', [{ value: '1' }]);
  await world.startedOf(id, 1);
  expect(cluster.requests.filter((each) => each === 'JoinGroup')).toHaveLength(1);
  await first.stop();
  cluster.produce('orders', [{ value: '2' }]);
  await world.startedOf(id, 2);
});

test('leaves out a message that is too large, and goes on', async () => {
  await world.listener();
  const id = await reader({ existing: 'start' });
  cluster.produce('orders', [{ value: 'x'.repeat(300_000), key: 'k' }]);
  cluster.produce('orders', [{ value: '1' }]);
  expect(await world.startedOf(id, 2)).toMatchObject([
    { offset: 0, key: null, text: null, is_too_large: true, size: expect.any(Number) },
    { offset: 1, text: '1', is_too_large: false },
  ]);
});

test('ends within seconds when the workflow is deactivated, and reads nothing then', async () => {
  await world.listener();
  const id = await reader();
  await world.connected(id);
  await world.change(id, { status: 'inactive' });
  await expect.poll(() => cluster.connections, PATIENCE).toBe(0);
  expect(cluster.group('shop').members).toEqual([]);
});

test('partitions that are added are read from their beginning', async () => {
  const listener = await world.listener();
  const id = await reader();
  await committed(0, 0);
  await listener.stop();
  cluster.topic('orders', 3);
  cluster.produce('orders', [{ value: 'first' }], 2);
  await world.listener();
  expect(await world.startedOf(id, 1)).toMatchObject([{ partition: 2, offset: 0, text: 'first' }]);
});

test.each<[string, JsonObject, JsonObject, () => void]>([
  ['kafka_auth_failed', { password: 'canary-wrong' }, {}, () => undefined],
  ['kafka_auth_failed', { mechanism: 'plain', password: 'canary-wrong' }, {}, () => undefined],
  ['kafka_topic_not_found', {}, { topics: ['nowhere'] }, () => undefined],
  ['kafka_not_authorized', {}, {}, () => cluster.errors.set('FindCoordinator', 30)],
  ['kafka_unsupported', {}, {}, () => cluster.newest.set('Fetch', 3)],
  // Brokers announce their addresses: those are checked like any other one.
  ['kafka_broker_unreachable', {}, {}, () => (cluster.advertised = '169.254.169.254')],
])('says what is wrong: %s', async (code, wrong, config, set) => {
  set();
  credential = await world.credential('kafka', { ...fields(), ...wrong });
  await world.listener();
  const id = await reader(config);
  await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe(code);
  const { is_told, last_error } = await world.stateOf(id);
  expect(is_told).toBe(true);
  expect(last_error).not.toContain('canary');
});

test('reads topics by a pattern, and those that were made while nobody listened from their beginning', async () => {
  cluster.topic('shop-osaka');
  cluster.produce('shop-osaka', [{ value: 'before' }]);
  const listener = await world.listener();
  const id = await reader({ topics: ['^shop-'] });
  await expect.poll(() => cluster.committed('shop', 'shop-osaka'), PATIENCE).toBe(1);
  await listener.stop();
  cluster.topic('shop-nara');
  cluster.produce('shop-nara', [{ value: 'first' }]);
  await world.listener();
  await world.startedOf(id, 1);
  expect(await texts(id)).toEqual(['first']);
});
