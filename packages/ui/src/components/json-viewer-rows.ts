import { isJsonArray, isRawNumber, type JsonValue } from '@millrace/engine';

export type JsonPath = readonly (string | number)[];

/** Members or items of one value that are shown; a page cannot hold lines without end. */
export const MAX_ENTRIES = 200_000;

/** One line of the viewer. */
export interface JsonRow {
  /** Names the place; see {@link placeOf}. */
  readonly place: string;
  readonly parent: JsonRow | null;
  readonly depth: number;
  readonly name: string | number | null;
  readonly value: JsonValue;
  /** Members or items; null for what has none. */
  readonly size: number | null;
  readonly isOpen: boolean;
  /** Above 0: the line stands for so many that are not shown. */
  readonly left: number;
}

/** A path as one text, so that it can be a key. */
export function placeOf(path: JsonPath): string {
  return path.reduce<string>(stepTo, '');
}

/** The place of a member. Put together step by step, because deep values have many places with long paths. */
function stepTo(place: string, name: string | number): string {
  return `${place}/${typeof name === 'number' ? name : name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The places of what a value is inside of, from the outermost on. */
export function placesAbove(path: JsonPath): string[] {
  const places: string[] = [];
  let place = '';
  for (const name of path) {
    places.push(place);
    place = stepTo(place, name);
  }
  return places;
}

/** Where a line's value is, from the outermost on. */
export function pathOf(row: JsonRow): JsonPath {
  const path: (string | number)[] = [];
  for (let at: JsonRow | null = row; at !== null; at = at.parent) if (at.name !== null) path.push(at.name);
  return path.reverse();
}

/** How many members or items a value has; null for what can have none. */
export function sizeOf(value: JsonValue): number | null {
  if (value === null || typeof value !== 'object' || isRawNumber(value)) return null;
  return isJsonArray(value) ? value.length : Object.keys(value).length;
}

type Entry = readonly [string | number, JsonValue];

/** Its members or items, as many as are shown. */
function entriesOf(value: JsonValue): readonly Entry[] {
  if (value === null || typeof value !== 'object' || isRawNumber(value)) return [];
  if (isJsonArray(value)) {
    const shown = value.length > MAX_ENTRIES ? value.slice(0, MAX_ENTRIES) : value;
    return shown.map((item, index): Entry => [index, item]);
  }
  const entries = Object.entries(value as { readonly [name: string]: JsonValue });
  return entries.length > MAX_ENTRIES ? entries.slice(0, MAX_ENTRIES) : entries;
}

/** The lines that show, from the top; what is closed is not looked into. */
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

/** Places to open at first: level by level, as long as all of it stays within `maxRows` lines. */
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
      // The outermost level is always there; a long list is cut by what is in sight, not here.
      if (rows > maxRows && at.place !== ROOT_PLACE) return open;
      open.add(at.place);
      if (rows <= maxRows) next.push(...entriesAt(at));
    }
    level = next;
  }
  return open;
}

/** The places that can be opened, from the top on, at most `max`; `isAll` tells whether those are all. */
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
    // The last goes in first, so that the first comes out next.
    for (const each of entriesAt(at).reverse()) if (sizeOf(each.value) !== null) left.push(each);
  }
  return { open, isAll: true };
}

/** What a search has found. */
export interface Matches {
  /** To names and values, in their order. */
  readonly paths: readonly JsonPath[];
  /** There are more than were looked for. */
  readonly isCut: boolean;
}

/** Places that are looked at in one step. */
const PLACES_PER_STEP = 1_000;

/**
 * Looks for a text in names and values, upper and lower case being one. In steps, because of megabytes it takes a while,
 * and the page has to go on meanwhile.
 */
export function* search(root: JsonValue, text: string, max: number): Generator<undefined, Matches> {
  const wanted = patternOf(text);
  const paths: JsonPath[] = [];
  // One path for all: megabytes have hundreds of thousands of places, and few of them match.
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

/** A text as it is looked for; where it was found is told in the text as it stands, whatever case it is in. */
export function patternOf(text: string): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
}

/** A value that cannot be opened, as text. */
export function plainText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object') return String(value);
  return isRawNumber(value) ? value.rawJSON : JSON.stringify(value);
}
