import { type JsonValue, parseJson } from '@millrace/engine';

/** The value of a text as it is typed; undefined while it isn't JSON. */
export function readJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
