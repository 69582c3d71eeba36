import type { JsonValue } from '@millrace/values/json';
import { expect, test } from 'vitest';
import { findFiles } from '../src/file-value.ts';

const idOf = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const file = (digit: number) => ({
  $file: idOf(digit),
  name: 'a.txt',
  type: 'text/plain',
  size: 1,
  sha256: '',
});

test('files are found in order, each once, with the path to where it first occurs', () => {
  const value = { a: [1, null, { b: file(1) }, file(2)], c: { d: [[file(1)], file(3)] }, e: 'text' };
  expect(findFiles(value)).toEqual([
    { id: idOf(1), path: ['a', 2, 'b'] },
    { id: idOf(2), path: ['a', 3] },
    { id: idOf(3), path: ['c', 'd', 1] },
  ]);
  expect(findFiles(file(4))).toEqual([{ id: idOf(4), path: [] }]);
  expect(findFiles([1, 'a', null])).toEqual([]);
});

test('a file at the end of a very deep value is found', () => {
  const levels = 20_000;
  let value: JsonValue = file(1);
  for (let level = 0; level < levels; level += 1) value = [value];
  expect(findFiles(value)).toEqual([{ id: idOf(1), path: Array.from({ length: levels }, () => 0) }]);
});
