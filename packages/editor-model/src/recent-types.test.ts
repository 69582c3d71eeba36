import { expect, test } from 'vitest';
import { recentTypes, rememberType } from './recent-types.ts';

function storageOf(text: string | null) {
  let stored = text;
  return {
    getItem: () => stored,
    setItem: (_name: string, value: string) => {
      stored = value;
    },
  };
}

test('the type added last comes first, and each once', () => {
  const storage = storageOf(null);
  for (const type of ['a', 'b', 'a', 'c', 'd', 'e', 'f', 'd']) rememberType(type, storage);
  expect(recentTypes(storage)).toEqual(['d', 'f', 'e', 'c', 'a']);
});

test('unreadable or blocked storage means that nothing was used yet', () => {
  for (const text of ['{', '"a"', '[1, null]']) expect(recentTypes(storageOf(text)), text).toEqual([]);
  const blocked = () => {
    throw new Error('blocked');
  };
  expect(recentTypes({ getItem: blocked })).toEqual([]);
  expect(() => rememberType('a', { getItem: blocked, setItem: blocked })).not.toThrow();
});
