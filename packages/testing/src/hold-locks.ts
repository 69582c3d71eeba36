import type { Database, Queryable } from '@millrace/database/database';

/**
 * A transaction that keeps its locks for as long as the test wants: an ordinary one is ended when it does nothing for ten seconds, which is less
 * than another process may take on a busy machine to come where it has to wait.
 */
export function holdLocks<Result>(db: Database, work: (tx: Queryable) => Promise<Result>): Promise<Result> {
  return db.transaction(async (tx) => {
    await tx.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    return await work(tx);
  });
}
