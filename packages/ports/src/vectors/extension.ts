import type { Queryable } from '@millrace/database/database';
import { readExtensionState } from './index-store.ts';

/** How long a database without the extension is taken for one: until then, nobody asks again. */
const ASKED_AGAIN_MS = 60_000;

const missingUntil = new WeakMap<Queryable, number>();

/** Whether the database has the extension for indexes of vectors. */
export async function canHaveIndexes(db: Queryable): Promise<boolean> {
  if (performance.now() < (missingUntil.get(db) ?? 0)) return false;
  const isReady = (await readExtensionState(db)) === 'ready';
  if (!isReady) missingUntil.set(db, performance.now() + ASKED_AGAIN_MS);
  return isReady;
}
