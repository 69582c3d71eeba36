import {
  addExact,
  compareKeys,
  divideExact,
  type ExactNumber,
  fromExact,
  isNumber,
  type JsonObject,
  type JsonValue,
  type OrderKey,
  orderKey,
  readField,
  setOwn,
  toExact,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { typeName } from '../values.ts';
import type { StepOf } from './config.ts';
import { columnOf } from './fields.ts';
import { identityOf } from './order.ts';
import { DataProblem, describeMismatch, fieldOf, itemAt, listOf } from './problem.ts';

interface Row {
  readonly item: JsonValue;
  /** Its index in the list, for messages. */
  readonly index: number;
}

interface Group {
  readonly key: JsonObject;
  readonly rows: Row[];
}

/** Groups in the order of their first items. */
function groupsOf(list: readonly JsonValue[], by: readonly string[]): Group[] {
  const groups = new Map<string, Group>();
  for (const [index, item] of list.entries()) {
    const values = by.map((field) => readField(item, field));
    const identity = identityOf(values);
    const group = groups.get(identity);
    if (group !== undefined) group.rows.push({ item, index });
    else groups.set(identity, { key: keyOf(by, values), rows: [{ item, index }] });
  }
  return [...groups.values()];
}

function keyOf(by: readonly string[], values: readonly JsonValue[]): JsonObject {
  const key: { [name: string]: JsonValue } = {};
  for (const [index, field] of by.entries()) setOwn(key, columnOf(field), values[index] ?? null);
  return key;
}

/** `{key, items, count}` for each group. */
export function group(data: JsonValue, { by }: StepOf<'group'>): JsonValue {
  checkColumns(by.map(columnOf));
  return groupsOf(listOf(data), by).map(({ key, rows }) => ({
    key,
    items: rows.map(({ item }) => item),
    count: rows.length,
  }));
}

/** One object of results, or with `by` one for each group. */
export function aggregate(data: JsonValue, { by = [], values }: StepOf<'aggregate'>): JsonValue {
  const list = listOf(data);
  checkColumns([...by.map(columnOf), ...values.map(nameOf)]);
  if (by.length === 0)
    return resultsOf({ key: {}, rows: list.map((item, index) => ({ item, index })) }, values);
  return groupsOf(list, by).map((each) => resultsOf(each, values));
}

type Value = StepOf<'aggregate'>['values'][number];

function nameOf({ name = '', function: kind, field = '' }: Value): string {
  if (name !== '') return name;
  return field === '' ? kind : `${kind}_${columnOf(field)}`;
}

function checkColumns(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new DataProblem(message('nodes.duplicate_result', { name: twice }));
  }
}

function resultsOf({ key, rows }: Group, values: readonly Value[]): JsonObject {
  const results: { [name: string]: JsonValue } = { ...key };
  for (const value of values)
    setOwn(results, nameOf(value), FUNCTIONS[value.function](rows, value.field ?? ''));
  return results;
}

type Aggregate = (rows: readonly Row[], field: string) => JsonValue;

const FUNCTIONS: Record<Value['function'], Aggregate> = {
  count: (rows, field) => (field === '' ? rows.length : present(rows, field).length),
  sum: (rows, field) => fromExact(sumOf(numbersOf(rows, field))),
  average(rows, field) {
    const numbers = numbersOf(rows, field);
    const average = divideExact(sumOf(numbers), { units: BigInt(numbers.length), scale: 0 });
    return average === null ? null : fromExact(average);
  },
  min: (rows, field) => extreme(rows, field, -1),
  max: (rows, field) => extreme(rows, field, 1),
  first: (rows, field) => present(rows, field)[0]?.value ?? null,
  last: (rows, field) => present(rows, field).at(-1)?.value ?? null,
  list: (rows, field) => present(rows, field).map(({ value }) => value),
};

interface Present {
  readonly value: JsonValue;
  readonly index: number;
}

/** The field of each item that has one. */
function present(rows: readonly Row[], field: string): Present[] {
  return rows.flatMap(({ item, index }) => {
    const value = readField(item, field);
    return value === null ? [] : [{ value, index }];
  });
}

/** A string that isn't a number must be reported: a sum without it would be silently wrong. */
function numbersOf(rows: readonly Row[], field: string): ExactNumber[] {
  return present(rows, field).map(({ value, index }) => {
    const number = toExact(value);
    if (number !== null) return number;
    throw new DataProblem(
      message('nodes.needs_numbers', {
        where: fieldOf(field, itemAt(index)),
        given: describeMismatch(value, 'number'),
      }),
    );
  });
}

function sumOf(numbers: readonly ExactNumber[]): ExactNumber {
  return numbers.reduce(addExact, { units: 0n, scale: 0 });
}

function extreme(rows: readonly Row[], field: string, sign: 1 | -1): JsonValue {
  const [first, ...rest] = present(rows, field);
  if (first === undefined) return null;
  let best = { value: first.value, key: comparable(first, field) };
  for (const each of rest) {
    const key = comparable(each, field);
    if (key.rank !== best.key.rank) {
      throw new DataProblem(
        message('nodes.not_comparable', {
          first: typeName(best.value),
          second: typeName(each.value),
          where: fieldOf(field, itemAt(each.index)),
        }),
      );
    }
    if (compareKeys(key, best.key) * sign > 0) best = { value: each.value, key };
  }
  return best.value;
}

/** Numbers and strings have an order. */
function comparable({ value, index }: Present, field: string): OrderKey {
  if (typeof value === 'string' || isNumber(value)) return orderKey(value);
  throw new DataProblem(
    message('nodes.needs_numbers_or_texts', { where: fieldOf(field, itemAt(index)), given: typeName(value) }),
  );
}
