import { expect, test } from 'vitest';
import { isTurnOfOldest } from '../src/index.ts';

test('S22: one in ten claims takes the oldest, even among every second, third or tenth claim', () => {
  for (const step of [1, 2, 3, 5, 7, 10, 11, 100]) {
    for (let start = 1; start <= step; start += Math.ceil(step / 5)) {
      const turns = Array.from({ length: 1_000 }, (_, index) => start + index * step).filter(isTurnOfOldest);
      expect(turns.length, `every ${step}`).toBeGreaterThan(80);
      expect(turns.length, `every ${step}`).toBeLessThan(120);
    }
  }
});

test('S22: the first claims go by priority', () => {
  expect([1, 2, 3].map(isTurnOfOldest)).toEqual([false, false, false]);
});
