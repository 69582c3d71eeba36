import { type JsonValue, parseJson } from '@millrace/engine';

/** Parses JSON as it is typed; undefined while it is invalid. */
export function readJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
