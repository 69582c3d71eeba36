import type { Database, Queryable } from '@millrace/database/database';
import { tryLock } from '@millrace/database/locks';
import type { ChainHead } from './chain.ts';
import {
  countAdded,
  findChain,
  findSealAbove,
  listAdded,
  listSealsAbove,
  listVanished,
} from './chain-store.ts';
import { ChainWalk, MAX_LISTED, type Verification } from './chain-walk.ts';

/** Positions read by one statement. */
const BATCH = 1_000;
export interface VerifyOptions {
  /** Places of the chain that were kept elsewhere. */
  readonly heads?: readonly ChainHead[];
  readonly isStopping?: () => boolean;
}

/**
 * Compares all entries of an organisation with their chain, as of one moment.
 * @returns null if another process does the same, or if it was stopped
 */
export async function verifyAuditLog(
  db: Database,
  organisationId: number,
  { heads = [], isStopping = () => false }: VerifyOptions = {},
): Promise<Verification | null> {
  return db.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    if (!(await tryLock(tx, 'audit verify', organisationId))) return null;
    const walk = new ChainWalk(organisationId, await findChain(tx, organisationId), heads);
    for (let from: number | null = walk.position; from !== null; ) {
      const rows = await listSealsAbove(tx, organisationId, from, BATCH);
      for (const row of rows) walk.visit(row);
      if (isStopping()) return null;
      if (rows.length > 0) from = walk.position;
      else from = await beforeNext(tx, organisationId, from);
    }
    walk.end();
    for (const entryId of await listVanished(tx, organisationId, MAX_LISTED)) {
      walk.report({ kind: 'entry_missing', entryId, position: null });
    }
    if ((await countAdded(tx, organisationId, walk.present)) > 0) {
      for (const entryId of await listAdded(tx, organisationId, MAX_LISTED)) {
        walk.report({ kind: 'entry_added', entryId, position: null });
      }
    }
    return walk.result();
  });
}

/** Skips positions without a seal, however many. */
async function beforeNext(tx: Queryable, organisationId: number, position: number): Promise<number | null> {
  const next = await findSealAbove(tx, organisationId, position);
  return next === null ? null : next - 1;
}
