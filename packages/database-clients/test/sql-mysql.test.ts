import { parseJson, stringifyJson } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import { trustTestCertificate } from '../../ports/test/certificate.ts';
import { readMysqlValue } from '../src/sql/mysql-values.ts';
import { never, useCleanUps } from './clients.ts';
import {
  int,
  lengthCoded,
  type MysqlColumn,
  type MysqlReply,
  type MysqlServer,
  startMysql,
} from './mysql-server.ts';
import { createSqlClient, describeSqlDialect, LIMIT_MS, startSlow } from './sql-dialect.ts';

const PASSWORD = 's3cret-canary';
const cleanUps = useCleanUps();

async function start(
  answer: MysqlReply | ((text: string) => MysqlReply),
  options: { hasTls?: boolean } = {},
): Promise<MysqlServer> {
  const server = await startMysql({
    password: PASSWORD,
    ...options,
    answer: (text) => (typeof answer === 'function' ? answer(text) : answer),
  });
  cleanUps.push(() => server.close());
  return server;
}

const client = createSqlClient('mysql', PASSWORD);
const { query, errorOf } = client;

const text = (value: string): Buffer => lengthCoded(Buffer.from(value));
const numbers = (count: number): MysqlReply => ({
  columns: [{ name: 'n', type: 3 }],
  rows: Array.from({ length: count }, (_, index) => [int(index + 1, 4)]),
});
const textsOf = (server: MysqlServer): string[] => server.statements.map((statement) => statement.text);

describeSqlDialect<MysqlServer, MysqlReply>({
  client,
  cleanUps,
  start,
  numbers,
  stream: (rows) => ({ columns: [{ name: 'n', type: 3 }], stream: rows }),
  affected: (affectedRows) => ({ affectedRows }),
  affectedWhenStopped: (affectedRows) => ({ whenKilled: { affectedRows } }),
  stops: (server) => textsOf(server).filter((sent) => /^KILL QUERY \d+$/.test(sent)).length,
  private: '10.1.2.3',
});

