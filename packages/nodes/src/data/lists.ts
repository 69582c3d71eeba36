import {
  compareKeys,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  type Meter,
  mapWork,
  readField,
  SEARCHED_AT_ONCE,
  searchFor,
  sortWork,
  type Work,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { typeName } from '@millrace/node-kit/values';
import type { StepOf } from './config.ts';
import { withField } from './fields.ts';
import type { StepContext } from './format.ts';
import { identityOf, sortKey } from './order.ts';
import { DataProblem, fieldOf, itemAt, listOf, objectAt } from './problem.ts';

/** Maximum number of items in a list that a step extends. */
export const MAX_ITEMS = 1_000_000;

/** Sorts by several fields, most significant first. Stable; null and values without an order come last. */
export function* sort(data: JsonValue, { by }: StepOf<'sort'>, { meter }: StepContext): Work<JsonValue> {
  const rows = yield* mapWork(listOf(data), meter, (item) => {
    meter.spend(by.length);
    return { item, keys: by.map(({ field = '', as }) => sortKey(readField(item, field), as)) };
  });
  const signs = by.map(({ direction }) => (direction === 'desc' ? -1 : 1));
  const sorted = yield* sortWork(rows, meter, (left, right) => {
    for (const [index, sign] of signs.entries()) {
      const [a, b] = [left.keys[index], right.keys[index]];
      if (a === undefined || b === undefined) continue;
      const order = a.rank - b.rank || sign * compareKeys(a, b);
      if (order !== 0) return order;
    }
    return 0;
  });
  return yield* mapWork(sorted, meter, ({ item }) => item);
}

/** Keeps one of the items that are equal, or equal in the given fields. */
export function* unique(
  data: JsonValue,
  { by = [], keep = 'first' }: StepOf<'unique'>,
  { meter }: StepContext,
): Work<JsonValue> {
  const list = listOf(data);
  const kept = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const values = by.length === 0 ? [item] : by.map((field) => readField(item, field));
    const identity = yield* identityOf(values, meter);
    if (keep === 'last' || !kept.has(identity)) kept.set(identity, index);
  }
  const places = new Set(kept.values());
  return list.filter((_, index) => places.has(index));
}

export function limit(data: JsonValue, { count, skip = 0 }: StepOf<'limit'>): JsonValue {
  return listOf(data).slice(skip, skip + count);
}

/** Lists of the given size; the last one has the remainder. */
export function* chunk(data: JsonValue, { size }: StepOf<'chunk'>, { meter }: StepContext): Work<JsonValue> {
  const list = listOf(data);
  const chunks: JsonValue[] = [];
  for (let at = 0; at < list.length; at += size) {
    chunks.push(list.slice(at, at + size));
    meter.spend(1 + size / 10);
    if (meter.isDue) yield meter.take();
  }
  return chunks;
}

/** Splits strings into lists: the data itself, or a field. */
export function* split(data: JsonValue, step: StepOf<'split'>, { meter }: StepContext): Work<JsonValue> {
  const { field = '' } = step;
  if (field === '') return yield* splitValue(data, step, message('nodes.the_data'), meter);
  if (!isJsonArray(data))
    return yield* splitField(objectAt(data, message('nodes.the_data')), step, null, meter);
  const changed: JsonValue[] = [];
  for (const [index, item] of data.entries()) {
    const object = objectAt(item, itemAt(index));
    changed.push(yield* splitField(object, step, index, meter));
    if (meter.isDue) yield meter.take();
  }
  return changed;
}

/** @param index in the list; null outside of one */
function* splitField(
  object: JsonObject,
  step: StepOf<'split'>,
  index: number | null,
  meter: Meter,
): Work<JsonValue> {
  const { field = '' } = step;
  const value = readField(object, field);
  meter.spend(1);
  if (value === null) return object;
  const where = fieldOf(field, index === null ? message('nodes.the_data') : itemAt(index));
  return withField(object, field, yield* splitValue(value, step, where, meter));
}

function* splitValue(
  value: JsonValue,
  { separator = ',', trim = true, skip_empty = true }: StepOf<'split'>,
  where: Message,
  meter: Meter,
): Work<JsonValue> {
  if (typeof value !== 'string')
    throw new DataProblem(message('nodes.needs_text', { where, given: typeName(value) }));
  const parts: string[] = [];
  for (const part of piecesOf(value, separator)) {
    if (part === null) {
      meter.spendText(SEARCHED_AT_ONCE);
      yield meter.take();
      continue;
    }
    const kept = trim ? part.trim() : part;
    if (!skip_empty || kept !== '') parts.push(kept);
    meter.spend(1);
    meter.spendText(part.length);
    if (meter.isDue) yield meter.take();
  }
  return parts;
}

/** The text between the separators, null where finding the next one takes long; without a separator, its characters. */
function* piecesOf(text: string, separator: string): Iterable<string | null> {
  if (separator === '') {
    yield* text;
    return;
  }
  const find = searchFor(text, separator);
  let from = 0;
  for (let at = find(0); at !== -1; at = find(from)) {
    if (at === null) {
      yield null;
      continue;
    }
    yield text.slice(from, at);
    from = at + separator.length;
  }
  yield text.slice(from);
}

/** Flattens nested lists; with a field, makes an item of each item of that field's list. */
export function* flatten(
  data: JsonValue,
  { field = '', levels = 1 }: StepOf<'flatten'>,
  { meter }: StepContext,
): Work<JsonValue> {
  const list = listOf(data);
  if (field !== '') return yield* unfold(list, field, meter);
  let flat = list;
  for (let level = 0; level < levels && flat.some(isJsonArray); level++) {
    flat = yield* flattenLevel(flat, meter);
  }
  return flat;
}

function* flattenLevel(list: readonly JsonValue[], meter: Meter): Work<readonly JsonValue[]> {
  const flat: JsonValue[] = [];
  for (const item of list) {
    for (const each of isJsonArray(item) ? item : [item]) {
      flat.push(each);
      meter.spend(1);
      if (meter.isDue) yield meter.take();
    }
    checkCount(flat.length);
  }
  return flat;
}

function* unfold(list: readonly JsonValue[], field: string, meter: Meter): Work<JsonValue> {
  const unfolded: JsonValue[] = [];
  for (const [index, item] of list.entries()) {
    const object = objectAt(item, itemAt(index));
    const inner = readField(object, field) ?? [];
    if (!isJsonArray(inner)) {
      throw new DataProblem(
        message('nodes.needs_list_at', { where: fieldOf(field, itemAt(index)), given: typeName(inner) }),
      );
    }
    checkCount(unfolded.length + inner.length);
    for (const each of inner) {
      unfolded.push(withField(object, field, each));
      meter.spend(1 + Object.keys(object).length / 4);
      if (meter.isDue) yield meter.take();
    }
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
  return unfolded;
}

/** @throws DataProblem when a list would become too long */
export function checkCount(count: number): void {
  if (count > MAX_ITEMS) throw new DataProblem(message('nodes.too_many_results', { max: MAX_ITEMS }));
}
