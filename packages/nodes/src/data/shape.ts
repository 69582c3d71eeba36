import { type JsonObject, type JsonValue, readField, setOwn, type Work } from '@millrace/engine';
import type { StepOf } from './config.ts';
import { Draft, hasField } from './fields.ts';
import type { StepContext } from './format.ts';
import { eachObject } from './problem.ts';

/** Keeps the given fields; missing ones are ignored. */
export function pick(data: JsonValue, { fields }: StepOf<'pick'>, { meter }: StepContext): Work<JsonValue> {
  return eachObject(data, meter, (object) => {
    meter.spend(fields.length);
    const kept = new Draft({});
    for (const field of fields) if (hasField(object, field)) kept.set(field, readField(object, field));
    return kept.object;
  });
}

/** Removes the given fields. */
export function omit(data: JsonValue, { fields }: StepOf<'omit'>, { meter }: StepContext): Work<JsonValue> {
  return eachObject(data, meter, (object) => {
    meter.spend(fields.length);
    return new Draft(object).remove(fields).object;
  });
}

/** Renames fields; all are read before any is written, so that two can be swapped. */
export function rename(
  data: JsonValue,
  { fields }: StepOf<'rename'>,
  { meter }: StepContext,
): Work<JsonValue> {
  return eachObject(data, meter, (object) => {
    meter.spend(fields.length);
    const moved = fields.filter(({ from }) => hasField(object, from));
    const isPlain = moved.every(({ from, to }) => Object.hasOwn(object, from) && !to.includes('.'));
    if (isPlain) return renameInPlace(object, new Map(moved.map(({ from, to }) => [from, to])));
    const renamed = new Draft(object).remove(moved.map(({ from }) => from));
    for (const { from, to } of moved) renamed.set(to, readField(object, from));
    return renamed.object;
  });
}

/** Keeps the order of the members. A renamed member replaces an existing one of that name. */
function renameInPlace(object: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const renamed: { [name: string]: JsonValue } = {};
  const taken = new Set(names.values());
  for (const name of Object.keys(object)) {
    const to = names.get(name);
    if (to === undefined && taken.has(name)) continue;
    setOwn(renamed, to ?? name, object[name] ?? null);
  }
  return renamed;
}
