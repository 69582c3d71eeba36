import { randomBytes } from 'node:crypto';
import { addCredential } from '@millrace/credentials/credentials';
import { createSecretKeys } from '@millrace/secrets/keys';
import { holdLocks } from '@millrace/testing/hold-locks';
import { KafkaTestCluster } from '@millrace/testing/kafka/broker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/settings/config.ts';
import type { Flow } from './support/client.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const KEY = { MILLRACE_SECRET_KEY: randomBytes(32).toString('base64') };
const world = useWorld(KEY);
let cluster: KafkaTestCluster;

beforeAll(async () => {
  cluster = await KafkaTestCluster.start();
  cluster.topic('orders');
});
afterAll(() => cluster.stop());

it('SIGKILL of workers between a message of Kafka and the commit of its offset: every message starts one execution, and none is missing', async () => {
  const { db } = world();
  const client = world().client(await world().api());
  const workflow = await client.createWorkflow('reads', reading(await addCluster()));
  expect((await client.put(`/workflows/${workflow}`, { status: 'active' })).status).toBe(200);
  const send = (...values: readonly string[]) =>
    cluster.produce(
      'orders',
      values.map((value) => ({ value })),
    );
  const committed = () => cluster.committed('shop', 'orders');
  /** As if the lease of the dead worker had ended. */
  const goOn = () =>
    db.query(
      `UPDATE polls SET leased_until = NULL WHERE workflow_id = $1 RETURNING pg_notify('millrace_schedules', '')`,
      [workflow],
    );
  const started = async () => {
    const rows = await db.query<{ id: string }>(
      `SELECT input->>'text' AS id FROM executions WHERE workflow_id = $1 ORDER BY id`,
      [workflow],
    );
    return rows.map(({ id }) => id);
  };

  let worker = await world().worker();
  // The member of the group is recorded last: before that, it would wait for the lock itself.
  await until('the connection', async () => {
    const rows = await db.query('SELECT FROM polls WHERE workflow_id = $1 AND last_poll_at IS NOT NULL', [
      workflow,
    ]);
    return committed() === 0 && rows.length > 0;
  });
  // Between the message and the start.
  await holdLocks(db, async (tx) => {
    await tx.query('SELECT FROM polls WHERE workflow_id = $1 FOR SHARE', [workflow]);
    send('a', 'b');
    await until('a start that waits to be stored', async () => {
      const rows = await db.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'SELECT FROM polls%FOR UPDATE'`,
      );
      return rows.length > 0;
    });
    await worker.end('SIGKILL');
  });
  expect([await started(), committed()]).toEqual([[], 0]);
  worker = await world().worker();
  await goOn();
  await until('both starts', async () => (await started()).length === 2 && committed() === 2);

  // Between the start and the commit.
  const { promise: isCommitting, resolve: commits } = Promise.withResolvers<void>();
  cluster.before = async (name) => {
    if (name !== 'OffsetCommit') return;
    commits();
    await new Promise(() => undefined);
  };
  send('c');
  await isCommitting;
  expect([await started(), committed()]).toEqual([['a', 'b', 'c'], 2]);
  await worker.end('SIGKILL');
  cluster.before = () => undefined;
  await world().worker();
  await goOn();
  await until('the commit', () => committed() === 3);
  send('d');
  await until('the next start', async () => (await started()).length >= 4);
  expect(await started()).toEqual(['a', 'b', 'c', 'd']);
  // A dead process never leaves its group: the next one has taken its place there.
  expect(cluster.group('shop').members).toHaveLength(1);
  expect((await client.archive(workflow)).status).toBe(200);
});

async function addCluster(): Promise<number> {
  const { db } = world();
  const [organisation] = await db.query<{ id: number }>('SELECT id FROM organisations');
  const fields = { brokers: cluster.bootstrap, mechanism: 'none', tls: 'off' };
  const given = {
    ...{ organisationId: organisation?.id ?? 0, name: 'cluster', type: 'kafka', hosts: [], fields },
  } as const;
  const keys = createSecretKeys(loadConfig(KEY));
  return (await addCredential({ db, keys }, given, { actor: 'operator' })).id;
}

const reading = (credential: number): Flow => ({
  nodes: [
    {
      id: 'start',
      type: 'trigger.kafka',
      data: { config: { credential_id: credential, topics: ['orders'], group: 'shop' } },
    },
    { id: 'set', type: 'core.set', data: { config: { values: { id: '{{trigger.data.text}}' } } } },
  ],
  edges: [{ source: 'start', target: 'set' }],
});
