import { expect, test } from 'vitest';
import { essenceOf, kindOf, tooLargeFor } from './file-kind.ts';

test.each([
  ['a.png', 'image/png', 'image'],
  ['photo.JPG', 'application/octet-stream', 'image'],
  ['a.svg', 'image/svg+xml', 'text'],
  ['a.html', 'text/html; charset=utf-8', 'text'],
  ['invoice.pdf', 'application/pdf', 'pdf'],
  ['orders.csv', 'application/vnd.ms-excel', 'table'],
  ['orders', 'text/csv; charset=shift_jis', 'table'],
  ['a.json', 'application/octet-stream', 'json'],
  ['a', 'application/problem+json', 'json'],
  ['rows.jsonl', 'application/octet-stream', 'jsonl'],
  ['a.zip', 'application/zip', null],
  ['a.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', null],
  ['video.mp4', 'video/mp4', null],
])('%s of type %s is shown as %s', (name, type, kind) => {
  expect(kindOf({ name, type })).toBe(kind);
});

test('a type that says nothing is taken from the name', () => {
  expect(essenceOf({ name: 'a.png', type: 'application/octet-stream' })).toBe('image/png');
  expect(essenceOf({ name: 'a.png', type: 'Text/Plain; charset=utf-8' })).toBe('text/plain');
});

test('only what is read as a whole can be too large', () => {
  expect(tooLargeFor('image', 21 * 1024 * 1024)).toBe(true);
  expect(tooLargeFor('image', 20 * 1024 * 1024)).toBe(false);
  expect(tooLargeFor('table', 2 ** 40)).toBe(false);
});
