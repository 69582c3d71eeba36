import type { Queryable } from './database.ts';
import { queryRow } from './query-row.ts';

/** Waits for a lock on a name, which is held until the end of the transaction. @param id of what is locked, within the name */
export async function takeLock(tx: Queryable, name: string, id = 0): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, $2))', [`millrace ${name}`, id]);
}

/** The same without waiting. @returns false if another transaction holds it */
export async function tryLock(tx: Queryable, name: string, id = 0): Promise<boolean> {
  const { locked } = await queryRow<{ locked: boolean }>(
    tx,
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, $2)) AS locked',
    [`millrace ${name}`, id],
  );
  return locked;
}
