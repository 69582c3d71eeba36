import { type CredentialOf, type MongoOrder, parseJson, stringifyJson } from '@millrace/engine';
import { type FakeMongoOptions, type MongoSays, startFakeMongo } from '@millrace/testing/mongodb-server';
import { Decimal128, type Document, Double, Int32, Long, ObjectId } from 'bson';
import { describe, expect, it } from 'vitest';
import { toBson, toJson } from '../src/mongodb/values.ts';
import { createMongoService } from '../src/mongodb.ts';
import { anybody, errorWithout, never, sockets, useCleanUps } from './clients.ts';

const USER = 'app, =admin';
const PASSWORD = 's3cret-canary';
const cleanUps = useCleanUps();
const mongodb = createMongoService({ sockets: () => sockets })(anybody);
const FIND = { kind: 'find', filter: {}, projection: {}, sort: {}, skip: 0, limit: 10 } as const;
const DELETE = { kind: 'delete', filter: { a: 1 }, isMany: false } as const;

async function fake(says: (command: Document) => MongoSays, options: Partial<FakeMongoOptions> = {}) {
  const server = await startFakeMongo({ username: 'app=2C =3Dadmin', password: PASSWORD, says, ...options });
  cleanUps.push(() => server.close());
  return server;
}

function run(
  port: number,
  command: MongoOrder['command'],
  order: Partial<MongoOrder> = {},
  to: Partial<CredentialOf<'sql'>> = {},
  signal = never,
) {
  const credential: CredentialOf<'sql'> = {
    type: 'sql',
    dialect: 'mongodb',
    host: 'service.test',
    port,
    database: 'shop',
    username: USER,
    password: PASSWORD,
    tls: 'off',
    ...to,
  };
  const readOnly = ['find', 'count', 'aggregate'].includes(command.kind);
  return mongodb.run(
    credential,
    { collection: 'orders', command, readOnly, timeoutMs: 20_000, ...order },
    signal,
  );
}

const errorOf = (work: Promise<unknown>) => errorWithout(PASSWORD, work);

const cursor = (documents: readonly Document[], id = 0, name = 'firstBatch'): Document => ({
  cursor: { id: Long.fromNumber(id), ns: 'shop.orders', [name]: documents },
});

describe('values', () => {
  it('are extended JSON with numbers of their own kinds', () => {
    const text =
      '{"_id":{"$oid":"65a1b2c3d4e5f60718293a4b"},"at":{"$date":"2026-01-02T03:04:05.006Z"},"n":1,"big":9007199254740993,"half":0.5,"exact":0.12345678901234567890123,"list":[1,{"$in":[2]}],"__proto__":3}';
    const bson = toBson(parseJson(text)) as Document;
    expect([bson._id, bson.at, bson.n, bson.big, bson.half, bson.exact]).toEqual([
      new ObjectId('65a1b2c3d4e5f60718293a4b'),
      new Date('2026-01-02T03:04:05.006Z'),
      new Int32(1),
      Long.fromString('9007199254740993'),
      new Double(0.5),
      Decimal128.fromString('0.12345678901234567890123'),
    ]);
    expect(Object.hasOwn(bson, '__proto__')).toBe(true);
    expect(stringifyJson(toJson(bson))).toBe(text);
  });

  it('that are no numbers stay texts, and the ends of time what they are', () => {
    expect(toJson({ a: new Double(Number.NaN), b: new Double(Number.POSITIVE_INFINITY) })).toEqual({
      a: 'NaN',
      b: 'Infinity',
    });
    expect(toJson({ a: new Date(8.64e15) })).toEqual({ a: { $date: '+275760-09-13T00:00:00.000Z' } });
  });
});

