import { expect, test } from 'vitest';
import { createTriggerLoop } from './trigger-loop.ts';

const HOUR_MS = 3_600_000;

/** A database whose triggers change when the test says so. */
function fakeDatabase() {
  const heard: { channel: string; changed: () => void; reconnected: () => void }[] = [];
  return {
    heard,
    db: {
      async listen(channel: string, changed: (payload: string) => void, reconnected = () => {}) {
        heard.push({ channel, changed: () => changed(''), reconnected });
      },
    },
  };
}

/** Each round waits until the test ends it. */
function start(ends: readonly (number | Error)[]) {
  const { db, heard } = fakeDatabase();
  const failures: unknown[] = [];
  let count = 0;
  let reached: { readonly wanted: number; readonly resolve: () => void } | null = null;
  const loop = createTriggerLoop({
    db,
    async round() {
      const end = ends[count] ?? HOUR_MS;
      count += 1;
      if (count === reached?.wanted) reached.resolve();
      if (end instanceof Error) throw end;
      return end;
    },
    onFailure: (error) => failures.push(error),
  });
  const untilRound = (wanted: number) =>
    new Promise<void>((resolve) => {
      reached = { wanted, resolve };
      if (count >= wanted) resolve();
    });
  return { loop, heard, failures, untilRound, count: () => count };
}

test('the first round begins at once, the next after its pause', async () => {
  const { loop, heard, untilRound, count } = start([1]);
  await loop.start();
  expect(count()).toBe(1);
  await untilRound(2);
  await loop.stop();
  expect(heard.map(({ channel }) => channel)).toEqual(['millrace_schedules']);
});

test.each(['changed', 'reconnected'] as const)('a round is due when triggers have %s', async (how) => {
  const { loop, heard, untilRound } = start([]);
  await loop.start();
  await untilRound(1);
  heard[0]?.[how]();
  await untilRound(2);
  await loop.stop();
});

test('a failure is reported, and the next round runs all the same', async () => {
  const { loop, failures, untilRound } = start([new Error('away')]);
  await loop.start();
  await untilRound(1);
  loop.kick();
  await untilRound(2);
  await loop.stop();
  expect(failures).toEqual([new Error('away')]);
});

test('once stopped, no round begins, and the current one is aborted', async () => {
  const { loop, count, untilRound } = start([]);
  await loop.start();
  await untilRound(1);
  expect(loop.stopping.aborted).toBe(false);
  await Promise.all([loop.stop(), loop.stop()]);
  expect(loop.stopping.aborted).toBe(true);
  loop.kick();
  await loop.stop();
  expect(count()).toBe(1);
});
