import { readFile } from 'node:fs/promises';
import type { Database } from '@millrace/database/database';
import type { JsonObject } from '@millrace/engine';
import { KafkaTestCluster } from '@millrace/testing/kafka/broker';
import { type ModelServer, startModelServer } from '@millrace/testing/model-server';
import { type FakeMongo, startFakeMongo } from '@millrace/testing/mongodb-server';
import { type FakeRedis, startFakeRedis } from '@millrace/testing/redis-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MqttBroker } from '../../../listening/test/mqtt-broker.ts';
import { PATIENCE } from '../../../listening/test/world.ts';
import { listen, type Reached, reachServices } from './services.ts';
import { type Imported, openWorld, outputOf, statusesOf, type World } from './world.ts';

const PASSWORD = 'canary-pass';

let world: World;
let reached: Reached;
let stopListening: () => Promise<void>;
beforeAll(async () => {
  world = await openWorld();
  reached = await reachServices(world);
  stopListening = await listen(world);
});
afterAll(async () => {
  await stopListening();
  await reached.stop();
  await world.close();
});
beforeEach(() => world.outside.forget());

const run = async ({ id }: Imported, data: unknown) =>
  world.finished(await world.execute(id, data as JsonObject));

/** Waits until the trigger listens. */
async function connected({ id }: Imported): Promise<void> {
  const { db } = world.service.database;
  const isConnected = () =>
    db.query(
      `SELECT is_primed AND coalesce(leased_until > now(), false) AS is_connected, last_error
       FROM polls WHERE workflow_id = $1`,
      [id],
    );
  await expect.poll(isConnected, PATIENCE).toEqual([{ is_connected: true, last_error: null }]);
}

/** Waits for the next execution that a message starts, and for its end. */
async function startedBy({ id }: Imported, send: () => unknown) {
  const before = await world.executionsOf(id);
  await send();
  const started = async () => (await world.executionsOf(id)).filter((each) => !before.includes(each));
  await expect.poll(async () => (await started()).length, PATIENCE).toBe(1);
  const [newest = 0] = await started();
  return world.finished(newest);
}

describe('sensor-alarm', () => {
  let broker: MqttBroker;
  let redis: FakeRedis;
  let alarm: Imported;
  let keys: Set<string>;
  let isDown = false;
  beforeAll(async () => {
    keys = new Set();
    broker = await MqttBroker.start();
    redis = await startFakeRedis(([name = '', key = '']) => {
      if (isDown) return 'cut';
      if (name.toUpperCase() !== 'SET') return '+OK\r\n';
      const isNew = !keys.has(key);
      keys.add(key);
      return isNew ? '+OK\r\n' : '$-1\r\n';
    });
    const at = (port: number) => ({ host: '127.0.0.1', port, tls: 'off', password: PASSWORD });
    const vars = {
      broker: await world.addCredential('mqtt', { ...at(broker.port), username: 'ada' }),
      redis_credential: await world.addCredential('redis', at(redis.port)),
      chat_credential: await world.addChat('team'),
    };
    world.outside.on('POST /hooks/team', { body: 'ok' });
    alarm = await world.importExample('sensor-alarm', vars, { status: 'active' });
  });
  afterAll(async () => {
    await broker.stop();
    await redis.close();
  });
  const message = (values: unknown, place = 'quay') => ({
    ...(alarm.sample('too-hot.json') as JsonObject),
    topic: `harbour/${place}/temperature`,
    json: { values },
  });
  const told = () => JSON.stringify(world.outside.to('POST /hooks/team').map(({ body }) => body));

  it('raises an alarm for what a device publishes, once an hour', async () => {
    await connected(alarm);
    const publish = () => broker.publish('harbour/quay/temperature', '{"values":[21.5,21.7,31.2]}');
    const execution = await startedBy(alarm, publish);
    expect(outputOf(execution, 'statistics').result).toMatchObject({ count: 3, mean: 24.8 });
    expect(told()).toContain('31.2 is above 30');
    const set = redis.commands
      .find(([name]) => name?.toUpperCase() === 'SET')
      ?.map((each) => each.toUpperCase());
    expect(set).toEqual(expect.arrayContaining(['ALARM:HARBOUR/QUAY/TEMPERATURE', 'NX', 'EX', '3600']));
    expect(statusesOf(await startedBy(alarm, publish))).toMatchObject({ alarm: 'skipped' });
    expect(world.outside.received).toHaveLength(1);
  });

  it('finds outliers, and does nothing for usual readings and for what is none', async () => {
    const usual = Array.from({ length: 50 }, (_, index) => 20 + (index % 5) / 10);
    for (const values of [usual, [], 'x', null, ['20', true]]) {
      expect(statusesOf(await run(alarm, message(values))), JSON.stringify(values)).toMatchObject({
        first: 'skipped',
      });
    }
    await run(alarm, message([...usual, 28], 'mole'));
    expect(told()).toContain('1 of 51 readings are far from the others');
  });

  it('raises the alarm although Redis cannot be reached', async () => {
    isDown = true;
    const execution = await run(alarm, message([-20], 'buoy'));
    isDown = false;
    expect(statusesOf(execution)).toMatchObject({ alarm: 'success' });
    expect(told()).toContain('-20 is below -5');
  });
});

