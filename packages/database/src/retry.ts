import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseUnavailableError, mayRecover } from './errors.ts';

export interface RetryOptions {
  /** Called with every failure that is retried. */
  readonly onUnavailable?: (error: DatabaseUnavailableError) => void;
  /** Ends the waiting; its reason is thrown then. */
  readonly signal?: AbortSignal | undefined;
  /** When to give up; never when absent. */
  readonly timeoutMs?: number;
}

/** Pauses between attempts while the database is unavailable; the last one repeats. */
const PAUSES_MS = [20, 50, 100, 250, 500];

/** Waits before another attempt. @param failures how many attempts failed before the latest one */
export async function pauseAfter(failures: number, signal?: AbortSignal): Promise<void> {
  const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)];
  await sleep(pauseMs, undefined, signal && { signal }).catch(() => {});
}

/**
 * Runs `work`, again from the start as long as the database is unavailable. Only for work that may be done twice: it is unknown whether an
 * attempt that lost its connection took effect.
 * @throws whatever `work` throws, as soon as waiting can't help
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
      if (!mayRecover(error) || performance.now() - startedAt > timeoutMs) throw error;
      onUnavailable?.(error);
    }
    await pauseAfter(failures, signal);
  }
}
