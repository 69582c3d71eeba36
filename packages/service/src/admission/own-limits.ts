import type { Queryable } from '@millrace/database/database';
import { cachedRead } from '../cached-read.ts';
import { listOwnQueueLimits } from './store.ts';

/** Queue limits of organisations that differ from the settings. */
export interface OwnQueueLimits {
  /** Null: as configured for the service; 0: no limit. */
  of(organisationId: number): Promise<number | null>;
}

/** For one process. Only while executions have to wait, it reads every few seconds which organisations have one. */
export function createOwnQueueLimits(db: Queryable): OwnQueueLimits {
  const limits = cachedRead(
    async () => new Map((await listOwnQueueLimits(db)).map((row) => [row.id, row.queue_limit])),
  );
  return {
    of: async (organisationId) => (await limits())?.get(organisationId) ?? null,
  };
}
