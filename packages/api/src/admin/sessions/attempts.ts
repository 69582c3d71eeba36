import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';

/**
 * Names counted at once, so that memory stays bounded. One more is refused until the time of another is over: forgetting
 * one that still counts would let whoever has many addresses guess without end.
 */
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
      // The one seen longest ago stands first.
      if (!failures.delete(name) && !makeRoom(failures, at - windowMs)) throw tooMany(windowMs);
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

/** Forgets the name seen longest ago when nothing of it counts any more. False: there is no room. */
function makeRoom(failures: Map<string, number[]>, since: number): boolean {
  if (failures.size < MOST_COUNTED) return true;
  const [first] = failures;
  if (first === undefined || first[1].some((time) => time > since)) return false;
  return failures.delete(first[0]);
}

function tooMany(waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ApiError('too_many_failed_authentications', message('api.admin_too_many_attempts'), {
    headers: { 'retry-after': String(seconds) },
  });
}
