import type { Database, Queryable } from './database.ts';
import { narrowTo } from './transaction.ts';

/** A database whose transactions are part of one in progress that sees all organisations. */
export function joinTransaction(db: Database, tx: Queryable): Database {
  const forOrganisation: Database['forOrganisation'] = async (organisationId, work) => {
    await narrowTo(tx, organisationId);
    try {
      return await work(tx);
    } finally {
      // Fails when a statement of the work did; then nothing of the transaction will be stored.
      await narrowTo(tx, null).catch(() => {});
    }
  };
  return {
    ...db,
    query: (text, values, name) => tx.query(text, values, name),
    transaction: (work) => work(tx),
    forOrganisation,
    readForOrganisation: forOrganisation,
  };
}
