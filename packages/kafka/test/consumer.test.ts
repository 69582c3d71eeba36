import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createGuardedFetch } from '@millrace/egress/guarded-fetch';
import { createGuardedSockets } from '@millrace/egress/guarded-socket';
import type { CredentialOf } from '@millrace/engine';
import { KafkaTestCluster } from '@millrace/testing/kafka/broker';
import { In, Out } from '@millrace/testing/kafka/wire';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY, trustTestCertificate } from '../../ports/test/certificate.ts';
import { KafkaCluster } from '../src/cluster.ts';
import { type ConsumerOptions, KafkaConsumer } from '../src/consumer.ts';

let cluster: KafkaTestCluster;
const open: KafkaConsumer[] = [];

beforeEach(async () => {
  cluster = await KafkaTestCluster.start({ brokers: 3 });
  cluster.topic('orders', 4);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  await cluster.stop();
});

const credential = (more: Partial<CredentialOf<'kafka'>> = {}): CredentialOf<'kafka'> => ({
  ...{
    type: 'kafka',
    brokers: cluster.bootstrap,
    mechanism: 'none',
    username: null,
    password: null,
    tls: 'off',
    ...{ token_url: null, scope: null, extensions: null },
    ...{ certificate: null, private_key: null, passphrase: null, authority: null },
  },
  ...more,
});
const connect = (more: Partial<CredentialOf<'kafka'>> = {}) =>
  KafkaCluster.open({
    sockets: createGuardedSockets({ allowHosts: ['127.0.0.1'] }),
    fetch: createGuardedFetch({ allowHosts: ['127.0.0.1'] }),
    credential: credential(more),
    signal: new AbortController().signal,
  });

async function consumer(more: Partial<ConsumerOptions> = {}): Promise<KafkaConsumer> {
  const options = {
    group: 'shop',
    instanceId: 'one',
    topics: ['orders'],
    existing: 'start',
    known: new Map(),
  } as const;
  const made = await KafkaConsumer.open(await connect(), { ...options, ...more });
  open.push(made);
  return made;
}

/** Reads until so many messages are there, committing as it goes. */
async function read(from: KafkaConsumer, count: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < count) {
    const batch = await from.next(50, 1_000_000);
    texts.push(...batch.map(({ value }) => String(value)));
    await from.commit();
  }
  return texts;
}

test('reads partitions from their leaders, and goes on where the group stopped', async () => {
  for (const partition of [0, 1, 2, 3]) cluster.produce('orders', [{ value: `a${partition}` }], partition);
  const first = await consumer();
  expect((await read(first, 4)).toSorted()).toEqual(['a0', 'a1', 'a2', 'a3']);
  await first.close();
  expect([0, 1, 2, 3].map((partition) => cluster.committed('shop', 'orders', partition))).toEqual([
    1, 1, 1, 1,
  ]);
  cluster.produce('orders', [{ value: 'b' }], 2);
  expect(await read(await consumer(), 1)).toEqual(['b']);
});

test('gives out no more than what is asked for, and nothing twice', async () => {
  cluster.produce(
    'orders',
    Array.from({ length: 120 }, (_, index) => ({ value: `${index}` })),
  );
  const one = await consumer();
  const sizes: number[] = [];
  const texts: string[] = [];
  while (texts.length < 120) {
    const batch = await one.next(50, 1_000_000);
    sizes.push(batch.length);
    texts.push(...batch.map(({ value }) => String(value)));
  }
  expect(sizes).toEqual([50, 50, 20]);
  expect(texts).toEqual(Array.from({ length: 120 }, (_, index) => `${index}`));
  cluster.produce('orders', [{ value: 'x'.repeat(600) }, { value: 'y'.repeat(600) }, { value: 'z' }]);
  expect(await one.next(50, 1_000)).toHaveLength(2);
});

