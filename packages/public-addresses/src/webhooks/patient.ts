import { mayRecover } from '@millrace/database/errors';
import type { Watch } from '@millrace/runtime/watch';

/** Pause before the next attempt, which ends at once when nobody is waiting any more. */
const PAUSE_MS = 250;

/**
 * Reads the execution of an accepted call, again while the database is unavailable: an error would tell the sender to repeat the call, and
 * that would start another execution.
 * @returns a function that returns undefined once the time is over, too
 */
export function readPatiently<Args extends readonly unknown[], Row>(
  read: (...args: Args) => Promise<Row | undefined>,
  watch: Watch,
  timeoutMs: number,
): (...args: Args) => Promise<Row | undefined> {
  const until = performance.now() + timeoutMs;
  return async (...args) => {
    // After a pause of the whole process, the first attempt may fail for that reason only.
    for (let isLast = false; ; isLast = watch.isOver || performance.now() >= until) {
      try {
        return await read(...args);
      } catch (error) {
        if (!mayRecover(error)) throw error;
        if (isLast) return undefined;
      }
      await watch.next(PAUSE_MS);
    }
  };
}
