import { expect, test } from 'vitest';
import { howManyMore } from './admin-list.ts';

test('a page checks as much more as time is left for', () => {
  // Of 200 in 1 ms.
  expect(howManyMore(2_300, 200, 5)).toBe(1_000);
  expect(howManyMore(2_300, 200, 50)).toBe(2_300);
  expect(howManyMore(2_300, Number.POSITIVE_INFINITY, 6)).toBe(2_300);
  expect(howManyMore(2_300, 200, 0.4)).toBe(0);
  expect(howManyMore(50, 200, 0.4)).toBe(50);
  expect(howManyMore(2_300, 200, -3)).toBe(0);
  expect(howManyMore(0, 200, 5)).toBe(0);
});
