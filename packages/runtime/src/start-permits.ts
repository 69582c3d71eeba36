import type { Queryable } from '@millrace/database/database';
import { rowSet } from '@millrace/database/row-set';

/** What an API key granted when it was last looked up. */
export interface KeyGrant {
  readonly organisationId: number;
  /** When it expires; null for never. */
  readonly validUntil: Date | null;
  /** Which transactions the look-up has seen, as a `pg_snapshot`. */
  readonly snapshot: string;
}

/**
 * What a start relies on without having asked the database for it. Its insert leaves it out if any of that may have changed since
 * (docs/adr/0121-starts-from-memory.md).
 */
export interface StartPermit {
  readonly grant: KeyGrant;
  /** Which transactions the look-up of its workflow has seen, which is of the same organisation. */
  readonly workflowSnapshot: string;
}

/**
 * @param first number of its first parameter
 * @returns the parameters, and a query for the places (from 1) of the permits that still hold: the key hasn't expired, and nothing has changed of
 * what it and the workflow were
 */
export function permitsFrom(first: number) {
  const rows = rowSet<StartPermit>(
    {
      permit_organisation_id: ['bigint', ({ grant }) => grant.organisationId],
      permit_valid_until: ['timestamptz', ({ grant }) => grant.validUntil],
      permit_key_snapshot: ['text', ({ grant }) => grant.snapshot],
      permit_workflow_snapshot: ['text', ({ workflowSnapshot }) => workflowSnapshot],
    },
    first,
  );
  const sql = `SELECT p.place FROM ${rows.unseenSql} WITH ORDINALITY AS p (${rows.list()}, place)
       CROSS JOIN LATERAL (SELECT p.permit_key_snapshot::pg_snapshot AS of_key, p.permit_workflow_snapshot::pg_snapshot AS of_workflow) seen
       WHERE (p.permit_valid_until > now()) IS NOT FALSE
         AND NOT EXISTS (SELECT FROM permit_changes c WHERE c.organisation_id IN (0, p.permit_organisation_id)
           AND c.xid >= least(pg_snapshot_xmin(seen.of_key), pg_snapshot_xmin(seen.of_workflow))
           -- Not those that were restored from a database which had counted further.
           AND c.xid < pg_snapshot_xmax(pg_current_snapshot())
           AND NOT (pg_visible_in_snapshot(c.xid, seen.of_key) AND pg_visible_in_snapshot(c.xid, seen.of_workflow)))`;
  return { sql, values: (permits: readonly StartPermit[]) => rows.values(permits) };
}

/** How long changes are kept that a newer one of the same organisation follows: much longer than anything is remembered. */
const KEPT = `interval '1 day'`;

/** @returns how many were deleted, `limit` at most */
export async function prunePermitChanges(db: Queryable, limit: number): Promise<number> {
  const rows = await db.query(
    `DELETE FROM permit_changes WHERE (organisation_id, xid) IN (
       SELECT organisation_id, xid FROM permit_changes c WHERE noted_at < now() - ${KEPT}
         AND EXISTS (SELECT FROM permit_changes n WHERE n.organisation_id = c.organisation_id AND n.xid > c.xid) LIMIT $1)
     RETURNING xid::text`,
    [limit],
  );
  return rows.length;
}
