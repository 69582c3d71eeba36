import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createGuardedFetch } from '@millrace/egress/guarded-fetch';
import { createGuardedSockets } from '@millrace/egress/guarded-socket';
import { KafkaTestCluster } from '@millrace/testing/kafka/broker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KafkaCluster } from '../src/cluster.ts';
import { KafkaConsumer } from '../src/consumer.ts';

const hasKcat = spawnSync('kcat', ['-V']).status === 0;
if (!hasKcat)
  console.info('kcat is not installed (apt-get install kcat): tests against librdkafka are skipped');

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];
const COUNT = 2_000;

/** Runs kcat to its end. @returns what it wrote */
function kcat(args: readonly string[], input = ''): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn('kcat', args);
  let [out, errors] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(errors))));
  child.stdin.end(input);
  return promise;
}

/** Another library, which nobody here has written: librdkafka has a client and a broker for tests of its own. */
describe.skipIf(!hasKcat)('librdkafka', () => {
  let broker: ChildProcess;
  let brokers = '';

  beforeAll(async () => {
    // A producer that waits for its input keeps the brokers of its library alive.
    const args = ['-P', '-t', 'unused', '-b', 'none', '-X', 'test.mock.num.brokers=2', '-d', 'mock'];
    const child = spawn('kcat', args, { stdio: ['pipe', 'ignore', 'pipe'] });
    broker = child;
    for await (const line of createInterface(child.stderr)) {
      brokers = /bootstrap\.servers=(\S+)/.exec(line)?.[1] ?? '';
      if (brokers !== '') break;
    }
    child.stderr.resume();
  });
  afterAll(() => broker.kill());

  test('its brokers give what its producers have sent, however it was compressed', async () => {
    const lines = (codec: string) =>
      Array.from({ length: COUNT }, (_, index) => `${codec} ${index} ${'tea '.repeat(index % 50)}`);
    for (const codec of CODECS) {
      const args = [
        '-P',
        '-b',
        brokers,
        '-t',
        'orders',
        '-X',
        `compression.codec=${codec}`,
        '-X',
        'linger.ms=50',
      ];
      await kcat(
        [...args, '-H', 'kind=order', '-K', '|'],
        lines(codec)
          .map((line) => `key|${line}\n`)
          .join(''),
      );
    }
    const cluster = await KafkaCluster.open({
      sockets: createGuardedSockets({ allowHosts: ['127.0.0.1'] }),
      fetch: createGuardedFetch({ allowHosts: ['127.0.0.1'] }),
      credential: {
        ...{ type: 'kafka', brokers, mechanism: 'none', username: null, password: null, tls: 'off' },
        ...{ token_url: null, scope: null, extensions: null },
        ...{ certificate: null, private_key: null, passphrase: null, authority: null },
      },
      signal: new AbortController().signal,
    });
    const options = {
      group: 'shop',
      instanceId: 'one',
      topics: ['orders'],
      existing: 'start',
      known: new Map(),
    } as const;
    const consumer = await KafkaConsumer.open(cluster, options);
    const found: string[] = [];
    while (found.length < CODECS.length * COUNT) {
      const batch = await consumer.next(50, 1_000_000);
      for (const { key, value, headers } of batch) {
        expect([String(key), headers.map(([name, content]) => `${name}=${String(content)}`)]).toEqual([
          'key',
          ['kind=order'],
        ]);
        found.push(String(value));
      }
      await consumer.commit();
    }
    await consumer.close();
    expect(found.toSorted()).toEqual(CODECS.flatMap(lines).toSorted());
  });

  test('its consumers read from the brokers of these tests, and its producers send to them', async () => {
    const cluster = await KafkaTestCluster.start({ brokers: 2 });
    cluster.topic('orders', 2);
    cluster.produce('orders', [{ value: 'a', key: 'k', headers: [['h', 'v']] }]);
    await kcat(['-P', '-b', cluster.bootstrap, '-t', 'orders', '-p', '1'], 'b\n');
    const read = await kcat([
      '-C',
      '-b',
      cluster.bootstrap,
      '-t',
      'orders',
      '-o',
      'beginning',
      '-e',
      '-q',
      '-f',
      '%p %o %k %h %s\n',
    ]);
    expect(read.trim().split('\n').toSorted()).toEqual(['0 0 k h=v a', '1 0   b']);
    await cluster.stop();
  });
});
