import type { Queryable } from '@millrace/database/database';
import { takeLock } from '@millrace/database/locks';
import { queryRow } from '@millrace/database/query-row';

/** Serialises changes of one person's favourites until the transaction ends. */
export function lockFavourites(tx: Queryable, userId: number): Promise<void> {
  return takeLock(tx, `favourites ${userId}`);
}

/** How many favourites someone has in an organisation. */
export async function countFavourites(
  tx: Queryable,
  organisationId: number,
  userId: number,
): Promise<number> {
  const row = await queryRow<{ count: number }>(
    tx,
    'SELECT count(*) AS count FROM workflow_favourites WHERE user_id = $1 AND organisation_id = $2',
    [userId, organisationId],
  );
  return row.count;
}

/** Makes a workflow a favourite; nothing happens if it is one already. */
export async function insertFavourite(
  tx: Queryable,
  organisationId: number,
  userId: number,
  workflowId: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO workflow_favourites (user_id, workflow_id, organisation_id) VALUES ($1, $2, $3)
     ON CONFLICT DO NOTHING`,
    [userId, workflowId, organisationId],
  );
}

export async function deleteFavourite(
  tx: Queryable,
  organisationId: number,
  userId: number,
  workflowId: number,
): Promise<void> {
  await tx.query(
    'DELETE FROM workflow_favourites WHERE user_id = $1 AND workflow_id = $2 AND organisation_id = $3',
    [userId, workflowId, organisationId],
  );
}

/** Where someone finds a workflow: its folder, and whether they marked it. */
export async function findPlaceOf(
  tx: Queryable,
  organisationId: number,
  userId: number,
  workflowId: number,
): Promise<{ readonly folder_id: number | null; readonly is_favourite: boolean }> {
  return queryRow(
    tx,
    `SELECT w.folder_id, EXISTS (SELECT FROM workflow_favourites f WHERE f.user_id = $2 AND f.workflow_id = w.id) AS is_favourite
     FROM workflows w WHERE w.organisation_id = $1 AND w.id = $3`,
    [organisationId, userId, workflowId],
  );
}
