import type { Database } from '@millrace/database/database';
import { SecretError } from '@millrace/secrets/errors';
import type { SecretKeys } from '@millrace/secrets/keys';
import { secondFactorOf } from './second-factor.ts';
import { lockSecretsOfOtherKeys, replaceSecret, type SealedSecondFactor } from './second-factor-store.ts';

const BATCH = 100;

/**
 * Re-encrypts second factor secrets under other keys with the current one, in batches with a transaction each.
 * @param onBatch called after each batch with the number done so far
 * @returns how many were done, and the addresses of those whose secret doesn't decrypt, which stay as they are
 */
export async function reencryptSecondFactors(
  db: Database,
  keys: SecretKeys,
  onBatch: (done: number) => void | Promise<void>,
): Promise<{ readonly done: number; readonly damaged: readonly string[] }> {
  const damaged: string[] = [];
  let done = 0;
  for (let afterId = 0; ; ) {
    const from = afterId;
    const round = await db.transaction(async (tx) => {
      const rows = await lockSecretsOfOtherKeys(tx, from, BATCH);
      const unreadable: string[] = [];
      for (const row of rows) {
        const text = await tryUnseal(keys, row);
        if (text === null) unreadable.push(row.email);
        else await replaceSecret(tx, row.id, await keys.seal(tx, text, secondFactorOf(row.id)));
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
async function tryUnseal(keys: SecretKeys, row: SealedSecondFactor): Promise<string | null> {
  try {
    return await keys.unseal(row.totp_ciphertext, secondFactorOf(row.id));
  } catch (error) {
    if (error instanceof SecretError && error.code === 'secret_damaged') return null;
    throw error;
  }
}