describe('product-search', () => {
  const points = '/xyz.cloud.qdrant.io:6333/collections/products/points';
  let model: ModelServer;
  let products: Imported;
  let shop: Database;
  beforeAll(async () => {
    model = await startModelServer({
      key: 'sk-products',
      answer: () => '',
      embed: ({ texts }) => texts.map((text) => [text.length, 1]),
    });
    const { id, db } = await world.addDatabase();
    shop = db;
    const file = new URL('../../../../examples/product-search/products.sql', import.meta.url);
    await db.query(await readFile(file, 'utf8'));
    const fields = { provider: 'openai_compatible', base_url: model.baseUrl('openai_compatible') };
    const key = { name: 'api-key', value: 'not-a-real-one' };
    const vars = {
      products_database: id,
      ai_credential: await world.addCredential('ai', { ...fields, api_key: 'sk-products' }),
      embedding_model: 'harbour-vectors',
      qdrant_credential: await world.addCredential('header', key, ['xyz.cloud.qdrant.io']),
      cluster: 'xyz',
    };
    world.outside.on(`PUT ${points}`, { body: { result: { status: 'completed' } } });
    world.outside.on(`POST ${points}/delete`, { body: { result: { status: 'completed' } } });
    products = await world.importExample('product-search', vars, { status: 'active' });
  });
  afterAll(() => model.close());

  it('follows a row that is added, changed and deleted', async () => {
    await connected(products);
    await startedBy(products, () =>
      shop.query(`INSERT INTO products (title, description) VALUES ('Lamp', 'Burns in any wind.')`),
    );
    await startedBy(products, () =>
      shop.query(`UPDATE products SET title = 'Storm lamp', description = NULL`),
    );
    expect(world.outside.to(`PUT ${points}`).map(({ body }) => body)).toEqual([
      { points: [{ id: 1, vector: [23, 1], payload: { title: 'Lamp' } }] },
      { points: [{ id: 1, vector: [11, 1], payload: { title: 'Storm lamp' } }] },
    ]);
    expect(world.outside.to(`PUT ${points}`)[0]?.headers['api-key']).toBe('not-a-real-one');
    const gone = await startedBy(products, () => shop.query('DELETE FROM products'));
    expect(statusesOf(gone)).toMatchObject({ embed: 'skipped', remove: 'success' });
    expect(world.outside.to(`POST ${points}/delete`).map(({ body }) => body)).toEqual([
      { filter: { must: [{ has_id: [1] }] } },
    ]);
  });

  it('writes every night what changed since yesterday, or nothing', async () => {
    const none = await world.finished(await world.fire(products.id, '2026-11-21T03:30:00Z'));
    expect(statusesOf(none)).toMatchObject({ embed: 'skipped', remove: 'skipped' });
    await startedBy(products, () => shop.query(`INSERT INTO products (title) VALUES ('Rope')`));
    await shop.query(`ALTER TABLE products DISABLE TRIGGER report_product`);
    await shop.query(
      `INSERT INTO products (title, changed_at) VALUES ('Anchor', now()), ('Buoy', now() - interval '3 days')`,
    );
    world.outside.forget();
    await world.finished(await world.fire(products.id, '2026-11-22T03:30:00Z'));
    const [written] = world.outside.to(`PUT ${points}`);
    expect(JSON.stringify(written?.body)).toMatch(/(?=.*Rope)(?=.*Anchor)(?!.*Buoy)/);
  });
});

