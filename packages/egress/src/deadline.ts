import { HttpClientError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';

/**
 * Starts the timer of a signal that aborts with the caller's signal or on timeout; its reason is the error to report.
 * @param texts the errors for when the caller aborts and when it takes too long
 */
export function startDeadline(
  timeoutMs: number,
  signal: AbortSignal,
  texts: { readonly aborted: Message; readonly late: () => Message },
) {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(new HttpClientError('aborted', texts.aborted));
  const timer = setTimeout(() => controller.abort(new HttpClientError('timeout', texts.late())), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  /** The call is over and can no longer be aborted. */
  const stop = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
  return {
    signal: controller.signal,
    stop,
    /** Like `stop`, but also closes whatever a call that failed midway has left open. */
    close(): void {
      stop();
      controller.abort(new HttpClientError('aborted', message('egress.call_over')));
    },
  };
}
