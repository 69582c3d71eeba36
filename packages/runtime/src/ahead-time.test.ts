import { expect, test } from 'vitest';
import { createAheadTime } from './ahead-time.ts';

test('adds up the time of the starts in one turn, without what is done between them, and starts over in the next', () => {
  let now = 100;
  const turns: (() => void)[] = [];
  const time = createAheadTime(
    () => now,
    (callback) => turns.push(callback),
  );
  const first = time.begin();
  now += 3;
  expect(first.spentMs()).toBe(3);
  first.end();
  now += 50;
  const second = time.begin();
  now += 4;
  expect(second.spentMs()).toBe(7);
  second.end();
  expect(turns.length).toBe(1);
  turns[0]?.();
  const third = time.begin();
  now += 1;
  expect(third.spentMs()).toBe(1);
  expect(turns.length).toBe(2);
});
