import { createGuardedFetch } from '@millrace/egress/guarded-fetch';
import { createGuardedSockets } from '@millrace/egress/guarded-socket';
import type { CredentialOf, KafkaOrder } from '@millrace/engine';
import { KafkaCluster } from '@millrace/kafka/cluster';
import { KafkaConsumer } from '@millrace/kafka/consumer';
import { KafkaTestCluster } from '@millrace/testing/kafka/broker';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKafkaService } from '../src/kafka.ts';

let cluster: KafkaTestCluster;
beforeEach(async () => {
  const accounts = [{ username: 'ada', password: 'canary-pass' }];
  cluster = await KafkaTestCluster.start({ brokers: 2, accounts });
  cluster.topic('orders', 3);
});
afterEach(() => cluster.stop());

const never = new AbortController().signal;
const sockets = createGuardedSockets({ allowHosts: ['127.0.0.1'] });
const fetch = createGuardedFetch({ allowHosts: ['127.0.0.1'] });
const service = createKafkaService({ sockets: () => sockets, fetch: () => fetch })({ organisationId: 1 });
const credential = (more: Partial<CredentialOf<'kafka'>> = {}): CredentialOf<'kafka'> => ({
  ...{ type: 'kafka', brokers: cluster.bootstrap, mechanism: 'scram_sha_256', tls: 'off' },
  ...{ token_url: null, scope: null, extensions: null },
  ...{ certificate: null, private_key: null, passphrase: null, authority: null },
  ...{ username: 'ada', password: 'canary-pass', ...more },
});
const messageOf = (value: string | null, more: Partial<KafkaOrder['messages'][number]> = {}) => ({
  ...{ key: null, value, headers: {}, partition: null, ...more },
});
const send = (messages: KafkaOrder['messages'], more: Partial<KafkaOrder> = {}) =>
  service.send(credential(), { topic: 'orders', messages, timeoutMs: 10_000, ...more }, never);

test('sends messages to the partitions of their keys, in their order, where a consumer finds them', async () => {
  const sent = await send([
    messageOf('a', { key: 'foobar', headers: { kind: 'order' } }),
    messageOf('b', { key: 'foobar' }),
    messageOf(null, { partition: 0 }),
  ]);
  const own = (-790332482 & 0x7fffffff) % 3;
  expect(sent.slice(0, 2)).toEqual([0, 1].map((offset) => ({ partition: own, offset })));
  await expect.poll(() => cluster.connections).toBe(0);
  const reader = await KafkaCluster.open({ sockets, fetch, credential: credential(), signal: never });
  const options = {
    group: 'g',
    instanceId: 'one',
    topics: ['orders'],
    existing: 'start',
    known: new Map(),
  } as const;
  const consumer = await KafkaConsumer.open(reader, options);
  const found = [];
  while (found.length < 3) found.push(...(await consumer.next(50, 1_000_000)));
  await consumer.close();
  const read = found.map(({ key, value, headers }) => [
    key?.toString(),
    value?.toString(),
    headers.map(([name]) => name).join(),
  ]);
  expect(read).toEqual(
    expect.arrayContaining([
      ['foobar', 'a', 'kind'],
      ['foobar', 'b', ''],
      [undefined, undefined, ''],
    ]),
  );
});

test('does not know the outcome if the connection is lost after sending', async () => {
  cluster.before = (name) => {
    if (name === 'Produce') cluster.drop();
  };
  await expect(send([messageOf('a')])).rejects.toMatchObject({
    code: 'kafka_outcome_unknown',
    retryable: false,
  });
});

test('knows that nothing was stored if the broker refuses, unless a batch before it was', async () => {
  cluster.errors.set('Produce', 10);
  await expect(send([messageOf('a')])).rejects.toMatchObject({
    code: 'kafka_refused',
    message: expect.stringContaining('MESSAGE_TOO_LARGE'),
  });
  cluster.errors.clear();
  let produced = 0;
  cluster.before = (name) => {
    if (name !== 'Produce') return;
    produced += 1;
    if (produced === 2) cluster.errors.set('Produce', 10);
  };
  const two = [messageOf('a', { partition: 0 }), messageOf('b', { partition: 1 })];
  await expect(send(two)).rejects.toMatchObject({ code: 'kafka_outcome_unknown' });
});

test('says what is wrong, and ends in time', async () => {
  await expect(send([messageOf('a', { partition: 3 })])).rejects.toMatchObject({ code: 'kafka_refused' });
  await expect(send([messageOf('a')], { topic: 'nowhere' })).rejects.toMatchObject({
    code: 'kafka_topic_not_found',
  });
  const wrong = { topic: 'orders', messages: [messageOf('a')], timeoutMs: 10_000 };
  await expect(service.send(credential({ password: 'canary-no' }), wrong, never)).rejects.toMatchObject({
    code: 'kafka_auth_failed',
    message: expect.not.stringContaining('canary'),
  });
  cluster.before = (name) => (name === 'Metadata' ? new Promise(() => undefined) : undefined);
  await expect(send([messageOf('a')], { timeoutMs: 300 })).rejects.toMatchObject({ code: 'kafka_timeout' });
});
