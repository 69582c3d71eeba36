import { compareKeys, isJsonArray, type JsonValue, readField } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { typeName } from '../values.ts';
import type { StepOf } from './config.ts';
import { withField } from './fields.ts';
import { identityOf, sortKey } from './order.ts';
import { DataProblem, eachObject, fieldOf, itemAt, listOf, objectAt } from './problem.ts';

/** Maximum number of items in a list that a step extends. */
export const MAX_ITEMS = 1_000_000;

/** Sorts by several fields, most significant first. Stable; null and values without an order come last. */
export function sort(data: JsonValue, { by }: StepOf<'sort'>): JsonValue {
  const rows = listOf(data).map((item) => ({
    item,
    keys: by.map(({ field = '', as }) => sortKey(readField(item, field), as)),
  }));
  const signs = by.map(({ direction }) => (direction === 'desc' ? -1 : 1));
  rows.sort((left, right) => {
    for (const [index, sign] of signs.entries()) {
      const [a, b] = [left.keys[index], right.keys[index]];
      if (a === undefined || b === undefined) continue;
      const order = a.rank - b.rank || sign * compareKeys(a, b);
      if (order !== 0) return order;
    }
    return 0;
  });
  return rows.map(({ item }) => item);
}

/** Keeps one of the items that are equal, or equal in the given fields. */
export function unique(data: JsonValue, { by = [], keep = 'first' }: StepOf<'unique'>): JsonValue {
  const list = listOf(data);
  const kept = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const identity = identityOf(by.length === 0 ? [item] : by.map((field) => readField(item, field)));
    if (keep === 'last' || !kept.has(identity)) kept.set(identity, index);
  }
  const places = new Set(kept.values());
  return list.filter((_, index) => places.has(index));
}

export function limit(data: JsonValue, { count, skip = 0 }: StepOf<'limit'>): JsonValue {
  return listOf(data).slice(skip, skip + count);
}

/** Lists of the given size; the last one has the remainder. */
export function chunk(data: JsonValue, { size }: StepOf<'chunk'>): JsonValue {
  const list = listOf(data);
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/** Splits strings into lists: the data itself, or a field. */
export function split(data: JsonValue, step: StepOf<'split'>): JsonValue {
  const { field = '' } = step;
  if (field === '') return splitText(data, step, message('nodes.the_data'));
  return eachObject(data, (object, where) => {
    const value = readField(object, field);
    return value === null ? object : withField(object, field, splitText(value, step, fieldOf(field, where)));
  });
}

function splitText(
  value: JsonValue,
  { separator = ',', trim = true, skip_empty = true }: StepOf<'split'>,
  where: Message,
): JsonValue {
  if (typeof value !== 'string')
    throw new DataProblem(message('nodes.needs_text', { where, given: typeName(value) }));
  const parts = separator === '' ? Array.from(value) : value.split(separator);
  const trimmed = trim ? parts.map((part) => part.trim()) : parts;
  return skip_empty ? trimmed.filter((part) => part !== '') : trimmed;
}

/** Flattens nested lists; with a field, makes an item of each item of that field's list. */
export function flatten(data: JsonValue, { field = '', levels = 1 }: StepOf<'flatten'>): JsonValue {
  const list = listOf(data);
  return field === '' ? flattenLevels(list, levels) : list.flatMap(unfold(field));
}

function flattenLevels(list: readonly JsonValue[], levels: number): readonly JsonValue[] {
  let flat = list;
  for (let level = 0; level < levels && flat.some(isJsonArray); level++) {
    flat = flat.flatMap((item) => (isJsonArray(item) ? item : [item]));
    checkCount(flat.length);
  }
  return flat;
}

function unfold(field: string): (item: JsonValue, index: number) => JsonValue[] {
  let count = 0;
  return (item, index) => {
    const object = objectAt(item, itemAt(index));
    const inner = readField(object, field);
    if (inner === null) return [];
    if (!isJsonArray(inner)) {
      throw new DataProblem(
        message('nodes.needs_list_at', { where: fieldOf(field, itemAt(index)), given: typeName(inner) }),
      );
    }
    count += inner.length;
    checkCount(count);
    return inner.map((each) => withField(object, field, each));
  };
}

/** @throws DataProblem when a list would become too long */
export function checkCount(count: number): void {
  if (count > MAX_ITEMS) throw new DataProblem(message('nodes.too_many_results', { max: MAX_ITEMS }));
}
