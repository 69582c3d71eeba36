import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { type Proxy as DatabaseProxy, openProxy } from '@millrace/testing/proxy';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PATIENCE, useListening } from './world.ts';

const world = useListening();
let customer: TestDatabase;
let proxy: DatabaseProxy;
let credential = 0;

beforeAll(async () => {
  customer = await createTestDatabase();
  proxy = await openProxy(customer.url);
});
beforeEach(async () => {
  const url = new URL(proxy.url);
  credential = await world.credential('sql', {
    ...{ dialect: 'postgresql', host: '127.0.0.1', port: Number(url.port), database: url.pathname.slice(1) },
    ...{ username: url.username, password: decodeURIComponent(url.password), tls: 'off' },
  });
});
afterAll(async () => {
  await proxy.close();
  await customer.drop();
});

const listening = (...channels: string[]) =>
  world.workflow('trigger.postgresql', { credential_id: credential, channels });
const notify = (channel: string, payload: string) =>
  customer.db.query('SELECT pg_notify($1, $2)', [channel, payload]);

test('starts each notification of its channels, whatever they are called', async () => {
  await world.listener();
  const id = await listening('orders', 'A "quoted" one');
  await world.connected(id);
  await notify('orders', '{"id":9007199254740993}');
  await notify('other', 'x');
  await notify('A "quoted" one', 'y');
  const data = await world.startedOf(id, 2);
  expect(data).toMatchObject([
    { channel: 'orders', text: '{"id":9007199254740993}' },
    { channel: 'A "quoted" one', text: 'y', json: null },
  ]);
});

test('listens on nothing else, even if a name would end the statement', async () => {
  await world.listener();
  const name = 'x"; LISTEN "other';
  const id = await listening(name);
  await world.connected(id);
  await notify('other', '1');
  await notify(name, '2');
  expect(await world.startedOf(id, 1)).toMatchObject([{ channel: name, text: '2' }]);
});

test('connects again after the connection was lost', async () => {
  await world.listener();
  const id = await listening('orders');
  await world.connected(id);
  await customer.db.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
  );
  await expect.poll(async () => (await world.stateOf(id)).failures, PATIENCE).toBe(1);
  const listens = () =>
    customer.db.query(
      `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database() AND state = 'idle'`,
    );
  await expect.poll(async () => (await listens()).length, PATIENCE).toBe(1);
  await notify('orders', '1');
  await world.startedOf(id, 1);
});

test('says that a server is another one', async () => {
  const mysql = await world.credential('sql', {
    ...{
      dialect: 'mysql',
      host: '127.0.0.1',
      port: 1,
      database: 'd',
      username: 'u',
      password: '',
      tls: 'off',
    },
  });
  await world.listener();
  const id = await world.workflow('trigger.postgresql', { credential_id: mysql, channels: ['orders'] });
  await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe('credential_wrong_type');
});