test('leaves out records of aborted transactions and markers, and what was compacted', async () => {
  const transaction = { producerId: 7, isTransactional: true };
  cluster.produce('orders', [{ value: 'no' }], 0, transaction);
  cluster.produce('orders', [{ value: 'yes' }], 0, { ...transaction, producerId: 8 });
  // Version 0 of a marker: 0 aborts, 1 commits.
  cluster.produce('orders', [{ key: Buffer.from([0, 0, 0, 0]), value: '' }], 0, {
    ...transaction,
    isControl: true,
  });
  cluster.produce('orders', [{ value: 'later' }], 0, transaction);
  cluster.produce('orders', [{ value: 'kept' }], 0, { firstOffset: 10, lastOffset: 20 });
  cluster.aborted.set('orders', [{ producerId: 7, first: 0 }]);
  const one = await consumer();
  expect(await read(one, 3)).toEqual(['yes', 'later', 'kept']);
  cluster.produce('orders', [{ value: 'next' }]);
  expect(await one.next(1, 1_000)).toMatchObject([{ offset: 21 }]);
});

test('goes on with the nearest message where the one it wants is gone', async () => {
  cluster.produce('orders', [{ value: 'a' }, { value: 'b' }]);
  const one = await consumer();
  await read(one, 2);
  await one.close();
  for (const value of ['c', 'd', 'e']) cluster.produce('orders', [{ value }]);
  cluster.deleteBefore('orders', 0, 4);
  expect(await read(await consumer(), 1)).toEqual(['e']);
  cluster.group('shop').offsets.set('orders/0', 100);
  await open.splice(0)[0]?.close();
  const after = await consumer();
  const asked = cluster.requests.length;
  const next = after.next(1, 1_000);
  // It has found where to go on when it asks there.
  await expect
    .poll(() => cluster.requests.slice(asked).join())
    .toMatch(/ListOffsets,(.*,)?ListOffsets,(.*,)?Fetch/);
  cluster.produce('orders', [{ value: 'f' }]);
  expect(await next).toMatchObject([{ offset: 5 }]);
});

describe('topics by patterns', () => {
  const by = (more: Partial<ConsumerOptions> = {}) => consumer({ topics: ['^shop-[a-z]+$'], ...more });

  test('reads what matches, besides topics by name, and never what belongs to the brokers', async () => {
    for (const topic of ['shop-osaka', 'shop-1', 'my-shop-a', '__shop', 'shop-kyoto']) {
      cluster.topic(topic);
      cluster.produce(topic, [{ value: topic }]);
    }
    cluster.produce('orders', [{ value: 'orders' }]);
    const one = await by({ topics: ['orders', '^shop-[a-z]+$', '^__'] });
    expect((await read(one, 3)).toSorted()).toEqual(['orders', 'shop-kyoto', 'shop-osaka']);
    expect(one.partitions).toEqual({ orders: 4, 'shop-kyoto': 1, 'shop-osaka': 1 });
  });

  test('finds a topic that is made while it runs, and reads it from its beginning', async () => {
    // Nothing matches yet: no broker is asked for messages.
    const one = await by({ existing: 'skip', lookMs: 20 });
    expect(one.partitions).toEqual({});
    const next = one.next(50, 1_000_000);
    cluster.topic('shop-nara');
    cluster.produce('shop-nara', [{ value: 'first' }]);
    expect(await next).toEqual([]);
    expect(one.partitions).toEqual({ 'shop-nara': 1 });
    expect(await read(one, 1)).toEqual(['first']);
    // And goes on without one that was deleted.
    cluster.topic('shop-kobe');
    cluster.produce('shop-kobe', [{ value: 'other' }]);
    cluster.deleteTopic('shop-nara');
    expect(await read(one, 1)).toEqual(['other']);
    expect(one.partitions).toEqual({ 'shop-kobe': 1 });
  });

  test.each([
    ['was made since', true, ['a', 'b']],
    ['only matches by now', false, ['b']],
  ])('begins with a topic that %s', async (_what, isKnownWhole, expected) => {
    cluster.topic('shop-osaka');
    cluster.topic('shop-nara');
    cluster.produce('shop-nara', [{ value: 'a' }]);
    const one = await by({ existing: 'skip', known: new Map([['shop-osaka', 1]]), isKnownWhole });
    cluster.produce('shop-nara', [{ value: 'b' }]);
    expect(await read(one, expected.length)).toEqual(expected);
  });

  test('counts partitions of what other members read, also of topics that are gone', async () => {
    const connected = await connect();
    expect(Object.fromEntries(await connected.partitionCounts(['orders', 'gone']))).toEqual({
      orders: 4,
      gone: 0,
    });
    connected.close();
  });

  test('refuses more topics than one trigger reads', async () => {
    for (let at = 0; at < 201; at += 1)
      cluster.topic(`shop-a${String.fromCodePoint(0x61 + (at % 26))}${'z'.repeat(at)}`);
    await expect(by()).rejects.toMatchObject({ code: 'kafka_too_many_topics' });
  });
});

