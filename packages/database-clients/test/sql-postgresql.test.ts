import { createGuardedSockets } from '@millrace/egress/guarded-socket';
import { parseJson, stringifyJson } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { startTcp } from '@millrace/testing/test-server';
import { describe, expect, it } from 'vitest';
import { createSqlService } from '../src/sql.ts';
import { anybody, never } from './clients.ts';
import { useCustomerDatabase } from './customer-database.ts';

const customer = useCustomerDatabase();
const { query, write, errorOf, countOrders } = customer;

describe('values', () => {
  it.each([
    ['1::int', '1'],
    ['9007199254740993::bigint', '9007199254740993'],
    ["'123456789012345678901234567890.000000000001'::numeric", '123456789012345678901234567890.000000000001'],
    ["'NaN'::float8", '"NaN"'],
    ["'-Infinity'::float8", '"-Infinity"'],
    ['0.1::float4', '0.1'],
    ['1e300::float8', '1e+300'],
    ['true', 'true'],
    ['NULL::int', 'null'],
    ["'x'::text", '"x"'],
    ["'\\xff00'::bytea", '"/wA="'],
    [`'{"n": 9007199254740993, "__proto__": [1]}'::json`, '{"n":9007199254740993,"__proto__":[1]}'],
    [`'{"n": 1e400}'::jsonb`, `{"n":1${'0'.repeat(400)}}`],
    ["'2026-03-01'::date", '"2026-03-01"'],
    ["'2026-03-01 09:30:00.123456'::timestamp", '"2026-03-01T09:30:00.123456"'],
    ["'2026-03-01 09:30:00+09'::timestamptz", '"2026-03-01T00:30:00Z"'],
    ["'infinity'::timestamptz", '"infinity"'],
    ["'0044-03-15 BC'::date", '"0044-03-15 BC"'],
    ["'1 day 2 hours'::interval", '"P1DT2H"'],
    ["'09:30'::time", '"09:30:00"'],
    ["'{1,NULL,9007199254740993}'::bigint[]", '[1,null,9007199254740993]'],
    ['\'{{a,"b,c"},{d,NULL}}\'::text[]', '[["a","b,c"],["d",null]]'],
    ['\'{"{\\"a\\":1}"}\'::jsonb[]', '[{"a":1}]'],
    ["'[1,5)'::int4range", '"[1,5)"'],
    ["ROW(1,'a')", '"(1,a)"'],
  ])('%s is %s', async (expression, expected) => {
    const { rows } = await query(`SELECT ${expression} AS value`);
    expect(stringifyJson(rows[0]?.value ?? null)).toBe(expected);
  });

  it('of columns with the same name are all present', async () => {
    const { rows } = await query('SELECT 1 AS id, 2 AS id, 3 AS id_2, 4 AS "__proto__"');
    expect(stringifyJson(rows)).toBe('[{"id":1,"id_3":2,"id_2":3,"__proto__":4}]');
  });
});

describe('parameters', () => {
  it('are bound, whatever they contain', async () => {
    const nasty = "'; DROP TABLE orders; --\\ $1 {{x}}";
    const { rows } = await query('SELECT $1::text AS text', { parameters: [nasty] });
    expect(rows).toEqual([{ text: nasty }]);
  });

  it.each([
    ['$1::bigint', '9007199254740993', '9007199254740993'],
    ['$1::numeric', '0.1', '0.1'],
    ['$1::bool', 'false', 'false'],
    ['$1::int', 'null', 'null'],
    ['$1::jsonb', '{"a":[1,9007199254740993]}', '{"a":[1,9007199254740993]}'],
    ['$1::int[]', '[1,2,null]', '[1,2,null]'],
    ['2 = ANY($1::int[])', '[1,2]', 'true'],
    ['$1::text[]', '["a,b","{\\"","null"]', '["a,b","{\\"","null"]'],
  ])('%s with %s returns %s', async (expression, parameter, expected) => {
    const { rows } = await query(`SELECT ${expression} AS value`, { parameters: [parseJson(parameter)] });
    expect(stringifyJson(rows[0]?.value ?? null)).toBe(expected);
  });
});

