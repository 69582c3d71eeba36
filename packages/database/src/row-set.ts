/** Types of columns that rows are sent in. */
type SqlType =
  | 'bigint'
  | 'boolean'
  | 'bytea'
  | 'double precision'
  | 'integer'
  | 'text'
  | 'timestamptz'
  | 'uuid';

/** By the column's name: its type, and what an item has in it. */
export type Columns<Item> = {
  readonly [name: string]: readonly [type: SqlType, read: (item: Item) => unknown];
};

/** How one statement is sent any number of rows: an array for each column. */
export interface RowSet<Item> {
  /** `unnest($1::bigint[], $2::text[])`: give the rows a name and name their columns by {@link list}. */
  readonly sql: string;
  /** The columns in their order, separated by commas; `r.id, r.name` with `r` as the table. */
  list(table?: string): string;
  /** The statement's parameters. */
  values(items: readonly Item[]): readonly unknown[][];
}

/** @param first number of the first parameter; the parameters before it are the statement's own */
export function rowSet<Item>(columns: Columns<Item>, first = 1): RowSet<Item> {
  const names = Object.keys(columns);
  const arrays = Object.values(columns).map(([type], index) => `$${first + index}::${type}[]`);
  return {
    sql: `unnest(${arrays.join(', ')})`,
    list: (table) => names.map((name) => (table === undefined ? name : `${table}.${name}`)).join(', '),
    values: (items) => Object.values(columns).map(([, read]) => items.map(read)),
  };
}
