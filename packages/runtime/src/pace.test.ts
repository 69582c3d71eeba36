import { expect, test } from 'vitest';
import { createPace } from './pace.ts';

test('after a rest, a burst goes at once; what follows is spread, and a rest fills the burst again', () => {
  let now = 1_000;
  const pace = createPace(15, 3, () => now);
  const take = (turns: number) =>
    Array.from({ length: turns }, () => {
      now += pace.next();
      return now;
    });
  expect(take(6)).toEqual([1_000, 1_000, 1_000, 1_015, 1_030, 1_045]);
  now += 15;
  expect(take(2)).toEqual([1_060, 1_075]);
  now += 1_000;
  expect(take(4)).toEqual([2_075, 2_075, 2_075, 2_090]);
});

test('a burst of one is a fixed rate', () => {
  let now = 0;
  const pace = createPace(10, 1, () => now);
  expect(pace.next()).toBe(0);
  now = 4;
  expect(pace.next()).toBe(6);
});
