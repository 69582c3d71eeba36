import type { StopReason } from './result.ts';

/** After a cancel the server gets this long to say how the statement ended. */
const ANSWER_MS = 5_000;

/**
 * Stops a statement that takes too long or is not wanted any more: asks the server to cancel it, so that its end is known, and
 * cuts the connection when it does not say.
 */
export interface Stopper {
  /** Why it was stopped; null while it was not. */
  readonly reason: StopReason | null;
  /** The statement has ended. */
  done(): void;
}

/**
 * @param cancel asks the server; what goes wrong with it shows by the server's silence
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
