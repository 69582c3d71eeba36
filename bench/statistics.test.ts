import fc from 'fast-check';
import { expect, test } from 'vitest';
import { median, percentile } from './statistics.ts';

test('median is the middle value, or the mean of the two in the middle', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([9, 1, 5, 7])).toBe(6);
  expect(median([3])).toBe(3);
  expect(median([])).toBeNaN();
});

test('percentile is the smallest value that enough values do not exceed', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(values, 0.5)).toBe(50);
  expect(percentile(values, 0.95)).toBe(95);
  expect(percentile(values, 1)).toBe(100);
  expect(percentile(values, 0)).toBe(1);
  expect(percentile([], 0.5)).toBeNaN();
});

test('neither depends on the order of the values nor changes them', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
      const before = [...values];
      expect(median(values.toReversed())).toBe(median(values));
      expect(percentile(values.toReversed(), 0.9)).toBe(percentile(values, 0.9));
      expect(values).toEqual(before);
    }),
  );
});
