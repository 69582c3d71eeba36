import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SpanQueue } from './span-queue.ts';
import type { FinishedSpan } from './tracer.ts';

const SPAN: FinishedSpan = {
  context: { traceId: '1'.repeat(32), spanId: '1'.repeat(16), isSampled: true },
  parentSpanId: null,
  name: 'a',
  kind: 'internal',
  startMs: 0,
  endMs: 1,
  attributes: {},
  errorCode: null,
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A queue for ten spans in batches of four, and a collector that takes a batch when it is told to. */
function open() {
  const batches: number[] = [];
  const open: PromiseWithResolvers<void>[] = [];
  const failures: unknown[] = [];
  const queue = new SpanQueue({
    send(spans) {
      batches.push(spans.length);
      const outcome = Promise.withResolvers<void>();
      open.push(outcome);
      return outcome.promise;
    },
    maxSpans: 10,
    batchSpans: 4,
    delayMs: 1_000,
    onFailure: (error) => failures.push(error),
  });
  const add = (count: number) => {
    for (let left = count; left > 0; left -= 1) queue.add(SPAN);
  };
  /** The collector takes the oldest batch, or refuses it. */
  const answer = async (error?: Error) => {
    const outcome = open.shift();
    if (error === undefined) outcome?.resolve();
    else outcome?.reject(error);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { queue, add, answer, batches, failures };
}

test('spans are sent together, one batch at a time', async () => {
  const { queue, add, answer, batches } = open();
  add(1);
  expect(batches).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(batches).toEqual([1]);
  add(9);
  expect(batches).toEqual([1]);
  await answer();
  expect(batches).toEqual([1, 4]);
  await answer();
  expect(batches).toEqual([1, 4, 4]);
  await answer();
  // The last one waits for others.
  expect(batches).toEqual([1, 4, 4]);
  await vi.advanceTimersByTimeAsync(1_000);
  await answer();
  expect(batches).toEqual([1, 4, 4, 1]);
  expect(queue.counts).toEqual({ exported: 10, dropped: 0 });
});

test('what does not fit, and what the collector refuses, is dropped and counted; one failure is reported at a time', async () => {
  const { queue, add, answer, batches, failures } = open();
  add(100_000);
  // Four are being sent, ten wait.
  expect(batches).toEqual([4]);
  expect(queue.counts).toEqual({ exported: 0, dropped: 100_000 - 14 });
  const away = new Error('away');
  await answer(away);
  await answer(away);
  expect(failures).toEqual([away]);
  expect(queue.counts).toEqual({ exported: 0, dropped: 100_000 - 6 });
  await vi.advanceTimersByTimeAsync(1_000);
  await answer();
  expect(queue.counts).toMatchObject({ exported: 4 });
  add(4);
  await answer(away);
  expect(failures).toEqual([away, away]);
});

test('a stop sends what waits, and gives up after its timeout', async () => {
  const { queue, add, answer, batches } = open();
  add(6);
  const stopped = queue.stop(5_000);
  await answer();
  expect(batches).toEqual([4, 2]);
  await answer();
  await stopped;
  expect(queue.counts).toEqual({ exported: 6, dropped: 0 });

  add(6);
  const stopping = queue.stop(5_000);
  await vi.advanceTimersByTimeAsync(5_000);
  await stopping;
  expect(queue.counts).toEqual({ exported: 6, dropped: 2 });
});
