import { canonicalJson, isJsonArray, type JsonValue, setOwn } from '@millrace/values/json';
import { stepsToRead } from '@millrace/values/work';

/**
 * Limit of one check of a value by a schema. A step is about the cost of looking at one keyword: 10,000 rows of five members with a schema take
 * 240,000. This isn't a setting, because it bounds how long the thread is blocked: a check can't be interrupted.
 */
export const MAX_SCHEMA_STEPS = 4_000_000;

/** The sizes of a value and its schema multiply: thousands of items, each compared with an enum of thousands. */
export class TooManySchemaStepsError extends Error {}

/** What is copied or searched per member of a keyword's own list is cheap, but grows with the square of their number. */
const PAIRS_PER_STEP = 128;

const TYPE_NAMES: ReadonlySet<unknown> = new Set([
  undefined,
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);

/** Cheaper keywords are part of what their schema's `type` counts. */
const CHEAP = 16;

type Schema = { [keyword: string]: unknown };

/**
 * Counts what a validator does with a schema while it does it: its keywords are accessors that count each look. Every schema is asked for its
 * `type` first, whether it has one or not.
 */
export class SchemaMeter {
  /** By type: what schemas with this type inherit it from. */
  readonly #prototypes = new Map<unknown, object>();
  #steps = 0;
  #maxSteps = MAX_SCHEMA_STEPS;

  /** Another check begins. Checks don't overlap. */
  reset(maxSteps: number): void {
    this.#steps = 0;
    this.#maxSteps = maxSteps;
  }

  newSchema(type: unknown): Schema {
    return Object.create(
      typeof type === 'object' ? this.#prototypeFor(type) : this.#knownPrototype(type),
    ) as Schema;
  }

  /** Sets a keyword other than `type`. @param original the schema that it belongs to */
  setKeyword(schema: Schema, name: string, value: unknown, original: object): void {
    const steps = costOf(name, value, original);
    if (steps <= CHEAP) setOwn(schema, name, value);
    else Object.defineProperty(schema, name, this.#descriptor(value, steps));
  }

  /** Whether the items of a list differ, in linear time. */
  readonly uniqueItems = {
    check: (value: unknown): boolean => {
      if (!Array.isArray(value)) return true;
      const seen = new Set<string>();
      return value.every((item: JsonValue) => {
        this.#spend(stepsToRead(item, MAX_SCHEMA_STEPS));
        return seen.size < seen.add(canonicalJson(item)).size;
      });
    },
    error: (): string => 'must not have duplicate items',
  };

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#maxSteps) throw new TooManySchemaStepsError();
  }

  /** Few types have names, so these are shared by all checks. */
  #knownPrototype(type: unknown): object {
    const name = TYPE_NAMES.has(type) ? type : undefined;
    if (name !== type) return this.#prototypeFor(type);
    const known = this.#prototypes.get(name) ?? this.#prototypeFor(name);
    this.#prototypes.set(name, known);
    return known;
  }

  #prototypeFor(type: unknown): object {
    return Object.defineProperty({}, 'type', this.#descriptor(type, 1));
  }

  #descriptor(value: unknown, steps: number): PropertyDescriptor {
    const get = (): unknown => {
      this.#spend(steps);
      return value;
    };
    return { enumerable: true, get };
  }
}

/** What one look at a keyword leads to, apart from the schemas in it, which count by themselves. */
function costOf(name: string, value: unknown, original: object): number {
  switch (name) {
    case 'enum':
    case 'const':
      return stepsToRead(value as JsonValue, MAX_SCHEMA_STEPS);
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
      return pairsOf(isJsonArray(value) ? value.length : 1);
    case 'required':
      return isJsonArray(value) ? value.length : 1;
    case 'properties':
    case 'dependentRequired':
    case 'dependentSchemas':
    case 'dependencies':
      return sizeOf(value);
    case 'patternProperties':
      return pairsOf(
        Object.keys(value as object)
          .join('|')
          .split('|').length,
      );
    case 'additionalProperties':
      return pairsOf('properties' in original ? sizeOf(original.properties) : 0);
    default:
      return 1;
  }
}

/** All names are one expression, which is searched for each name; of alternatives, the results are copied with each new one. */
function pairsOf(names: number): number {
  return names + (names * names) / PAIRS_PER_STEP;
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1;
}
