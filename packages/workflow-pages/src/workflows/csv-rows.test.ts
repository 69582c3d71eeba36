import { expect, test } from 'vitest';
import { createSplitter, EndlessRowError, guessEncoding, readCsvRows } from './csv-rows.ts';

async function read(file: Blob, encoding = 'utf-8'): Promise<(readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  for await (const { cells } of readCsvRows(file, encoding)) rows.push(cells);
  return rows;
}

const TEXT = 'name,note\r\n"Ada, Countess","two\r\nlines ""quoted"""\r\n\r\nGrace,\r\n日本,x';
const ROWS = [
  ['name', 'note'],
  ['Ada, Countess', 'two\r\nlines "quoted"'],
  ['Grace', ''],
  ['日本', 'x'],
];

/** Long enough to be divided before and after the separator is recognised. */
const MANY = [TEXT, ...Array.from({ length: 1_500 }, (_, n) => `row ${n},"a ""${n}"",\r\nb"`)].join('\r\n');

test('a text that arrives in pieces of any size has the same rows', () => {
  const many = [...ROWS, ...Array.from({ length: 1_500 }, (_, n) => [`row ${n}`, `a "${n}",\r\nb`])];
  for (const [text, expected, sizes] of [
    [TEXT, ROWS, [1, 2, 3, 7]],
    [MANY, many, [997, 4_099, 20_011, 1_000_000]],
  ] as const) {
    for (const size of sizes) {
      const split = createSplitter();
      const rows = [];
      for (let at = 0; at < text.length; at += size) rows.push(...split(text.slice(at, at + size), false));
      rows.push(...split('', true));
      expect([size, rows]).toEqual([size, expected]);
    }
  }
});

test('encodings, separators and a byte order mark', async () => {
  expect(await read(new Blob(['\uFEFF', TEXT]))).toEqual(ROWS);
  // "name;n\n" and a name in Shift_JIS.
  const bytes = Uint8Array.from([
    ...new TextEncoder().encode('name;n\n'),
    0x93,
    0xfa,
    0x96,
    0x7b,
    0x3b,
    0x37,
  ]);
  const file = new Blob([bytes]);
  expect(await guessEncoding(file)).toBe('shift_jis');
  expect(await read(file, 'shift_jis')).toEqual([
    ['name', 'n'],
    ['日本', '7'],
  ]);
  expect(await guessEncoding(new Blob([TEXT]))).toBe('utf-8');
  expect(await read(new Blob(['a\tb\n1\t2\n']))).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ]);
});

test('an empty file has no rows, and a quote that is never closed is an error', async () => {
  expect(await read(new Blob([]))).toEqual([]);
  await expect(read(new Blob(['a\n"', 'x'.repeat(5 * 1024 * 1024)]))).rejects.toThrow(EndlessRowError);
});
