/** Column types that rows can be sent in. */
type SqlType =
  | 'bigint'
  | 'boolean'
  | 'bytea'
  | 'double precision'
  | 'integer'
  | 'json'
  | 'text'
  | 'timestamptz'
  | 'uuid';

/** By column name: its type, and its value in an item. */
export type Columns<Item> = {
  readonly [name: string]: readonly [type: SqlType, read: (item: Item) => unknown];
};

/** How one statement receives any number of rows: one array per column. */
export interface RowSet<Item> {
  /** `unnest($1::bigint[], $2::text[])`: alias the rows and name their columns with {@link list}. */
  readonly sql: string;
  /**
   * The same for a prepared statement that usually gets fewer than ten rows. PostgreSQL sees how many there are in {@link sql}, finds a plan for
   * ten more expensive than one for these, and so plans the statement anew each time it is sent, which takes longer than running it. Here
   * it can't see that, and keeps one plan.
   */
  readonly unseenSql: string;
  /** The columns in order, separated by commas; `r.id, r.name` with `r` as the table. */
  list(table?: string): string;
  /** The statement's parameters: arrays, or what the driver sends as it is. */
  values(items: readonly Item[]): readonly unknown[];
}

/** @param first number of the first parameter; those before it belong to the statement itself */
export function rowSet<Item>(columns: Columns<Item>, first = 1): RowSet<Item> {
  const names = Object.keys(columns);
  const arrays = Object.values(columns).map(([type], index) => `$${first + index}::${type}[]`);
  return {
    sql: `unnest(${arrays.join(', ')})`,
    unseenSql: `unnest(${arrays.map((array) => `(SELECT ${array})`).join(', ')})`,
    list: (table) => names.map((name) => (table === undefined ? name : `${table}.${name}`)).join(', '),
    values(items) {
      const arrays = Object.values(columns).map(([type, read]) => arrayOf(type, items.map(read)));
      // How many rows there are, if they have nothing else.
      if (arrays.every((array) => array === NOTHING)) arrays[0] = items.map(() => null);
      return arrays;
    },
  };
}

/** A column without any value: `unnest` fills up what is shorter than the others with nulls. Most columns of most starts are such. */
const NOTHING: readonly unknown[] = [];

function arrayOf(type: SqlType, values: readonly unknown[]): unknown {
  if (values.every((value) => value === null || value === undefined)) return NOTHING;
  return type === 'text' && isLarge(values) ? binaryTexts(values) : values;
}

/** Characters from which on texts are sent in PostgreSQL's binary format. */
const LARGE_TEXTS = 2 * 1024;

function isLarge(values: readonly unknown[]): values is readonly (string | null)[] {
  let characters = 0;
  for (const value of values) {
    if (value !== null && typeof value !== 'string') return false;
    characters += value?.length ?? 0;
  }
  return characters >= LARGE_TEXTS;
}

/** Bytes before the elements: dimensions, whether there are nulls, type of the elements, length and first index. */
const HEADER_BYTES = 20;
const TEXT_OID = 25;

/**
 * A `text[]` in PostgreSQL's binary format. In its text format the driver would quote and escape every element, which for 14 MB of JSON holds the
 * main thread for a tenth of a second; for the records of a few starts, it takes longer than all their other columns.
 */
function binaryTexts(texts: readonly (string | null)[]): Buffer {
  const lengths = texts.map((text) => (text === null ? -1 : Buffer.byteLength(text)));
  const bytes = lengths.reduce((sum, length) => sum + 4 + Math.max(0, length), HEADER_BYTES);
  const array = Buffer.allocUnsafe(bytes);
  let at = array.writeInt32BE(1, 0);
  at = array.writeInt32BE(texts.includes(null) ? 1 : 0, at);
  at = array.writeInt32BE(TEXT_OID, at);
  at = array.writeInt32BE(texts.length, at);
  at = array.writeInt32BE(1, at);
  for (const [index, text] of texts.entries()) {
    at = array.writeInt32BE(lengths[index] ?? -1, at);
    if (text !== null) at += array.write(text, at);
  }
  return array;
}
