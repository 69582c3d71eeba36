import { createGuardedSockets } from '@millrace/egress/guarded-socket';
import { type CredentialOf, type RedisOrder, stringifyJson } from '@millrace/engine';
import { findRedis, type RedisSays, startFakeRedis, startRealRedis } from '@millrace/testing/redis-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY, trustTestCertificate } from '../../ports/test/certificate.ts';
import { ReplyReader } from '../src/redis/reply.ts';
import { jsonOf, ORDER_LIMITS } from '../src/redis/values.ts';
import { createRedisService } from '../src/redis.ts';
import { anybody, errorWithout, never, sockets, useCleanUps } from './clients.ts';

const PASSWORD = 's3cret-canary';
const cleanUps = useCleanUps();
const redis = createRedisService({ sockets: () => sockets })(anybody);

function run(
  port: number,
  commands: readonly (readonly string[])[],
  order: Partial<RedisOrder> = {},
  to: Partial<CredentialOf<'redis'>> = {},
  signal = never,
) {
  const credential: CredentialOf<'redis'> = {
    type: 'redis',
    host: 'service.test',
    port,
    database: 0,
    username: null,
    password: PASSWORD,
    tls: 'off',
    ...to,
  };
  return redis.run(credential, { commands, isReadOnly: true, timeoutMs: 20_000, ...order }, signal);
}

const errorOf = (work: Promise<unknown>) => errorWithout(PASSWORD, work);

/** Signs in, then says this. */
const after = (said: RedisSays | AsyncIterable<Buffer>) => (args: readonly string[]) =>
  args[0] === 'AUTH' || args[0] === 'SELECT' ? '+OK\r\n' : args[0] === 'PING' ? '+PONG\r\n' : said;

async function fake(says: Parameters<typeof startFakeRedis>[0], options = {}) {
  const server = await startFakeRedis(says, options);
  cleanUps.push(() => server.close());
  return server;
}

describe('replies', () => {
  const read = (text: string, step: number): unknown[] => {
    const replies: unknown[] = [];
    const reader = new ReplyReader(ORDER_LIMITS, (reply) => replies.push(jsonOf(reply)));
    const bytes = Buffer.from(text, 'latin1');
    for (let at = 0; at < bytes.length; at += step) reader.take(bytes.subarray(at, at + step));
    return replies;
  };
  const all =
    '+OK\r\n:-7\r\n$-1\r\n*-1\r\n$5\r\na\r\nbc\r\n*2\r\n*0\r\n*2\r\n:1\r\n$0\r\n\r\n:9223372036854775807\r\n$2\r\n\xff\xfe\r\n';

  it.each([1, 2, 3, 7, 1000])('are read in pieces of %i bytes', (step) => {
    expect(stringifyJson(read(all, step) as never)).toBe(
      '["OK",-7,null,null,"a\\r\\nbc",[[],[1,""]],9223372036854775807,{"base64":"//4="}]',
    );
  });

  it.each(['HTTP/1.1 400\r\n', '$x\r\n', '*1e9\r\n'])('that are none are refused: %j', (text) => {
    expect(() => read(text, 1000)).toThrow(/answer|length/);
  });

  it.each(['*99999999\r\n', '$99999999999\r\n', '*1\r\n'.repeat(17)])(
    'that are too large are refused: %j',
    (text) => {
      expect(() => read(text, 1000)).toThrow(/16777216/);
    },
  );
});

