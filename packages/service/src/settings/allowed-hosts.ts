import { coalesce } from '@millrace/database/coalesce';
import type { Queryable } from '@millrace/database/database';
import type { ReadAllowedHosts } from '@millrace/egress/of-organisation';
import { retryForNode } from '@millrace/runtime/retry-for-node';
import { listAllowedHosts } from './store.ts';

/** Organisations whose hosts are read by one statement. */
const MAX_AT_ONCE = 500;

/**
 * Reads the hosts that organisations allow. Nothing is cached, so that a change applies at once in all processes; concurrent
 * calls share a statement that starts after each of them.
 */
export function createAllowedHostsReader(db: Queryable): ReadAllowedHosts {
  const readHosts = coalesce<number, readonly string[] | null>({
    run: (organisationIds) => readAllowedHosts(db, organisationIds),
    maxItems: MAX_AT_ONCE,
  });
  return (organisationId) => retryForNode(() => readHosts(organisationId));
}

/** In id order; null if an organisation has no list. */
async function readAllowedHosts(
  db: Queryable,
  organisationIds: readonly number[],
): Promise<(readonly string[] | null)[]> {
  const rows = await listAllowedHosts(db, [...new Set(organisationIds)]);
  const lists = new Map(rows.map((row) => [row.organisation_id, row.allowed_hosts]));
  return organisationIds.map((id) => lists.get(id) ?? null);
}
