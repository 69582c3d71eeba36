import { type HttpResponse, type JsonValue, tryParseJson } from '@millrace/engine';
import type { ChatAnswer } from './service.ts';

/** Maximum characters shown of a response that isn't JSON. */
const MAX_TEXT = 2_000;

/** Converts a response to what the service's `read` expects. */
export function answerOf(response: HttpResponse, nowMs: number): ChatAnswer {
  return { response, body: bodyOf(response), nowMs };
}

function bodyOf({ body }: HttpResponse): JsonValue {
  if (body.byteLength === 0) return null;
  const text = new TextDecoder().decode(body);
  const value = tryParseJson(text);
  return value === undefined ? text.trim().slice(0, MAX_TEXT) : value;
}
