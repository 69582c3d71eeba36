import { isJsonArray, isRawNumber, type JsonValue } from '@millrace/engine';

export type JsonPath = readonly (string | number)[];

/** Members or items shown per value: a page can't render an unlimited number of lines. */
export const MAX_ENTRIES = 200_000;

export interface JsonRow {
  /** Key of the path; see {@link placeOf}. */
  readonly place: string;
  readonly parent: JsonRow | null;
  readonly depth: number;
  readonly name: string | number | null;
  readonly value: JsonValue;
  /** Number of members or items; null for scalars. */
  readonly size: number | null;
  readonly isOpen: boolean;
  /** Above 0: a placeholder for this many hidden entries. */
  readonly left: number;
}

/** A path as a string key. */
export function placeOf(path: JsonPath): string {
  return path.reduce<string>(stepTo, '');
}

/** The key of a member. Built incrementally, because deep values have many long paths. */
function stepTo(place: string, name: string | number): string {
  return `${place}/${typeof name === 'number' ? name : name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The keys of a value's ancestors, outermost first. */
export function placesAbove(path: JsonPath): string[] {
  const places: string[] = [];
  let place = '';
  for (const name of path) {
    places.push(place);
    place = stepTo(place, name);
  }
  return places;
}

/** The path of a row's value, outermost first. */
export function pathOf(row: JsonRow): JsonPath {
  const path: (string | number)[] = [];
  for (let at: JsonRow | null = row; at !== null; at = at.parent) if (at.name !== null) path.push(at.name);
  return path.reverse();
}

/** Number of members or items; null for scalars. */
export function sizeOf(value: JsonValue): number | null {
  if (value === null || typeof value !== 'object' || isRawNumber(value)) return null;
  return isJsonArray(value) ? value.length : Object.keys(value).length;
}

type Entry = readonly [string | number, JsonValue];

/** The members or items shown. */
function entriesOf(value: JsonValue): readonly Entry[] {
  if (value === null || typeof value !== 'object' || isRawNumber(value)) return [];
  if (isJsonArray(value)) {
    const shown = value.length > MAX_ENTRIES ? value.slice(0, MAX_ENTRIES) : value;
    return shown.map((item, index): Entry => [index, item]);
  }
  const entries = Object.entries(value as { readonly [name: string]: JsonValue });
  return entries.length > MAX_ENTRIES ? entries.slice(0, MAX_ENTRIES) : entries;
}

/** The visible rows in order; collapsed values aren't traversed. */
export function rowsOf(root: JsonValue, open: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  const add = (name: string | number | null, value: JsonValue, parent: JsonRow | null) => {
    const place = parent === null || name === null ? '' : stepTo(parent.place, name);
    const depth = parent === null ? 0 : parent.depth + 1;
    const size = sizeOf(value);
    const row = {
      place,
      parent,
      depth,
      name,
      value,
      size,
      isOpen: size !== null && open.has(place),
      left: 0,
    };
    rows.push(row);
    if (!row.isOpen) return;
    for (const [key, inside] of entriesOf(value)) add(key, inside, row);
    const left = (size ?? 0) - MAX_ENTRIES;
    if (left > 0) rows.push({ ...LEFT_OUT, place: `${place}\0`, parent: row, depth: depth + 1, left });
  };
  add(null, root, null);
  return rows;
}

const LEFT_OUT = { name: null, value: null, size: null, isOpen: false } as const;

interface Placed {
  readonly place: string;
  readonly value: JsonValue;
}

const ROOT_PLACE = '';

function entriesAt({ place, value }: Placed): Placed[] {
  return entriesOf(value).map(([key, inside]) => ({ place: stepTo(place, key), value: inside }));
}

/** Keys to expand initially: level by level, while the whole fits in `maxRows` rows. */
export function openAtFirst(root: JsonValue, maxRows: number): Set<string> {
  const open = new Set<string>();
  let rows = 1;
  let level: Placed[] = [{ place: ROOT_PLACE, value: root }];
  while (level.length > 0) {
    const next: Placed[] = [];
    for (const at of level) {
      const size = sizeOf(at.value);
      if (size === null) continue;
      rows += size;
      // The root is always expanded; long lists are virtualized, not cut here.
      if (rows > maxRows && at.place !== ROOT_PLACE) return open;
      open.add(at.place);
      if (rows <= maxRows) next.push(...entriesAt(at));
    }
    level = next;
  }
  return open;
}

/** Expandable keys in order, at most `max`; `isAll`: whether the list is complete. */
export function openAll(
  root: JsonValue,
  max: number,
): { readonly open: Set<string>; readonly isAll: boolean } {
  const open = new Set<string>();
  const left: Placed[] = [{ place: ROOT_PLACE, value: root }];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const size = sizeOf(at.value);
    if (size === null || size === 0) continue;
    if (open.size >= max) return { open, isAll: false };
    open.add(at.place);
    // A stack: pushed in reverse, so that the first entry is popped first.
    for (const each of entriesAt(at).reverse()) if (sizeOf(each.value) !== null) left.push(each);
  }
  return { open, isAll: true };
}

/** Search results. */
export interface Matches {
  /** Matches in names and values, in document order. */
  readonly paths: readonly JsonPath[];
  /** The search stopped at its limit. */
  readonly isCut: boolean;
}

/** Values visited per step. */
const PLACES_PER_STEP = 1_000;

/** Case-insensitive search in names and values. A generator, because megabytes take a while and the page must stay responsive. */
export function* search(root: JsonValue, text: string, max: number): Generator<undefined, Matches> {
  const wanted = patternOf(text);
  const paths: JsonPath[] = [];
  // One shared, mutable path: megabytes have hundreds of thousands of values, few of which match.
  const path: (string | number)[] = [];
  const open: { readonly entries: readonly Entry[]; next: number }[] = [{ entries: [['', root]], next: 0 }];
  for (let looked = 1; ; looked++) {
    const at = open.at(-1);
    if (at === undefined) return { paths, isCut: false };
    const entry = at.entries[at.next];
    at.next += 1;
    if (entry === undefined) {
      open.pop();
      path.pop();
      continue;
    }
    const [name, value] = entry;
    const isInside = open.length > 1;
    if (isInside) path.push(name);
    const entries = sizeOf(value) === null ? null : entriesOf(value);
    const isNamed = isInside && typeof name === 'string' && wanted.test(name);
    if (isNamed || (entries === null && wanted.test(plainText(value)))) {
      if (paths.length >= max) return { paths, isCut: true };
      paths.push([...path]);
    }
    if (entries !== null) open.push({ entries, next: 0 });
    else if (isInside) path.pop();
    if (looked % PLACES_PER_STEP === 0) yield;
  }
}

/** A case-insensitive pattern for the search text, so that match positions refer to the original string. */
export function patternOf(text: string): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
}

/** A scalar as text. */
export function plainText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object') return String(value);
  return isRawNumber(value) ? value.rawJSON : JSON.stringify(value);
}
