import { expect, test } from 'vitest';
import { createPeriodicTask, type PeriodicTaskOptions } from './periodic-task.ts';

const HOUR_MS = 3_600_000;

/** Rounds that each wait to be released. */
function start(options: Partial<PeriodicTaskOptions> = {}) {
  const failures: unknown[] = [];
  const started: PromiseWithResolvers<void>[] = [];
  const waiting: ((count: number) => void)[] = [];
  const rounds = createPeriodicTask({
    async work() {
      const round = Promise.withResolvers<void>();
      started.push(round);
      for (const tell of waiting) tell(started.length);
      await round.promise;
    },
    pauseMs: () => HOUR_MS,
    onFailure: (error) => failures.push(error),
    ...options,
  });
  const reached = (wanted: number) =>
    new Promise<void>((resolve) => {
      const tell = (count: number): void => {
        if (count >= wanted) resolve();
      };
      waiting.push(tell);
      tell(started.length);
    });
  rounds.start();
  return { rounds, started, failures, reached };
}

test('first runs after a pause, or at once', async () => {
  const late = start();
  const early = start({ firstPauseMs: 0 });
  await early.reached(1);
  expect(late.started).toHaveLength(0);
  early.started[0]?.resolve();
  await Promise.all([late.rounds.stop(), early.rounds.stop()]);
  expect([late.started.length, early.started.length]).toEqual([0, 1]);
});

test('a kick ends the pause, and one during a run is kept', async () => {
  const { rounds, started, reached } = start();
  rounds.kick();
  await reached(1);
  rounds.kick();
  started[0]?.resolve();
  await reached(2);
  started[1]?.resolve();
  await rounds.stop();
  expect(started).toHaveLength(2);
});

test('a failed run is reported, and the next one follows', async () => {
  const { rounds, started, failures, reached } = start({ firstPauseMs: 0, pauseMs: () => 0 });
  await reached(1);
  started[0]?.reject(new Error('away'));
  await reached(2);
  expect(failures).toEqual([new Error('away')]);
  started[1]?.resolve();
  await rounds.stop();
});

test('stopping waits for the current run, which can check for it', async () => {
  const asked: boolean[] = [];
  const inHand = Promise.withResolvers<void>();
  const hasBegun = Promise.withResolvers<void>();
  const rounds = createPeriodicTask({
    async work(isStopping) {
      asked.push(isStopping());
      hasBegun.resolve();
      await inHand.promise;
      asked.push(isStopping());
    },
    pauseMs: () => 0,
    firstPauseMs: 0,
    onFailure: () => undefined,
  });
  rounds.start();
  await hasBegun.promise;
  const stopped = rounds.stop();
  inHand.resolve();
  await Promise.all([stopped, rounds.stop()]);
  expect(asked).toEqual([false, true]);
});
