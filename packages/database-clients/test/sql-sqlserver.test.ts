import { parseJson, type SqlQuery, stringifyJson } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { trustTestCertificate } from '../../ports/test/certificate.ts';
import { never, useCleanUps } from './clients.ts';
import { createSqlClient, describeSqlDialect, LIMIT_MS, startSlow } from './sql-dialect.ts';
import {
  BYTES,
  charType,
  DECIMAL,
  hex,
  INT4,
  int,
  NVARCHAR,
  parts,
  short,
  text,
  VARIANT,
} from './sqlserver-cells.ts';
import {
  numbers,
  type SqlServerOptions,
  type SqlServerPart,
  type SqlServerReply,
  type SqlServerServer,
  startSqlServer,
  table,
  textsOf,
} from './sqlserver-server.ts';

const PASSWORD = 's3cret-cänary';
const cleanUps = useCleanUps();

async function start(
  answer: SqlServerReply | ((text: string) => SqlServerReply),
  options: Partial<SqlServerOptions> = {},
): Promise<SqlServerServer> {
  const server = await startSqlServer({
    password: PASSWORD,
    answer: (sent) => (typeof answer === 'function' ? answer(sent) : answer),
    ...options,
  });
  cleanUps.push(() => server.close());
  return server;
}

const client = createSqlClient('sqlserver', PASSWORD);
const { query, errorOf } = client;

describeSqlDialect<SqlServerServer, SqlServerReply>({
  client,
  cleanUps,
  start,
  numbers,
  stream: (rows) => [{ columns: [{ name: 'n', type: INT4 }], stream: rows }],
  affected: (count) => [{ affected: count }],
  affectedWhenStopped: (count) => ({ ended: [{ affected: count }] }),
  stops: (server) => server.attentions(),
  private: 'ada',
});