test('shares partitions with another member, and takes them back when it leaves', async () => {
  const one = await consumer();
  const reading = read(one, 4);
  const other = consumer({ instanceId: 'two' });
  // The other one waits for the first, which learns of it by a heartbeat.
  const two = await other;
  for (const partition of [0, 1, 2, 3]) cluster.produce('orders', [{ value: `a${partition}` }], partition);
  expect((await read(two, 2)).length).toBe(2);
  open.splice(open.indexOf(two), 1);
  await two.close();
  for (const partition of [0, 1, 2, 3]) cluster.produce('orders', [{ value: `b${partition}` }], partition);
  const own = await reading;
  const rest = await read(one, 6 - own.length);
  expect([...own, ...rest].toSorted().slice(-4)).toEqual(['b0', 'b1', 'b2', 'b3']);
});

test('a connection under the same name takes the place of one that is dead', async () => {
  const dead = await consumer();
  cluster.produce('orders', [{ value: 'a' }]);
  expect(await read(await consumer(), 1)).toEqual(['a']);
  expect(cluster.group('shop').members).toHaveLength(1);
  await expect(read(dead, 1)).rejects.toMatchObject({ code: 'kafka_refused', retryable: true });
});

test('reads from brokers that know neither names of members nor sessions of fetches', async () => {
  for (const [api, version] of Object.entries({
    JoinGroup: 2,
    SyncGroup: 1,
    Heartbeat: 1,
    LeaveGroup: 1,
    OffsetCommit: 2,
    Fetch: 4,
    Metadata: 2,
  })) {
    cluster.newest.set(api, version);
  }
  cluster.produce('orders', [{ value: 'a' }]);
  const one = await consumer();
  expect(await read(one, 1)).toEqual(['a']);
  expect(cluster.committed('shop', 'orders')).toBe(1);
  await one.close();
  expect(cluster.group('shop').members).toEqual([]);
});

describe('signing in', () => {
  const accounts = [{ username: 'a=d,a', password: 'canary-pass' }];
  const given = { username: 'a=d,a', password: 'canary-pass' };
  beforeEach(() => void cluster.accounts.push(...accounts));

  test.each(['plain', 'scram_sha_256', 'scram_sha_512'] as const)('%s', async (mechanism) => {
    const made = await connect({ ...given, mechanism });
    expect((await made.leaders(['orders'])).get('orders')?.size).toBe(4);
    made.close();
    await expect(connect({ ...given, mechanism, password: 'canary-wrong' })).rejects.toMatchObject({
      code: 'kafka_auth_failed',
      message: expect.not.stringContaining('canary'),
    });
  });

  test('says what the brokers offer instead', async () => {
    cluster.mechanisms = ['GSSAPI', 'PLAIN'];
    await expect(connect({ ...given, mechanism: 'scram_sha_512' })).rejects.toMatchObject({
      code: 'kafka_auth_failed',
      message: expect.stringContaining('GSSAPI, PLAIN'),
    });
  });

  test('without an account, the brokers end the connection', async () => {
    const made = await connect();
    await expect(made.leaders(['orders'])).rejects.toMatchObject({ code: 'kafka_connection_failed' });
  });
});

test('encrypts, and checks certificates if it is to', async () => {
  const secure = await KafkaTestCluster.start({ tls: { cert: TEST_CERTIFICATE, key: TEST_KEY } });
  secure.topic('orders');
  const brokers = secure.bootstrap;
  await expect(connect({ brokers, tls: 'verify' })).rejects.toMatchObject({
    code: 'kafka_connection_failed',
  });
  const undo = trustTestCertificate();
  for (const tls of ['verify', 'require'] as const) {
    const made = await connect({ brokers, tls });
    expect((await made.leaders(['orders'])).size).toBe(1);
    made.close();
    if (tls === 'verify') undo();
  }
  await expect(connect({ brokers })).rejects.toMatchObject({ code: 'kafka_connection_failed' });
  await secure.stop();
});

