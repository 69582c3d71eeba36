import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { message } from '@millrace/messages';
import { FileError } from './file-error.ts';
import type { FileStore } from './file-store.ts';

/** The name of what says, in a folder or bucket, which installation its files belong to. */
export const MARKER = 'installation';

/** The place holds the files of another installation; the message says how to fix that. */
export class ForeignStoreError extends Error {
  override readonly name: string = 'ForeignStoreError';
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

/** Where a place says whose it is. */
export interface OwnerMark {
  /** Its name, for operators. */
  readonly name: string;
  /** How long what was read counts, in milliseconds. 0: it is read before each use. */
  readonly trustedMs: number;
  /** The installation it belongs to; null: none yet. @throws FileError */
  read(): Promise<string | null>;
  /** Unless another is faster. @throws FileError */
  take(id: string): Promise<void>;
  foreign(owner: string, own: string): ForeignStoreError;
}

/** A store whose files only one installation may touch. */
export interface OwnedStore extends FileStore {
  /**
   * Looks whether the place is free, or this installation's; the first use takes it.
   * @throws ForeignStoreError; FileError `file_store_unavailable`; what `identify` throws
   */
  requireOwn(): Promise<void>;
}

/**
 * A store that looks at its owner before it is used. Taken once: a mark that is gone later says that the place was given to another
 * installation, or isn't mounted any more.
 * @param identify the installation's id, asked for until it is known
 */
export function ownStore(
  store: FileStore,
  mark: OwnerMark,
  identify: () => Promise<string>,
  now: () => number = () => performance.now(),
): OwnedStore {
  let own: string | null = null;
  let isTaken = false;
  let seenAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<{ readonly id: string; readonly owner: string | null }> {
    own ??= await identify();
    const id = own;
    const owner = await mark.read();
    if (owner !== null && owner !== id) throw mark.foreign(owner, id);
    return { id, owner };
  }

  async function take(): Promise<void> {
    const startedAt = now();
    if (startedAt - seenAt < mark.trustedMs) return;
    const wasTaken = isTaken;
    const { id, owner } = await look();
    if (owner === null) {
      if (wasTaken) throw unavailable(new Error(`${mark.name} is gone`));
      await mark.take(id);
      await look();
    }
    isTaken = true;
    seenAt = startedAt;
  }

  /** Those who ask for a file aren't told about paths and databases. */
  async function check(): Promise<void> {
    await take().catch((cause: unknown) => {
      if (!(cause instanceof ForeignStoreError)) throw cause;
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

function unavailable(cause: Error): FileError {
  return new FileError('file_store_unavailable', message('service.file_store_unavailable'), { cause });
}
