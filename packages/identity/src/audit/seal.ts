import type { Database } from '@millrace/database/database';
import { tryLock } from '@millrace/database/locks';
import { type ChainHead, chainHash } from './chain.ts';
import {
  type ChainEnd,
  extendChains,
  hasSealable,
  insertSeals,
  listSealable,
  lockChains,
  type Seal,
} from './chain-store.ts';

/** Entries sealed by one transaction. */
const BATCH = 1_000;

/**
 * Appends what has been recorded and can't change any more to the chains of its organisations, in one process at a time.
 * @param onSealed called after each transaction with the new ends of the chains that it extended
 * @returns how many entries were sealed
 */
export async function sealAuditLog(
  db: Database,
  {
    onSealed = () => {},
    isStopping = () => false,
  }: {
    readonly onSealed?: (heads: readonly ChainHead[]) => void;
    readonly isStopping?: () => boolean;
  } = {},
): Promise<number> {
  let total = 0;
  if (!(await hasSealable(db))) return total;
  while (!isStopping()) {
    const { count, heads } = await sealBatch(db, BATCH);
    total += count;
    if (heads.length > 0) onSealed(heads);
    if (count < BATCH) break;
  }
  return total;
}

async function sealBatch(db: Database, limit: number): Promise<{ count: number; heads: ChainHead[] }> {
  return db.transaction(async (tx) => {
    if (!(await tryLock(tx, 'audit seal'))) return { count: 0, heads: [] };
    const entries = await listSealable(tx, limit);
    if (entries.length === 0) return { count: 0, heads: [] };
    const organisationIds = [...new Set(entries.map((entry) => entry.organisation_id))];
    const ends = new Map<number, ChainEnd>();
    for (const end of await lockChains(tx, organisationIds)) ends.set(end.organisation_id, end);
    const seals = entries.flatMap((entry): Seal[] => {
      const end = ends.get(entry.organisation_id);
      if (end === undefined) return [];
      const position = end.length + 1;
      const hash = chainHash(end.head, position, entry);
      ends.set(entry.organisation_id, { ...end, length: position, head: hash });
      return [{ organisationId: entry.organisation_id, position, entryId: entry.id, hash }];
    });
    await insertSeals(tx, seals);
    await extendChains(tx, [...ends.values()]);
    const heads = [...ends.values()].map(({ organisation_id: organisationId, length, head }) => ({
      organisationId,
      position: length,
      hash: head.toString('hex'),
    }));
    return { count: seals.length, heads };
  });
}