test('shows a certificate where brokers ask for one, and accepts those of an authority of its own', async () => {
  const mutual = await KafkaTestCluster.start({
    tls: { cert: TEST_CERTIFICATE, key: TEST_KEY, ca: TEST_CERTIFICATE },
  });
  mutual.topic('orders');
  const brokers = mutual.bootstrap;
  const known = { brokers, tls: 'verify', authority: TEST_CERTIFICATE } as const;
  await expect(connect(known)).rejects.toMatchObject({ code: 'kafka_connection_failed' });
  // Pasted into a field of one line.
  const certificate = TEST_CERTIFICATE.replaceAll('\n', ' ');
  const made = await connect({ ...known, certificate, private_key: TEST_KEY });
  expect((await made.leaders(['orders'])).size).toBe(1);
  made.close();
  const broken = { ...known, certificate: TEST_CERTIFICATE, private_key: TEST_CERTIFICATE };
  await expect(connect(broken)).rejects.toMatchObject({ code: 'kafka_connection_failed' });
  await mutual.stop();
});

describe('with OAUTHBEARER', () => {
  const SAID = '\u0001logicalCluster=lkc-1\u0001';
  /** A server that gives tokens, one after the other. */
  async function tokenServer(answers: readonly { status?: number; body: unknown }[]) {
    const asked: { authorization: string | undefined; body: string }[] = [];
    const server = createHttpServer((request, response) => {
      let body = '';
      request.on('data', (piece) => {
        body += String(piece);
      });
      request.once('end', () => {
        const { status = 200, body: answer } = answers[Math.min(asked.length, answers.length - 1)] ?? {
          body: {},
        };
        asked.push({ authorization: request.headers.authorization, body });
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token?tenant=a` };
  }
  const client = (url: string) =>
    ({
      mechanism: 'oauth_bearer',
      ...{ username: 'mill race', password: 'a:secret', token_url: url },
      ...{ scope: 'kafka', extensions: 'logicalCluster=lkc-1' },
    }) as const;

  test('signs in at every broker with one token of the client', async () => {
    cluster.mechanisms = ['OAUTHBEARER'];
    cluster.accounts.push({ username: SAID.slice(1), password: 'token-1' });
    cluster.produce('orders', [{ value: 'a' }], 3);
    const { asked, url } = await tokenServer([{ body: { access_token: 'token-1', expires_in: 3_600 } }]);
    const made = await KafkaConsumer.open(await connect(client(url)), {
      ...{ group: 'shop', instanceId: 'one', topics: ['orders'], existing: 'start', known: new Map() },
    });
    open.push(made);
    expect(await read(made, 1)).toEqual(['a']);
    expect(asked).toEqual([
      {
        authorization: `Basic ${Buffer.from('mill%20race:a%3Asecret').toString('base64')}`,
        body: 'scope=kafka&grant_type=client_credentials',
      },
    ]);
  });

  test('fetches another token once one is about to end', async () => {
    cluster.mechanisms = ['OAUTHBEARER'];
    cluster.accounts.push(
      { username: SAID.slice(1), password: 'token-1' },
      { username: SAID.slice(1), password: 'token-2' },
    );
    const { asked, url } = await tokenServer([
      { body: { access_token: 'token-1', expires_in: 20 } },
      { body: { access_token: 'token-2', expires_in: 3_600 } },
    ]);
    const made = await connect(client(url));
    await made.coordinator('shop');
    expect(asked).toHaveLength(2);
    made.close();
  });

  test('says who refuses: the token URL, or the broker', async () => {
    cluster.mechanisms = ['OAUTHBEARER'];
    cluster.accounts.push({ username: '', password: 'another' });
    const { url } = await tokenServer([{ status: 401, body: { error: 'invalid_client' } }]);
    await expect(connect(client(url))).rejects.toMatchObject({
      code: 'kafka_auth_failed',
      message: expect.stringContaining('invalid_client'),
    });
    const gives = await tokenServer([{ body: { access_token: 'token-1' } }]);
    const refused = await connect(client(gives.url)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'kafka_auth_failed' });
    expect(String(refused)).not.toContain('token-1');
    // What would say more than a token is none.
    const evil = await tokenServer([{ body: { access_token: 'a\u0001auth=x' } }]);
    await expect(connect(client(evil.url))).rejects.toMatchObject({ code: 'kafka_auth_failed' });
    const large = await tokenServer([{ body: { access_token: 'a'.repeat(300_000) } }]);
    await expect(connect(client(large.url))).rejects.toMatchObject({ code: 'kafka_connection_failed' });
  });

  test('asks only permitted addresses for tokens', async () => {
    cluster.mechanisms = ['OAUTHBEARER'];
    cluster.accounts.push({ username: '', password: 'x' });
    const { asked, url } = await tokenServer([{ body: {} }]);
    const elsewhere = url.replace('127.0.0.1', 'localhost');
    await expect(connect(client(elsewhere))).rejects.toMatchObject({
      code: 'kafka_auth_failed',
      message: expect.stringContaining('MILLRACE_ALLOW_HOSTS'),
    });
    expect(asked).toEqual([]);
  });
});

test('tries the brokers of a credential one after the other', async () => {
  const made = await connect({ brokers: `127.0.0.1:1, ${cluster.bootstrap}` });
  expect(made.where).toBe(cluster.bootstrap);
  made.close();
});

test('connects only to permitted addresses, whoever names them', async () => {
  cluster.advertised = 'localhost';
  await expect(consumer()).rejects.toMatchObject({
    code: 'kafka_broker_unreachable',
    message: expect.stringContaining('advertised.listeners'),
  });
});

describe('a hostile broker', () => {
  /** Answers ApiVersions as it should, and then what it is told to. */
  async function hostile(answer: (api: number, correlation: Buffer) => Buffer) {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => {
        const input = new In(bytes.subarray(4));
        const api = input.i16();
        const correlation = bytes.subarray(8, 12);
        const versions = new Out().i16(0);
        versions.list(
          Array.from({ length: 40 }, (_, key) => key),
          (key) => versions.i16(key).i16(0).i16(11),
        );
        socket.write(api === 18 ? framed(correlation, versions.done()) : answer(api, correlation));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return { server, brokers: `127.0.0.1:${typeof address === 'object' ? address?.port : 0}` };
  }
  const framed = (correlation: Buffer, body: Buffer): Buffer =>
    new Out()
      .i32(body.length + 4)
      .put(correlation)
      .put(body)
      .done();

  test.each<[string, (api: number, correlation: Buffer) => Buffer, string]>([
    ['an answer of gigabytes', () => new Out().i32(2_000_000_000).done(), 'at most'],
    ['a negative size', () => new Out().i32(-5).done(), 'at most'],
    ['a list of gigabytes', (_, id) => framed(id, new Out().i32(0).i32(2_000_000_000).done()), 'a list of'],
    ['an answer that ends', (_, id) => framed(id, Buffer.from([0, 0])), 'too early'],
    [
      'an answer to nothing that was asked',
      (_, id) => framed(Buffer.from([9, 9, 9, id[3] ?? 0]), Buffer.alloc(8)),
      'another request',
    ],
    ['a TLS alert', () => Buffer.from([0x15, 3, 3, 0, 2, 2, 40]), 'encrypted'],
  ])('%s', async (_what, answer, reason) => {
    const { server, brokers } = await hostile(answer);
    const made = await connect({ brokers });
    await expect(made.leaders(['orders'])).rejects.toMatchObject({
      code: 'kafka_connection_failed',
      message: expect.stringContaining(reason),
    });
    server.close();
  });

  test('messages that grow without end when they are decompressed end the connection', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    cluster.produce('orders', [{ value: 'x' }], 0, { codec: 1, compress: () => bomb });
    await expect(read(await consumer(), 1)).rejects.toMatchObject({
      code: 'kafka_connection_failed',
      message: expect.stringContaining('more than 16777216 bytes'),
    });
  });

  test('large answers of several brokers wait for each other, and all arrive', async () => {
    for (const partition of [0, 1, 2])
      cluster.produce('orders', [{ value: Buffer.alloc(400_000, partition) }], partition);
    const one = await consumer();
    const first = await one.next(1, 1);
    const second = await one.next(1, 1);
    const third = await one.next(1, 1);
    expect([first, second, third].map(([each]) => each?.value?.length)).toEqual([400_000, 400_000, 400_000]);
  });
});
