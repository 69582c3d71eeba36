import { parseTimestamp } from '@millrace/engine';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { expect } from 'vitest';

/** For all tests of a process: it compiles each schema once, which takes longer than the call that is checked. */
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('date-time', (text: string) => parseTimestamp(text) !== null);

/** Fails unless a response matches the schema of its endpoint, which allows no unknown members. */
export function checkAnswer(name: string, schema: TSchema, value: unknown): void {
  const validate = ajv.compile(schema);
  if (validate(JSON.parse(JSON.stringify(value)))) return;
  expect.fail(`${name}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(value)}`);
}
