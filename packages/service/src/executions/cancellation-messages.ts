import { type Message, message } from '@millrace/messages';

/** Why an execution was cancelled; `execution_id` is null if no other one is involved. */
export interface Cancellation {
  readonly code: string;
  readonly execution_id: number | null;
  readonly explanation: Message;
}

const MESSAGES: { readonly [code: string]: (executionId: number) => Message } = {
  skipped_by_concurrency: (id) => message('service.skipped_by_concurrency', { id }),
  cancelled_by_newer_execution: (id) => message('service.cancelled_by_newer_execution', { id }),
  replaced_by_newer_start: (id) => message('service.replaced_by_newer_start', { id }),
};

/** Why the service itself cancelled an execution; null if a person or the end of its parent did. */
export function cancellationOf(row: {
  readonly cancel_code: string | null;
  readonly cancelled_for: number | null;
}): Cancellation | null {
  const { cancel_code: code, cancelled_for: id } = row;
  if (code === null) return null;
  const say = MESSAGES[code];
  if (say === undefined) throw new Error(`there is no message for a cancellation with ${code}`);
  return { code, execution_id: id, explanation: say(id ?? 0) };
}
