import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { makeRoom } from './rate-limit.ts';

export const MINUTE_MS = 60_000;

/**
 * A sliding-window limit on failed attempts, which may be guesses. It never locks: refused attempts aren't counted, so the next attempt is possible as soon as
 * the oldest failure has left the window. Counts are per process.
 * @param most 0 disables the limit
 * @param now monotonic milliseconds
 */
export function createAttemptLimit(
  most: number,
  windowMs = MINUTE_MS,
  now: () => number = () => performance.now(),
) {
  const failures = new Map<string, number[]>();
  return {
    /**
     * Counts one attempt under a name before its outcome is known, so that concurrent attempts can't bypass the limit.
     * @returns undoes the count, for a successful attempt
     * @throws ApiError `too_many_failed_authentications` with Retry-After
     */
    begin(name: string): () => void {
      if (most === 0) return () => {};
      const at = now();
      const counts = (time: number) => time > at - windowMs;
      const times = (failures.get(name) ?? []).filter(counts);
      // The least recently seen comes first.
      if (!failures.delete(name) && !makeRoom(failures, (kept) => !kept.some(counts)))
        throw tooMany(windowMs);
      failures.set(name, times);
      const [oldest] = times;
      if (times.length >= most && oldest !== undefined) throw tooMany(oldest + windowMs - at);
      times.push(at);
      return () => {
        const kept = failures.get(name) ?? [];
        const index = kept.indexOf(at);
        if (index !== -1) kept.splice(index, 1);
        if (kept.length === 0) failures.delete(name);
      };
    },
  };
}

function tooMany(waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ApiError('too_many_failed_authentications', message('api.failed_authentications'), {
    headers: { 'retry-after': String(seconds) },
  });
}
