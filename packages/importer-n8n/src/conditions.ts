import { type JsonObject, type JsonValue, own, searchForPattern } from '@millrace/engine';
import { literal } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import { arrayOf, objectOf, textOf } from './read.ts';
import { type Step, Unmappable } from './step.ts';

/** Conditions as If, Switch and Filter nodes take them here. */
export interface Conditions {
  readonly conditions: readonly JsonValue[];
  readonly combine: 'all' | 'any';
}

const OPERATORS: { readonly [operation: string]: string } = {
  equals: 'equals',
  equal: 'equals',
  notEquals: 'not_equals',
  notEqual: 'not_equals',
  contains: 'contains',
  notContains: 'not_contains',
  startsWith: 'starts_with',
  endsWith: 'ends_with',
  gt: 'greater_than',
  larger: 'greater_than',
  gte: 'greater_or_equal',
  largerEqual: 'greater_or_equal',
  lt: 'less_than',
  smaller: 'less_than',
  lte: 'less_or_equal',
  smallerEqual: 'less_or_equal',
  exists: 'exists',
  notExists: 'not_exists',
  empty: 'is_empty',
  isEmpty: 'is_empty',
  notEmpty: 'is_not_empty',
  isNotEmpty: 'is_not_empty',
  true: 'is_true',
  false: 'is_false',
};
/** Operators of moments: both sides are read as the original would. */
const OF_DATES: { readonly [operation: string]: string } = {
  after: 'after',
  before: 'before',
  afterOrEquals: 'on_or_after',
  beforeOrEquals: 'on_or_before',
};
const UNARY = new Set(['exists', 'not_exists', 'is_empty', 'is_not_empty', 'is_true', 'is_false']);

/** What has no operator here, as JavaScript over both sides. */
const COMPUTED: { readonly [operation: string]: (left: string, right: string) => string } = {
  regex: (left, right) => `new RegExp(${patternOf(right)}).test(String(${left}))`,
  notRegex: (left, right) => `!new RegExp(${patternOf(right)}).test(String(${left}))`,
  notStartsWith: (left, right) => `!String(${left}).startsWith(${right})`,
  notEndsWith: (left, right) => `!String(${left}).endsWith(${right})`,
  lengthEquals: (left, right) => `(${left})?.length === Number(${right})`,
  lengthNotEquals: (left, right) => `(${left})?.length !== Number(${right})`,
  lengthGt: (left, right) => `(${left})?.length > Number(${right})`,
  lengthLt: (left, right) => `(${left})?.length < Number(${right})`,
  lengthGte: (left, right) => `(${left})?.length >= Number(${right})`,
  // n8n doesn't have these two; what is meant is plain.
  notTrue: (left) => `(${left}) !== true`,
  notFalse: (left) => `(${left}) !== false`,
  lengthLte: (left, right) => `(${left})?.length <= Number(${right})`,
};

/** A regular expression that the operators take; null for a computed one, and if it doesn't run in linear time. */
function patternIn(
  right: JsonValue,
  ignoresCase: boolean,
): { readonly right: string; readonly ignore_case?: boolean } | null {
  if (typeof right !== 'string' || right.startsWith('=')) return null;
  const [, body = right, flags = ''] = /^\/(.*)\/([a-z]*)$/.exec(right) ?? [];
  if (flags.replace(/[giu]/g, '') !== '' || 'key' in searchForPattern(body)) return null;
  const isLoose = ignoresCase || flags.includes('i');
  return { right: literal(body), ...(isLoose ? { ignore_case: true } : {}) };
}

function patternOf(source: string): string {
  const [, body, flags] = /^"\/(.*)\/([a-z]*)"$/.exec(source) ?? [];
  return body === undefined ? source : `"${body}", "${flags ?? ''}"`;
}

/** Reads conditions of either form that n8n has written over the years. */
export function readConditions(step: Step, given: JsonValue | undefined, combined: string): Conditions {
  const filter = objectOf(given);
  const list = Array.isArray(filter.conditions) ? readNew(step, filter) : readOld(step, filter);
  const combine = textOf(filter.combinator) ?? combined;
  const isAny = combine === 'or' || combine === 'any';
  // Of no conditions all are met, and none is.
  if (list.length === 0) list.push({ left: !isAny, operator: 'equals', right: true });
  return { conditions: list, combine: isAny ? 'any' : 'all' };
}

function readNew(step: Step, filter: JsonObject): JsonValue[] {
  const options = objectOf(filter.options);
  const isLoose = options.caseSensitive === false;
  return arrayOf(filter.conditions).map((each) => {
    const condition = objectOf(each);
    const operator = objectOf(condition.operator);
    const kind = textOf(operator.type) ?? 'string';
    return oneCondition(step, {
      operation: textOf(operator.operation) ?? 'equals',
      left: condition.leftValue ?? null,
      right: condition.rightValue ?? null,
      ignoresCase: isLoose && kind === 'string',
      kind,
    });
  });
}

/** What a value is compared with if nothing was entered: n8n doesn't write it down. */
const UNSET: { readonly [kind: string]: JsonValue } = { boolean: false, number: 0, string: '' };

function readOld(step: Step, filter: JsonObject): JsonValue[] {
  return ['string', 'number', 'boolean', 'dateTime'].flatMap((kind) =>
    arrayOf(filter[kind]).map((each) => {
      const condition = objectOf(each);
      const fallback = kind === 'number' ? 'smaller' : kind === 'dateTime' ? 'after' : 'equal';
      const right = condition.value2 ?? UNSET[kind] ?? null;
      return oneCondition(step, {
        operation: textOf(condition.operation) ?? fallback,
        left: condition.value1 ?? null,
        right,
        ignoresCase: false,
        kind,
      });
    }),
  );
}

interface Comparison {
  readonly operation: string;
  readonly left: JsonValue;
  readonly right: JsonValue;
  readonly ignoresCase: boolean;
  readonly kind: string;
}

function oneCondition(step: Step, { operation, left, right, ignoresCase, kind }: Comparison): JsonValue {
  const operator = kind === 'dateTime' && operation === 'equals' ? undefined : OPERATORS[operation];
  const isText = !ignoresCase || operator === undefined || UNARY.has(operator);
  if (operator !== undefined && isText && Object.hasOwn(OPERATORS, operation)) {
    const sides = { left: step.value(left), operator };
    return UNARY.has(operator) ? sides : { ...sides, right: numberIn(kind, step.value(right)) };
  }
  const ofDates = own(OF_DATES, operation);
  if (ofDates !== undefined) return { left: step.value(left), operator: ofDates, right: step.value(right) };
  const pattern = operation === 'regex' || operation === 'notRegex' ? patternIn(right, ignoresCase) : null;
  if (pattern !== null)
    return {
      left: step.value(left),
      operator: operation === 'regex' ? 'matches' : 'not_matches',
      ...pattern,
    };
  const [one, other] = [step.source(left), step.source(right)];
  const lower = (source: string) => (ignoresCase ? `String(${source}).toLowerCase()` : source);
  const compute = own(COMPUTED, operation);
  if (compute !== undefined)
    return { left: step.expression(compute(lower(one), lower(other))), operator: 'is_true' };
  if (operator === undefined)
    throw new Unmappable(message('import.unknown_operator', { operator: operation }));
  return { left: step.value(left), operator, right: step.value(right), ignore_case: true };
}

function numberIn(kind: string, value: JsonValue): JsonValue {
  if (kind !== 'number' || typeof value !== 'string' || value.trim() === '') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}
