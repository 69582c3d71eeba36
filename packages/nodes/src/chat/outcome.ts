import { isJsonArray, isJsonObject, type JsonValue, retryAfterMs } from '@millrace/engine';
import { scalarText } from '@millrace/node-kit/values';
import type { ChatAnswer, ChatOutcome } from './service.ts';

type Refusal = Extract<ChatOutcome, { kind: 'refused' }>;

/** Sent, with the service's message id if it returns one. */
export function sent(messageId: JsonValue | undefined = null): ChatOutcome {
  return { kind: 'sent', messageId: messageId === null ? null : (scalarText(messageId) ?? null) };
}

/** The meaning of an error status (RFC 9110, RFC 6585), with the service's own message. */
export function refusedByStatus(answer: ChatAnswer, reason: string, delayMs?: number): Refusal {
  const { status, headers } = answer.response;
  const wait = delayMs ?? retryAfterMs(headers['retry-after'], answer.nowMs);
  const later = wait === undefined ? {} : { retryAfterMs: wait };
  const said = reason === '' ? `status ${status}` : `status ${status}, ${reason}`;
  if (status === 429)
    return { kind: 'refused', code: 'chat_rate_limited', reason: said, retryable: true, ...later };
  if (status === 401 || status === 403) {
    return { kind: 'refused', code: 'chat_auth_failed', reason: said, retryable: false };
  }
  if (status >= 500 || status === 408) {
    return { kind: 'refused', code: 'chat_unavailable', reason: said, retryable: true, ...later };
  }
  return { kind: 'refused', code: 'chat_refused', reason: said, retryable: false };
}

export function isOk({ response }: ChatAnswer): boolean {
  return response.status >= 200 && response.status < 300;
}

/** A member of a response; null when the response isn't an object or lacks it. */
export function member(value: JsonValue, ...path: readonly string[]): JsonValue {
  let current = value;
  for (const name of path) {
    current = isJsonObject(current) && Object.hasOwn(current, name) ? (current[name] ?? null) : null;
  }
  return current;
}

/** A member of a response as text; '' when missing. */
export function memberText(value: JsonValue, ...path: readonly string[]): string {
  return scalarText(member(value, ...path)) ?? '';
}

/** The items of a list; none if it isn't one. */
export function listOf(value: JsonValue): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}

/** A member in seconds, as milliseconds; undefined when it isn't a positive number. */
export function secondsMember(value: JsonValue, ...path: readonly string[]): number | undefined {
  const seconds = Number(memberText(value, ...path) || Number.NaN);
  return seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
}

/** The text of a response that isn't an object, truncated. */
export function plainReason({ body }: ChatAnswer): string {
  return typeof body === 'string' ? body.slice(0, 200) : '';
}
