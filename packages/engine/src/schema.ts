import { Errors } from 'typebox/schema';
import { isJsonArray, isRawNumber, type JsonObject, type JsonValue, joinPointer } from './json.ts';
import type { JsonSchema } from './node.ts';

/** One way in which a value does not fit its schema; `pointer` starts at the value. */
export interface SchemaError {
  readonly pointer: string;
  readonly keyword: string;
  /** Where in the schema the rule stands. */
  readonly schemaPath: string;
  readonly message: string;
}

/**
 * What of a value does not fit a JSON Schema (2020-12); empty when it fits. At most a handful of errors is reported.
 * The schema may come from a user: it is interpreted, never compiled to code, and its references are followed at
 * most {@link MAX_REFERENCES} times, so that a schema built to explode ends in an error.
 */
export function validateValue(schema: JsonSchema, value: JsonValue): readonly SchemaError[] {
  try {
    const [fits, errors] = Errors(countReferences(schema), toPlain(value));
    return fits ? [] : dedupe((errors as readonly TypeBoxError[]).flatMap(explain));
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    return [{ pointer: '', keyword: '$schema', schemaPath: '#', message: `cannot be checked: ${reason}` }];
  }
}

/** Checks a schema by using it once: unusable patterns and endless references show themselves. */
export function findSchemaFault(schema: JsonValue): string | null {
  const depth = depthOf(schema, 0);
  if (depth > MAX_SCHEMA_DEPTH) return `is nested deeper than ${MAX_SCHEMA_DEPTH} levels`;
  return findFault(schema, '');
}

const MAX_REFERENCES = 50_000;
const MAX_SCHEMA_DEPTH = 100;
const MAX_PATTERN_LENGTH = 500;

interface TypeBoxError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: { readonly [name: string]: unknown };
  readonly message: string;
}

function explain(error: TypeBoxError): SchemaError[] {
  const { keyword, schemaPath, instancePath: pointer, params } = error;
  const at = { keyword, schemaPath };
  // `additionalProperties: false` is told twice: once for the schema `false`, once by name.
  if (keyword === 'boolean' && schemaPath.endsWith('/additionalProperties')) return [];
  if (keyword === 'required') {
    return namesIn(params.requiredProperties).map((name) => ({
      ...at,
      pointer: joinPointer(pointer, name),
      message: 'is required',
    }));
  }
  if (keyword === 'additionalProperties') {
    return namesIn(params.additionalProperties).map((name) => ({
      ...at,
      pointer: joinPointer(pointer, name),
      message: 'is not a known member; check its spelling or leave it out',
    }));
  }
  if (keyword === 'enum' && Array.isArray(params.allowedValues)) {
    const allowed = params.allowedValues.map((value) => JSON.stringify(value)).join(', ');
    return [{ ...at, pointer, message: `must be one of ${allowed}` }];
  }
  return [{ ...at, pointer, message: error.message }];
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

function dedupe(errors: readonly SchemaError[]): readonly SchemaError[] {
  const seen = new Set<string>();
  return errors.filter(({ pointer, message }) => {
    const key = `${pointer}\n${message}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

/**
 * The value without prototypes (so that `required: ["toString"]` finds nothing inherited) and with raw numbers as
 * the nearest double.
 */
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

/** A copy of the schema in which every use of a `$ref` is counted. */
function countReferences(schema: JsonSchema): JsonSchema {
  let followed = 0;
  let found = false;
  const copy = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(copy);
    if (typeof part !== 'object' || part === null || part instanceof RegExp) return part;
    const copied: { [name: string]: unknown } = {};
    for (const [name, value] of Object.entries(part)) {
      if (name !== '$ref' || typeof value !== 'string') {
        Object.defineProperty(copied, name, { value: copy(value), enumerable: true });
        continue;
      }
      found = true;
      Object.defineProperty(copied, name, {
        enumerable: true,
        get() {
          followed += 1;
          if (followed > MAX_REFERENCES) throw new Error('its references lead too far');
          return value;
        },
      });
    }
    return copied;
  };
  const counted = copy(schema) as JsonSchema;
  return found ? counted : schema;
}

function depthOf(value: JsonValue, depth: number): number {
  if (depth > MAX_SCHEMA_DEPTH || value === null || typeof value !== 'object' || isRawNumber(value))
    return depth;
  const parts = isJsonArray(value) ? value : Object.values(value as JsonObject);
  return parts.reduce<number>((deepest, part) => Math.max(deepest, depthOf(part, depth + 1)), depth);
}

function findFault(part: JsonValue, at: string): string | null {
  if (part === null || typeof part !== 'object' || isRawNumber(part)) return null;
  const entries = isJsonArray(part) ? [...part.entries()] : Object.entries(part as JsonObject);
  for (const [name, value] of entries) {
    const pointer = joinPointer(at, name);
    if (name === 'pattern' && typeof value === 'string') {
      const fault = findPatternFault(value);
      if (fault !== null) return `${pointer} ${fault}`;
    }
    if (name === '$ref' && typeof value === 'string' && !value.startsWith('#')) {
      return `${pointer} refers to another document; only references that begin with # are followed`;
    }
    const fault = findFault(value, pointer);
    if (fault !== null) return fault;
  }
  return null;
}

function findPatternFault(pattern: string): string | null {
  if (pattern.length > MAX_PATTERN_LENGTH) return `is longer than ${MAX_PATTERN_LENGTH} characters`;
  try {
    new RegExp(pattern, 'u');
    return null;
  } catch {
    return 'is not a regular expression';
  }
}
