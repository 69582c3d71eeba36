import type { ServiceError } from '@millrace/engine';
import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkTransactReadOnly, isOneChange } from './transact-text.ts';

function codeOf(sql: string): string | null {
  try {
    checkTransactReadOnly(sql);
    return null;
  } catch (error) {
    return (error as ServiceError).code;
  }
}

describe('a read-only text', () => {
  it.each([
    'select 1',
    ' (SELECT 1) UNION (SELECT 2)',
    '/* why /* so */ INSERT */ -- and DELETE\nWITH x AS (SELECT 1 AS n) SELECT * FROM x;',
    "SELECT 'it''s; DELETE FROM t', [update], [a]]drop], \"into\" FROM t",
    'SELECT updated_at, deleted, #drop.x, @insert, begin_at FROM t WITH (NOLOCK) OPTION (RECOMPILE)',
    'SELECT 1.5e3, 0x1F, $12.50, n FROM [delete] WHERE n > 1e5 AND m=2',
    'SELECT 商品, naïve FROM 注文 FOR JSON PATH',
    'SELECT CASE WHEN a = 1 THEN 2 ELSE 3 END FROM t ORDER BY 1 OFFSET 10 ROWS FETCH NEXT 5 ROWS ONLY',
  ])('is: %s', (sql) => {
    expect(codeOf(sql)).toBeNull();
  });

  it.each([
    '',
    'INSERT INTO t VALUES (1)',
    'EXEC p',
    'sp_who',
    'DECLARE @x int; SELECT @x',
    'SELECT 1; DELETE FROM t',
    'SELECT 1 DELETE FROM t',
    'SELECT 1DELETE FROM t',
    'SELECT 0xDELETE FROM t',
    'SELECT 0xINSERT INTO t VALUES (1)',
    'SELECT 1eDELETE FROM t',
    'SELECT 1.DELETE FROM t',
    'SELECT $DELETE FROM t',
    'SELECT £DELETE FROM t',
    'SELECT * INTO copy FROM t',
    'WITH x AS (SELECT 1 AS n) DELETE FROM x',
    'SELECT 1 COMMIT; SELECT 2',
    "SELECT * FROM OPENQUERY(other, 'DELETE FROM t')",
    "SELECT * FROM OPENROWSET('SQLNCLI', 'x', 'y')",
    'SELECT NEXT VALUE FOR s',
    'SELECT next/**/value FOR s',
    '/* SELECT */ INSERT INTO t VALUES (1)',
    '-- SELECT\nDELETE FROM t',
    'SELECT 1 --\rDELETE FROM t',
    "SELECT ' DELETE FROM t",
    'SELECT [ DELETE FROM t',
    'SELECT /* DELETE FROM t',
    "SELECT [']; DELETE FROM t --']",
    'SELECT "\'"; DELETE FROM t --"',
    'SELECT 1;ＤＥＬＥＴＥ FROM t',
  ])('is not: %s', (sql) => {
    expect(codeOf(sql)).toBe('sql_read_only');
  });

  it('shows every word outside quotes, comments and numbers, wherever it stands', () => {
    const quiet = fc.constantFrom(
      "'a''b'",
      '[x]',
      '"y"',
      '/* /* */ */',
      '--z\n',
      '1.5',
      ' ',
      ',',
      '(',
      '名前',
      '@v',
    );
    fc.assert(
      fc.property(fc.array(quiet, { maxLength: 12 }), fc.array(quiet, { maxLength: 6 }), (before, after) => {
        const text = (word: string) => `SELECT ${before.join(' ')} ${word} ${after.join(' ')}`;
        expect(codeOf(text('drops'))).toBeNull();
        expect(codeOf(text('Drop'))).toBe('sql_read_only');
      }),
      { numRuns: runs(200) },
    );
  });
});

it.each([
  ['UPDATE t SET a = 1', true],
  ['INSERT INTO t SELECT * FROM s', true],
  ['WITH x AS (SELECT 1 AS n) DELETE FROM x', true],
  ['SELECT * INTO copy FROM t', true],
  ['DECLARE @n int = 1; UPDATE t SET a = @n', true],
  ['UPDATE t SET a = 1; UPDATE t SET b = 1', false],
  ['UPDATE t SET a = 1DELETE FROM t', false],
  ['WHILE 1 = 1 UPDATE t SET a = a + 1', false],
  ['EXEC p', false],
  ['p', false],
  ['BEGIN TRY UPDATE t SET a = 1 END TRY BEGIN CATCH END CATCH', false],
  ['CREATE TABLE t (a int)', false],
])('%s is one change: %s', (sql, expected) => {
  expect(isOneChange(sql)).toBe(expected);
});
