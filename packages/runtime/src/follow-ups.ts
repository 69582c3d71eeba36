import { coalesce } from '@millrace/database/coalesce';
import type { Database } from '@millrace/database/database';
import { cancelChildren, lockEndedParent, signalParents, takeFollowUp } from './follow-up-statements.ts';

/** Signals and cancellations of one statement at most: short enough not to be felt by what else wants the rows. */
const MAX_SIGNALLED = 500;
const MAX_CANCELLED = 500;

/**
 * Does what ended executions left to be done with others: cancels the children that they waited for, and tells the
 * parents that wait for them. Calls that come together share the work; what fails is done by the next call, of any
 * process.
 */
export function createFollowUps(db: Database): () => Promise<void> {
  const settle = coalesce<null, null>({
    async run(calls) {
      await cancelAllChildren(db);
      await signalAllParents(db);
      return calls;
    },
    maxItems: Number.MAX_SAFE_INTEGER,
  });
  return async () => {
    await settle(null);
  };
}

async function signalAllParents(db: Database): Promise<void> {
  for (;;) {
    const [first] = await signalParents(db, MAX_SIGNALLED);
    if (first === undefined || first.taken < MAX_SIGNALLED) return;
  }
}

/** Children that have children of their own leave a follow-up each, so the whole tree is gone through. */
async function cancelAllChildren(db: Database): Promise<void> {
  for (;;) {
    const isDone = await db.transaction(async (tx) => {
      const [parent] = await lockEndedParent(tx);
      if (parent === undefined) return true;
      const { execution_id: id } = parent;
      const cancelled = await cancelChildren(tx, id, MAX_CANCELLED);
      if (cancelled.length < MAX_CANCELLED) await takeFollowUp(tx, 'cancel_children', id);
      return false;
    });
    if (isDone) return;
  }
}
