import { type Message, message } from '@millrace/messages';
import { reasonOf } from '@millrace/messages/explained-error';
import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  joinPointer,
  setOwn,
} from '@millrace/values/json';
import { LinearRegExp, listMatches } from '@millrace/values/pattern';
import { Errors } from 'typebox/schema';
import { describeKeyword, NOT_UNIQUE, REQUIRED, UNKNOWN_FIELD } from './keyword-messages.ts';
import { MAX_SCHEMA_STEPS, SchemaMeter, TooManySchemaStepsError } from './schema-meter.ts';

/** One violation of a schema by a value; `pointer` starts at the value. */
export interface SchemaError {
  readonly pointer: string;
  readonly keyword: string;
  /** Location of the rule in the schema. */
  readonly schemaPath: string;
  /** Stable, snake_case. */
  readonly code: string;
  /** Follows the value's name: lower case, no full stop. */
  readonly message: Message;
}

/**
 * The violations of a JSON Schema (2020-12) by a value; empty when it is valid. Only a handful of errors is reported. The schema may come
 * from a user: it is interpreted, never compiled to code, its references are followed at most {@link MAX_REFERENCES} times, and its checks are
 * counted, so that a schema built to explode ends in an error.
 */
export function validateValue(schema: JsonSchema, value: JsonValue): readonly SchemaError[] {
  return validateWithin(schema, value, MAX_SCHEMA_STEPS) ?? schemaTooExpensive();
}

/** {@link validateValue}, but null if that takes more steps. */
export function validateWithin(
  schema: JsonSchema,
  value: JsonValue,
  maxSteps: number,
): readonly SchemaError[] | null {
  try {
    const [fits, errors] = Errors(makeHarmless(schema, value, maxSteps), toPlain(value));
    return fits ? [] : dedupe((errors as readonly TypeBoxError[]).flatMap(explain));
  } catch (error) {
    if (error instanceof TooManySchemaStepsError) return null;
    return notCheckable(
      error instanceof ReferenceLimitError ? message('flow.references_too_far') : reasonOf(error),
    );
  }
}

/** The fault of a value whose check takes too much. */
export function schemaTooExpensive(): readonly SchemaError[] {
  return notCheckable(message('flow.schema_too_expensive', { max: MAX_SCHEMA_STEPS }));
}

function notCheckable(reason: Message | string): readonly SchemaError[] {
  const fault = message('flow.not_checkable', { reason });
  return [{ pointer: '', keyword: '$schema', schemaPath: '#', code: 'invalid_value', message: fault }];
}

const MAX_REFERENCES = 50_000;

/** Thrown out of the validator, which would otherwise follow references forever. */
class ReferenceLimitError extends Error {}

interface TypeBoxError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: { readonly [name: string]: unknown };
  readonly message: string;
}

function explain(error: TypeBoxError): SchemaError[] {
  const { keyword, schemaPath, instancePath: pointer, params } = error;
  // Its own check of this takes time quadratic in the number of duplicates.
  if (keyword === '~refine') return [{ keyword, schemaPath, pointer, ...NOT_UNIQUE }];
  const at = { keyword, schemaPath };
  // `additionalProperties: false` is reported twice: once for the schema `false`, once by name.
  if (keyword === 'boolean' && schemaPath.endsWith('/additionalProperties')) return [];
  if (keyword === 'required') {
    return namesIn(params.requiredProperties).map((name) => ({
      ...at,
      pointer: joinPointer(pointer, name),
      ...REQUIRED,
    }));
  }
  if (keyword === 'additionalProperties') {
    return namesIn(params.additionalProperties).map((name) => ({
      ...at,
      pointer: joinPointer(pointer, name),
      ...UNKNOWN_FIELD,
    }));
  }
  return [{ ...at, pointer, ...describeKeyword(keyword, params, error.message) }];
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

function dedupe(errors: readonly SchemaError[]): readonly SchemaError[] {
  const seen = new Set<string>();
  return errors.filter(({ pointer, message: fault }) => {
    const key = JSON.stringify([pointer, fault]);
    return seen.has(key) ? false : seen.add(key);
  });
}

/** The value without prototypes (so that `required: ["toString"]` finds nothing inherited) and with raw numbers as the nearest double. */
function toPlain(value: JsonValue): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (isRawNumber(value)) return toFinite(Number(value.rawJSON));
  if (isJsonArray(value)) return value.map(toPlain);
  const plain: { [name: string]: unknown } = Object.create(null);
  for (const name of Object.keys(value)) plain[name] = toPlain((value as JsonObject)[name] ?? null);
  return plain;
}

function toFinite(value: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));
}

/** Keywords whose value is data, and those whose members are named by the author rather than JSON Schema. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
const NAMING_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

const meter = new SchemaMeter();

/** A copy of the schema for one value: its checks are counted, and patterns run in linear time. */
function makeHarmless(schema: JsonSchema, value: JsonValue, maxSteps: number): JsonSchema {
  let followed = 0;
  let names: readonly string[] | undefined;
  meter.reset(maxSteps);
  const copy = (part: unknown, isNaming: boolean): unknown => {
    if (Array.isArray(part)) return part.map((item) => copy(item, false));
    if (typeof part !== 'object' || part === null || part instanceof RegExp) return part;
    const copied: { [name: string]: unknown } = isNaming
      ? {}
      : meter.newSchema('type' in part ? part.type : undefined);
    for (const [name, member] of Object.entries(part)) {
      const inside = isNaming ? copy(member, false) : copyKeyword(name, member);
      if (isNaming) setOwn(copied, name, inside);
      else if (name === '$ref' && typeof member === 'string') {
        Object.defineProperty(copied, name, { enumerable: true, get: () => countReference(member) });
      } else if (name === 'uniqueItems') {
        if (member === true) setOwn(copied, '~refine', [meter.uniqueItems]);
      } else if (name !== 'type') meter.setKeyword(copied, name, inside, part);
    }
    return copied;
  };
  const copyKeyword = (name: string, member: unknown): unknown => {
    if (name === 'pattern' && typeof member === 'string') return new LinearRegExp(member);
    if (DATA_KEYWORDS.has(name)) return member;
    const copied = copy(member, NAMING_KEYWORDS.has(name));
    if (name !== 'patternProperties' || !isJsonObject(copied)) return copied;
    names ??= [...collectNames(value)];
    const listed = Object.entries(copied).map(([pattern, part], index) => {
      return [listMatches(pattern, names ?? [], index), part] as const;
    });
    return Object.fromEntries(listed);
  };
  const countReference = (text: string): string => {
    followed += 1;
    if (followed > MAX_REFERENCES) throw new ReferenceLimitError();
    return text;
  };
  return copy(schema, false) as JsonSchema;
}

/** The names of all members within a value. */
function collectNames(value: JsonValue, names = new Set<string>()): Set<string> {
  if (isJsonArray(value)) for (const item of value) collectNames(item, names);
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) collectNames(member, names.add(name));
  }
  return names;
}
