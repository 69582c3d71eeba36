import type { Database, Queryable } from '@millrace/database/database';
import type { JsonObject } from '@millrace/engine';
import { ApiError, notFound, validationError } from '@millrace/errors/errors';
import { type AuditAction, type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { type Message, message } from '@millrace/messages';
import {
  countFolders,
  deleteFolder,
  type FolderRow,
  findFolder,
  findFolderNamed,
  hasFolders,
  insertFolder,
  lockFolders,
  moveOut,
  updateFolder,
} from './store.ts';

/** A folder's location and name. */
type FolderForm = Pick<FolderRow, 'name' | 'parent_id'>;

interface FolderDeps {
  readonly db: Database;
  /** Folders an organisation may have. */
  readonly limit: number;
}

/** Workflows moved by one transaction: short enough not to delay those who save them. */
const BATCH = 1_000;

/** Adds a folder and records it. @throws ApiError 422, `folder_exists`, `too_many_folders` */
export function addFolder(
  { db, limit }: FolderDeps,
  organisationId: number,
  form: FolderForm,
  by: AuditActor,
): Promise<FolderRow> {
  return db.forOrganisation(organisationId, async (tx) => {
    await lockFolders(tx, organisationId);
    const folder = { ...form, name: form.name.trim() };
    await checkPlace(tx, organisationId, folder);
    return create(tx, organisationId, folder, limit, by);
  });
}

/** Renames or moves a folder and records it. @throws ApiError `not_found`, 422, `folder_exists` */
export function changeFolder(
  db: Database,
  organisationId: number,
  id: number,
  change: Partial<FolderForm>,
  by: AuditActor,
): Promise<FolderRow> {
  return db.forOrganisation(organisationId, async (tx) => {
    await lockFolders(tx, organisationId);
    const before = await requireFolder(tx, organisationId, id);
    const after = {
      ...before,
      ...change,
      ...(change.name === undefined ? {} : { name: change.name.trim() }),
    };
    if (after.name === before.name && after.parent_id === before.parent_id) return before;
    await checkPlace(tx, organisationId, after);
    if (after.parent_id !== null && (await hasFolders(tx, organisationId, id))) {
      throw misplaced(message('service.folder_has_folders'));
    }
    await updateFolder(tx, organisationId, after);
    const details = { name: after.name, ...(after.name === before.name ? {} : { from_name: before.name }) };
    await record(tx, organisationId, 'folder.changed', after, by, details);
    return after;
  });
}

/**
 * Deletes a folder with those in it, and records it. The workflows stay: they move to where the folder was. If interrupted, a folder with
 * fewer workflows remains.
 * @throws ApiError `not_found`
 */
export async function removeFolder(
  db: Database,
  organisationId: number,
  id: number,
  by: AuditActor,
): Promise<void> {
  for (let count = BATCH; count === BATCH; ) {
    count = await db.forOrganisation(organisationId, async (tx) =>
      moveOut(tx, organisationId, await requireFolder(tx, organisationId, id), BATCH),
    );
  }
  await db.forOrganisation(organisationId, async (tx) => {
    await lockFolders(tx, organisationId);
    const folder = await requireFolder(tx, organisationId, id);
    await deleteFolder(tx, organisationId, id);
    await record(tx, organisationId, 'folder.deleted', folder, by, { name: folder.name });
  });
}

/** @throws ApiError `not_found` */
export async function requireFolder(tx: Queryable, organisationId: number, id: number): Promise<FolderRow> {
  const folder = await findFolder(tx, organisationId, id);
  if (folder === undefined) throw notFound('folder');
  return folder;
}

/**
 * The folder with this path, as an export names it; what is missing of it is created and recorded.
 * @param path from the outermost, at most two names
 * @returns null for an empty path
 * @throws ApiError `too_many_folders`
 */
export async function folderAt(
  tx: Queryable,
  organisationId: number,
  path: readonly string[],
  limit: number,
  by: AuditActor,
): Promise<number | null> {
  if (path.length === 0) return null;
  await lockFolders(tx, organisationId);
  let id: number | null = null;
  for (const each of path) {
    const form: FolderForm = { name: each.trim(), parent_id: id };
    const found: FolderRow | undefined = await findFolderNamed(tx, organisationId, id, form.name);
    id = (found ?? (await create(tx, organisationId, form, limit, by))).id;
  }
  return id;
}

async function create(
  tx: Queryable,
  organisationId: number,
  form: FolderForm,
  limit: number,
  by: AuditActor,
): Promise<FolderRow> {
  if ((await countFolders(tx, organisationId)) >= limit) {
    throw new ApiError('too_many_folders', message('service.too_many_folders', { max: limit }));
  }
  const folder = await insertFolder(tx, organisationId, form);
  await record(tx, organisationId, 'folder.created', folder, by, { name: folder.name });
  return folder;
}

/** @throws ApiError 422 on `parent_id`, `folder_exists` */
async function checkPlace(
  tx: Queryable,
  organisationId: number,
  { id, name, parent_id: parentId }: FolderForm & { readonly id?: number },
): Promise<void> {
  if (parentId !== null) {
    const parent = await findFolder(tx, organisationId, parentId);
    if (parent === undefined) throw misplaced(message('service.folder_parent_unknown'));
    if (parent.parent_id !== null || parentId === id) throw misplaced(message('service.folder_too_deep'));
  }
  const other = await findFolderNamed(tx, organisationId, parentId, name);
  if (other !== undefined && other.id !== id) {
    throw new ApiError('folder_exists', message('service.folder_exists', { name }));
  }
}

function misplaced(fault: Message): ApiError {
  return validationError([{ pointer: '/parent_id', code: 'invalid_value', message: fault }]);
}

function record(
  tx: Queryable,
  organisationId: number,
  action: AuditAction,
  { id, parent_id: parentId }: FolderRow,
  by: AuditActor,
  details: JsonObject,
): Promise<void> {
  return insertAudit(tx, {
    organisationId,
    action,
    by,
    details: { folder_id: id, parent_id: parentId, ...details },
  });
}
