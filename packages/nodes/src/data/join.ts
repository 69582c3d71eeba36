import {
  canonicalWork,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Meter,
  readField,
  setOwn,
  toNumber,
  type Work,
} from '@millrace/engine';
import { type Message, message, verbatim } from '@millrace/messages';
import { typeName } from '@millrace/node-kit/values';
import type { StepOf } from './config.ts';
import type { StepContext } from './format.ts';
import { checkCount } from './lists.ts';
import { DataProblem, listOf } from './problem.ts';

type JoinStep = StepOf<'join'>;

/** Joins the items of two lists whose fields are equal; an index over the right list makes it linear. */
export function* join(data: JsonValue, step: JoinStep, { meter }: StepContext): Work<JsonValue> {
  const { type = 'inner', as = '' } = step;
  const left = objectsOf(listOf(data), message('nodes.the_data'));
  const right = objectsOf(rightList(step.with), verbatim('config.with'));
  const places = yield* indexOf(right, step, meter);
  const matched = new Set<number>();
  const joined: JsonObject[] = [];
  const add = (a: JsonObject | null, b: JsonObject | null): void => {
    checkCount(joined.length + 1);
    joined.push(merge(a, b, as, meter));
  };
  const fields = step.on.map(({ left: field }) => field);
  for (const item of left) {
    const key = yield* keyOf(item, fields, meter);
    const found = key === null ? [] : (places.get(key) ?? []);
    for (const place of found) {
      matched.add(place);
      add(item, right[place] ?? null);
      if (meter.isDue) yield meter.take();
    }
    if (found.length === 0 && (type === 'left' || type === 'full')) add(item, null);
    if (meter.isDue) yield meter.take();
  }
  if (type === 'right' || type === 'full') {
    for (const [place, item] of right.entries()) {
      if (!matched.has(place)) add(null, item);
      if (meter.isDue) yield meter.take();
    }
  }
  return joined;
}

function rightList(value: JsonValue): readonly JsonValue[] {
  try {
    return listOf(value);
  } catch {
    throw new DataProblem(message('nodes.needs_list_with', { given: typeName(value) }));
  }
}

function objectsOf(list: readonly JsonValue[], whole: Message): readonly JsonObject[] {
  return list.map((item, index) => {
    if (isJsonObject(item)) return item;
    throw new DataProblem(message('nodes.needs_objects_in', { index, whole, given: typeName(item) }));
  });
}

function* indexOf(right: readonly JsonObject[], { on }: JoinStep, meter: Meter): Work<Map<string, number[]>> {
  const places = new Map<string, number[]>();
  const fields = on.map(({ right: field }) => field);
  for (const [place, item] of right.entries()) {
    const key = yield* keyOf(item, fields, meter);
    if (key === null) continue;
    const found = places.get(key);
    if (found === undefined) places.set(key, [place]);
    else found.push(place);
  }
  return places;
}

/** The same key for equal fields; null when one is null, which equals nothing. */
function* keyOf(item: JsonObject, fields: readonly string[], meter: Meter): Work<string | null> {
  const parts: JsonValue[] = [];
  for (const field of fields) {
    const value = readField(item, field);
    if (value === null) return null;
    // A string that is a number counts as that number: lists from files and forms contain only strings.
    parts.push(toNumber(value) ?? value);
  }
  return yield* canonicalWork(parts, meter);
}

/** The left item's members win; with `as` the right item becomes a member of its own. */
function merge(left: JsonObject | null, right: JsonObject | null, as: string, meter: Meter): JsonObject {
  const merged: { [name: string]: JsonValue } = {};
  for (const [name, value] of Object.entries(left ?? {})) setOwn(merged, name, value);
  meter.spend(1 + Object.keys(merged).length);
  if (as !== '') {
    setOwn(merged, as, right);
    return merged;
  }
  for (const [name, value] of Object.entries(right ?? {})) {
    meter.spend(1);
    if (!Object.hasOwn(merged, name)) setOwn(merged, name, value);
  }
  return merged;
}
