import type { Database, Queryable } from '@millrace/database/database';
import { SecretError } from './errors.ts';
import type { Sealed, SecretKeys } from './keys.ts';

/** Records of a transaction. */
export const BATCH = 100;

/** Records of one kind that have a ciphertext. */
export interface SealedRecords<Row extends { readonly id: number }> {
  /** Those above an id whose key isn't the current one, in the order of their ids, locked until the transaction ends. */
  lock(tx: Queryable, afterId: number, limit: number): Promise<readonly Row[]>;
  /** @throws SecretError `secret_damaged` if it was changed outside Millrace */
  unseal(row: Row): Promise<string>;
  /** What a ciphertext is bound to; see {@link SecretKeys}. */
  belongsTo(row: Row): string;
  /** Stores the new ciphertexts of locked rows; their plaintexts are unchanged. */
  replace(tx: Queryable, rows: readonly (Sealed & { readonly id: number })[]): Promise<void>;
}

/** How far a re-encryption has come. */
export type OnBatch = (done: number) => void | Promise<void>;

/**
 * Re-encrypts all records under other keys with the current one, in batches with a transaction each.
 * @param onBatch called after each batch with the number done so far
 * @param batch records of a transaction
 * @returns how many were done, and the rows that don't decrypt, which stay as they are
 */
export async function reencrypt<Row extends { readonly id: number }>(
  db: Database,
  keys: SecretKeys,
  records: SealedRecords<Row>,
  onBatch: OnBatch,
  batch: number,
): Promise<{ readonly done: number; readonly damaged: readonly Row[] }> {
  const damaged: Row[] = [];
  let done = 0;
  for (let afterId = 0; ; ) {
    const from = afterId;
    const round = await db.transaction(async (tx) => {
      const rows = await records.lock(tx, from, batch);
      const sealed: (Sealed & { readonly id: number })[] = [];
      const unreadable: Row[] = [];
      for (const row of rows) {
        const text = await readable(() => records.unseal(row));
        if (text === null) unreadable.push(row);
        else sealed.push({ id: row.id, ...(await keys.seal(tx, text, records.belongsTo(row))) });
      }
      if (sealed.length > 0) await records.replace(tx, sealed);
      return { lastId: rows.at(-1)?.id, done: sealed.length, unreadable };
    });
    if (round.lastId === undefined) return { done, damaged };
    afterId = round.lastId;
    damaged.push(...round.unreadable);
    done += round.done;
    await onBatch(done);
  }
}

/** Null if it was changed outside Millrace. */
async function readable(unseal: () => Promise<string>): Promise<string | null> {
  try {
    return await unseal();
  } catch (error) {
    if (error instanceof SecretError && error.code === 'secret_damaged') return null;
    throw error;
  }
}
