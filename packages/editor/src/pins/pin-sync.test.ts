import { ApiProblem } from '@millrace/ui/api/client.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PinSync, type Pins } from './pin-sync.ts';

/** A fake service that responds on demand. */
function open() {
  const seen = {
    sent: [] as { node: string; output: unknown; isLast: boolean }[],
    answers: [] as { resolve: () => void; reject: (error: Error) => void }[],
    /** What is stored in the browser. */
    aside: null as Pins | null,
    hasRoom: true,
    failures: [] as string[],
  };
  const pinSync = new PinSync({
    send: (node, output, isLast) => {
      seen.sent.push({ node, output, isLast });
      return new Promise<void>((resolve, reject) => seen.answers.push({ resolve, reject }));
    },
    putAside(pins) {
      if (seen.hasRoom) seen.aside = pins;
      return seen.hasRoom;
    },
    onSettled: () => {
      seen.aside = null;
    },
    onFailed: (error) => seen.failures.push(error.constructor.name),
  });
  const answer = async (error?: Error) => {
    const { resolve, reject } = seen.answers.shift() ?? {};
    if (error === undefined) resolve?.();
    else reject?.(error);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { pinSync, seen, answer, outputs: () => seen.sent.map(({ node, output }) => [node, output]) };
}

const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('saving pins', () => {
  test('of several quick changes, the last one is sent after a pause', async () => {
    const { pinSync, outputs } = open();
    for (const n of [1, 2, 3]) pinSync.set('a', { n });
    expect(outputs()).toEqual([]);
    await after(500);
    expect(outputs()).toEqual([['a', { n: 3 }]]);
  });

  test('a newer change waits until the older one is stored, however long that takes', async () => {
    const { pinSync, outputs, answer } = open();
    pinSync.set('a', { n: 1 });
    await after(500);
    pinSync.set('a', { n: 2 });
    pinSync.set('b', { n: 3 });
    await after(60_000);
    expect(outputs()).toEqual([['a', { n: 1 }]]);
    await answer();
    expect(outputs().slice(1)).toEqual([['a', { n: 2 }]]);
    await answer();
    expect(outputs().slice(2)).toEqual([['b', { n: 3 }]]);
    await answer();
    expect(pinSync.unsaved.size).toBe(0);
  });

  test("what could not be sent is retried, reported once, and doesn't overwrite anything newer", async () => {
    const { pinSync, seen, outputs, answer } = open();
    pinSync.set('a', { n: 1 });
    await after(500);
    await answer(new TypeError('fetch failed'));
    expect([...(seen.aside ?? [])]).toEqual([['a', { n: 1 }]]);
    await after(5_000);
    pinSync.set('a', { n: 2 });
    await answer(new TypeError('fetch failed'));
    await after(5_000);
    await answer();
    expect(outputs()).toEqual([
      ['a', { n: 1 }],
      ['a', { n: 1 }],
      ['a', { n: 2 }],
    ]);
    expect(seen).toMatchObject({ failures: ['TypeError'], aside: null });
  });

  test('what was refused is reported and not retried; after the end of a session it is', async () => {
    const { pinSync, seen, answer } = open();
    pinSync.set('a', { n: 1 });
    await after(500);
    await answer(new ApiProblem(422, {}));
    await after(60_000);
    expect(seen).toMatchObject({ failures: ['ApiProblem'], sent: { length: 1 } });
    pinSync.set('a', { n: 2 });
    await after(500);
    await answer(new ApiProblem(401, { code: 'signed_out' }));
    expect([...(seen.aside ?? [])]).toEqual([['a', { n: 2 }]]);
    await after(5_000);
    expect(seen.sent).toHaveLength(3);
  });

  test('when the page closes, they are sent at once and kept aside, but nothing newer than the request in flight', async () => {
    const { pinSync, seen, outputs } = open();
    pinSync.set('a', { n: 1 });
    pinSync.leave(true);
    expect(seen.sent).toEqual([{ node: 'a', output: { n: 1 }, isLast: true }]);
    expect([...(seen.aside ?? [])]).toEqual([['a', { n: 1 }]]);
    pinSync.set('a', null);
    pinSync.leave(true);
    expect(outputs()).toEqual([['a', { n: 1 }]]);
    expect([...(seen.aside ?? [])]).toEqual([['a', null]]);
  });

  test('without room in the browser it says so, as long as something could be lost', async () => {
    const { pinSync, seen, answer } = open();
    seen.hasRoom = false;
    expect(pinSync.putAside()).toBe(true);
    pinSync.set('a', { n: 1 });
    expect(pinSync.putAside()).toBe(false);
    await after(500);
    expect(pinSync.putAside()).toBe(false);
    await answer();
    expect(pinSync.putAside()).toBe(true);
  });

  test('a closed page retries nothing', async () => {
    const { pinSync, seen, answer } = open();
    pinSync.set('a', { n: 1 });
    pinSync.leave(false);
    pinSync.stop();
    await answer(new TypeError('fetch failed'));
    await after(60_000);
    expect(seen.sent).toHaveLength(1);
    pinSync.start();
    await after(500);
    expect(seen.sent).toHaveLength(2);
  });
});
