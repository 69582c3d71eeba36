import { createHash } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { FileError } from './file-error.ts';
import type { FileStore } from './file-store.ts';

const BATCH = 1_000;

/** What was copied from one store to another. */
export interface CopiedFiles {
  readonly copied: number;
  readonly bytes: number;
  /** They were there already, with their size. */
  readonly present: number;
  /** Ids of those that aren't in the former store, or aren't what was stored: not copied. */
  readonly unreadable: readonly string[];
}

/**
 * Copies the contents of all stored files, each compared with its checksum. Can be repeated: what is there already isn't copied again.
 * @throws FileError of either store, other than for files that are missing
 */
export async function copyFiles(
  db: Queryable,
  from: FileStore,
  to: FileStore,
  onProgress: (bytes: number) => void = () => {},
): Promise<CopiedFiles> {
  let [copied, bytes, present] = [0, 0, 0];
  const unreadable: string[] = [];
  for (let last: string | null = null; ; ) {
    const batch: StoredFile[] = await listStored(db, last);
    for (const file of batch) {
      if (await to.has(file.id, file.size)) {
        present += 1;
      } else if (await copy(file, from, to, onProgress)) {
        copied += 1;
        bytes += file.size;
      } else {
        unreadable.push(file.id);
      }
    }
    last = batch.at(-1)?.id ?? null;
    if (batch.length < BATCH) return { copied, bytes, present, unreadable };
  }
}

interface StoredFile {
  readonly id: string;
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

async function listStored(db: Queryable, after: string | null): Promise<StoredFile[]> {
  return db.query<StoredFile>(
    `SELECT id, size, encode(sha256, 'hex') AS sha256 FROM files
     WHERE state = 'stored' AND ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT $2`,
    [after, BATCH],
  );
}

/** The content isn't what was stored. */
class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** @returns false if it can't be read as it was stored */
async function copy(
  { id, size, sha256 }: StoredFile,
  from: FileStore,
  to: FileStore,
  onProgress: (bytes: number) => void,
): Promise<boolean> {
  /** Opened once the writer asks for it: one that fails before wouldn't close it. */
  async function* compared(): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    for await (const chunk of await from.read(id, size)) {
      hash.update(chunk);
      onProgress(chunk.byteLength);
      yield chunk;
    }
    // Before it is finished: the writer gives up what it has.
    if (hash.digest('hex') !== sha256) throw new DamagedError();
  }
  try {
    await to.write(id, compared());
    return true;
  } catch (error) {
    const isGone = error instanceof FileError && error.code === 'file_missing';
    if (isGone || error instanceof DamagedError) return false;
    throw error;
  }
}
