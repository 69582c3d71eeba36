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
  /** The columns in order, separated by commas; `r.id, r.name` with `r` as the table. */
  list(table?: string): string;
  /** The statement's parameters. */
  values(items: readonly Item[]): readonly unknown[][];
}

/** @param first number of the first parameter; those before it belong to the statement itself */
export function rowSet<Item>(columns: Columns<Item>, first = 1): RowSet<Item> {
  const names = Object.keys(columns);
  const arrays = Object.values(columns).map(([type], index) => `$${first + index}::${type}[]`);
  return {
    sql: `unnest(${arrays.join(', ')})`,
    list: (table) => names.map((name) => (table === undefined ? name : `${table}.${name}`)).join(', '),
    values: (items) => Object.values(columns).map(([, read]) => items.map(read)),
  };
}
