import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseUnavailableError, waitingMayMend } from './errors.ts';

export interface RetryOptions {
  /** Called with every failure after which there is another attempt. */
  readonly onUnavailable?: (error: DatabaseUnavailableError) => void;
  /** Ends the waiting; what is thrown then is its reason. */
  readonly signal?: AbortSignal | undefined;
  /** When to give up; never when absent. */
  readonly timeoutMs?: number;
}

/** Pauses between attempts while the database is unavailable; the last one repeats. */
const PAUSES_MS = [20, 50, 100, 250, 500];

/** Waits before another attempt. @param failures how many attempts failed before the one that has just failed */
export async function pauseAfter(failures: number, signal?: AbortSignal): Promise<void> {
  const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)];
  await sleep(pauseMs, undefined, signal && { signal }).catch(() => {});
}

/**
 * Does `work`, again from its beginning as long as the database is unavailable. For what may be done twice: whether an
 * attempt that lost its connection took effect is not known.
 * @throws what `work` throws, as soon as waiting cannot mend it
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  { onUnavailable, signal, timeoutMs = Number.POSITIVE_INFINITY }: RetryOptions = {},
): Promise<T> {
  const startedAt = performance.now();
  for (let failures = 0; ; failures += 1) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!waitingMayMend(error) || performance.now() - startedAt > timeoutMs) throw error;
      onUnavailable?.(error);
    }
    await pauseAfter(failures, signal);
  }
}