describe("parameters that don't match the placeholders", () => {
  it.each([
    ['SELECT $1::text', [], 'has 1 placeholder, and config.parameters has 0'],
    ['SELECT $1::text', ['a', 'b'], 'has 1 placeholder, and config.parameters has 2'],
    ['SELECT 1', ['a'], 'has 0 placeholders, and config.parameters has 1'],
  ])('are reported: %s with %j', async (text, parameters, words) => {
    const error = await errorOf(query(text, { parameters }));
    expect(error).toMatchObject({ code: 'sql_error', retryable: false });
    expect(error.message).toContain(words);
  });
});

describe('a read-only query', () => {
  it.each([
    'INSERT INTO orders (id) VALUES (100)',
    'WITH x AS (INSERT INTO orders (id) VALUES (101) RETURNING id) SELECT * FROM x',
    'CREATE TABLE other (id int)',
    'TRUNCATE orders',
    "SELECT nextval('s')",
    'EXPLAIN ANALYZE INSERT INTO orders (id) VALUES (102)',
    'COPY orders FROM STDIN',
    "COPY (SELECT 1) TO PROGRAM 'true'",
    '/* why */ -- so\n copy orders TO STDOUT',
    '/* /* */ */ COPY orders TO STDOUT',
    'SELECT write_order()',
    'CALL commit_and_write()',
    "SELECT set_config('transaction_read_only', 'off', false), write_order()",
    'DO $$ BEGIN INSERT INTO orders (id) VALUES (103); END $$',
    "DO $$ BEGIN PERFORM set_config('transaction_read_only', 'off', true); INSERT INTO orders (id) VALUES (104); END $$",
    'DO $$ BEGIN SET TRANSACTION READ WRITE; INSERT INTO orders (id) VALUES (105); END $$',
    'DO $$ BEGIN COMMIT; INSERT INTO orders (id) VALUES (106); END $$',
    'DO $$ BEGIN ROLLBACK; SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; INSERT INTO orders (id) VALUES (107); END $$',
    'COMMIT; INSERT INTO orders (id) VALUES (108)',
    'ROLLBACK AND CHAIN; INSERT INTO orders (id) VALUES (109)',
    'SELECT 1; INSERT INTO orders (id) VALUES (110)',
    'SET TRANSACTION READ WRITE',
  ])('writes nothing: %s', async (text) => {
    const before = await countOrders();
    const error = await errorOf(query(text));
    expect(error).toMatchObject({ code: expect.stringMatching(/^sql_(read_only|error)$/), retryable: false });
    expect(await countOrders()).toBe(before);
  });

  it.each(['COMMIT', 'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE'])(
    "that says %s doesn't affect the next one",
    async (text) => {
      await query(text).catch(() => undefined);
      expect(await errorOf(query('INSERT INTO orders (id) VALUES (111)'))).toMatchObject({
        code: 'sql_read_only',
      });
    },
  );

  it('says how to allow writing', async () => {
    const error = await errorOf(query('DELETE FROM orders'));
    expect(error).toMatchObject({ code: 'sql_read_only', details: { sqlstate: '25006' } });
    expect(error.message).toContain('config.read_only');
  });
});

