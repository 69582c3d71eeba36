import { HttpClientError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';

/** A signal that is aborted by the caller's signal or when the time is over; its reason is the error to report. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** The call is over: neither ends it any more. */
  stop(): void;
  /** Like {@link stop}, and whatever is still open of a call that failed half-way is closed with it. */
  close(): void;
}

/** Begins to count. @param texts what is told when the caller gives up, and when it takes too long */
export function startDeadline(
  timeoutMs: number,
  signal: AbortSignal,
  texts: { readonly aborted: Message; readonly late: () => Message },
): Deadline {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(new HttpClientError('aborted', texts.aborted));
  const timer = setTimeout(() => controller.abort(new HttpClientError('timeout', texts.late())), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const stop = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
  return {
    signal: controller.signal,
    stop,
    close() {
      stop();
      controller.abort(new HttpClientError('aborted', message('egress.call_over')));
    },
  };
}
