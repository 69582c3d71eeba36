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
import {
  type Filter,
  type FilterGroup,
  integerOf,
  NO_ARGUMENT,
  readField,
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
function numbersIn(value: JsonValue, field: JsonValue | undefined, spend: Spend): ExactNumber[] {
  if (!isJsonArray(value)) return [];
  const path = typeof field === 'string' ? field : '';
  const numbers: ExactNumber[] = [];
  for (const item of value) {
    const read = readField(item, path);
    spend(stepsToCompute(read));
    const number = toExact(read);
    if (number !== null) numbers.push(number);
  }
  return numbers;
}

/** Steps that reading a number and computing with it takes. */
function stepsToCompute(value: JsonValue): number {
  if (typeof value === 'string') return 5 + value.length / 4;
  return isRawNumber(value) ? 5 + value.rawJSON.length / 4 : 5;
}

function extreme(sign: 1n | -1n): Filter['apply'] {
  return (value, [field], _, __, spend) => {
    let best: ExactNumber | null = null;
    for (const each of numbersIn(value, field, spend)) {
      if (best === null || subtractExact(each, best).units * sign > 0n) best = each;
    }
    return best === null ? null : fromExact(best);
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
    apply: (value, [field], _, __, spend) =>
      fromExact(numbersIn(value, field, spend).reduce(addExact, { units: 0n, scale: 0 })),
  },
  min: { ...FIELD, apply: extreme(-1n) },
  max: { ...FIELD, apply: extreme(1n) },
};
