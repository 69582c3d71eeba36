import { isJsonArray, isRawNumber, type JsonValue } from '@millrace/engine';

export type JsonPath = readonly (string | number)[];

/** One line of the viewer. */
export interface JsonRow {
  /** Names the place; see {@link placeOf}. */
  readonly place: string;
  readonly path: JsonPath;
  readonly name: string | number | null;
  readonly value: JsonValue;
  /** Members or items; null for what has none. */
  readonly size: number | null;
  readonly isOpen: boolean;
}

/** A path as one text, so that it can be a key. */
export function placeOf(path: JsonPath): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** What can be opened: its members or items. Null for anything else. */
export function entriesOf(value: JsonValue): readonly (readonly [string | number, JsonValue])[] | null {
  if (value === null || typeof value !== 'object' || isRawNumber(value)) return null;
  if (isJsonArray(value)) return value.map((item, index) => [index, item] as const);
  return Object.entries(value);
}

/** The lines that show, from the top; what is closed is not looked into. */
export function rowsOf(root: JsonValue, open: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  const add = (name: string | number | null, value: JsonValue, path: JsonPath) => {
    const place = placeOf(path);
    const entries = entriesOf(value);
    const isOpen = entries !== null && open.has(place);
    rows.push({ place, path, name, value, size: entries?.length ?? null, isOpen });
    if (entries === null || !isOpen) return;
    for (const [key, inside] of entries) add(key, inside, [...path, key]);
  };
  add(null, root, []);
  return rows;
}

/** Places to open at first: level by level, as long as all of it stays within `maxRows` lines. */
export function openAtFirst(root: JsonValue, maxRows: number): Set<string> {
  const open = new Set<string>();
  let rows = 1;
  let level: { readonly path: JsonPath; readonly value: JsonValue }[] = [{ path: [], value: root }];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { path, value } of level) {
      const entries = entriesOf(value);
      if (entries === null) continue;
      rows += entries.length;
      // The outermost level is always there; a long list is cut by what is in sight, not here.
      if (rows > maxRows && path.length > 0) return open;
      open.add(placeOf(path));
      for (const [key, inside] of entries) next.push({ path: [...path, key], value: inside });
    }
    level = next;
  }
  return open;
}

/** All places that can be opened, at most `max`. */
export function openAll(root: JsonValue, max: number): Set<string> {
  const open = new Set<string>();
  const left: { readonly path: JsonPath; readonly value: JsonValue }[] = [{ path: [], value: root }];
  for (let at = left.pop(); at !== undefined && open.size < max; at = left.pop()) {
    const entries = entriesOf(at.value);
    if (entries === null) continue;
    open.add(placeOf(at.path));
    for (const [key, inside] of entries) left.push({ path: [...at.path, key], value: inside });
  }
  return open;
}

/** Paths to names and values that hold a text, in their order, at most `max`; upper and lower case are one. */
export function findMatches(root: JsonValue, text: string, max: number): JsonPath[] {
  const wanted = text.toLowerCase();
  const found: JsonPath[] = [];
  // One path for all: megabytes have hundreds of thousands of places, and few of them match.
  const path: (string | number)[] = [];
  const look = (name: string | number | null, value: JsonValue) => {
    const entries = entriesOf(value);
    const isNamed = typeof name === 'string' && name.toLowerCase().includes(wanted);
    if (isNamed || (entries === null && plainText(value).toLowerCase().includes(wanted)))
      found.push([...path]);
    for (const [key, inside] of entries ?? []) {
      if (found.length >= max) return;
      path.push(key);
      look(key, inside);
      path.pop();
    }
  };
  if (wanted !== '') look(null, root);
  return found;
}

/** A value that cannot be opened, as text. */
export function plainText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object') return String(value);
  return isRawNumber(value) ? value.rawJSON : JSON.stringify(value);
}
