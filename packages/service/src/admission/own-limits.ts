import type { Queryable } from '@millrace/database/database';
import { cachedRead } from '../cached-read.ts';
import { listOwnQueueLimits } from './store.ts';

/**
 * Queue limits of organisations that differ from the settings. Only while executions have to wait, each process reads every few seconds
 * which organisations have one.
 * @returns reads the limit of one; null: as configured for the service; 0: no limit
 */
export function createOwnQueueLimits(db: Queryable) {
  const limits = cachedRead(
    async () => new Map((await listOwnQueueLimits(db)).map((row) => [row.id, row.queue_limit])),
  );
  return async (organisationId: number): Promise<number | null> =>
    (await limits())?.get(organisationId) ?? null;
}
