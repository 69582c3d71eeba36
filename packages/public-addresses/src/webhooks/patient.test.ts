import { DatabaseUnavailableError } from '@millrace/database/errors';
import type { Watch } from '@millrace/runtime/watch';
import { expect, it } from 'vitest';
import { readPatiently } from './patient.ts';

/** A watch that counts the pauses and ends after some of them. */
function watchFor(pauses: number): Watch & { readonly pauses: number } {
  let count = 0;
  return {
    get pauses() {
      return count;
    },
    get isOver() {
      return count >= pauses;
    },
    async next() {
      count += 1;
    },
    close() {},
  };
}

const outage = () => Promise.reject(new DatabaseUnavailableError(new Error('Connection terminated')));

it('reads again while the database is unavailable, with the same arguments', async () => {
  const watch = watchFor(100);
  const given: number[] = [];
  const read = readPatiently(
    async (after: number) => {
      given.push(after);
      return given.length < 4 ? outage() : 'row';
    },
    watch,
    60_000,
  );
  expect(await read(7)).toBe('row');
  expect([given, watch.pauses]).toEqual([[7, 7, 7, 7], 3]);
});

it('gives up without an error when nobody is waiting any more, and when the time is over', async () => {
  const watch = watchFor(3);
  expect(await readPatiently(outage, watch, 60_000)()).toBeUndefined();
  expect(watch.pauses).toBe(3);
  const late = watchFor(100);
  expect(await readPatiently(outage, late, 0)()).toBeUndefined();
  expect(late.pauses).toBe(1);
});

it('looks once more when the time is over, because the process may have paused', async () => {
  let failures = 0;
  const once = async () => (failures++ === 0 ? outage() : 'row');
  expect(await readPatiently(once, watchFor(100), 0)()).toBe('row');
});

it('throws what waiting can not mend', async () => {
  const read = readPatiently(() => Promise.reject(new Error('a mistake')), watchFor(100), 60_000);
  await expect(read()).rejects.toThrow('a mistake');
});
