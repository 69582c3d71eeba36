import type { Message } from '@millrace/messages';
import type { JsonSchema } from '@millrace/values/json';
import { isRawNumber, type JsonObject } from '@millrace/values/json';
import { Compile } from 'typebox/schema';
import { describeConfigFault } from './config-problems.ts';

/** Schemas of the catalogue are code, not data, so they may be compiled, each once. */
const compiled = new WeakMap<JsonSchema, (value: unknown) => boolean>();

/** Why a rendered config doesn't match its node's schema, or null when it does. */
export function describeRenderedFault(schema: JsonSchema, config: JsonObject): Message | null {
  let fits = compiled.get(schema);
  if (fits === undefined) {
    const validator = Compile(schema);
    fits = (value) => validator.Check(value);
    compiled.set(schema, fits);
  }
  // The compiled check takes a raw number for an object; the slow one recognises it.
  const isCertain = fits(config) && !Object.values(config).some(isRawNumber);
  return isCertain ? null : describeConfigFault(schema, config);
}
