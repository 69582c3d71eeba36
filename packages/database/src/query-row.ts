import type { Queryable } from './database.ts';

/** Sends a statement that always returns a row: an insert with RETURNING, a SELECT without conditions. */
export async function queryRow<Row>(
  db: Queryable,
  text: string,
  values?: readonly unknown[],
  name?: string,
): Promise<Row> {
  const [row] = await db.query<Row>(text, values, name);
  if (row === undefined) throw new Error(`The statement returned no row: ${text}`);
  return row;
}