describe('values', () => {
  const long = 'Zoë 🎉'.repeat(5_000);
  it.each<[string, Buffer, Buffer, unknown]>([
    ['tinyint', hex('30'), hex('ff'), 255],
    ['smallint', hex('34'), hex('ffff'), -1],
    ['int', INT4, hex('00000080'), -2147483648],
    ['bigint', hex('7f'), hex('0100000000002000'), parseJson('9007199254740993')],
    ['a nullable bigint', hex('26 08'), hex('08 ffffffffffffffff'), -1],
    ['NULL', hex('26 08'), hex('00'), null],
    ['bit', hex('68 01'), hex('01 01'), true],
    ['real', hex('6d 04'), hex('04 cdcccc3d'), 0.1],
    ['float', hex('6d 08'), hex('08 9a9999999999b93f'), 0.1],
    ['money', hex('6e 08'), hex('08 ffffff7f ffffffff'), parseJson('922337203685477.5807')],
    ['negative money', hex('3c'), hex('ffffffff f0d8ffff'), -1],
    ['smallmoney', hex('7a'), hex('39300000'), 1.2345],
    [
      'decimal',
      DECIMAL(24, 4),
      hex('11 01 21ab966ca0101f9b241a000000000000'),
      parseJson('12345678901234567890.0001'),
    ],
    ['a negative decimal', DECIMAL(5, 3), hex('05 00 01000000'), -0.001],
    ['date', hex('28'), hex('03 5b490b'), '2026-03-01'],
    ['time', hex('29 07'), hex('05 07a3d7a34f'), '09:30:05.1234567'],
    ['datetime2', hex('2a 03'), hex('07 7b000000 5b490b'), '2026-03-01T00:00:00.123'],
    ['datetimeoffset', hex('2b 01'), hex('08 155c0c 5a490b 7800'), '2026-03-01T00:30:00.5+02:00'],
    ['datetimeoffset in the west', hex('2b 01'), hex('08 155c0c 5a490b b6fe'), '2026-02-28T17:00:00.5-05:30'],
    ['datetimeoffset in UTC', hex('2b 01'), hex('08 155c0c 5a490b 0000'), '2026-02-28T22:30:00.5Z'],
    ['datetime', hex('6f 08'), hex('08 00b40000 21949c00'), '2026-03-01T09:30:05.123'],
    ['the first datetime', hex('3d'), hex('462effff ff818b01'), '1753-01-01T23:59:59.997'],
    ['smalldatetime', hex('3a'), hex('00b4 3a02'), '2026-03-01T09:30:00'],
    [
      'uniqueidentifier',
      hex('24 10'),
      hex('10 ff19966f868b11d0b42d00c04fc964ff'),
      '6F9619FF-8B86-D011-B42D-00C04FC964FF',
    ],
    ['nvarchar', NVARCHAR(40), text('Zoë 🎉'), 'Zoë 🎉'],
    ['a text that is no Unicode', NVARCHAR(40), short(hex('00d8 4100')), '\ufffdA'],
    ['nvarchar(max)', NVARCHAR(0xffff), parts(Buffer.from(long, 'utf16le'), 7), long],
    ['an empty nvarchar(max)', NVARCHAR(0xffff), parts(Buffer.alloc(0), 7), ''],
    [
      'a nvarchar(max) of unknown length',
      NVARCHAR(0xffff),
      hex('feffffffffffffff 02000000 4100 00000000'),
      'A',
    ],
    ['a NULL nvarchar(max)', NVARCHAR(0xffff), hex('ffffffffffffffff'), null],
    ['varchar', charType(0x0409, 0), short(hex('5a6feb 80')), 'Zoë€'],
    ['varchar of code page 850', charType(0x0409, 41), short(hex('5a6f89')), 'Zoë'],
    ['varchar in Japanese', charType(0x0411, 0), short(hex('93fa967b')), '日本'],
    ['varchar in UTF-8', charType(0x0409, 0, true), short(Buffer.from('日本')), '日本'],
    ['text', hex('23 ffffff7f 0904d00034'), hex('01 aa 0000000000000000 03000000 5a6feb'), 'Zoë'],
    ['varbinary', BYTES(0xa5, 8), short(hex('ff00')), '/wA='],
    ['varbinary(max)', BYTES(0xa5, 0xffff), parts(hex('ff00'), 1), '/wA='],
    ['image', hex('22 ffffff7f'), hex('01 aa 0000000000000000 02000000 ff00'), '/wA='],
    ['xml', hex('f1 00'), parts(Buffer.from('\ufeff<a/>', 'utf16le'), 3), '<a/>'],
    ['a variant with an int', VARIANT, hex('06000000 38 00 2a000000'), 42],
    ['a variant with a decimal', VARIANT, hex('09000000 6c 02 0502 01 39300000'), 123.45],
    ['a variant with a varchar', VARIANT, hex('0a000000 a7 07 0904d00034 0800 eb'), 'ë'],
    ['a NULL variant', VARIANT, hex('00000000'), null],
  ])('of %s are exact', async (_name, type, cell, expected) => {
    const server = await start([{ columns: [{ name: 'value', type }], rows: [[cell]] }]);
    const { rows } = await query(server, 'SELECT value');
    expect(stringifyJson(rows[0]?.value ?? null)).toBe(stringifyJson(expected as never));
  });

  it('may be missing from a row', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `c${index}`);
    const cells = names.map((_, index) => (index === 0 || index === 8 ? null : int(index, 4)));
    const server = await start([{ columns: names.map((name) => ({ name, type: INT4 })), compressed: cells }]);
    expect((await query(server, 'SELECT 1')).rows).toEqual([
      { c0: null, c1: 1, c2: 2, c3: 3, c4: 4, c5: 5, c6: 6, c7: 7, c8: null },
    ]);
  });

  it('are bound as parameters, never written into the text', async () => {
    const server = await start(numbers(1));
    const nasty = "'; DROP TABLE x; --";
    const sent = [
      '1',
      '-2147483649',
      '1.50',
      '-0.001',
      '1e300',
      '123456789012345678901234567890123456789012',
      '[1,2]',
      '{"a":9007199254740993}',
    ];
    const parameters = [nasty, true, null, '', 'x'.repeat(5_000), ...sent.map(parseJson)];
    await query(server, 'SELECT @p1', { parameters });
    expect(server.statements.at(-1)).toMatchObject({
      text: 'SELECT @p1',
      declared:
        '@p1 nvarchar(4000), @p2 bit, @p3 nvarchar(4000), @p4 nvarchar(4000), @p5 nvarchar(max), @p6 int, @p7 bigint, @p8 decimal(2, 1), @p9 decimal(3, 3), @p10 float, @p11 nvarchar(4000), @p12 nvarchar(4000), @p13 nvarchar(4000)',
      parameters: [
        nasty,
        true,
        null,
        '',
        'x'.repeat(5_000),
        1,
        -2147483649n,
        '1.5',
        '-0.001',
        1e300,
        '123456789012345678901234567890123456789012',
        '[1,2]',
        '{"a":9007199254740993}',
      ],
    });
  });

  it('of columns with odd names are data', async () => {
    const names = ['id', 'id', '__proto__', ''];
    const server = await start([
      {
        columns: names.map((name) => ({ name, type: hex('30') })),
        rows: [names.map((_, index) => int(index, 1))],
      },
    ]);
    expect(stringifyJson((await query(server, 'SELECT 1')).rows)).toBe(
      '[{"id":0,"id_2":1,"__proto__":2,"":3}]',
    );
  });
});

