import { expect, test, vi } from 'vitest';
import { DatabaseUnavailableError } from './errors.ts';
import { retryWhileUnavailable } from './retry.ts';

const UNAVAILABLE = new DatabaseUnavailableError(new Error('connect ECONNREFUSED'));

test('work is done again until the database is there', async () => {
  const work = vi
    .fn()
    .mockRejectedValueOnce(UNAVAILABLE)
    .mockRejectedValueOnce(UNAVAILABLE)
    .mockResolvedValue(7);
  const onUnavailable = vi.fn();
  expect(await retryWhileUnavailable(work, { onUnavailable })).toBe(7);
  expect(onUnavailable.mock.calls).toEqual([[UNAVAILABLE], [UNAVAILABLE]]);
});

test('it gives up when the time is over, and at once when waiting cannot mend it', async () => {
  const work = vi.fn().mockRejectedValue(UNAVAILABLE);
  await expect(retryWhileUnavailable(work, { timeoutMs: -1 })).rejects.toBe(UNAVAILABLE);
  work.mockRejectedValue(new Error('syntax error'));
  await expect(retryWhileUnavailable(work)).rejects.toThrow('syntax error');
  expect(work).toHaveBeenCalledTimes(2);
});

test('who ends the waiting says why', async () => {
  const stop = new AbortController();
  const work = vi.fn().mockRejectedValue(UNAVAILABLE);
  const onUnavailable = () => stop.abort(new Error('the service stops'));
  await expect(retryWhileUnavailable(work, { signal: stop.signal, onUnavailable })).rejects.toThrow('stops');
  expect(work).toHaveBeenCalledOnce();
});
