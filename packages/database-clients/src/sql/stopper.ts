import type { StopReason } from './errors.ts';

/** How long the server has after a cancel to report how the statement ended. */
const ANSWER_MS = 5_000;

/**
 * Stops a statement that takes too long or is no longer wanted: asks the server to cancel it, so that its outcome is known,
 * and cuts the connection if the server doesn't respond.
 */
export interface Stopper {
  /** Why it was stopped; null if it wasn't. */
  readonly reason: StopReason | null;
  /** The statement has ended. */
  done(): void;
}

/**
 * @param cancel asks the server; a failure shows as the server's silence
 * @param cut ends the connection
 */
export function startStopper(
  timeoutMs: number,
  signal: AbortSignal,
  cancel: () => Promise<void>,
  cut: () => void,
): Stopper {
  let reason: StopReason | null = null;
  let lastTimer: NodeJS.Timeout | undefined;
  const stop = (why: StopReason): void => {
    if (reason !== null) return;
    reason = why;
    lastTimer = setTimeout(cut, ANSWER_MS);
    cancel().catch(() => undefined);
  };
  const onAbort = (): void => stop('aborted');
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    get reason() {
      return reason;
    },
    done() {
      clearTimeout(timer);
      clearTimeout(lastTimer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}