describe('rows', () => {
  it('of several writes are counted together', async () => {
    const server = await start([{ affected: 7 }, { affected: 2 }]);
    expect(await query(server, 'UPDATE t SET a = 1; DELETE FROM t', { readOnly: false })).toEqual({
      rows: [],
      rowCount: 9,
      isTruncated: false,
    });
  });

  it('of several results are kept up to the limit', async () => {
    const server = await start([table(3), { affected: 1 }, table(2), table(4)]);
    const order = { readOnly: false, maxRows: 6 };
    expect(await query(server, 'EXEC p', order)).toEqual({
      rows: [{ n: 1 }, { n: 2 }, { n: 3 }],
      rowCount: 9,
      isTruncated: true,
      furtherResults: [[{ n: 1 }, { n: 2 }], [{ n: 1 }]],
    });
  });

  it('of too many results are refused', async () => {
    const server = await start(Array.from({ length: 101 }, () => table(0)));
    expect(await errorOf(query(server, 'EXEC p', { readOnly: false }))).toMatchObject({
      code: 'sql_result_too_large',
    });
  });

  it('that are too large are refused before they are there', async () => {
    // A value of 1 GB, of which only the beginning is ever sent.
    const head = Buffer.alloc(12);
    head.writeBigUInt64LE(1_000_000_000n, 0);
    head.writeUInt32LE(1_000_000_000, 8);
    const server = await start([{ columns: [{ name: 't', type: NVARCHAR(0xffff) }], rows: [[head]] }]);
    expect(await errorOf(query(server, 'SELECT t'))).toMatchObject({
      code: 'sql_result_too_large',
      retryable: false,
    });
  });

  it('of short values that are too large together are refused', async () => {
    const rows = Array.from({ length: 2_200 }, () => [short(Buffer.alloc(8_000, 'x'))]);
    const server = await start([{ columns: [{ name: 't', type: NVARCHAR(8_000) }], rows }]);
    const error = await errorOf(query(server, 'SELECT t', { maxRows: 10_000 }));
    expect(error).toMatchObject({ code: 'sql_result_too_large' });
  });

  it('that are too large together are refused', async () => {
    const cell = parts(Buffer.alloc(1_000_000, 'x'), 100_000);
    const rows = Array.from({ length: 20 }, () => [cell]);
    const server = await start([{ columns: [{ name: 't', type: NVARCHAR(0xffff) }], rows }]);
    expect(await errorOf(query(server, 'SELECT t'))).toMatchObject({ code: 'sql_result_too_large' });
  });
});

describe('a read-only query', () => {
  it('runs in a transaction that is never committed', async () => {
    const server = await start(numbers(1));
    await query(server, 'SELECT 1');
    expect(server.statements).toMatchObject([
      { text: 'SET TEXTSIZE 2147483647; SET DATEFORMAT ymd; BEGIN TRANSACTION;', transaction: 0n },
      { text: 'SELECT 1', transaction: 0x1122334455667788n },
    ]);
  });

  it('that would write is not sent', async () => {
    const server = await start(numbers(1));
    expect(await errorOf(query(server, 'SELECT 1; DELETE FROM t'))).toMatchObject({
      code: 'sql_read_only',
      message: expect.stringContaining('DELETE'),
    });
    expect(server.signIns).toEqual([]);
  });
});

describe('errors', () => {
  const one = { readOnly: false };
  it.each<[number, string, Partial<SqlQuery>, string, boolean]>([
    [208, 'SELECT 1', {}, 'sql_error', false],
    [2627, 'INSERT INTO t VALUES (1)', one, 'sql_error', false],
    [1205, 'UPDATE t SET a = 1', one, 'sql_error', true],
    [1205, 'UPDATE t SET a = 1; UPDATE t SET b = 1', one, 'sql_error', false],
    [1222, 'SELECT 1', {}, 'sql_error', true],
    [3960, 'SELECT 1', {}, 'sql_error', true],
    [40501, 'SELECT 1', {}, 'sql_connection_failed', true],
    [40501, 'EXEC p', one, 'sql_error', false],
    [916, 'SELECT 1', {}, 'sql_auth_failed', false],
  ])('%i of %s is reported with its number and line', async (error, statement, order, code, retryable) => {
    const server = await start([
      { error, text: 'Because', line: 3 },
      { error: 3621, text: 'It has ended' },
    ]);
    const found = await errorOf(query(server, statement, order));
    expect(found).toMatchObject({ code, retryable });
    if (code === 'sql_error') {
      expect(found).toMatchObject({
        message: `Because (error ${error}, line 3)`,
        details: { number: error, state: 3, line: 3 },
      });
    }
  });

  it.each([
    [18456, 'sql_auth_failed', false],
    [4060, 'sql_auth_failed', false],
    [40613, 'sql_connection_failed', true],
  ])('%i of the sign-in', async (error, code, retryable) => {
    const server = await start(numbers(1), { refusal: { error, text: 'Not now' } });
    expect(await errorOf(query(server, 'SELECT 1'))).toMatchObject({ code, retryable });
  });

  it('of a name that is too long', async () => {
    const server = await start(numbers(1));
    const error = await errorOf(query(server, 'SELECT 1', {}, never, { username: 'a'.repeat(129) }));
    expect(error).toMatchObject({ code: 'sql_auth_failed' });
  });

  it.each([
    ['an unknown token', hex('01 02 03')],
    ['an unknown type', hex('81 0100 00000000 0000 77 00')],
    ['an answer that ends in the middle', hex('a9 ff7f')],
  ])('of a server that sends %s', async (_what, raw) => {
    const server = await start([{ raw }]);
    expect(await errorOf(query(server, 'SELECT 1'))).toMatchObject({ code: 'sql_connection_failed' });
  });
});

