import { message } from '@millrace/messages';
import {
  addExact,
  divideExact,
  type ExactNumber,
  fromExact,
  multiplyExact,
  roundExact,
  subtractExact,
  toDecimal,
  toExact,
} from './exact-number.ts';
import { isJsonArray, isNumber, isRawNumber, type JsonValue, parseJson } from './json.ts';
import { type FilterGroup, integerOf, NO_ARGUMENT, readField, takes } from './template-filter.ts';

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
  return fromExact(roundExact(exact, Math.max(0, Math.min(MAX_PLACES, integerOf(places, 0)))));
}

function calculate(
  operation: (left: ExactNumber, right: ExactNumber) => ExactNumber | null,
): (value: JsonValue, args: readonly JsonValue[]) => JsonValue {
  return (value, [argument]) => {
    const left = toExact(value);
    const right = toExact(argument ?? null);
    const result = left === null || right === null ? null : operation(left, right);
    return result === null ? null : fromExact(result);
  };
}

/** The numbers in a list, or in a field of its items; other values are ignored. */
function numbersIn(value: JsonValue, field: JsonValue | undefined): ExactNumber[] {
  if (!isJsonArray(value)) return [];
  const path = typeof field === 'string' ? field : '';
  return value.flatMap((item) => toExact(readField(item, path)) ?? []);
}

function extreme(sign: 1n | -1n): (value: JsonValue, args: readonly JsonValue[]) => JsonValue {
  return (value, [field]) => {
    const [first, ...rest] = numbersIn(value, field);
    if (first === undefined) return null;
    return fromExact(
      rest.reduce((best, each) => (subtractExact(each, best).units * sign > 0n ? each : best), first),
    );
  };
}

const ONE_NUMBER = { minArgs: 1, maxArgs: 1, usage: takes(message('flow.takes_number'), '2') };
const FIELD = { minArgs: 0, maxArgs: 1, usage: takes(message('flow.takes_number_field'), '"price"') };

export const NUMBER_FILTERS: FilterGroup = {
  number: { ...NO_ARGUMENT, apply: toNumber },
  round: {
    minArgs: 0,
    maxArgs: 1,
    usage: takes(message('flow.takes_places'), '2'),
    apply: (value, [places]) => round(value, places),
  },
  plus: { ...ONE_NUMBER, apply: calculate(addExact) },
  minus: { ...ONE_NUMBER, apply: calculate(subtractExact) },
  times: { ...ONE_NUMBER, apply: calculate(multiplyExact) },
  divided_by: { ...ONE_NUMBER, apply: calculate(divideExact) },
  sum: {
    ...FIELD,
    apply: (value, [field]) => fromExact(numbersIn(value, field).reduce(addExact, { units: 0n, scale: 0 })),
  },
  min: { ...FIELD, apply: extreme(-1n) },
  max: { ...FIELD, apply: extreme(1n) },
};
