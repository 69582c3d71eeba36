import { isJsonObject, type JsonValue } from '@millrace/engine';

/** A JSON Schema that an example fits. */
export function schemaFor(example: JsonValue): JsonValue {
  if (Array.isArray(example))
    return { type: 'array', items: schemaFor((example as readonly JsonValue[])[0] ?? 'text') };
  if (isJsonObject(example)) {
    const entries = Object.entries(example).filter(([name]) => name !== '__proto__');
    return {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, value]) => [name, schemaFor(value ?? null)])),
      required: entries.map(([name]) => name),
    };
  }
  if (typeof example === 'number') return { type: 'number' };
  if (typeof example === 'boolean') return { type: 'boolean' };
  return example === null ? {} : { type: 'string' };
}
