import { ApiError } from '../../errors.ts';

/** Names counted at once; the one seen longest ago is forgotten first, so memory stays bounded. */
const MOST_COUNTED = 50_000;

/** Counts what somebody tries who may be guessing. */
export interface AttemptLimit {
  /**
   * Counts one attempt under a name, before it is known how it ends, so that many at once are no way round.
   * @returns takes it back, for one that ended well
   * @throws ApiError `too_many_failed_authentications` with Retry-After
   */
  begin(name: string): () => void;
}

/**
 * A limit of failed attempts within a window that slides. It never locks: what was refused is not counted, so the next
 * attempt is possible as soon as the oldest failure has left the window. Counts are per process.
 * @param now monotonic milliseconds
 */
export function createAttemptLimit(
  most: number,
  windowMs: number,
  now: () => number = () => performance.now(),
): AttemptLimit {
  const failures = new Map<string, number[]>();
  return {
    begin(name) {
      const at = now();
      const times = (failures.get(name) ?? []).filter((time) => time > at - windowMs);
      failures.delete(name);
      failures.set(name, times);
      forgetOldest(failures);
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

function forgetOldest(failures: Map<string, number[]>): void {
  if (failures.size <= MOST_COUNTED) return;
  const [oldest] = failures.keys();
  if (oldest !== undefined) failures.delete(oldest);
}

function tooMany(waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ApiError(
    'too_many_failed_authentications',
    'Too many attempts failed. Wait for the time in Retry-After, then try again.',
    { headers: { 'retry-after': String(seconds) } },
  );
}
