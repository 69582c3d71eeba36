import { coalesce } from '@millrace/database/coalesce';
import type { Database } from '@millrace/database/database';
import { cancelChildren, lockEndedParent, signalParents, takeFollowUp } from './follow-up-statements.ts';

/** Maximum signals and cancellations per statement: few enough that others that need the rows hardly wait. */
const MAX_SIGNALLED = 500;
const MAX_CANCELLED = 500;

/**
 * Does the follow-up work of ended executions: cancels the children they were waiting for, and signals the parents
 * waiting for them. Concurrent calls share the work; if it fails, the next call of any process does it.
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

/** Cancelled children with children of their own leave a follow-up each, so the whole tree is covered. */
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
