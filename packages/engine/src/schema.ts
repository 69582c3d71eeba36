import { Errors } from 'typebox/schema';
import {
  isJsonArray,
  isRawNumber,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  joinPointer,
} from './json.ts';
import { describeKeyword, REQUIRED, UNKNOWN_FIELD } from './keyword-messages.ts';
import { BoundedRegExp } from './pattern.ts';

/** One way in which a value does not fit its schema; `pointer` starts at the value. */
export interface SchemaError {
  readonly pointer: string;
  readonly keyword: string;
  /** Where in the schema the rule stands. */
  readonly schemaPath: string;
  /** Stable, snake_case. */
  readonly code: string;
  /** Goes behind the value's name: lower case, no full stop. */
  readonly message: string;
}

/**
 * What of a value does not fit a JSON Schema (2020-12); empty when it fits. At most a handful of errors is reported.
 * The schema may come from a user: it is interpreted, never compiled to code, and its references are followed at
 * most {@link MAX_REFERENCES} times, so that a schema built to explode ends in an error.
 */
export function validateValue(schema: JsonSchema, value: JsonValue): readonly SchemaError[] {
  try {
    const [fits, errors] = Errors(makeHarmless(schema), toPlain(value));
    return fits ? [] : dedupe((errors as readonly TypeBoxError[]).flatMap(explain));
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    const message = `cannot be checked: ${reason}`;
    return [{ pointer: '', keyword: '$schema', schemaPath: '#', code: 'invalid_value', message }];
  }
}

const MAX_REFERENCES = 50_000;

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

/** Keywords whose value is data, and those whose members are named by the author, not by JSON Schema. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
const NAMING_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** A copy of the schema in which every use of a `$ref` is counted and every pattern is bounded. */
function makeHarmless(schema: JsonSchema): JsonSchema {
  let followed = 0;
  const copy = (part: unknown, isNaming: boolean): unknown => {
    if (Array.isArray(part)) return part.map((item) => copy(item, false));
    if (typeof part !== 'object' || part === null || part instanceof RegExp) return part;
    const copied: { [name: string]: unknown } = {};
    for (const [name, value] of Object.entries(part)) {
      const isKeyword = !isNaming;
      if (isKeyword && name === '$ref' && typeof value === 'string') {
        Object.defineProperty(copied, name, {
          enumerable: true,
          get() {
            followed += 1;
            if (followed > MAX_REFERENCES) throw new Error('its references lead too far');
            return value;
          },
        });
      } else {
        const isPattern = isKeyword && name === 'pattern' && typeof value === 'string';
        const isData = isKeyword && DATA_KEYWORDS.has(name);
        const harmless = isPattern
          ? new BoundedRegExp(value)
          : isData
            ? value
            : copy(value, isKeyword && NAMING_KEYWORDS.has(name));
        Object.defineProperty(copied, name, { value: harmless, enumerable: true });
      }
    }
    return copied;
  };
  return copy(schema, false) as JsonSchema;
}
