import { expect, test } from 'vitest';
import { remember } from '../src/remember.ts';

test('with more entries than there may be, the first one is forgotten', () => {
  const known = new Map<string, number>();
  for (const [index, key] of ['a', 'b', 'c'].entries()) remember(known, key, index, 2);
  expect([...known]).toEqual([
    ['b', 1],
    ['c', 2],
  ]);
});

test('an entry that is put back becomes the last one, and nothing is forgotten for it', () => {
  const known = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  remember(known, 'a', 3, 2);
  expect([...known]).toEqual([
    ['b', 2],
    ['a', 3],
  ]);
});
