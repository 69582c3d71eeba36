import { expect, test } from 'vitest';
import { labelledPlaces, roundUp } from './chart-scale.ts';

test('an axis ends at a round number', () => {
  expect([0, 1, 3, 7, 12, 50, 51, 3_000].map(roundUp)).toEqual([1, 1, 5, 10, 20, 50, 100, 5_000]);
});

test('labels are evenly apart, and the latest bar has one', () => {
  expect(labelledPlaces(7, 10)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(labelledPlaces(24, 6)).toEqual([3, 7, 11, 15, 19, 23]);
  expect(labelledPlaces(0, 6)).toEqual([]);
});
