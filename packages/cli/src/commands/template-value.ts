import { type JsonValue, parseJson } from '@millrace/engine';

/** A value of the command line: JSON when it reads as JSON, else text. */
export function readValue(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
