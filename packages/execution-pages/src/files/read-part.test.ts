import { expect, test } from 'vitest';
import { decodeText, readLines, readTable } from './read-part.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

test('text is UTF-8, UTF-16 with a mark, or Shift_JIS; the last character may be cut', () => {
  expect(decodeText(utf8('請求書'), false)).toBe('請求書');
  expect(decodeText(utf8('請求書').subarray(0, 8), true)).toBe('請求');
  expect(decodeText(new Uint8Array([0xff, 0xfe, 0x42, 0x30]), false)).toBe('あ');
  expect(decodeText(new Uint8Array([0x90, 0xbf, 0x8b, 0x81]), false)).toBe('請求');
});

test('of a table, the rows that are complete', () => {
  expect(readTable('id;name\n1;Ada\n2;"B\nC"\n', false)).toEqual({
    names: ['id', 'name'],
    rows: [
      ['1', 'Ada'],
      ['2', 'B\nC'],
    ],
    hasMore: false,
  });
  expect(readTable('id,name\n1,Ada\n2,B', true)).toEqual({
    names: ['id', 'name'],
    rows: [['1', 'Ada']],
    hasMore: true,
  });
});

test('a table of many rows, columns and long cells is shown in part', () => {
  const rows = Array.from({ length: 300 }, () => Array.from({ length: 60 }, () => 'x'.repeat(600)).join());
  const { names, rows: shown, hasMore } = readTable(rows.join('\n'), false);
  expect([names.length, shown.length, shown[0]?.length, shown[0]?.[0]?.length, hasMore]).toEqual([
    50,
    200,
    50,
    501,
    true,
  ]);
});

test('exactly as many rows as are shown are all of them', () => {
  const rows = ['id', ...Array.from({ length: 200 }, (_, n) => String(n))].join('\n');
  expect(readTable(rows, false)).toMatchObject({ rows: { length: 200 }, hasMore: false });
});

test('JSON Lines: values, lines that are none, and no half line', () => {
  expect(readLines('{"a":1}\n\nnot json\n[2]', false)).toEqual({
    values: [{ a: 1 }, 'not json', [2]],
    hasMore: false,
  });
  expect(readLines('1\n2\n{"a', true)).toEqual({ values: [1, 2], hasMore: true });
});