describe('rows', () => {
  it('are produced only up to the limit', async () => {
    // The division fails at the 12th row, which is never requested.
    const text = 'SELECT 1 / (12 - n) AS x, n FROM generate_series(1, 1000000) AS n';
    const answer = await query(text, { maxRows: 10 });
    expect(answer).toMatchObject({ rowCount: 10, isTruncated: true });
    expect(answer.rows.at(-1)).toEqual({ x: 0, n: 10 });
  });

  it.each([
    [9, 9, true],
    [10, 10, false],
    [11, 10, false],
  ])('with a limit of %i are %i, truncated: %s', async (maxRows, rowCount, isTruncated) => {
    const answer = await query('SELECT generate_series(1, 10)', { maxRows });
    expect(answer).toMatchObject({ rowCount, isTruncated });
    expect(answer.rows).toHaveLength(rowCount);
  });

  it('of a write are truncated, the write is not', async () => {
    const text = 'INSERT INTO orders (id) SELECT generate_series(1, 50) RETURNING id';
    const answer = await write(text, { maxRows: 3 });
    expect(answer).toEqual({ rows: [{ id: 1 }, { id: 2 }, { id: 3 }], rowCount: 50, isTruncated: true });
    expect(await countOrders()).toBe(50);
  });

  it('may be none', async () => {
    expect(await query('SELECT 1 WHERE false')).toEqual({ rows: [], rowCount: 0, isTruncated: false });
    expect(await write("UPDATE orders SET note = 'x' WHERE id <= 2")).toEqual({
      rows: [],
      rowCount: 2,
      isTruncated: false,
    });
  });

  it.each([
    ['while they are sent', 40],
    // The server has sent everything by the time the last row is seen to be too much.
    ['with the last one', 17],
  ])('that are too large %s are refused, and the write that returned them is undone', async (_, rows) => {
    const text =
      "INSERT INTO orders (id, note) SELECT 1000 + n, repeat('x', 1000000) FROM generate_series(1, $1) AS n RETURNING *";
    const before = await countOrders();
    expect(await errorOf(write(text, { parameters: [rows] }))).toMatchObject({
      code: 'sql_result_too_large',
      retryable: false,
    });
    expect(await countOrders()).toBe(before);
  });

  it.each(['VACUUM orders', 'CREATE INDEX CONCURRENTLY by_note ON orders (note)', 'CALL commit_and_write()'])(
    'may be none of a write that commits by itself: %s',
    async (text) => {
      expect(await write(text)).toMatchObject({ rows: [], isTruncated: false });
    },
  );
});

describe('errors', () => {
  it('say where and how', async () => {
    expect(await errorOf(query('SELECT idd FROM orders'))).toMatchObject({
      code: 'sql_error',
      message: saying(/"idd" does not exist \(SQLSTATE 42703\) at character 8.*Perhaps you meant/),
      retryable: false,
      details: { sqlstate: '42703', position: 8, hint: expect.any(String) },
    });
  });

  it('of constraints are final and repeat no row', async () => {
    await write('INSERT INTO orders (id) VALUES (900)');
    const error = await errorOf(write('INSERT INTO orders (id) VALUES (900)'));
    expect(error).toMatchObject({
      code: 'sql_error',
      retryable: false,
      details: { sqlstate: '23505', constraint: 'orders_pkey', table: 'orders' },
    });
    expect(error.message).not.toContain('900');
  });

  it.each(['40001', '40P01', '55P03'])('%s can be retried', async (state) => {
    const text = `DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`;
    expect(await errorOf(write(text))).toMatchObject({ code: 'sql_error', retryable: true });
  });

  it.each(['57P01', '53300'])('%s means that the server is unavailable', async (state) => {
    const text = `DO $$ BEGIN RAISE EXCEPTION 'away' USING ERRCODE = '${state}'; END $$`;
    expect(await errorOf(query(text))).toMatchObject({ code: 'sql_connection_failed', retryable: true });
  });

  it('of COPY FROM STDIN are immediate: there is nothing to copy', async () => {
    const error = await errorOf(write('COPY orders FROM STDIN', { timeoutMs: 30_000 }));
    expect(error).toMatchObject({ code: 'sql_error', retryable: false });
    expect(error.message).toContain('INSERT');
  });

  it('of a wrong password are reported as such', async () => {
    const error = await errorOf(query('SELECT 1', {}, never, { password: 'wrong-canary' }));
    expect(error).toMatchObject({ code: 'sql_auth_failed', retryable: false });
    expect(JSON.stringify([error, error.message])).not.toContain('canary');
  });

  it('of a private host are reported before connecting', async () => {
    const strict = createSqlService({ sockets: () => createGuardedSockets({ allowHosts: [] }) })(anybody);
    const order = { sql: 'SELECT 1', parameters: [], readOnly: true, maxRows: 1, timeoutMs: 1_000 };
    const running = strict.query({ ...customer.credential, host: '127.0.0.1' }, order, never);
    expect(await errorOf(running)).toMatchObject({ code: 'target_not_allowed', retryable: false });
  });

  it('of a server that hangs up can be retried', async () => {
    const server = await startTcp((socket) => socket.destroy());
    expect(await errorOf(query('SELECT 1', {}, never, { port: server.port }))).toMatchObject({
      code: 'sql_connection_failed',
      retryable: true,
    });
  });
});
