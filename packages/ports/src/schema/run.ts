import { type JsonObject, parseJson, validateValue } from '@millrace/engine';
import type { SchemaJob, SchemaOutcome } from './protocol.ts';

/** Bytes of memory per character of JSON, roughly: the value, the copy that is checked, and what checking leaves behind. */
const BYTES_PER_CHARACTER = 40;

/** Runs in a thread. Whoever started it must be ready to kill it: what is copied before the first check isn't counted. */
export function runSchemaJob({ schema, value }: SchemaJob): {
  readonly outcome: SchemaOutcome;
  readonly usedBytes: number;
} {
  const faults = validateValue(parseJson(schema) as JsonObject, parseJson(value));
  return {
    outcome: { kind: 'checked', faults },
    usedBytes: (schema.length + value.length) * BYTES_PER_CHARACTER,
  };
}
