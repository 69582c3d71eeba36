import {
  type ConfigFault,
  compareDecimals,
  type Decimal,
  includesTextWork,
  isJsonArray,
  isJsonObject,
  isNumber,
  type JsonValue,
  type Meter,
  momentOf,
  parseDecimal,
  searchForPattern,
  toDecimal,
  type Work,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { deepEquals, scalarText } from '@millrace/node-kit/values';
import { Type } from 'typebox';
import { membersOf } from './members.ts';

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
 * 9.  before, after, on_or_before, on_or_after: two dates by time, whatever their offsets, in the forms that templates read: ISO 8601 (without an
 *     offset: UTC), seconds or milliseconds since 1970. If one side isn't a date, all four are false.
 * 10. matches: a regular expression on the right matches somewhere in the text on the left (a number or boolean counts as its text). It means what it
 *     means in JavaScript with the flag `u`, and takes linear time. What isn't a usable pattern matches nothing; a constant one is a fault of the config.
 * 11. With ignore_case, texts are compared as if all their letters were small, and so are texts in lists. Names of members aren't.
 */

/** Whether a left side meets a condition: known at once, or after work on large values. */
type Test = (left: JsonValue, meter: Meter) => boolean | Work<boolean>;

/** Tests by operator, for a right side that many left sides may be compared with. */
const COMPARISONS = {
  equals: equalTo,
  not_equals: (right) => not(equalTo(right)),
  greater_than: (right) => ordered(right, (order) => order > 0),
  greater_or_equal: (right) => ordered(right, (order) => order >= 0),
  less_than: (right) => ordered(right, (order) => order < 0),
  less_or_equal: (right) => ordered(right, (order) => order <= 0),
  contains: (right) => (left, meter) => contains(left, right, meter),
  not_contains: (right) => not((left, meter) => contains(left, right, meter)),
  starts_with: (right) => affix(right, (text, part) => text.startsWith(part)),
  ends_with: (right) => affix(right, (text, part) => text.endsWith(part)),
  before: (right) => dated(right, (order) => order < 0),
  after: (right) => dated(right, (order) => order > 0),
  on_or_before: (right) => dated(right, (order) => order <= 0),
  on_or_after: (right) => dated(right, (order) => order >= 0),
  matches: matching,
  not_matches: (right) => not(matching(right)),
  in: (right) => (left, meter) => contains(right, left, meter),
  not_in: (right) => not((left, meter) => contains(right, left, meter)),
  exists: () => (left) => left !== null,
  not_exists: () => (left) => left === null,
  is_empty: () => isEmpty,
  is_not_empty: () => (left) => !isEmpty(left),
  is_true: () => equalTo(true),
  is_false: () => equalTo(false),
} as const satisfies Record<string, (right: JsonValue) => Test>;

export type Operator = keyof typeof COMPARISONS;
export const OPERATORS = Object.keys(COMPARISONS) as readonly Operator[];

/** One comparison. Unary operators ignore `right`. */
export interface Condition {
  readonly left?: JsonValue;
  readonly operator: Operator;
  readonly right?: JsonValue;
  readonly ignore_case?: boolean;
}

export type Combine = 'all' | 'any';

/** A condition without its left side, prepared for many of them. */
export function testOf({ operator, right = null, ignore_case: ignoresCase }: Omit<Condition, 'left'>): Test {
  if (ignoresCase !== true) return COMPARISONS[operator](right);
  if (isPattern(operator)) return COMPARISONS[operator](typeof right === 'string' ? `(?i:${right})` : right);
  const test = COMPARISONS[operator](withSmallLetters(right));
  return (left, meter) => {
    if (isJsonArray(left)) meter.spend(left.length);
    return test(withSmallLetters(left), meter);
  };
}

function isPattern(operator: Operator): operator is 'matches' | 'not_matches' {
  return operator === 'matches' || operator === 'not_matches';
}

/** Rule 11. */
function withSmallLetters(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toLowerCase();
  return isJsonArray(value)
    ? value.map((item) => (typeof item === 'string' ? item.toLowerCase() : item))
    : value;
}

/** Faults of constant patterns. @param pointer of the list of conditions */
export function findPatternFaults(conditions: JsonValue | undefined, pointer: string): ConfigFault[] {
  if (conditions === undefined || !isJsonArray(conditions)) return [];
  return conditions.flatMap((condition, index) => {
    const { operator = null, right = null } = isJsonObject(condition) ? condition : {};
    if ((operator !== 'matches' && operator !== 'not_matches') || typeof right !== 'string') return [];
    const search = right.includes('{{') ? null : searchForPattern(right);
    if (search === null || !('key' in search)) return [];
    const fault = message('flow.pattern_unusable', { pattern: right, fault: search });
    return [{ pointer: `${pointer}/${index}/right`, message: fault }];
  });
}

/** Whether all, or any, of the conditions are true, by the rules 1 to 11. */
export function* areMet(conditions: readonly Condition[], combine: Combine, meter: Meter): Work<boolean> {
  return yield* combined(
    conditions,
    (condition) => testOf(condition)(condition.left ?? null, meter),
    combine,
    meter,
  );
}

/** Whether all, or any, of the tests are passed; those that no longer matter aren't made. */
export function* combined<Each>(
  tests: readonly Each[],
  isPassed: (test: Each) => boolean | Work<boolean>,
  combine: Combine,
  meter: Meter,
): Work<boolean> {
  for (const test of tests) {
    const met = isPassed(test);
    const isMet = typeof met === 'boolean' ? met : yield* met;
    meter.spend(1);
    if (meter.isDue) yield meter.take();
    if (isMet === (combine === 'any')) return isMet;
  }
  return combine === 'all';
}

function not(test: Test): Test {
  return (left, meter) => {
    const met = test(left, meter);
    return typeof met === 'boolean' ? !met : negated(met);
  };
}

function* negated(met: Work<boolean>): Work<boolean> {
  return !(yield* met);
}

function equalTo(right: JsonValue): Test {
  const text = typeof right === 'string' ? textTest(right) : null;
  return (left, meter) => {
    if (typeof left !== 'string') return text === null ? deepEquals(left, right, meter) : text(left);
    if (text === null) return textTest(left)(right);
    meter.spendText(left.length);
    return left === right;
  };
}

/** Whether what isn't a string equals a string. */
function textTest(text: string): (other: JsonValue) => boolean {
  const read = parseDecimal(text);
  return (other) => {
    if (typeof other === 'boolean') return text === String(other);
    const number = read !== null && isNumber(other) ? toDecimal(other) : null;
    return read !== null && number !== null && compareDecimals(read, number) === 0;
  };
}

/** Rule 4; `fits` gets a negative number, zero or a positive one. */
function ordered(right: JsonValue, fits: (order: number) => boolean): Test {
  const b = decimalOf(right);
  return (left, meter) => {
    if (typeof left === 'string') meter.spendText(left.length);
    const a = decimalOf(left);
    if (a !== null && b !== null) return fits(compareDecimals(a, b));
    if (typeof left !== 'string' || typeof right !== 'string') return false;
    if (left === right) return fits(0);
    return fits(left < right ? -1 : 1);
  };
}

/** Rule 9. */
function dated(right: JsonValue, fits: (order: number) => boolean): Test {
  const b = momentOf(right);
  return (left) => {
    const a = momentOf(left);
    return a !== null && b !== null && fits(a - b);
  };
}

/** Length of a text times instructions of a pattern: more isn't searched at once. */
const MAX_SEARCH = 5e7;
const SEARCH_PER_STEP = 50;

/** Rule 10. */
function matching(right: JsonValue): Test {
  const search = typeof right === 'string' ? searchForPattern(right) : null;
  return (left, meter) => {
    const text = scalarText(left);
    if (text === undefined || search === null || 'key' in search) return false;
    const work = text.length * search.size;
    meter.spend(work > MAX_SEARCH ? Number.POSITIVE_INFINITY : work / SEARCH_PER_STEP);
    // Too much: whoever runs this ends it at the next step.
    return work <= MAX_SEARCH && search.find(text, 0) !== null;
  };
}

function decimalOf(value: JsonValue): Decimal | null {
  return typeof value === 'string' ? parseDecimal(value) : toDecimal(value);
}

function contains(container: JsonValue, member: JsonValue, meter: Meter): boolean | Work<boolean> {
  if (isJsonArray(container)) return isMember(container, member, meter);
  if (isJsonObject(container)) return typeof member === 'string' && Object.hasOwn(container, member);
  const [text, part] = [scalarText(container), scalarText(member)];
  return text !== undefined && part !== undefined && includesTextWork(text, part, meter);
}

function* isMember(list: readonly JsonValue[], member: JsonValue, meter: Meter): Work<boolean> {
  const members = yield* membersOf(list, meter);
  if (members !== null) return yield* members.has(member, meter);
  const test = equalTo(member);
  for (const each of list) {
    const met = test(each, meter);
    if (typeof met === 'boolean' ? met : yield* met) return true;
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
  return false;
}

function affix(right: JsonValue, test: (text: string, part: string) => boolean): Test {
  const part = scalarText(right);
  return (left, meter) => {
    const text = scalarText(left);
    if (text !== undefined) meter.spendText(text.length);
    return text !== undefined && part !== undefined && test(text, part);
  };
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

/** Schema of `ignore_case`. */
export const ignoreCaseSchema = Type.Optional(
  Type.Boolean({
    title: 'Ignore case',
    description: 'Treats uppercase and lowercase letters as the same.',
    default: false,
  }),
);

/** Schema of `combine`. */
export const combineSchema = choice(
  'Combine',
  'Whether all conditions must be met or any one of them.',
  { all: 'All', any: 'Any' },
  { default: 'all' },
);

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
      ignore_case: ignoreCaseSchema,
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
