import { coalesce } from '@millrace/database/coalesce';
import { expect, test, vi } from 'vitest';

function recorder(options: Partial<Parameters<typeof coalesce<number, number>>[0]> = {}) {
  const batches: number[][] = [];
  const call = coalesce<number, number>({
    run: async (items) => {
      batches.push([...items]);
      await new Promise((resolve) => setImmediate(resolve));
      return items.map((item) => item * 2);
    },
    maxItems: 100,
    ...options,
  });
  return { batches, call };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Batches that end only when the test lets them. */
function recordHeld(options: { readonly lanes: number; readonly eagerFrom?: number }) {
  const batches: number[][] = [];
  const open: PromiseWithResolvers<void>[] = [];
  const call = coalesce<number, number>({
    run: async (items) => {
      batches.push([...items]);
      const ended = Promise.withResolvers<void>();
      open.push(ended);
      await ended.promise;
      return items;
    },
    maxItems: 100,
    ...options,
  });
  return { batches, open, call };
}

test('calls of one turn share a batch, those that arrive while it runs share the next', async () => {
  const { batches, call } = recorder();
  const first = Promise.all([1, 2, 3].map(call));
  await expect.poll(() => batches.length).toBe(1);
  const second = Promise.all([4, 5].map(call));
  expect(await first).toEqual([2, 4, 6]);
  expect(await second).toEqual([8, 10]);
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

test('with two lanes, a second batch begins while the first is in progress, and a third waits for one of them', async () => {
  const { batches, open, call } = recordHeld({ lanes: 2 });
  const calls = [1, 2].map(call);
  await expect.poll(() => batches).toEqual([[1, 2]]);
  calls.push(...[3, 4].map(call));
  await expect.poll(() => batches.length).toBe(2);
  calls.push(...[5, 6].map(call));
  await turn();
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ]);
  open[1]?.resolve();
  await expect.poll(() => batches[2]).toEqual([5, 6]);
  for (const { resolve } of open) resolve();
  expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 5, 6]);
});

test('so many items that a batch is eager for begin it in the middle of a turn, in every free lane; the rest waits', async () => {
  const { batches, open, call } = recordHeld({ lanes: 2, eagerFrom: 2 });
  const calls = [1].map(call);
  expect(batches).toEqual([]);
  calls.push(...[2, 3, 4, 5, 6, 7].map(call));
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ]);
  await turn();
  expect(batches.length).toBe(2);
  open[0]?.resolve();
  await expect.poll(() => batches[2]).toEqual([5, 6, 7]);
  for (const { resolve } of open) resolve();
  expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  // Nothing is left over from batches that were begun early: a lone call has its lane, with the next turn.
  const lone = call(8);
  expect(batches.length).toBe(3);
  await expect.poll(() => batches[3]).toEqual([8]);
  open[3]?.resolve();
  expect(await lone).toBe(8);
});

test('another batch begins beside those in progress once it has as many items, or as many as a batch is eager for', async () => {
  const { batches, open, call } = recordHeld({ lanes: 3, eagerFrom: 4 });
  const calls = [1, 2, 3].map(call);
  await expect.poll(() => batches).toEqual([[1, 2, 3]]);
  calls.push(...[4, 5, 6].map(call));
  await expect.poll(() => batches[1]).toEqual([4, 5, 6]);
  calls.push(...[7, 8, 9, 10].map(call));
  expect(batches[2]).toEqual([7, 8, 9, 10]);
  for (const { resolve } of open) resolve();
  expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('fewer wait for those in progress, but not for a batch that is held up', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { batches, open, call } = recordHeld({ lanes: 3, eagerFrom: 4 });
    const calls = [1, 2, 3].map(call);
    await turn();
    calls.push(...[4, 5].map(call));
    await turn();
    expect(batches).toEqual([[1, 2, 3]]);
    open[0]?.resolve();
    await turn();
    expect(batches[1]).toEqual([4, 5]);
    calls.push(call(6));
    await turn();
    vi.advanceTimersByTime(9);
    calls.push(...[7, 8].map(call));
    await turn();
    expect(batches.slice(2)).toEqual([[6, 7, 8]]);
    calls.push(call(9));
    await turn();
    // It doesn't suffice that one of the two batches ends: three items are still in progress.
    open[1]?.resolve();
    await turn();
    expect(batches.length).toBe(3);
    vi.advanceTimersByTime(10);
    expect(batches.slice(3)).toEqual([[9]]);
    for (const { resolve } of open) resolve();
    expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  } finally {
    vi.useRealTimers();
  }
});

test('a batch never exceeds its items and weight; a heavy item is alone', async () => {
  const { batches, call } = recorder({ maxItems: 3, maxWeight: 10, weightOf: (item) => item });
  expect(await Promise.all([1, 2, 3, 4, 50, 6, 7].map(call))).toEqual([2, 4, 6, 8, 100, 12, 14]);
  expect(batches).toEqual([[1, 2, 3], [4], [50], [6], [7]]);
});

test('items with the same key never share a batch and keep their order', async () => {
  const { batches, call } = recorder({ keyOf: (item) => item % 10 });
  await Promise.all([1, 11, 2, 21, 3].map(call));
  expect(batches).toEqual([[1, 2, 3], [11], [21]]);
});

test("a failure affects every item, unless it may be a single item's fault", async () => {
  const run = async (items: readonly number[]) => {
    if (items.includes(13)) throw new Error('thirteen');
    return items;
  };
  const together = coalesce<number, number>({ run, maxItems: 10 });
  const outcomes = await Promise.allSettled([1, 13, 2].map(together));
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'rejected']);
  const apart = coalesce<number, number>({ run, maxItems: 10, isOneItemsFault: () => true });
  const alone = await Promise.allSettled([1, 13, 2].map(apart));
  expect(alone.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await apart(4)).toBe(4);
});

test('a run that returns too few results is an error, not a wrong result', async () => {
  const call = coalesce<number, number>({ run: async () => [1], maxItems: 10 });
  await expect(Promise.all([call(1), call(2)])).rejects.toThrow('2 items got 1 answers');
});