describe('values', () => {
  const bigint = (value: bigint): Buffer => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  };
  const float = Buffer.alloc(4);
  float.writeFloatLE(0.1);
  const double = Buffer.alloc(8);
  double.writeDoubleLE(0.1);
  const date = Buffer.concat([int(4, 1), int(2026, 2), int(3, 1), int(1, 1)]);
  const datetime = Buffer.concat([
    int(11, 1),
    int(2026, 2),
    int(3, 1),
    int(1, 1),
    int(9, 1),
    int(30, 1),
    int(5, 1),
    int(123_456, 4),
  ]);

  it.each<[string, Omit<MysqlColumn, 'name'>, Buffer | null, string]>([
    ['TINYINT', { type: 1 }, int(5, 1), '5'],
    ['INT', { type: 3 }, Buffer.from([0xff, 0xff, 0xff, 0xff]), '-1'],
    ['BIGINT', { type: 8 }, bigint(9007199254740993n), '9007199254740993'],
    ['BIGINT UNSIGNED', { type: 8, isUnsigned: true }, bigint(-1n), '18446744073709551615'],
    ['DECIMAL', { type: 246 }, text('12345678901234567890.0001'), '12345678901234567890.0001'],
    ['FLOAT', { type: 4 }, float, '0.1'],
    ['DOUBLE', { type: 5 }, double, '0.1'],
    ['NULL', { type: 3 }, null, 'null'],
    ['VARCHAR', { type: 253 }, text('Zoë 🎉'), '"Zoë 🎉"'],
    ['BLOB', { type: 252, isBinary: true }, lengthCoded(Buffer.from([0xff, 0x00])), '"/wA="'],
    [
      'JSON',
      { type: 245, isBinary: true },
      text('{"n":9007199254740993,"__proto__":1}'),
      '{"n":9007199254740993,"__proto__":1}',
    ],
    ['DATE', { type: 10 }, date, '"2026-03-01"'],
    ['DATETIME', { type: 12, decimals: 6 }, datetime, '"2026-03-01T09:30:05.123456"'],
    ['TIMESTAMP', { type: 7, decimals: 6 }, datetime, '"2026-03-01T09:30:05.123456Z"'],
    ['BIT', { type: 16, isBinary: true }, lengthCoded(Buffer.from([0x01, 0x00])), '256'],
  ])('of %s are exact', async (_name, column, cell, expected) => {
    const server = await start({ columns: [{ name: 'value', ...column }], rows: [[cell]] });
    const { rows } = await query(server, 'SELECT value');
    expect(stringifyJson(rows[0]?.value ?? null)).toBe(expected);
  });

  it('are bound as parameters, never written into the text', async () => {
    const server = await start(numbers(1));
    const nasty = "'; DROP TABLE x; --";
    const parameters = [
      nasty,
      1.5,
      true,
      null,
      ...['9007199254740993', '[1,2]', '{"a":9007199254740993}'].map(parseJson),
    ];
    await query(server, 'SELECT ?, ?, ?, ?, ?, ?, ?', { parameters });
    expect(server.statements.at(-1)).toEqual({
      text: 'SELECT ?, ?, ?, ?, ?, ?, ?',
      parameters: [nasty, 1.5, 1, null, '9007199254740993', '[1,2]', '{"a":9007199254740993}'],
    });
  });

  it.each([
    ['SELECT ?', [], 'has 1 placeholder, and config.parameters has 0'],
    ['SELECT ?', ['a', 'b'], 'has 1 placeholder, and config.parameters has 2'],
    ['SELECT ?, ?', ['a'], 'has 2 placeholders, and config.parameters has 1'],
  ])('must match the placeholders: %s with %j', async (statement, parameters, words) => {
    const server = await start(numbers(1));
    const error = await errorOf(query(server, statement, { parameters }));
    expect(error).toMatchObject({ code: 'sql_error', retryable: false });
    expect(error.message).toContain(words);
    expect(textsOf(server)).not.toContain(statement);
  });

  it("of MariaDB's JSON columns, which are texts, are parsed", () => {
    const text = { name: 'value', columnType: 252 };
    const json = { ...text, extendedFormat: 'json' };
    expect(stringifyJson(readMysqlValue(json, '{"n":9007199254740993}'))).toBe('{"n":9007199254740993}');
    expect(readMysqlValue(text, '{"n":1}')).toBe('{"n":1}');
  });

  it('of columns with odd names are data', async () => {
    const names = ['id', 'id', '__proto__', "'];process.exit();//"];
    const server = await start({
      columns: names.map((name) => ({ name, type: 1 })),
      rows: [names.map((_, i) => int(i, 1))],
    });
    expect(stringifyJson((await query(server, 'SELECT 1')).rows)).toBe(
      `[{"id":0,"id_2":1,"__proto__":2,"'];process.exit();//":3}]`,
    );
  });
});

describe('a read-only query', () => {
  it('runs in a read-only transaction and session', async () => {
    const server = await start(numbers(1));
    await query(server, 'SELECT 1');
    expect(textsOf(server)).toEqual([
      "SET time_zone = '+00:00'",
      'SET SESSION TRANSACTION READ ONLY',
      'START TRANSACTION READ ONLY',
      'SELECT 1',
    ]);
  });

  it.each([
    'INSERT INTO t VALUES (1)',
    'COMMIT',
    'CALL p()',
    'SET SESSION TRANSACTION READ WRITE',
    'BEGIN NOT ATOMIC COMMIT; INSERT INTO t VALUES (1); END',
    'DO SLEEP(1)',
    'PREPARE s FROM "INSERT INTO t VALUES (1)"',
    '/*!50000 INSERT INTO t VALUES (1) */',
    '/*M! INSERT INTO t VALUES (1) */',
    '/* SELECT */ INSERT INTO t VALUES (1)',
    '-- SELECT\nDELETE FROM t',
    '# SELECT\nDELETE FROM t',
    '--SELECT',
    '',
    "SELECT 1 INTO OUTFILE '/tmp/rows'",
    "SELECT 1 INTO/**/dumpfile '/tmp/rows'",
  ])('is not: %s', async (statement) => {
    const server = await start(numbers(1));
    expect(await errorOf(query(server, statement))).toMatchObject({
      code: 'sql_read_only',
      retryable: false,
    });
    expect(server.statements).toEqual([]);
  });

  it.each([
    'select 1',
    ' (SELECT 1) UNION (SELECT 2)',
    '/* why */ -- so\n# and\nWITH x AS (SELECT 1) SELECT * FROM x',
    'SHOW TABLES',
    'EXPLAIN SELECT 1',
    'VALUES ROW(1)',
  ])('is: %s', async (statement) => {
    const server = await start(numbers(1));
    expect(await query(server, statement)).toMatchObject({ rowCount: 1 });
  });

  it('refused by the server says how to allow writing', async () => {
    const server = await start({
      errno: 1792,
      sqlstate: '25006',
      message: 'Cannot execute statement in a READ ONLY transaction.',
    });
    expect(await errorOf(query(server, 'WITH x AS (SELECT 1) DELETE FROM t'))).toMatchObject({
      code: 'sql_read_only',
      message: saying('config.read_only'),
    });
  });
});

