import { type JsonObject, type JsonValue, readField, setOwn } from '@millrace/engine';
import type { StepOf } from './config.ts';
import { hasField, withField, withoutField } from './fields.ts';
import { eachObject } from './problem.ts';

/** Keeps the given fields; missing ones are ignored. */
export function pick(data: JsonValue, { fields }: StepOf<'pick'>): JsonValue {
  return eachObject(data, (object) =>
    fields.reduce<JsonObject>(
      (kept, field) => (hasField(object, field) ? withField(kept, field, readField(object, field)) : kept),
      {},
    ),
  );
}

/** Removes the given fields. */
export function omit(data: JsonValue, { fields }: StepOf<'omit'>): JsonValue {
  return eachObject(data, (object) => fields.reduce(withoutField, object));
}

/** Renames fields; all are read before any is written, so that two can be swapped. */
export function rename(data: JsonValue, { fields }: StepOf<'rename'>): JsonValue {
  return eachObject(data, (object) => {
    const moved = fields.filter(({ from }) => hasField(object, from));
    const isPlain = moved.every(({ from, to }) => Object.hasOwn(object, from) && !to.includes('.'));
    if (isPlain) return renameInPlace(object, new Map(moved.map(({ from, to }) => [from, to])));
    const rest = moved.reduce((left, { from }) => withoutField(left, from), object);
    return moved.reduce((left, { from, to }) => withField(left, to, readField(object, from)), rest);
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
