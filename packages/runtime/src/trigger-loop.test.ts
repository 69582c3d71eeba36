import { expect, test } from 'vitest';
import { createTriggerRounds } from './trigger-loop.ts';

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
  const rounds = createTriggerRounds({
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
  return { rounds, heard, failures, untilRound, count: () => count };
}

test('the first round begins at once, the next after its pause', async () => {
  const { rounds, heard, untilRound, count } = start([1]);
  await rounds.start();
  expect(count()).toBe(1);
  await untilRound(2);
  await rounds.stop();
  expect(heard.map(({ channel }) => channel)).toEqual(['millrace_schedules']);
});

test.each(['changed', 'reconnected'] as const)('a round is due when triggers have %s', async (how) => {
  const { rounds, heard, untilRound } = start([]);
  await rounds.start();
  await untilRound(1);
  heard[0]?.[how]();
  await untilRound(2);
  await rounds.stop();
});

test('a failure is reported, and the next round runs all the same', async () => {
  const { rounds, failures, untilRound } = start([new Error('away')]);
  await rounds.start();
  await untilRound(1);
  rounds.kick();
  await untilRound(2);
  await rounds.stop();
  expect(failures).toEqual([new Error('away')]);
});

test('once they stop, none begins, and whoever works learns of it', async () => {
  const { rounds, count, untilRound } = start([]);
  await rounds.start();
  await untilRound(1);
  expect(rounds.stopping.aborted).toBe(false);
  await Promise.all([rounds.stop(), rounds.stop()]);
  expect(rounds.stopping.aborted).toBe(true);
  rounds.kick();
  await rounds.stop();
  expect(count()).toBe(1);
});