describe('Redis, as far as a server that only speaks its protocol can show', () => {
  it('signs in, chooses the database and frames every value', async () => {
    const server = await fake(after('+OK\r\n'));
    await run(
      server.port,
      [['SET', 'a', 'x\r\nDEL b\r\n']],
      { isReadOnly: false },
      { database: 3, username: 'app' },
    );
    expect(server.commands).toEqual([
      ['AUTH', 'app', PASSWORD],
      ['SELECT', '3'],
      ['PING'],
      ['SET', 'a', 'x\r\nDEL b\r\n'],
    ]);
  });

  it('sends no password where there is none', async () => {
    const server = await fake(after('$1\r\n1\r\n'));
    expect(await run(server.port, [['GET', 'a']], {}, { password: null })).toEqual(['1']);
    expect(server.commands).toEqual([['PING'], ['GET', 'a']]);
  });

  it.each([
    ['-WRONGPASS invalid username-password pair', 'db_auth_failed', false],
    ['-NOAUTH Authentication required.', 'db_auth_failed', false],
    [`-NOPERM this user has no permissions ${PASSWORD}`, 'db_auth_failed', false],
    ['-LOADING Redis is loading the dataset in memory', 'db_unavailable', true],
    ['-MOVED 3999 127.0.0.1:6381', 'db_error', false],
    ['-WRONGTYPE Operation against a key', 'db_error', false],
  ])('says what the server refused: %s', async (said, code, retryable) => {
    const server = await fake(after(`${said}\r\n`));
    const error = await errorOf(run(server.port, [['GET', 'a']]));
    expect(error).toMatchObject({ code, retryable });
    expect(error.message).not.toContain(PASSWORD);
  });

  it('knows the outcome of a read that was lost, but not of a write', async () => {
    const server = await fake(after('cut'));
    expect(await errorOf(run(server.port, [['GET', 'a']]))).toMatchObject({
      code: 'db_connection_failed',
      retryable: true,
    });
    const write = run(server.port, [['INCR', 'a']], { isReadOnly: false });
    expect(await errorOf(write)).toMatchObject({ code: 'db_outcome_unknown', retryable: false });
  });

  it('ends what takes too long or is no longer wanted', async () => {
    const server = await fake(after('silence'));
    expect(await errorOf(run(server.port, [['GET', 'a']], { timeoutMs: 100 }))).toMatchObject({
      code: 'db_timeout',
    });
    const stop = new AbortController();
    const work = errorOf(run(server.port, [['GET', 'a']], {}, {}, stop.signal));
    stop.abort();
    expect(await work).toMatchObject({ code: 'aborted' });
  });

  it('stops reading what is too large', async () => {
    async function* endless() {
      yield Buffer.from('*100000\r\n');
      const piece = Buffer.from(`$65536\r\n${'x'.repeat(65_536)}\r\n`);
      for (;;) yield piece;
    }
    const server = await fake(after(endless()));
    expect(await errorOf(run(server.port, [['LRANGE', 'l', '0', '-1']]))).toMatchObject({
      code: 'db_result_too_large',
    });
  });

  it('checks certificates, and never skips encryption that is required', async () => {
    const server = await fake(after('+OK\r\n'), { tls: { cert: TEST_CERTIFICATE, key: TEST_KEY } });
    const plain = await fake(after('+OK\r\n'));
    const verify = (to: object) => run(server.port, [['GET', 'a']], {}, { tls: 'verify', ...to });
    expect((await errorOf(verify({}))).code).toBe('db_tls_failed');
    expect(await run(server.port, [['GET', 'a']], {}, { tls: 'require' })).toEqual(['OK']);
    cleanUps.push(trustTestCertificate());
    expect(await verify({})).toEqual(['OK']);
    expect((await errorOf(verify({ host: 'other.test' }))).code).toBe('db_tls_failed');
    expect((await errorOf(run(plain.port, [['GET', 'a']], {}, { tls: 'require' }))).code).toBe(
      'db_tls_failed',
    );
    expect(plain.commands).toEqual([]);
  });

  it('goes nowhere that is not allowed', async () => {
    const closed = createRedisService({ sockets: () => createGuardedSockets({ allowHosts: [] }) })(anybody);
    const credential = {
      type: 'redis',
      host: '127.0.0.1',
      port: 6379,
      database: 0,
      username: null,
      password: null,
      tls: 'off',
    } as const;
    const order = { commands: [['PING']], isReadOnly: true, timeoutMs: 5_000 };
    expect((await errorOf(closed.run(credential, order, never))).code).toBe('target_not_allowed');
  });
});

const program = findRedis();
if (program === null)
  console.warn('redis-server is not installed (apt-get install redis-server): its tests are skipped.');

describe.skipIf(program === null)('Redis itself', () => {
  let server: Awaited<ReturnType<typeof startRealRedis>>;
  beforeAll(async () => {
    server = await startRealRedis(program ?? '', PASSWORD);
  });
  afterAll(() => server?.close());

  it('keeps values, hashes, lists and streams', async () => {
    const commands = [
      ['SET', 'a', '日本\r\n', 'EX', '60', 'NX'],
      ['SET', 'a', 'b', 'NX'],
      ['GET', 'a'],
      ['GET', 'missing'],
      ['INCRBY', 'n', '9223372036854775806'],
      ['INCRBYFLOAT', 'f', '0.5'],
      ['HSET', 'h', 'x', '1', 'y', '2'],
      ['HGETALL', 'h'],
      ['RPUSH', 'l', 'a', 'b', 'c'],
      ['LPOP', 'l', '2'],
      ['LPOP', 'none', '2'],
      ['PUBLISH', 'c', 'hi'],
      ['DEL', 'a', 'missing'],
    ];
    const replies = await run(server.port, commands, { isReadOnly: false });
    expect(stringifyJson(replies as never)).toBe(
      '["OK",null,"日本\\r\\n",null,9223372036854775806,"0.5",2,["x","1","y","2"],3,["a","b"],null,0,1]',
    );
    const [id] = await run(server.port, [['XADD', 's', 'MAXLEN', '~', '10', '*', 'a', '1']], {
      isReadOnly: false,
    });
    expect(id).toMatch(/^\d+-0$/);
  });

  it('finds keys in steps, up to a limit', async () => {
    const set = Array.from({ length: 2_500 }, (_, index) => ['SET', `k:${index}`, '1']);
    await run(server.port, set, { isReadOnly: false }, { database: 5 });
    const [some] = await run(server.port, [], { scan: { match: 'k:*', limit: 100 } }, { database: 5 });
    expect(some).toMatchObject({ is_truncated: true });
    const [all] = await run(server.port, [], { scan: { match: 'k:*', limit: 10_000 } }, { database: 5 });
    expect(all).toMatchObject({ is_truncated: false });
    expect(new Set((all as { keys: string[] }).keys).size).toBe(2_500);
    expect(await run(server.port, [], { scan: { match: 'k:*', limit: 1 } })).toEqual([
      { keys: [], is_truncated: false },
    ]);
  });

  it('refuses a wrong password, and what an account may not do', async () => {
    const wrong = run(server.port, [['GET', 'a']], {}, { password: 'wrong-password' });
    expect((await errorOf(wrong)).code).toBe('db_auth_failed');
    expect((await errorOf(run(server.port, [['GET', 'a']], {}, { password: null }))).code).toBe(
      'db_auth_failed',
    );
    const reader = { username: 'reader' };
    expect(await run(server.port, [['GET', 'missing']], {}, reader)).toEqual([null]);
    const write = run(server.port, [['SET', 'a', '1']], { isReadOnly: false }, reader);
    expect((await errorOf(write)).code).toBe('db_auth_failed');
    expect((await errorOf(run(server.port, [['LPOP', 'h']], { isReadOnly: false }))).code).toBe('db_error');
  });
});