describe('a statement that runs too long', () => {
  it.each<[string, SqlServerReply, boolean, string]>([
    ['SELECT n', { before: numbers(3) as readonly SqlServerPart[] }, true, 'sql_timeout'],
    ['UPDATE t SET a = 1', 'silence', false, 'sql_timeout'],
    ['EXEC p', 'silence', false, 'sql_outcome_unknown'],
    ['UPDATE t SET a = 1; UPDATE t SET b = 1', { before: [{ affected: 3 }] }, false, 'sql_outcome_unknown'],
  ])('is stopped by an attention: %s', async (statement, reply, readOnly, code) => {
    const server = await startSlow({ cleanUps, start }, reply);
    const error = await errorOf(query(server, statement, { timeoutMs: LIMIT_MS, readOnly }));
    expect(error).toMatchObject({ code, retryable: code === 'sql_timeout' });
    expect(server.attentions()).toBe(1);
  });
});

describe('encryption', () => {
  it('checks the certificate with verify', async () => {
    const server = await start(numbers(1), { encryption: 'on' });
    const verify = (host: string) => query(server, 'SELECT 1', {}, never, { tls: 'verify', host });
    expect(await errorOf(verify('service.test'))).toMatchObject({ code: 'sql_tls_failed', retryable: false });
    cleanUps.push(trustTestCertificate());
    expect(await verify('service.test')).toMatchObject({ rows: [{ n: 1 }] });
    expect(await verify('127.0.0.1')).toMatchObject({ rows: [{ n: 1 }] });
    expect(await errorOf(verify('other.test'))).toMatchObject({ code: 'sql_tls_failed' });
    expect(server.signIns).toEqual([
      { host: 'service.test', isEncrypted: true },
      { host: '127.0.0.1', isEncrypted: true },
    ]);
  });

  it.each([
    ['require', 'off', true],
    ['require', 'on', true],
    ['off', 'required', true],
    ['off', 'off', false],
  ] as const)('is %s with a server where it is %s', async (tls, encryption, isEncrypted) => {
    const server = await start(numbers(2_000), { encryption });
    const { rows } = await query(server, 'SELECT 1', { maxRows: 3_000 }, never, { tls });
    expect(rows).toHaveLength(2_000);
    expect(server.signIns).toEqual([{ host: 'service.test', isEncrypted: true }]);
    expect(server.encrypted()).toBe(isEncrypted ? 2 : 0);
  });

  it('comes before the sign-in', async () => {
    const server = await start(numbers(1));
    for (const tls of ['require', 'verify'] as const) {
      await errorOf(query(server, 'SELECT 1', {}, never, { tls }));
    }
    expect(server.signIns).toEqual([]);
  });
});

describe('a server that sends to another one', () => {
  it('is followed', async () => {
    const second = await start(numbers(1));
    const first = await start(numbers(2), { redirect: { host: 'second.test', port: second.port } });
    expect(await query(first, 'SELECT 1')).toMatchObject({ rows: [{ n: 1 }] });
    expect(second.signIns).toEqual([{ host: 'second.test', isEncrypted: false }]);
    expect(textsOf(first)).toEqual([]);
  });

  it('is followed only where connections may go, and not for ever', async () => {
    const inside = await start(numbers(1), { redirect: { host: '10.0.0.1', port: 1433 } });
    expect(await errorOf(query(inside, 'SELECT 1'))).toMatchObject({ code: 'target_not_allowed' });
    const target = { host: 'service.test', port: 0 };
    const round = await start(numbers(1), { redirect: target });
    target.port = round.port;
    expect(await errorOf(query(round, 'SELECT 1'))).toMatchObject({ code: 'sql_connection_failed' });
    expect(round.signIns).toHaveLength(3);
  });
});
