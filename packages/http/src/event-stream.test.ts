import type { Watch } from '@millrace/runtime/watch';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventsOf, formatEvent, type Look } from './event-stream.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] }));
afterEach(() => vi.useRealTimers());

/** A watch whose changes come after these pauses; nobody waits any more once they are used up. */
function watchOf(pausesMs: readonly number[]) {
  const left = [...pausesMs];
  const closed = vi.fn();
  const watch: Watch = {
    get isOver() {
      return left.length === 0;
    },
    async next() {
      vi.advanceTimersByTime(left.shift() ?? 0);
    },
    close: closed,
  };
  return { watch, closed };
}

async function textsOf(watch: Watch, looks: readonly Look[]): Promise<readonly string[]> {
  const left = [...looks];
  const texts: string[] = [];
  const look = async () => left.shift() ?? { text: '', isLast: false };
  for await (const text of eventsOf(watch, look)) texts.push(text);
  return texts;
}

const nothing: Look = { text: '', isLast: false };

test('an event is its name, its id if it has one, and JSON in one line', () => {
  expect(formatEvent('node', { a: '1\n2' }, 7)).toBe('event: node\nid: 7\ndata: {"a":"1\\n2"}\n\n');
  expect(formatEvent('end', {}, null)).toBe('event: end\ndata: {}\n\n');
});

test('ends with the last look, and closes the watch', async () => {
  const { watch, closed } = watchOf([0, 0, 0]);
  const looks = [{ text: 'a', isLast: false }, nothing, { text: 'b', isLast: true }];
  expect(await textsOf(watch, looks)).toEqual(['a', 'b']);
  expect(closed).toHaveBeenCalledOnce();
});

test('ends when nobody waits any more', async () => {
  const { watch, closed } = watchOf([0]);
  expect(await textsOf(watch, [{ text: 'a', isLast: false }])).toEqual(['a']);
  expect(closed).toHaveBeenCalledOnce();
});

test('says that it lives once it has been quiet for long, counted from the last event', async () => {
  const { watch } = watchOf([10_000, 10_000, 10_000, 10_000, 0]);
  const looks = [{ text: 'a', isLast: false }, nothing, nothing, { text: 'b', isLast: false }];
  expect(await textsOf(watch, looks)).toEqual(['a', ': nothing new\n\n', 'b']);
});

test('closes the watch when looking fails', async () => {
  const { watch, closed } = watchOf([0]);
  const events = eventsOf(watch, () => Promise.reject(new Error('away')));
  await expect(events.next()).rejects.toThrow('away');
  expect(closed).toHaveBeenCalledOnce();
});
