import { expect, test } from 'vitest';
import { parseMachineTime, stolenShare } from './process-facts.ts';

test('stolen time is the eighth column of /proc/stat, as a share of all', () => {
  const before = parseMachineTime('cpu  100 0 50 800 10 0 5 35 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n');
  const after = parseMachineTime('cpu  160 0 70 880 10 0 5 75 0 0\n');
  expect(before).toEqual({ total: 1000, stolen: 35 });
  expect(stolenShare(before, after)).toBe(0.2);
  expect(stolenShare(after, after)).toBe(0);
});
