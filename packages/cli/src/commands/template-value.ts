import { type JsonValue, parseJson } from '@millrace/engine';

/** A value on the command line: JSON if it parses as JSON, else a string. */
export function readValue(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
