import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';

/** The value if it is an object, else an empty one. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) && !isJsonArray(value) ? value : {};
}

/** The value if it is a list, else an empty one. */
export function arrayOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}

/** The value if it is a text that isn't blank, else null. */
export function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** A value within a text: objects and lists as JSON, as templates show them, nothing for null. */
export function asText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
