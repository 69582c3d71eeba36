import {
  compareDecimals,
  isJsonArray,
  isJsonObject,
  isNumber,
  type JsonValue,
  parseDecimal,
  toDecimal,
} from '@millrace/engine';
import { Type } from 'typebox';
import { deepEquals, scalarText } from './values.ts';

/*
 * The rules of comparison, shared by core.if, core.switch and core.filter. Every operator returns true or false for every pair of values;
 * none of them fails.
 *
 * 1.  Numbers are compared by their exact decimal value, however many digits they have: 9007199254740993 is greater than
 *     9007199254740992, 1.0 equals 1, 1e400 is a number like any other.
 * 2.  equals: a number and a string are equal when the string is a JSON number of the same value; a boolean and a string when the string
 *     is `true` or `false`. Two strings are equal when they have the same characters ("1.0" isn't "1"). Within lists and objects nothing is
 *     converted: types and content must be the same; member order doesn't matter.
 * 3.  null equals only null. What a template doesn't find is null.
 * 4.  greater_than and so on: two numbers, or strings that are JSON numbers, by value ("10" is greater than "9"); two other strings by
 *     their UTF-16 code units, so RFC 3339 timestamps in UTC sort by time. Any other pair has no order: all four operators are false, with
 *     null too.
 * 5.  contains: a string contains a substring (a number or boolean counts as its text), a list contains an equal member (rule 2), an object
 *     contains a member of that name. Anything else contains nothing. `a in b` is `b contains a`.
 * 6.  starts_with, ends_with: numbers and booleans count as their text; lists, objects and null have no start or end.
 * 7.  exists: isn't null. is_empty: null, "", [] and {}. is_true, is_false: equals (rule 2) true or false.
 * 8.  Each not_ operator is the opposite of the operator without it, whatever the types.
 */

type Compare = (left: JsonValue, right: JsonValue) => boolean;

const COMPARISONS = {
  equals,
  not_equals: (left, right) => !equals(left, right),
  greater_than: (left, right) => (order(left, right) ?? 0) > 0,
  greater_or_equal: (left, right) => (order(left, right) ?? -1) >= 0,
  less_than: (left, right) => (order(left, right) ?? 0) < 0,
  less_or_equal: (left, right) => (order(left, right) ?? 1) <= 0,
  contains,
  not_contains: (left, right) => !contains(left, right),
  starts_with: (left, right) => hasAffix(left, right, (text, part) => text.startsWith(part)),
  ends_with: (left, right) => hasAffix(left, right, (text, part) => text.endsWith(part)),
  in: (left, right) => contains(right, left),
  not_in: (left, right) => !contains(right, left),
  exists: (left) => left !== null,
  not_exists: (left) => left === null,
  is_empty: isEmpty,
  is_not_empty: (left) => !isEmpty(left),
  is_true: (left) => equals(left, true),
  is_false: (left) => equals(left, false),
} as const satisfies Record<string, Compare>;

export type Operator = keyof typeof COMPARISONS;
export const OPERATORS = Object.keys(COMPARISONS) as readonly Operator[];

/** One comparison. Unary operators ignore `right`. */
export interface Condition {
  readonly left?: JsonValue;
  readonly operator: Operator;
  readonly right?: JsonValue;
}

export type Combine = 'all' | 'any';

/** Whether one condition is true, by the rules 1 to 8. */
export function isMet(condition: Condition): boolean {
  return COMPARISONS[condition.operator](condition.left ?? null, condition.right ?? null);
}

/** Whether all, or any, of the conditions are true. */
export function areMet(conditions: readonly Condition[], combine: Combine): boolean {
  return combine === 'any' ? conditions.some(isMet) : conditions.every(isMet);
}

function equals(left: JsonValue, right: JsonValue): boolean {
  if (typeof left === 'string' && typeof right !== 'string') return textEquals(left, right);
  if (typeof right === 'string' && typeof left !== 'string') return textEquals(right, left);
  return deepEquals(left, right);
}

function textEquals(text: string, other: JsonValue): boolean {
  if (typeof other === 'boolean') return text === String(other);
  const number = isNumber(other) ? toDecimal(other) : null;
  const read = parseDecimal(text);
  return number !== null && read !== null && compareDecimals(read, number) === 0;
}

/** Negative, zero or positive; undefined when the two have no order. */
function order(left: JsonValue, right: JsonValue): number | undefined {
  const a = typeof left === 'string' ? parseDecimal(left) : toDecimal(left);
  const b = typeof right === 'string' ? parseDecimal(right) : toDecimal(right);
  if (a !== null && b !== null) return compareDecimals(a, b);
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function contains(container: JsonValue, member: JsonValue): boolean {
  if (isJsonArray(container)) return container.some((each) => equals(each, member));
  if (isJsonObject(container)) return typeof member === 'string' && Object.hasOwn(container, member);
  return hasAffix(container, member, (text, part) => text.includes(part));
}

function hasAffix(left: JsonValue, right: JsonValue, test: (text: string, part: string) => boolean): boolean {
  const text = scalarText(left);
  const part = scalarText(right);
  return text !== undefined && part !== undefined && test(text, part);
}

function isEmpty(value: JsonValue): boolean {
  if (value === null || value === '') return true;
  if (isJsonArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** Schema of `operator`. */
export const operatorSchema = Type.Unsafe<Operator>({
  type: 'string',
  enum: OPERATORS,
  title: 'Operator',
  description: 'How to compare the two sides.',
  default: 'equals',
});

/** Schema of the right side of a comparison. */
export const rightSchema = Type.Optional(
  Type.Unsafe<JsonValue>({
    title: 'Right side',
    description: 'The value to compare with. Not used by exists, is_empty, is_true and their opposites.',
    default: null,
  }),
);

/** Schema of `combine`. */
export const combineSchema = Type.Enum(['all', 'any'], {
  type: 'string',
  title: 'Combine',
  description: 'Whether all conditions must be met or any one of them.',
  default: 'all',
});

/** Schema of a list of conditions with a left and a right side. */
export const conditionsSchema = Type.Array(
  Type.Object(
    {
      left: Type.Optional(
        Type.Unsafe<JsonValue>({
          title: 'Left side',
          description: 'The value to compare, usually a template such as {{trigger.data.amount}}.',
          default: null,
          'x-filled': true,
        }),
      ),
      operator: operatorSchema,
      right: rightSchema,
    },
    { additionalProperties: false },
  ),
  {
    title: 'Conditions',
    description: 'The comparisons to make.',
    minItems: 1,
    maxItems: 100,
    default: [{ left: '', operator: 'is_not_empty' }],
  },
);
