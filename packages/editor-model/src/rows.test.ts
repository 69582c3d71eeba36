import { describe, expect, test } from 'vitest';
import { isTable, isUrl } from './pasted-text.ts';
import { readTable } from './rows.ts';

describe('readTable', () => {
  test.each([
    [
      'names',
      'id\tname\n1\tAda\n2\tGrace\n',
      [
        { id: 1, name: 'Ada' },
        { id: 2, name: 'Grace' },
      ],
    ],
    [
      'no names',
      '1\t2\n3\t4',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['one row', 'a\tb', [['a', 'b']]],
    [
      'names of which one is there twice',
      'a\ta\nx\ty',
      [
        ['a', 'a'],
        ['x', 'y'],
      ],
    ],
    [
      'what only looks like a number',
      'zip\tprice\tok\tnone\r\n00701\t1.10\tTRUE\t\r\n',
      [{ zip: '00701', price: '1.10', ok: true, none: null }],
    ],
    ['a line break within a cell', 'a\tb\n"x\ny"\t-2.5', [{ a: 'x\ny', b: -2.5 }]],
    ['a name of members', '__proto__\tb\n1\t2', [JSON.parse('{"__proto__": 1, "b": 2}')]],
  ])('with %s', (_what, text, rows) => {
    expect(isTable(text)).toBe(true);
    expect(readTable(text)).toEqual(rows);
  });

  test('of many rows', () => {
    expect(readTable('1\t2\n'.repeat(150_000))).toHaveLength(150_000);
  });
});

test.each(['', '\t\n', 'text', 'two\nlines', '[1,\t2]', '{"a":\t1}', `a\tb${' '.repeat(1_000_000)}`])(
  'no table: %j',
  (text) => {
    expect(isTable(text)).toBe(false);
  },
);

test('a URL is one word', () => {
  expect(['https://x.example/a?b=c', ' http://x ', 'https://x y', 'ftp://x', 'x'].map(isUrl)).toEqual([
    ...[true, true, false, false, false],
  ]);
});
