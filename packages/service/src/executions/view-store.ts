import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';

/** Filters of the list of executions under a name. */
export interface ViewRow {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  readonly is_shared: boolean;
  /** JSON text of the filters as the page sent them. */
  readonly filters: string;
}

/** The person's views and those shared with the organisation, by name. Both are bounded when they are stored. */
export async function listViews(tx: Queryable, organisationId: number, userId: number): Promise<ViewRow[]> {
  return tx.query<ViewRow>(
    `SELECT id, user_id, name, is_shared, filters FROM execution_views
     WHERE organisation_id = $1 AND (user_id = $2 OR is_shared) ORDER BY lower(name), id`,
    [organisationId, userId],
  );
}

/** Stores the view, or replaces the person's view of that name. */
export async function putView(
  tx: Queryable,
  organisationId: number,
  { user_id: userId, name, is_shared: isShared, filters }: Omit<ViewRow, 'id'>,
): Promise<ViewRow> {
  return queryRow<ViewRow>(
    tx,
    `INSERT INTO execution_views (organisation_id, user_id, name, is_shared, filters) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (organisation_id, user_id, name) DO UPDATE
       SET is_shared = EXCLUDED.is_shared, filters = EXCLUDED.filters
     RETURNING id, user_id, name, is_shared, filters`,
    [organisationId, userId, name, isShared, filters],
  );
}

export async function deleteView(tx: Queryable, organisationId: number, id: number): Promise<void> {
  await tx.query('DELETE FROM execution_views WHERE organisation_id = $1 AND id = $2', [organisationId, id]);
}

export async function findView(
  tx: Queryable,
  organisationId: number,
  id: number,
): Promise<ViewRow | undefined> {
  const [row] = await tx.query<ViewRow>(
    `SELECT id, user_id, name, is_shared, filters FROM execution_views WHERE organisation_id = $1 AND id = $2`,
    [organisationId, id],
  );
  return row;
}

/** How many views a person has, and how many the organisation shares, without the person's view of that name. */
export async function countOtherViews(
  tx: Queryable,
  organisationId: number,
  userId: number,
  name: string,
): Promise<{ readonly own: number; readonly shared: number }> {
  return queryRow(
    tx,
    `SELECT count(*) FILTER (WHERE user_id = $2) AS own, count(*) FILTER (WHERE is_shared) AS shared
     FROM execution_views WHERE organisation_id = $1 AND (user_id = $2 OR is_shared) AND NOT (user_id = $2 AND name = $3)`,
    [organisationId, userId, name],
  );
}