describe('MongoDB, as far as a server that only speaks its protocol can show', () => {
  it.each(['SCRAM-SHA-256', 'SCRAM-SHA-1'] as const)('signs in by %s', async (mechanism) => {
    const server = await fake(() => cursor([{ a: new Int32(1) }]), {
      mechanism,
      ...(mechanism === 'SCRAM-SHA-1' ? { username: USER } : {}),
    });
    const username = mechanism === 'SCRAM-SHA-1' ? 'app' : USER;
    if (mechanism === 'SCRAM-SHA-1') {
      const old = await fake(() => cursor([]), { mechanism, username });
      expect(await run(old.port, FIND, {}, { username })).toEqual({ documents: [], is_truncated: false });
      return;
    }
    expect(await run(server.port, { ...FIND, filter: { n: 5 }, sort: { at: -1 } })).toEqual({
      documents: [{ a: 1 }],
      is_truncated: false,
    });
    expect(server.commands).toMatchObject([
      { find: 'orders', filter: { n: 5 }, sort: { at: -1 }, limit: 11, maxTimeMS: 20_000, $db: 'shop' },
    ]);
  });

  it('signs in with an account of the database itself', async () => {
    const server = await fake(() => cursor([]), { accounts: 'shop' });
    expect(await run(server.port, FIND)).toEqual({ documents: [], is_truncated: false });
  });

  it('refuses a server that does not know the password, and is refused without it', async () => {
    const impostor = await fake(() => cursor([]), { isImpostor: true });
    expect((await errorOf(run(impostor.port, FIND))).code).toBe('db_auth_failed');
    expect(impostor.commands).toEqual([]);
    const server = await fake(() => cursor([]));
    const error = await errorOf(run(server.port, FIND, {}, { password: 'wrong-password' }));
    expect(error).toMatchObject({ code: 'db_auth_failed', retryable: false });
    expect(error.message).not.toContain('wrong-password');
  });

  it('reads a cursor to its limit and gives up the rest', async () => {
    const batch = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ n: new Int32(from + index) }));
    const server = await fake((command) => {
      if ('find' in command) return cursor(batch(0, 200), 77);
      if ('getMore' in command) return cursor(batch(200, 200), 77, 'nextBatch');
      return {};
    });
    const { documents, is_truncated } = await run(server.port, { ...FIND, limit: 250 });
    expect((documents as unknown[]).length).toBe(250);
    expect((documents as unknown[])[249]).toEqual({ n: 249 });
    expect(is_truncated).toBe(true);
    expect(server.commands.map((command) => Object.keys(command)[0])).toEqual([
      'find',
      'getMore',
      'killCursors',
    ]);
    expect(String(server.commands[1]?.getMore)).toBe('77');
    expect(await run((await fake(() => cursor(batch(0, 3)))).port, { ...FIND, limit: 3 })).toMatchObject({
      is_truncated: false,
    });
  });

  it('counts, inserts, updates and deletes', async () => {
    const id = new ObjectId('65a1b2c3d4e5f60718293a4b');
    const server = await fake((command) => {
      if ('aggregate' in command) return cursor([{ n: new Int32(7) }]);
      if ('update' in command) return { n: 1, nModified: 0, upserted: [{ index: 0, _id: id }] };
      return { n: 2 };
    });
    expect(await run(server.port, { kind: 'count', filter: {} })).toEqual({ count: 7 });
    const inserted = await run(server.port, { kind: 'insert', documents: [{ _id: 1 }, { a: 'x' }] });
    expect(inserted).toEqual({ inserted: 2, ids: [1, { $oid: expect.stringMatching(/^[0-9a-f]{24}$/) }] });
    const update = {
      kind: 'update',
      filter: {},
      update: { $set: { a: 1 } },
      isMany: true,
      isUpsert: true,
    } as const;
    expect(await run(server.port, update)).toEqual({
      matched: 0,
      modified: 0,
      upserted_id: { $oid: '65a1b2c3d4e5f60718293a4b' },
    });
    expect(await run(server.port, DELETE)).toEqual({ deleted: 2 });
    expect(server.commands.at(-1)).toMatchObject({ delete: 'orders', deletes: [{ q: { a: 1 }, limit: 1 }] });
    expect(await run((await fake(() => cursor([]))).port, { kind: 'count', filter: {} })).toEqual({
      count: 0,
    });
  });

  it.each([
    [{ ok: 0, code: 13, errmsg: 'not authorized on shop' }, 'db_auth_failed', false],
    [{ ok: 0, code: 50, errmsg: 'operation exceeded time limit' }, 'db_timeout', true],
    [{ ok: 0, code: 10107, errmsg: 'not primary' }, 'db_unavailable', true],
    [{ ok: 0, code: 2, errmsg: 'unknown operator: $foo' }, 'db_error', false],
    [
      { n: 0, writeErrors: [{ index: 0, code: 11000, errmsg: `E11000 duplicate key ${PASSWORD}` }] },
      'db_error',
      false,
    ],
  ])('says what the server refused: %o', async (said, code, retryable) => {
    const server = await fake(() => said);
    const error = await errorOf(run(server.port, DELETE));
    expect(error).toMatchObject({ code, retryable });
    expect(error.message).not.toContain(PASSWORD);
  });

  it('knows the outcome of a read that was lost, but not of a write', async () => {
    const server = await fake(() => 'cut');
    expect(await errorOf(run(server.port, FIND))).toMatchObject({
      code: 'db_connection_failed',
      retryable: true,
    });
    expect(await errorOf(run(server.port, DELETE))).toMatchObject({
      code: 'db_outcome_unknown',
      retryable: false,
    });
  });

  it('ends what takes too long or is no longer wanted', async () => {
    const server = await fake(() => 'silence');
    expect((await errorOf(run(server.port, FIND, { timeoutMs: 300 }))).code).toBe('db_timeout');
    const stop = new AbortController();
    const work = errorOf(run(server.port, FIND, {}, {}, stop.signal));
    stop.abort();
    expect((await work).code).toBe('aborted');
  });

  it('stops reading what is too large or no MongoDB', async () => {
    const length = (bytes: number): Buffer => {
      const header = Buffer.alloc(16);
      header.writeInt32LE(bytes, 0);
      return header;
    };
    const large = await fake(() => length(17 * 1024 * 1024));
    expect((await errorOf(run(large.port, FIND))).code).toBe('db_result_too_large');
    const many = await fake((command) =>
      cursor(
        Array.from({ length: 4 }, () => ({ text: 'x'.repeat(1_000_000) })),
        5,
        'find' in command ? 'firstBatch' : 'nextBatch',
      ),
    );
    expect((await errorOf(run(many.port, { ...FIND, limit: 1_000 }))).code).toBe('db_result_too_large');
    const other = await fake(() => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect((await errorOf(run(other.port, FIND))).code).toBe('db_connection_failed');
  });

  it('goes to the primary, by the same rules', async () => {
    const primary = await fake(() => cursor([{ from: 'primary' }]));
    const secondary = await fake(() => cursor([{ from: 'secondary' }]), {
      hello: () => ({ isWritablePrimary: false, secondary: true, primary: `service.test:${primary.port}` }),
    });
    expect(await run(secondary.port, FIND)).toMatchObject({ documents: [{ from: 'primary' }] });
    const lured = await fake(() => cursor([]), {
      hello: () => ({ isWritablePrimary: false, primary: '169.254.169.254:80' }),
    });
    expect((await errorOf(run(lured.port, FIND))).code).toBe('target_not_allowed');
  });

  it('takes no credential of another kind', async () => {
    expect((await errorOf(run(1, FIND, {}, { dialect: 'mysql' }))).code).toBe('invalid_config');
  });
});