describe('order-events', () => {
  let cluster: KafkaTestCluster;
  let mongo: FakeMongo;
  let orders: Imported;
  beforeAll(async () => {
    cluster = await KafkaTestCluster.start({ accounts: [{ username: 'ada', password: PASSWORD }] });
    cluster.topic('orders');
    cluster.topic('orders.rejected');
    mongo = await startFakeMongo({
      username: 'ada',
      password: PASSWORD,
      says: () => ({ n: 1, nModified: 1 }),
    });
    const account = { username: 'ada', password: PASSWORD, tls: 'off' };
    const vars = {
      kafka_credential: await world.addCredential('kafka', {
        ...{ ...account, brokers: cluster.bootstrap, mechanism: 'scram_sha_256' },
      }),
      mongodb_credential: await world.addCredential('sql', {
        ...{ ...account, dialect: 'mongodb', host: '127.0.0.1', port: mongo.port, database: 'shop' },
      }),
    };
    orders = await world.importExample('order-events', vars, { status: 'active' });
  });
  afterAll(async () => {
    await cluster.stop();
    await mongo.close();
  });
  const produce = (key: string, value: string | null) =>
    startedBy(orders, () => cluster.produce('orders', [{ key, value }]));
  const commands = () => mongo.commands.filter((each) => 'update' in each || 'delete' in each);

  it('makes an order, and changes it only if the event is newer', async () => {
    await connected(orders);
    const execution = await produce('A-1', '{"version":3,"status":"paid","total":84.5}');
    expect(execution).toMatchObject({ status: 'completed', display_name: 'A-1' });
    expect(JSON.parse(JSON.stringify(commands()))).toMatchObject([
      {
        update: 'orders',
        updates: [{ q: { _id: 'A-1' }, u: { $setOnInsert: { version: -1 } }, upsert: true }],
      },
      {
        update: 'orders',
        updates: [
          {
            q: { _id: 'A-1', version: { $lt: 3 } },
            u: {
              $set: {
                version: 3,
                status: 'paid',
                total: 84.5,
                customer: null,
                changed_at: '2026-01-02T09:00:00.000Z',
              },
            },
          },
        ],
      },
    ]);
  });

  it('deletes the order of a tombstone', async () => {
    expect(statusesOf(await produce('A-1', null))).toMatchObject({ remove: 'success', made: 'skipped' });
    expect(commands().at(-1)).toMatchObject({ delete: 'orders', deletes: [{ q: { _id: 'A-1' }, limit: 1 }] });
  });

  it.each([
    ['that is no JSON', 'A-2', '{"version":'],
    ['of an unknown state', 'A-3', '{"version":1,"status":"lost"}'],
    ['without a version', 'A-4', '{"status":"paid"}'],
    ['whose state is an operator', 'A-5', '{"version":1,"status":{"$ne":1}}'],
  ])('sets a message aside %s, as it came', async (_what, key, text) => {
    const before = commands().length;
    const execution = await produce(key, text);
    expect(statusesOf(execution)).toMatchObject({ reject: 'success', made: 'skipped' });
    expect(commands()).toHaveLength(before);
    expect(Buffer.concat([...cluster.batches('orders.rejected')]).toString()).toContain(text);
  });
});