describe('rows', () => {
  it('of a write are in no transaction', async () => {
    const server = await start({ affectedRows: 7 });
    await query(server, 'UPDATE t SET a = 1', { readOnly: false });
    expect(textsOf(server)).toEqual(["SET time_zone = '+00:00'", 'UPDATE t SET a = 1']);
  });

  it.each([
    [41n, '41'],
    [18446744073709551615n, '18446744073709551615'],
  ])('of an INSERT come with the generated id, %s', async (insertId, shown) => {
    const server = await start({ affectedRows: 2, insertId });
    const answer = await query(server, 'INSERT INTO t (a) VALUES (1), (2)', { readOnly: false });
    expect(stringifyJson(answer as never)).toBe(
      `{"rows":[],"rowCount":2,"isTruncated":false,"insertId":${shown}}`,
    );
  });

  it('of a statement that may write are all read, and kept up to the limit', async () => {
    const answer = await query(await start(numbers(10)), 'CALL p()', { readOnly: false, maxRows: 2 });
    expect(answer).toEqual({ rows: [{ n: 1 }, { n: 2 }], rowCount: 10, isTruncated: true });
  });

  it('that are too large are refused', async () => {
    const cell = text('x'.repeat(1_000_000));
    const server = await start({
      columns: [{ name: 't', type: 253 }],
      rows: Array.from({ length: 20 }, () => [cell]),
    });
    expect(await errorOf(query(server, 'SELECT t'))).toMatchObject({
      code: 'sql_result_too_large',
      retryable: false,
    });
  });
});

describe('errors', () => {
  it.each([
    [1064, '42000', 'sql_error', false],
    [1062, '23000', 'sql_error', false],
    [1213, '40001', 'sql_error', true],
    [1205, 'HY000', 'sql_error', true],
    [1053, '08S01', 'sql_connection_failed', true],
    [1040, '08004', 'sql_connection_failed', true],
    [3024, 'HY000', 'sql_timeout', true],
    [1044, '42000', 'sql_auth_failed', false],
  ])('%i is reported with its state', async (errno, sqlstate, code, retryable) => {
    const server = await start({ errno, sqlstate, message: 'because' });
    const error = await errorOf(query(server, 'SELECT 1'));
    expect(error).toMatchObject({ code, retryable });
    if (code === 'sql_error') {
      expect(error).toMatchObject({
        message: `because (SQLSTATE ${sqlstate}).`,
        details: { sqlstate, errno },
      });
    }
  });
});

describe('a statement that runs too long', () => {
  it('and succeeds when killed, as BENCHMARK does, has no result', async () => {
    const server = await startSlow({ cleanUps, start }, { whenKilled: numbers(1) });
    const running = query(server, 'SELECT BENCHMARK(1e12, 1)', { timeoutMs: LIMIT_MS });
    expect(await errorOf(running)).toMatchObject({ code: 'sql_timeout' });
  });
});

describe('encryption', () => {
  it('checks the certificate with verify', async () => {
    const server = await start(numbers(1), { hasTls: true });
    const verify = (host: string) => query(server, 'SELECT 1', {}, never, { tls: 'verify', host });
    expect(await errorOf(verify('service.test'))).toMatchObject({ code: 'sql_tls_failed', retryable: false });
    cleanUps.push(trustTestCertificate());
    expect(await verify('service.test')).toMatchObject({ rows: [{ n: 1 }] });
    expect(await errorOf(verify('other.test'))).toMatchObject({ code: 'sql_tls_failed' });
    expect(await errorOf(verify('127.0.0.1'))).toMatchObject({ code: 'sql_tls_failed' });
    expect(server.statements.filter((statement) => statement.text === 'SELECT 1')).toHaveLength(1);
  });

  it('accepts any certificate with require', async () => {
    const server = await start(numbers(1), { hasTls: true });
    expect(await query(server, 'SELECT 1', {}, never, { tls: 'require' })).toMatchObject({
      rows: [{ n: 1 }],
    });
    expect(server.encrypted()).toBe(1);
  });
});
