import { type HttpResponse, type JsonValue, parseJson } from '@millrace/engine';
import type { ChatAnswer } from './service.ts';

/** Characters of a text that is no JSON which are worth showing. */
const MOST_TEXT = 2_000;

/** A service's answer as its `read` takes it. */
export function answerOf(response: HttpResponse, nowMs: number): ChatAnswer {
  return { response, body: bodyOf(response), nowMs };
}

function bodyOf({ body }: HttpResponse): JsonValue {
  if (body.byteLength === 0) return null;
  const text = new TextDecoder().decode(body);
  try {
    return parseJson(text);
  } catch {
    return text.trim().slice(0, MOST_TEXT);
  }
}
