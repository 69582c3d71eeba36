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
  return new Draft(object).set(path, value).object;
}

const NO_NAMES: ReadonlySet<string> = new Set();

type Members = { [name: string]: JsonValue };

/** A copy of an object that is changed several times. What is changed in it is copied once; other members are shared. */
export class Draft {
  readonly #copies = new Set<JsonValue>();
  #object: JsonObject;

  constructor(object: JsonObject) {
    this.#object = object;
  }

  get object(): JsonObject {
    return this.#object;
  }

  /** Sets a member, creating missing objects. */
  set(path: string, value: JsonValue): this {
    const names = stepsOf(path);
    let at = this.#own();
    for (const name of names.slice(0, -1)) {
      const inner = Object.hasOwn(at, name) ? (at[name] ?? null) : null;
      const own = this.#copy(isJsonObject(inner) ? inner : {});
      setOwn(at, name, own);
      at = own;
    }
    setOwn(at, names.at(-1) ?? '', value);
    return this;
  }

  /** Removes the members that there are. */
  remove(paths: readonly string[]): this {
    const names = new Set(paths.filter((path) => !path.includes('.')));
    const isAny = names.values().some((name) => Object.hasOwn(this.#object, name));
    if (isAny) this.#object = this.#copyWithout(this.#object, names);
    for (const path of paths) if (!names.has(path) && hasField(this.#object, path)) this.#removeInside(path);
    return this;
  }

  #removeInside(path: string): void {
    const names = stepsOf(path);
    let at = this.#own();
    for (const name of names.slice(0, -1)) {
      const own = this.#copy(at[name] as JsonObject);
      setOwn(at, name, own);
      at = own;
    }
    delete at[names.at(-1) ?? ''];
  }

  #own(): Members {
    const own = this.#copy(this.#object);
    this.#object = own;
    return own;
  }

  #copy(object: JsonObject): Members {
    return this.#copies.has(object) ? (object as Members) : this.#copyWithout(object, NO_NAMES);
  }

  /** Members that are left out are never deleted: the language would look for a place for each of those that are set afterwards. */
  #copyWithout(object: JsonObject, names: ReadonlySet<string>): Members {
    const copy: Members = {};
    for (const name of Object.keys(object)) if (!names.has(name)) setOwn(copy, name, object[name] ?? null);
    this.#copies.add(copy);
    return copy;
  }
}

/** The last name of a path, which names a column made from it. */
export function columnOf(path: string): string {
  return stepsOf(path).at(-1) ?? path;
}
