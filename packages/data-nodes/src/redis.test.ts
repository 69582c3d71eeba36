import { type RedisOrder, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { redis } from './redis.ts';

const credential = redis.examples[0]?.credential;

async function run(config: object, answer: unknown, isTestMode = false) {
  const orders: RedisOrder[] = [];
  const service = {
    run: async (_credential: unknown, order: RedisOrder) => {
      orders.push(order);
      return [answer as never];
    },
  };
  const outcome = await runNode(redis, {
    config: { credential_id: 2, ...config } as never,
    ...(credential === undefined ? {} : { credential }),
    isTestMode,
    services: { redis: service },
  });
  return { result: outcome.result, order: orders[0] };
}

describe('data.redis', () => {
  it.each([
    [{ operation: 'get', key: 'a' }, ['GET', 'a'], '{"x":1}', { key: 'a', found: true, value: { x: 1 } }],
    [{ operation: 'get', key: 'a' }, ['GET', 'a'], '007', { key: 'a', found: true, value: '007' }],
    [{ operation: 'get', key: 'a' }, ['GET', 'a'], null, { key: 'a', found: false, value: null }],
    [
      { operation: 'get', key: 'a', parse_json: false },
      ['GET', 'a'],
      '[1]',
      { key: 'a', found: true, value: '[1]' },
    ],
    [
      { operation: 'set', key: 'a', value: { x: 1 }, expires_in_s: 60, condition: 'if_missing' },
      ['SET', 'a', '{"x":1}', 'EX', '60', 'NX'],
      null,
      { key: 'a', written: false },
    ],
    [
      { operation: 'set', key: 'a', value: 'GET b\r\n' },
      ['SET', 'a', 'GET b\r\n'],
      'OK',
      { key: 'a', written: true },
    ],
    [{ operation: 'delete', keys: ['a', 'b'] }, ['DEL', 'a', 'b'], 1, { deleted: 1 }],
    [{ operation: 'increment', key: 'a', by: -2 }, ['INCRBY', 'a', '-2'], 5, { key: 'a', value: 5 }],
    [
      { operation: 'increment', key: 'a', by: 0.5 },
      ['INCRBYFLOAT', 'a', '0.5'],
      '5.5',
      { key: 'a', value: 5.5 },
    ],
    [
      { operation: 'increment', key: 'a', by: 1e-7 },
      ['INCRBYFLOAT', 'a', '0.0000001'],
      '0',
      { key: 'a', value: 0 },
    ],
    [
      { operation: 'hash_get', key: 'h', field: 'f' },
      ['HGET', 'h', 'f'],
      '1',
      { key: 'h', found: true, value: '1' },
    ],
    [
      { operation: 'hash_get', key: 'h' },
      ['HGETALL', 'h'],
      ['a', '1', '__proto__', '[2]'],
      { key: 'h', found: true, fields: JSON.parse('{"a":"1","__proto__":[2]}') },
    ],
    [
      { operation: 'hash_set', key: 'h', fields: { a: 1, b: 'x' } },
      ['HSET', 'h', 'a', '1', 'b', 'x'],
      2,
      { key: 'h', added: 2 },
    ],
    [
      { operation: 'list_push', key: 'l', values: ['a', { b: 1 }] },
      ['RPUSH', 'l', 'a', '{"b":1}'],
      2,
      { key: 'l', length: 2 },
    ],
    [
      { operation: 'list_pop', key: 'l', side: 'left', count: 2 },
      ['LPOP', 'l', '2'],
      ['a'],
      { key: 'l', values: ['a'], count: 1 },
    ],
    [{ operation: 'list_pop', key: 'l' }, ['RPOP', 'l', '1'], null, { key: 'l', values: [], count: 0 }],
    [{ operation: 'publish', key: 'c', value: 'hi' }, ['PUBLISH', 'c', 'hi'], 0, { receivers: 0 }],
    [
      { operation: 'stream_add', key: 's', fields: { a: 'b' }, max_length: 100 },
      ['XADD', 's', 'MAXLEN', '~', '100', '*', 'a', 'b'],
      '1-0',
      { key: 's', id: '1-0' },
    ],
  ])('%o', async (config, command, answer, output) => {
    const { result, order } = await run(config, answer);
    expect(order?.commands).toEqual([command]);
    expect(result).toEqual(success(output));
  });

  it('finds keys in steps', async () => {
    const { result, order } = await run(
      { operation: 'keys', pattern: 'a*', limit: 2 },
      { keys: ['a', 'ab'], is_truncated: true },
    );
    expect(order).toMatchObject({ commands: [], scan: { match: 'a*', limit: 2 }, isReadOnly: true });
    expect(result).toEqual(success({ keys: ['a', 'ab'], count: 2, is_truncated: true }));
  });

  it.each([
    { operation: 'get' },
    { operation: 'delete' },
    { operation: 'list_push', key: 'l' },
    { operation: 'hash_set', key: 'h' },
  ])('says what is missing: %o', async (config) => {
    const { result, order } = await run(config, null);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
    expect(order).toBeUndefined();
  });

  it('writes nothing in test mode, but reads', async () => {
    const write = await run({ operation: 'set', key: 'a', value: 1 }, 'OK', true);
    expect(write.result).toEqual(success({ dry_run: true, request: { commands: [['SET', 'a', '1']] } }));
    expect(write.order).toBeUndefined();
    expect((await run({ operation: 'get', key: 'a' }, '1', true)).order).toBeDefined();
  });
});
