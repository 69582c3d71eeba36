import { parseTimestamp } from '@millrace/engine';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { expect } from 'vitest';

/** Checks responses against the schemas of their endpoints, which allow no unknown members. */
export function createAnswerCheck(): (name: string, schema: TSchema, value: unknown) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat('date-time', (text: string) => parseTimestamp(text) !== null);
  const known = new Map<string, ValidateFunction>();
  return (name, schema, value) => {
    const validate = known.get(name) ?? ajv.compile(schema);
    known.set(name, validate);
    const isValid = validate(JSON.parse(JSON.stringify(value)));
    expect(isValid, `${name}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(value)}`).toBe(true);
  };
}
