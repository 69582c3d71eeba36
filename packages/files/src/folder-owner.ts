import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { message } from '@millrace/messages';
import { FileError } from './file-error.ts';
import type { FileStore } from './file-store.ts';
import { createFolderStore, inStore } from './folder-store.ts';

/** In the folder: which installation its files belong to. */
export const MARKER = 'installation';

/** The folder holds the files of another installation; the message says how to fix that. */
export class ForeignFolderError extends Error {
  override readonly name = 'ForeignFolderError';

  constructor(folder: string, owner: string, own: string) {
    super(
      `The folder for files, ${folder}, belongs to another installation (${owner}; this one is ${own}). Two databases that share a folder delete each other's files. ` +
        `If the other database is in use, copy the folder, set MILLRACE_FILES_FOLDER to the copy, and delete ${MARKER} in the copy. ` +
        `If this database has taken its place, as after a restore or a move, stop all processes of the other for good and delete ${markerOf(folder)}.`,
    );
  }
}

/**
 * What tells this database from copies of it: its server, as the server was made, and its number there. A restored backup or dump differs by one of
 * them. A copy of the server's files doesn't, and nor does a replica that takes over.
 */
export async function readInstallationId(db: Queryable): Promise<string> {
  const { id } = await queryRow<{ readonly id: string }>(
    db,
    `SELECT s.system_identifier::text || '-' || d.oid::text AS id
     FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()`,
  );
  return id;
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

/** A folder whose files only one installation may touch. */
export interface OwnedStore extends FileStore {
  /**
   * Looks whether the folder is free, or this installation's; the first use takes it.
   * @throws ForeignFolderError; FileError `file_store_unavailable`; what `identify` throws
   */
  requireOwn(): Promise<void>;
}

/**
 * A folder store that looks at the folder's owner before each use. Taken once: a mark that is gone later says that the folder was given to another
 * installation, or isn't mounted any more.
 * @param identify the installation's id, asked for until it is known
 */
export function createOwnedStore(folder: string, identify: () => Promise<string>): OwnedStore {
  const store = createFolderStore(folder);
  let own: string | null = null;
  let isTaken = false;

  async function look(): Promise<{ readonly id: string; readonly owner: string | null }> {
    own ??= await identify();
    const id = own;
    const owner = await inStore(() => readOwner(folder));
    if (owner !== null && owner !== id) throw new ForeignFolderError(folder, owner, id);
    return { id, owner };
  }

  async function take(): Promise<void> {
    const wasTaken = isTaken;
    const { id, owner } = await look();
    if (owner === null) {
      if (wasTaken) throw unavailable(new Error(`${markerOf(folder)} is gone`));
      await inStore(() => takeFolder(folder, id));
      await look();
    }
    isTaken = true;
  }

  /** Those who ask for a file aren't told about paths and databases. */
  async function check(): Promise<void> {
    await take().catch((cause: unknown) => {
      if (!(cause instanceof ForeignFolderError)) throw cause;
      throw new FileError('file_store_unavailable', message('service.files_folder_foreign'), { cause });
    });
  }

  return {
    async requireOwn() {
      await look();
    },
    async write(id, source) {
      await check();
      await store.write(id, source);
    },
    async read(id, size, range) {
      await check();
      return store.read(id, size, range);
    },
    async has(id, size) {
      await check();
      return store.has(id, size);
    },
    async delete(id) {
      await check();
      await store.delete(id);
    },
    async freeBytes() {
      await check();
      return store.freeBytes();
    },
  };
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

function unavailable(cause: Error): FileError {
  return new FileError('file_store_unavailable', message('service.file_store_unavailable'), { cause });
}
