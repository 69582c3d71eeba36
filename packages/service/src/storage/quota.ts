import type { Queryable } from '@millrace/database/database';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { StorageSettings } from '../settings.ts';
import { listFullOrganisations } from './store.ts';

/** How long it may take to notice that an organisation has used up its storage, or has room again. */
const FRESH_MS = 5_000;
/** Executions are deleted by their retention every ten minutes. */
const RETRY_AFTER_SECONDS = '600';

/** Refuses starts of organisations that have used up their storage. */
export interface StorageQuota {
  /** @throws ApiError 429 `storage_full` */
  check(organisationId: number): Promise<void>;
}

/** For one process. Only while executions are started, it reads every few seconds which organisations are full, so that starts don't have to. */
export function createStorageQuota(db: Queryable, { executionsBytes }: StorageSettings): StorageQuota {
  /** Limits by organisation. */
  let full: ReadonlyMap<number, number> | null = null;
  let readAtMs = 0;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    const rows = await listFullOrganisations(db, executionsBytes);
    full = new Map(rows.map((row) => [row.organisation_id, row.limit_bytes]));
    readAtMs = performance.now();
  }

  function refresh(): Promise<void> {
    // While the database is away, the last state is used; the start itself then fails.
    reading ??= read()
      .catch(() => {})
      .finally(() => {
        reading = null;
      });
    return reading;
  }

  return {
    async check(organisationId) {
      if (full === null) await refresh();
      else if (performance.now() - readAtMs > FRESH_MS) void refresh();
      const limit = full?.get(organisationId);
      if (limit === undefined) return;
      throw new ApiError('storage_full', message('service.storage_full', { max: inGigabytes(limit) }), {
        headers: { 'retry-after': RETRY_AFTER_SECONDS },
      });
    },
  };
}

function inGigabytes(bytes: number): number {
  return Math.round((bytes / 1e9) * 1000) / 1000;
}
