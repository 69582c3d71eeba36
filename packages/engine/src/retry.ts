/** How often and how soon a failed node is tried again. */
export interface RetryPolicy {
  /** Attempts that may fail before the node fails; 1 means no retry. */
  readonly maxAttempts: number;
  /** Ceiling of the first delay in milliseconds; doubles with every further failure. */
  readonly backoffMs: number;
  /** Ceiling of every delay in milliseconds, except one requested by the remote side. */
  readonly maxBackoffMs: number;
}

export const NO_RETRY: RetryPolicy = { maxAttempts: 1, backoffMs: 1_000, maxBackoffMs: 60_000 };

/** A remote side that asks for more than a day is given only a day. */
export const MAX_RETRY_AFTER_MS = 86_400_000;

/**
 * Milliseconds until the next attempt: full jitter, a random part of the exponential ceiling, so that executions that failed together don't
 * retry together. Never earlier than the remote side asked for.
 * @param failures attempts that have failed so far, at least 1
 * @param jitter random number in [0, 1)
 */
export function retryDelayMs(
  policy: RetryPolicy,
  failures: number,
  jitter: number,
  retryAfterMs: number | undefined,
): number {
  const ceiling = Math.min(policy.maxBackoffMs, policy.backoffMs * 2 ** Math.min(failures - 1, 40));
  const askedFor = Math.max(0, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
  return Math.ceil(Math.max(askedFor, jitter * ceiling));
}
