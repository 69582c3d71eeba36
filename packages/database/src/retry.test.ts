import { expect, test, vi } from 'vitest';
import { DatabaseUnavailableError } from './errors.ts';
import { retryWhileUnavailable } from './retry.ts';

const UNAVAILABLE = new DatabaseUnavailableError(new Error('connect ECONNREFUSED'));

test('repeats work until the database is available', async () => {
  const work = vi
    .fn()
    .mockRejectedValueOnce(UNAVAILABLE)
    .mockRejectedValueOnce(UNAVAILABLE)
    .mockResolvedValue(7);
  const onUnavailable = vi.fn();
  expect(await retryWhileUnavailable(work, { onUnavailable })).toBe(7);
  expect(onUnavailable.mock.calls).toEqual([[UNAVAILABLE], [UNAVAILABLE]]);
});

test("gives up when the time is over, and at once if waiting can't help", async () => {
  const work = vi.fn().mockRejectedValue(UNAVAILABLE);
  await expect(retryWhileUnavailable(work, { timeoutMs: -1 })).rejects.toBe(UNAVAILABLE);
  work.mockRejectedValue(new Error('syntax error'));
  await expect(retryWhileUnavailable(work)).rejects.toThrow('syntax error');
  expect(work).toHaveBeenCalledTimes(2);
});

test('the one who aborts gives the reason', async () => {
  const stop = new AbortController();
  const work = vi.fn().mockRejectedValue(UNAVAILABLE);
  const onUnavailable = () => stop.abort(new Error('the service stops'));
  await expect(retryWhileUnavailable(work, { signal: stop.signal, onUnavailable })).rejects.toThrow('stops');
  expect(work).toHaveBeenCalledOnce();
});
