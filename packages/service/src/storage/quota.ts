import type { Queryable } from '@millrace/database/database';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { inGigabytes } from '@millrace/messages/gigabytes';
import { cachedRead } from '../cached-read.ts';
import type { StorageSettings } from '../settings.ts';
import { listFullOrganisations } from './store.ts';

/** Executions are deleted by their retention every ten minutes. */
const RETRY_AFTER_SECONDS = '600';

/**
 * Refuses starts of organisations that have used up their storage. While executions are started, each process reads every few seconds which
 * organisations are full, so that starts don't have to.
 * @returns a check that throws ApiError 429 `storage_full`
 */
export function createStorageQuota(db: Queryable, { executionsBytes }: StorageSettings) {
  /** Limits of those that are full. */
  const full = cachedRead(async () => {
    const rows = await listFullOrganisations(db, executionsBytes);
    return new Map(rows.map((row) => [row.organisation_id, row.limit_bytes]));
  });

  return async (organisationId: number): Promise<void> => {
    const limit = (await full())?.get(organisationId);
    if (limit === undefined) return;
    throw new ApiError('storage_full', message('service.storage_full', { max: inGigabytes(limit) }), {
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
    });
  };
}
