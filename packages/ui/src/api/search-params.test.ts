import { expect, test } from 'vitest';
import { id, moment, oneOf, searchReader, text } from './search-params.ts';

const read = searchReader({ name: text, tab: oneOf(['a', 'b']), key: id, from: moment });

test('valid values are read, digits in a text as text', () => {
  const given = { name: 12, tab: 'b', key: '7', from: '2026-11-20T09:30' };
  expect(read(given)).toEqual({ name: '12', tab: 'b', key: 7, from: '2026-11-20T09:30' });
});

test('invalid values are omitted', () => {
  const keys = [0, -1, 1.5, 'x', null, [], {}, 2 ** 53];
  for (const key of keys) expect(read({ key })).toEqual({});
  expect(read({ name: '  ', tab: 'c', from: 'soon', other: 1 })).toEqual({});
  expect(read({ name: { toString: 1 }, tab: ['a'], from: 5 })).toEqual({});
});
