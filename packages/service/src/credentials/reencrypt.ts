import type { Database } from '@millrace/database/database';
import { SecretError } from '@millrace/secrets/errors';
import type { SecretKeys } from '@millrace/secrets/keys';
import { belongsTo } from './fields.ts';
import { lockGrantsOfOtherKeys, replaceGrant } from './oauth/store.ts';
import { grantOf } from './oauth/tokens.ts';
import { lockCredentialsOfOtherKeys, replaceCiphertexts } from './store.ts';
import { unsealRow } from './unseal.ts';

const BATCH = 100;

interface Sealing {
  readonly id: number;
  readonly keyId: string;
  readonly ciphertext: Buffer;
}

/**
 * Re-encrypts every credential under another key with the current one, in batches with a transaction each.
 * @param onBatch called after each batch with the number done so far
 * @returns how many were done, and the ids of those that don't decrypt, which stay as they are
 */
export async function reencryptCredentials(
  db: Database,
  keys: SecretKeys,
  onBatch: (done: number) => void | Promise<void>,
): Promise<{ readonly done: number; readonly damaged: readonly number[] }> {
  const damaged: number[] = [];
  let done = 0;
  for (let afterId = 0; ; ) {
    const from = afterId;
    const round = await db.transaction(async (tx) => {
      const rows = await lockCredentialsOfOtherKeys(tx, from, BATCH);
      const results: (Sealing | { readonly damagedId: number })[] = [];
      for (const row of rows) {
        const text = await readable(() => unsealRow(keys, row));
        results.push(
          text === null
            ? { damagedId: row.id }
            : { id: row.id, ...(await keys.seal(tx, text, belongsTo(row))) },
        );
      }
      const sealed = results.filter((result) => 'id' in result);
      await replaceCiphertexts(tx, sealed);
      return { lastId: rows.at(-1)?.id, sealed: sealed.length, results };
    });
    if (round.lastId === undefined) return { done, damaged };
    afterId = round.lastId;
    damaged.push(...round.results.flatMap((result) => ('damagedId' in result ? [result.damagedId] : [])));
    done += round.sealed;
    await onBatch(done);
  }
}

/** Re-encrypts the tokens of credentials like {@link reencryptCredentials}. */
export async function reencryptGrants(
  db: Database,
  keys: SecretKeys,
  onBatch: (done: number) => void | Promise<void>,
): Promise<{ readonly done: number; readonly damaged: readonly number[] }> {
  const damaged: number[] = [];
  let done = 0;
  for (let afterId = 0; ; ) {
    const from = afterId;
    const round = await db.transaction(async (tx) => {
      const rows = await lockGrantsOfOtherKeys(tx, from, BATCH);
      const unreadable: number[] = [];
      for (const row of rows) {
        const text = await readable(() => keys.unseal(row.ciphertext, grantOf(row)));
        if (text === null) unreadable.push(row.id);
        else await replaceGrant(tx, row.id, await keys.seal(tx, text, grantOf(row)));
      }
      return { lastId: rows.at(-1)?.id, done: rows.length - unreadable.length, unreadable };
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
