import type { Queryable } from '@millrace/database/database';
import { takeLock } from '@millrace/database/locks';
import { queryRow } from '@millrace/database/query-row';

/** A folder of workflows. */
export interface FolderRow {
  readonly id: number;
  readonly name: string;
  /** Null: in no other folder. */
  readonly parent_id: number | null;
}

/** Serialises changes of an organisation's folders until the transaction ends. */
export function lockFolders(tx: Queryable, organisationId: number): Promise<void> {
  return takeLock(tx, `folders ${organisationId}`);
}

/** An organisation's folders by name. Their number is limited. */
export async function listFolders(tx: Queryable, organisationId: number): Promise<FolderRow[]> {
  return tx.query<FolderRow>(
    `SELECT id, name, parent_id FROM workflow_folders WHERE organisation_id = $1 ORDER BY lower(name), id`,
    [organisationId],
  );
}

/** A folder, which can't be deleted until the transaction ends, or undefined. */
export async function findFolder(
  tx: Queryable,
  organisationId: number,
  id: number,
): Promise<FolderRow | undefined> {
  const [row] = await tx.query<FolderRow>(
    `SELECT id, name, parent_id FROM workflow_folders WHERE organisation_id = $1 AND id = $2
     FOR KEY SHARE`,
    [organisationId, id],
  );
  return row;
}

/** The folder of this name in another one, or in none; undefined if there is no such folder. */
export async function findFolderNamed(
  tx: Queryable,
  organisationId: number,
  parentId: number | null,
  name: string,
): Promise<FolderRow | undefined> {
  const [row] = await tx.query<FolderRow>(
    `SELECT id, name, parent_id FROM workflow_folders
     WHERE organisation_id = $1 AND parent_id IS NOT DISTINCT FROM $2 AND name = $3`,
    [organisationId, parentId, name],
  );
  return row;
}

/** Whether other folders are in a folder. */
export async function hasFolders(tx: Queryable, organisationId: number, id: number): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>(
    'SELECT EXISTS (SELECT FROM workflow_folders WHERE organisation_id = $1 AND parent_id = $2) AS found',
    [organisationId, id],
  );
  return row?.found === true;
}

export async function countFolders(tx: Queryable, organisationId: number): Promise<number> {
  const row = await queryRow<{ count: number }>(
    tx,
    'SELECT count(*) AS count FROM workflow_folders WHERE organisation_id = $1',
    [organisationId],
  );
  return row.count;
}

export async function insertFolder(
  tx: Queryable,
  organisationId: number,
  { name, parent_id: parentId }: Omit<FolderRow, 'id'>,
): Promise<FolderRow> {
  return queryRow<FolderRow>(
    tx,
    `INSERT INTO workflow_folders (organisation_id, parent_id, name) VALUES ($1, $2, $3)
     RETURNING id, name, parent_id`,
    [organisationId, parentId, name],
  );
}

export async function updateFolder(tx: Queryable, organisationId: number, folder: FolderRow): Promise<void> {
  await tx.query(
    'UPDATE workflow_folders SET name = $3, parent_id = $4 WHERE organisation_id = $1 AND id = $2',
    [organisationId, folder.id, folder.name, folder.parent_id],
  );
}

/** Deletes a folder and those in it. Workflows still in them are in no folder then. */
export async function deleteFolder(tx: Queryable, organisationId: number, id: number): Promise<void> {
  await tx.query('DELETE FROM workflow_folders WHERE organisation_id = $1 AND id = $2', [organisationId, id]);
}

/** Moves some of the workflows out of a folder and those in it. Returns how many. */
export async function moveOut(
  tx: Queryable,
  organisationId: number,
  { id, parent_id: parentId }: FolderRow,
  count: number,
): Promise<number> {
  const rows = await tx.query(
    `UPDATE workflows SET folder_id = $3 WHERE id IN (
       SELECT id FROM workflows WHERE organisation_id = $1 AND folder_id IN (
         SELECT id FROM workflow_folders WHERE organisation_id = $1 AND (id = $2 OR parent_id = $2))
       ORDER BY id LIMIT $4 FOR NO KEY UPDATE)
     RETURNING id`,
    [organisationId, id, parentId, count],
  );
  return rows.length;
}

/**
 * Puts workflows into a folder, or into none; their update times stay, since their content doesn't change. Returns those that weren't there
 * already.
 */
export async function moveWorkflows(
  tx: Queryable,
  organisationId: number,
  ids: readonly number[],
  folderId: number | null,
): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(
    `UPDATE workflows SET folder_id = $3 WHERE id IN (
       SELECT id FROM workflows WHERE organisation_id = $1 AND id = ANY ($2::bigint[]) AND folder_id IS DISTINCT FROM $3
       ORDER BY id FOR NO KEY UPDATE)
     RETURNING id`,
    [organisationId, ids, folderId],
  );
  return rows.map(({ id }) => id);
}

/** Names of a workflow's folder, from the outermost; empty if it is in none. */
export async function findFolderPath(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
): Promise<string[]> {
  const [row] = await tx.query<{ path: string[] }>(
    `SELECT array_remove(ARRAY[p.name, f.name], NULL) AS path
     FROM workflows w JOIN workflow_folders f ON f.id = w.folder_id LEFT JOIN workflow_folders p ON p.id = f.parent_id
     WHERE w.organisation_id = $1 AND w.id = $2`,
    [organisationId, workflowId],
  );
  return row?.path ?? [];
}
