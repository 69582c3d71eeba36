import { message } from '@millrace/messages';
import {
  addExact,
  divideExact,
  type ExactNumber,
  floorExact,
  fromExact,
  multiplyExact,
  roundExact,
  subtractExact,
  toDecimal,
  toExact,
} from '@millrace/values/exact-number';
import { isJsonArray, isNumber, isRawNumber, type JsonValue, parseJson } from '@millrace/values/json';
import {
  type Filter,
  type FilterGroup,
  integerOf,
  NO_ARGUMENT,
  type OfItem,
  readerOf,
  type Spend,
  takes,
} from './template-filter.ts';

const MAX_PLACES = 15;

/** Converts a number or a string to a number; null for anything else. */
export function toNumber(value: JsonValue): JsonValue {
  if (isNumber(value)) return value;
  return typeof value === 'string' && toDecimal(value) !== null ? parseJson(value.trim()) : null;
}

/** Rounds half away from zero, on the decimal digits: 1.005 to two places is 1.01. */
function round(value: JsonValue, places: JsonValue | undefined): JsonValue {
  const number = toNumber(value);
  const exact = toExact(number);
  // Numbers with this many digits have no fraction, or practically none.
  if (exact === null) return isRawNumber(number) && Number(number.rawJSON) === 0 ? 0 : number;
  return fromExact(roundExact(exact, Math.max(0, Math.min(MAX_PLACES, integerOf(places)))));
}

type Operation = (left: ExactNumber, right: ExactNumber) => ExactNumber | null;

/** Computes with numbers and texts that are numbers; null if one isn't. */
export function calculate(operation: Operation, left: JsonValue, right: JsonValue): JsonValue {
  const [a, b] = [toExact(left), toExact(right)];
  const result = a === null || b === null ? null : operation(a, b);
  return result === null ? null : fromExact(result);
}

function calculation(operation: Operation): Filter['apply'] {
  return (value, [argument = null]) => calculate(operation, value, argument);
}

/** The numbers in a list, or in a field of its items; other values are ignored. */
function numbersIn(value: JsonValue, read: OfItem, spend: Spend): ExactNumber[] {
  if (!isJsonArray(value)) return [];
  const numbers: ExactNumber[] = [];
  for (const item of value) {
    const found = read(item);
    spend(stepsToCompute(found));
    const number = toExact(found);
    if (number !== null) numbers.push(number);
  }
  return numbers;
}

/** Steps that reading a number and computing with it takes. */
export function stepsToCompute(value: JsonValue): number {
  if (typeof value === 'string') return 5 + value.length / 4;
  return isRawNumber(value) ? 5 + value.rawJSON.length / 4 : 5;
}

function extreme(sign: 1n | -1n): Filter['apply'] {
  return (value, [field], _, __, spend, each) => {
    let best: ExactNumber | null = null;
    for (const number of numbersIn(value, readerOf(field, each), spend)) {
      if (best === null || subtractExact(number, best).units * sign > 0n) best = number;
    }
    return best === null ? null : fromExact(best);
  };
}

const ONE_NUMBER = { minArgs: 1, maxArgs: 1, usage: takes(message('flow.takes_number'), '2') };
const FIELD = {
  minArgs: 0,
  maxArgs: 1,
  takesEach: true as const,
  usage: takes(message('flow.takes_number_field'), '"price"'),
};

const ZERO: ExactNumber = { units: 0n, scale: 0 };

/** The next whole number in one direction: 1 up, -1 down. */
function wholeNumber(value: JsonValue, direction: 1n | -1n): JsonValue {
  const exact = toExact(value);
  if (exact === null) return toNumber(value);
  const whole = floorExact({ units: exact.units * -direction, scale: exact.scale });
  return fromExact({ units: whole.units * -direction, scale: 0 });
}

function absolute(value: JsonValue): JsonValue {
  const exact = toExact(value);
  if (exact === null) return null;
  return fromExact(exact.units < 0n ? subtractExact(ZERO, exact) : exact);
}

export const NUMBER_FILTERS: FilterGroup = {
  number: { ...NO_ARGUMENT, apply: toNumber },
  round: {
    minArgs: 0,
    maxArgs: 1,
    usage: takes(message('flow.takes_places'), '2'),
    apply: (value, [places]) => round(value, places),
  },
  floor: { ...NO_ARGUMENT, apply: (value) => wholeNumber(value, -1n) },
  ceil: { ...NO_ARGUMENT, apply: (value) => wholeNumber(value, 1n) },
  abs: { ...NO_ARGUMENT, apply: absolute },
  plus: { ...ONE_NUMBER, apply: calculation(addExact) },
  minus: { ...ONE_NUMBER, apply: calculation(subtractExact) },
  times: { ...ONE_NUMBER, apply: calculation(multiplyExact) },
  divided_by: { ...ONE_NUMBER, apply: calculation(divideExact) },
  sum: {
    ...FIELD,
    apply: (value, [field], _, __, spend, each) =>
      fromExact(numbersIn(value, readerOf(field, each), spend).reduce(addExact, ZERO)),
  },
  average: {
    ...FIELD,
    apply(value, [field], _, __, spend, each) {
      const numbers = numbersIn(value, readerOf(field, each), spend);
      const mean = divideExact(numbers.reduce(addExact, ZERO), { units: BigInt(numbers.length), scale: 0 });
      return mean === null ? null : fromExact(mean);
    },
  },
  min: { ...FIELD, apply: extreme(-1n) },
  max: { ...FIELD, apply: extreme(1n) },
};
