import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** A clock on which every item takes 4 ms: three fill a turn. */
function slowTurns() {
  let now = 0;
  const turns = createTurns(() => now);
  return (organisationId: number, items: readonly string[], log: string[]) =>
    turns.forEach(organisationId, items, (item) => {
      log.push(item);
      now += 4;
    });
}

test('a turn ends after its time, and other work goes on in between', async () => {
  const log: string[] = [];
  const forEach = slowTurns();
  let isDone = false;
  function other(): void {
    if (isDone) return;
    log.push('-');
    setImmediate(other);
  }
  setImmediate(other);
  await forEach(1, ['a', 'b', 'c', 'd'], log);
  isDone = true;
  expect(log.join('')).toMatch(/^-+abc-+d$/);
});

test('organisations take turns, however many loops one of them has', async () => {
  const log: string[] = [];
  const forEach = slowTurns();
  const loops = [0, 1, 2].map((n) => forEach(1, [`${n}a`, `${n}b`, `${n}c`, `${n}d`], log));
  await Promise.all([...loops, forEach(2, ['other'], log)]);
  expect(log.indexOf('other')).toBe(3);
  expect(log).toHaveLength(13);
});

test('a failure ends its loop only', async () => {
  const log: string[] = [];
  const turns = createTurns();
  const failing = turns.forEach(1, [1], () => {
    throw new Error('no');
  });
  const other = turns.forEach(1, [2], (item) => void log.push(String(item)));
  await expect(failing).rejects.toThrow('no');
  await other;
  expect(log).toEqual(['2']);
});
