import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolderStore, inStore } from './folder-store.ts';
import { ForeignStoreError, MARKER, type OwnedStore, ownStore } from './owned-store.ts';

/** The folder holds the files of another installation; the message says how to fix that. */
export class ForeignFolderError extends ForeignStoreError {
  override readonly name = 'ForeignFolderError';

  constructor(folder: string, owner: string, own: string) {
    super(
      `The folder for files, ${folder}, belongs to another installation (${owner}; this one is ${own}). Two databases that share a folder delete each other's files. ` +
        `If the other database is in use, copy the folder, set MILLRACE_FILES_FOLDER to the copy, and delete ${MARKER} in the copy. ` +
        `If this database has taken its place, as after a restore or a move, stop all processes of the other for good and delete ${markerOf(folder)}.`,
    );
  }
}

/** The installation that a folder belongs to; null: none yet. */
export async function readOwner(folder: string): Promise<string | null> {
  try {
    return (await readFile(markerOf(folder), 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * A folder whose files only one installation may touch.
 * @param identify the installation's id, asked for until it is known
 */
export function createOwnedStore(folder: string, identify: () => Promise<string>): OwnedStore {
  const mark = {
    name: markerOf(folder),
    trustedMs: 0,
    read: () => inStore(() => readOwner(folder)),
    take: (id: string) => inStore(() => takeFolder(folder, id)),
    foreign: (owner: string, own: string) => new ForeignFolderError(folder, owner, own),
  };
  return ownStore(createFolderStore(folder), mark, identify);
}

/** Unless another is faster. */
async function takeFolder(folder: string, id: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `${MARKER}-${randomUUID()}`);
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${id}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // The mark has all of its content when it gets its name. Some network file systems have no links.
    await link(draft, markerOf(folder))
      .catch(() => copyFile(draft, markerOf(folder), constants.COPYFILE_EXCL))
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
  } finally {
    await rm(draft, { force: true });
  }
}

function markerOf(folder: string): string {
  return join(folder, MARKER);
}
