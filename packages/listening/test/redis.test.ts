import { createGuardedSockets } from '@millrace/egress/guarded-socket';
import { findRedis, startRealRedis } from '@millrace/testing/redis-server';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { RedisClient } from '../src/redis/client.ts';
import { nameOf } from '../src/session.ts';
import { PATIENCE, useListening } from './world.ts';

const program = findRedis();
if (program === null)
  console.info('redis-server is not installed (apt-get install redis-server): tests against it are skipped');

describe.skipIf(program === null)('a Redis server', () => {
  const world = useListening();
  let server: Awaited<ReturnType<typeof startRealRedis>>;
  let redis: RedisClient;
  let credential = 0;

  beforeAll(async () => {
    server = await startRealRedis(program ?? '', 'canary-pass');
    const sockets = createGuardedSockets({ allowHosts: ['127.0.0.1'] });
    redis = await RedisClient.open(sockets, credentialFields(), new AbortController().signal);
  });
  beforeEach(async () => {
    await redis.call('FLUSHALL');
    const { type: _type, ...fields } = credentialFields();
    credential = await world.credential('redis', fields);
  });
  afterAll(async () => {
    redis?.close();
    await server?.close();
  });

  const credentialFields = () =>
    ({
      type: 'redis',
      host: '127.0.0.1',
      port: server.port,
      database: 0,
      username: null,
      password: 'canary-pass',
      tls: 'off',
    }) as const;
  const add = (...fields: string[]) => redis.call('XADD', 'orders', '*', ...fields);
  const pending = async () =>
    Number(((await redis.call('XPENDING', 'orders', 'millrace')) as readonly unknown[])[0]);
  const reader = (more = {}) =>
    world.workflow('trigger.redis', { credential_id: credential, stream: 'orders', ...more });

  test('starts each entry once, and acknowledges it', async () => {
    await add('id', '0');
    await world.listener();
    const id = await reader();
    await world.connected(id);
    await add('id', '1', 'note', 'ありがとう');
    await add('id', '2');
    const data = await world.startedOf(id, 2);
    expect(data).toMatchObject([
      { stream: 'orders', fields: { id: '1', note: 'ありがとう' } },
      { fields: { id: '2' } },
    ]);
    await expect.poll(pending, PATIENCE).toBe(0);
  });

  test('starts what is already there if the workflow says so', async () => {
    await add('id', '0');
    await world.listener();
    expect(await world.startedOf(await reader({ existing: 'start' }), 1)).toMatchObject([
      { fields: { id: '0' } },
    ]);
  });

  test('continues with entries that a former connection did not acknowledge, and starts none twice', async () => {
    const id = await reader({ existing: 'start' });
    await redis.call('XGROUP', 'CREATE', 'orders', 'millrace', '0', 'MKSTREAM');
    await add('id', '1');
    const name = nameOf({ workflow_id: id, node_id: 'start' });
    await redis.call('XREADGROUP', 'GROUP', 'millrace', name, 'STREAMS', 'orders', '>');
    await world.listener();
    await world.startedOf(id, 1);
    await expect.poll(pending, PATIENCE).toBe(0);
  });

  test('takes over what another consumer left', async () => {
    await redis.call('XGROUP', 'CREATE', 'orders', 'millrace', '0', 'MKSTREAM');
    await add('id', '1');
    await redis.call('XREADGROUP', 'GROUP', 'millrace', 'dead', 'STREAMS', 'orders', '>');
    // As if it had been read an hour ago.
    const [entry] = (await redis.call('XRANGE', 'orders', '-', '+')) as readonly [readonly [Buffer]];
    await redis.call(
      'XCLAIM',
      'orders',
      'millrace',
      'dead',
      '0',
      String(entry[0]),
      'IDLE',
      '3600000',
      'JUSTID',
    );
    await world.listener();
    await world.startedOf(await reader(), 1);
  });

  test('says what is wrong with the password and the key', async () => {
    const wrong = await world.credential('redis', {
      ...without(credentialFields()),
      password: 'canary-wrong',
    });
    await world.listener();
    const refused = await reader({ credential_id: wrong });
    await expect.poll(async () => (await world.stateOf(refused)).code, PATIENCE).toBe('redis_auth_failed');
    expect((await world.stateOf(refused)).last_error).not.toContain('canary-wrong');
    await redis.call('SET', 'text', 'x');
    const mistyped = await reader({ stream: 'text' });
    await expect
      .poll(async () => (await world.stateOf(mistyped)).code, PATIENCE)
      .toBe('redis_command_failed');
  });
});

function without<Fields extends { readonly type: string }>({ type: _type, ...rest }: Fields) {
  return rest;
}
