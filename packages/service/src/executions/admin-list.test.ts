import { expect, test } from 'vitest';
import { nextBatchSize } from './admin-list.ts';

test('a page checks more rows while it has time left', () => {
  // Of 200 in 1 ms.
  expect(nextBatchSize(2_300, 200, 5)).toBe(1_000);
  expect(nextBatchSize(2_300, 200, 50)).toBe(2_300);
  expect(nextBatchSize(2_300, Number.POSITIVE_INFINITY, 6)).toBe(2_300);
  expect(nextBatchSize(2_300, 200, 0.4)).toBe(0);
  expect(nextBatchSize(50, 200, 0.4)).toBe(50);
  expect(nextBatchSize(2_300, 200, -3)).toBe(0);
  expect(nextBatchSize(0, 200, 5)).toBe(0);
});
