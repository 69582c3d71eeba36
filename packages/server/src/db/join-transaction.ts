import type { Database, Queryable } from './database.ts';

/** A database whose transactions are parts of one that is under way. */
export function joinTransaction(db: Database, tx: Queryable): Database {
  return {
    ...db,
    query: (text, values, name) => tx.query(text, values, name),
    transaction: (work) => work(tx),
  };
}
