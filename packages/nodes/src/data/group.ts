import {
  addExact,
  compareKeys,
  divideExact,
  type ExactNumber,
  fromExact,
  isNumber,
  type JsonObject,
  type JsonValue,
  type Meter,
  mapWork,
  type OrderKey,
  orderKey,
  readField,
  setOwn,
  toExact,
  type Work,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { typeName } from '@millrace/node-kit/values';
import type { StepOf } from './config.ts';
import { columnOf } from './fields.ts';
import type { StepContext } from './format.ts';
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
function* groupsOf(list: readonly JsonValue[], by: readonly string[], meter: Meter): Work<Group[]> {
  const groups = new Map<string, Group>();
  for (const [index, item] of list.entries()) {
    const values = by.map((field) => readField(item, field));
    const identity = yield* identityOf(values, meter);
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
export function* group(data: JsonValue, { by }: StepOf<'group'>, { meter }: StepContext): Work<JsonValue> {
  checkColumns(by.map(columnOf));
  const groups = yield* groupsOf(listOf(data), by, meter);
  return yield* mapWork(groups, meter, ({ key, rows }) => {
    meter.spend(rows.length / 10);
    return { key, items: rows.map(({ item }) => item), count: rows.length };
  });
}

/** One object of results, or with `by` one for each group. */
export function* aggregate(
  data: JsonValue,
  { by = [], values }: StepOf<'aggregate'>,
  { meter }: StepContext,
): Work<JsonValue> {
  const list = listOf(data);
  checkColumns([...by.map(columnOf), ...values.map(nameOf)]);
  if (by.length === 0) {
    const rows = yield* mapWork(list, meter, (item, index) => ({ item, index }));
    return yield* resultsOf({ key: {}, rows }, values, meter);
  }
  const results: JsonObject[] = [];
  for (const each of yield* groupsOf(list, by, meter)) results.push(yield* resultsOf(each, values, meter));
  return results;
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

function* resultsOf({ key, rows }: Group, values: readonly Value[], meter: Meter): Work<JsonObject> {
  const results: { [name: string]: JsonValue } = { ...key };
  for (const value of values)
    setOwn(results, nameOf(value), yield* FUNCTIONS[value.function](rows, value.field ?? '', meter));
  return results;
}

type Aggregate = (rows: readonly Row[], field: string, meter: Meter) => Work<JsonValue>;

const FUNCTIONS: Record<Value['function'], Aggregate> = {
  *count(rows, field, meter) {
    return field === '' ? rows.length : (yield* present(rows, field, meter)).length;
  },
  *sum(rows, field, meter) {
    return fromExact((yield* sumOf(rows, field, meter)).sum);
  },
  *average(rows, field, meter) {
    const { sum, count } = yield* sumOf(rows, field, meter);
    const average = divideExact(sum, { units: BigInt(count), scale: 0 });
    return average === null ? null : fromExact(average);
  },
  min: (rows, field, meter) => extreme(rows, field, -1, meter),
  max: (rows, field, meter) => extreme(rows, field, 1, meter),
  *first(rows, field, meter) {
    return (yield* present(rows, field, meter))[0]?.value ?? null;
  },
  *last(rows, field, meter) {
    return (yield* present(rows, field, meter)).at(-1)?.value ?? null;
  },
  *list(rows, field, meter) {
    return yield* mapWork(yield* present(rows, field, meter), meter, ({ value }) => value);
  },
};

interface Present {
  readonly value: JsonValue;
  readonly index: number;
}

/** The field of each item that has one. */
function* present(rows: readonly Row[], field: string, meter: Meter): Work<Present[]> {
  const found: Present[] = [];
  for (const { item, index } of rows) {
    const value = readField(item, field);
    if (value !== null) found.push({ value, index });
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
  return found;
}

/** A string that isn't a number must be reported: a sum without it would be silently wrong. */
function* sumOf(
  rows: readonly Row[],
  field: string,
  meter: Meter,
): Work<{ readonly sum: ExactNumber; readonly count: number }> {
  let sum: ExactNumber = { units: 0n, scale: 0 };
  const values = yield* present(rows, field, meter);
  for (const { value, index } of values) {
    const number = toExact(value);
    if (number === null) throw notANumber(value, fieldOf(field, itemAt(index)));
    sum = addExact(sum, number);
    meter.spend(ADDING);
    if (meter.isDue) yield meter.take();
  }
  return { sum, count: values.length };
}

/** Steps that adding a number takes. */
const ADDING = 10;

function notANumber(value: JsonValue, where: Message): DataProblem {
  return new DataProblem(message('nodes.needs_numbers', { where, given: describeMismatch(value, 'number') }));
}

function* extreme(rows: readonly Row[], field: string, sign: 1 | -1, meter: Meter): Work<JsonValue> {
  let best: { readonly value: JsonValue; readonly key: OrderKey } | null = null;
  for (const each of yield* present(rows, field, meter)) {
    const { value } = each;
    const key = comparable(each, field);
    if (best !== null && key.rank !== best.key.rank) {
      const [first, second] = [typeName(best.value), typeName(value)];
      throw new DataProblem(
        message('nodes.not_comparable', { first, second, where: fieldOf(field, itemAt(each.index)) }),
      );
    }
    if (best === null || compareKeys(key, best.key) * sign > 0) best = { value, key };
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
  return best?.value ?? null;
}

/** Numbers and strings have an order. */
function comparable({ value, index }: Present, field: string): OrderKey {
  if (typeof value === 'string' || isNumber(value)) return orderKey(value);
  throw new DataProblem(
    message('nodes.needs_numbers_or_texts', { where: fieldOf(field, itemAt(index)), given: typeName(value) }),
  );
}
