import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '@millrace/engine';

/** A dotted path of own members, through objects only: list items can't be addressed by name. */
function stepsOf(path: string): readonly string[] {
  return path.split('.');
}

/** Whether an object has a member at the path, null included. */
export function hasField(object: JsonObject, path: string): boolean {
  let current: JsonValue = object;
  for (const name of stepsOf(path)) {
    if (!isJsonObject(current) || !Object.hasOwn(current, name)) return false;
    current = current[name] ?? null;
  }
  return true;
}

/** A copy with a member set, creating missing objects. Other members are shared, not copied. */
export function withField(object: JsonObject, path: string, value: JsonValue): JsonObject {
  const [name = '', ...rest] = stepsOf(path);
  const copy = copyOf(object);
  if (rest.length === 0) {
    setOwn(copy, name, value);
  } else {
    const inner = Object.hasOwn(object, name) ? (object[name] ?? null) : null;
    setOwn(copy, name, withField(isJsonObject(inner) ? inner : {}, rest.join('.'), value));
  }
  return copy;
}

/** A copy without a member; the same object when it has none. */
export function withoutField(object: JsonObject, path: string): JsonObject {
  const [name = '', ...rest] = stepsOf(path);
  if (!Object.hasOwn(object, name)) return object;
  const copy = copyOf(object);
  if (rest.length === 0) {
    delete copy[name];
    return copy;
  }
  const inner = object[name] ?? null;
  if (!isJsonObject(inner)) return object;
  setOwn(copy, name, withoutField(inner, rest.join('.')));
  return copy;
}

/** The last name of a path, which names a column made from it. */
export function columnOf(path: string): string {
  return stepsOf(path).at(-1) ?? path;
}

function copyOf(object: JsonObject): { [name: string]: JsonValue } {
  const copy: { [name: string]: JsonValue } = {};
  for (const name of Object.keys(object)) setOwn(copy, name, object[name] ?? null);
  return copy;
}
