import { message } from '@millrace/messages';
import { canonicalJson, isJsonArray, isJsonObject, isNumber, type JsonValue } from '@millrace/values/json';
import { checkJsonSize } from '@millrace/values/json-size';
import { sortByKeysWork } from '@millrace/values/order-key';
import { finishWork, Meter, type Work } from '@millrace/values/work';
import {
  type FilterGroup,
  isTruthy,
  LONG_STEPS,
  NO_ARGUMENT,
  type OfItem,
  readerOf,
  type Spend,
  spendReading,
  TemplateSizeError,
  takes,
} from './template-filter.ts';
import { toNumber } from './template-filters-number.ts';

function length(value: JsonValue): number {
  if (typeof value === 'string') return countCodePoints(value);
  if (isJsonArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}

function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if ((text.codePointAt(at) ?? 0) > 0xffff) at += 1;
    count += 1;
  }
  return count;
}

function first(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value === '' ? null : String.fromCodePoint(value.codePointAt(0) ?? 0);
  return isJsonArray(value) ? (value[0] ?? null) : null;
}

function last(value: JsonValue): JsonValue {
  if (typeof value === 'string') return Array.from(value.slice(-2)).at(-1) ?? null;
  return isJsonArray(value) ? (value.at(-1) ?? null) : null;
}

function reverse(value: JsonValue, spend: Spend): JsonValue {
  if (typeof value !== 'string') return isJsonArray(value) ? value.toReversed() : [];
  spend(value.length);
  return Array.from(value).reverse().join('');
}

/** The same key for equal values; numbers are compared by value, however they are written. */
function keyOf(value: JsonValue, maxBytes: number): string {
  if (typeof value === 'object' && value !== null && checkJsonSize(value, maxBytes) !== 'fits') {
    throw new TemplateSizeError(maxBytes);
  }
  return canonicalJson(value);
}

/** Returns a test for equality: same type and content; a number equals a string that is a number of the same value. */
export function equalTo(wanted: JsonValue, maxBytes: number, spend: Spend): (value: JsonValue) => boolean {
  const isWantedNumber = isNumber(wanted);
  const wantedNumber = toNumber(wanted);
  let wantedKey: string | null = null;
  return (value) => {
    if (value === wanted) return true;
    const isTextAndNumber = typeof value === 'string' ? isWantedNumber : typeof wanted === 'string';
    const left = isTextAndNumber ? toNumber(value) : value;
    const right = isTextAndNumber ? wantedNumber : wanted;
    if (left === null || right === null || typeof left === 'string' || typeof left === 'boolean')
      return false;
    if (isNumber(left) !== isNumber(right) || typeof right === 'string' || typeof right === 'boolean')
      return false;
    wantedKey ??= keyOf(right, maxBytes);
    spendReading(left, spend);
    return keyOf(left, maxBytes) === wantedKey;
  };
}

function sort(value: JsonValue, read: OfItem, direction: JsonValue | undefined, spend: Spend): JsonValue {
  return isJsonArray(value) ? finishWork(sortWork(value, read, direction, spend)) : [];
}

/** Sorts a long list; null for everything else. */
function longSort(
  value: JsonValue,
  read: OfItem,
  direction: JsonValue | undefined,
  spend: Spend,
): Work<JsonValue> | null {
  if (!isJsonArray(value) || stepsToSort(value) < LONG_STEPS) return null;
  return sortWork(value, read, direction, spend);
}

/** What the items are sorted by is read before it begins: an expression may pause. */
function sortWork(
  value: readonly JsonValue[],
  read: OfItem,
  direction: JsonValue | undefined,
  spend: Spend,
): Work<JsonValue> {
  spend(stepsToSort(value));
  return sortByKeysWork(value, value.map(read), direction === 'desc' ? -1 : 1, new Meter());
}

function stepsToSort({ length }: readonly JsonValue[]): number {
  return Math.ceil(length * Math.log2(length + 1));
}

function unique(value: JsonValue, read: OfItem, maxBytes: number, spend: Spend): JsonValue {
  if (!isJsonArray(value)) return [];
  spendReading(value, spend, 8);
  if (checkJsonSize(value, maxBytes) !== 'fits') throw new TemplateSizeError(maxBytes);
  const seen = new Set<string>();
  return value.filter((item) => {
    const key = canonicalJson(read(item));
    return seen.has(key) ? false : seen.add(key);
  });
}

function where(
  value: JsonValue,
  read: OfItem,
  wanted: JsonValue | undefined,
  maxBytes: number,
  spend: Spend,
): JsonValue {
  if (!isJsonArray(value)) return [];
  if (wanted === undefined) return value.filter((item) => isTruthy(read(item)));
  const isWanted = equalTo(wanted, maxBytes, spend);
  return value.filter((item) => isWanted(read(item)));
}

function concat(value: JsonValue, other: JsonValue, spend: Spend): JsonValue {
  const [left, right] = [value, other].map((each) =>
    isJsonArray(each) ? each : each === null ? [] : [each],
  );
  spend((left?.length ?? 0) + (right?.length ?? 0));
  return [...(left ?? []), ...(right ?? [])];
}

function values(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

export const LIST_FILTERS: FilterGroup = {
  length: { ...NO_ARGUMENT, apply: length },
  first: { ...NO_ARGUMENT, apply: first },
  last: { ...NO_ARGUMENT, apply: last },
  reverse: { ...NO_ARGUMENT, apply: (value, _, __, ___, spend) => reverse(value, spend) },
  keys: { ...NO_ARGUMENT, apply: (value) => (isJsonObject(value) ? Object.keys(value) : []) },
  values: { ...NO_ARGUMENT, apply: values },
  map: {
    minArgs: 1,
    maxArgs: 1,
    takesEach: true,
    usage: takes(message('flow.takes_field_to_read'), '"address.city"'),
    apply: (value, [field], _, __, ___, each) => (isJsonArray(value) ? value.map(readerOf(field, each)) : []),
  },
  where: {
    minArgs: 1,
    maxArgs: 2,
    takesEach: true,
    usage: takes(message('flow.takes_field_and_value'), '"status", "paid"'),
    apply: (value, [field, wanted], max, _, spend, each) =>
      where(value, readerOf(field, each), wanted, max, spend),
  },
  sort: {
    minArgs: 0,
    maxArgs: 2,
    takesEach: true,
    usage: takes(message('flow.takes_field_and_direction'), '"price", "desc"'),
    findFault: ([, direction], name) =>
      direction === undefined || direction === 'asc' || direction === 'desc'
        ? null
        : message('flow.filter_wrong_direction', { name }),
    apply: (value, [field, direction], _, __, spend, each) =>
      sort(value, readerOf(field, each), direction, spend),
    work: (value, [field, direction], _, spend, each) =>
      longSort(value, readerOf(field, each), direction, spend),
  },
  unique: {
    minArgs: 0,
    maxArgs: 1,
    takesEach: true,
    usage: takes(message('flow.takes_unique_field'), '"email"'),
    apply: (value, [field], max, _, spend, each) => unique(value, readerOf(field, each), max, spend),
  },
  concat: {
    minArgs: 1,
    maxArgs: 1,
    usage: takes(message('flow.takes_list'), 'vars.more'),
    apply: (value, [other = null], _, __, spend) => concat(value, other, spend),
  },
};
