import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { message } from '@millrace/messages';
import { FileError } from './file-error.ts';
import type { ByteRange, FileStore } from './file-store.ts';

/** A name that is still being written. */
const PARTIAL = '.part';

/**
 * Files in a folder, 256 folders below it. A file has its name only once all of it is on the disk.
 * @param folder made when it is first needed; only this user may read it
 */
export function createFolderStore(folder: string): FileStore {
  const placeOf = (id: string): Place => {
    // Ids come from rows; nothing else must become part of a path.
    if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error('not the id of a file');
    const parent = join(folder, id.slice(0, 2));
    return { parent, path: join(parent, id) };
  };
  return {
    async write(id, source) {
      const { parent, path } = placeOf(id);
      const handle = await inStore(async () => {
        await mkdir(parent, { recursive: true, mode: 0o700 });
        return open(`${path}${PARTIAL}`, 'w', 0o600);
      });
      try {
        for await (const chunk of source) await inStore(() => writeWhole(handle, chunk));
        await inStore(() => handle.sync());
      } catch (error) {
        // It has no name yet that anybody would look for. What can't be deleted now is overwritten or deleted with the file.
        await rm(`${path}${PARTIAL}`, { force: true }).catch(() => {});
        throw error;
      } finally {
        await handle.close();
      }
      await inStore(async () => {
        await rename(`${path}${PARTIAL}`, path);
        await syncFolder(parent);
      });
    },
    read: (id, size, range) => inStore(() => readFrom(placeOf(id).path, size, range)),
    has: (id, size) => inStore(() => hasSize(placeOf(id).path, size)),
    async delete(id) {
      const { path } = placeOf(id);
      await inStore(async () => {
        await rm(`${path}${PARTIAL}`, { force: true });
        await rm(path, { force: true });
      });
    },
    freeBytes: () =>
      inStore(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const { bavail, bsize } = await statfs(folder);
        return bavail * bsize;
      }),
  };
}

interface Place {
  readonly parent: string;
  readonly path: string;
}

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.byteLength; ) {
    written += (await handle.write(chunk, written)).bytesWritten;
  }
}

/** Without this, a new name may be gone after a power failure although the file isn't. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readFrom(path: string, size: number, range: ByteRange | undefined): Promise<Readable> {
  const handle = await open(path, 'r');
  try {
    const { size: actual } = await handle.stat();
    if (actual !== size) throw missing();
  } catch (error) {
    await handle.close();
    throw error;
  }
  // The stream closes the handle.
  return createReadStream(path, { fd: handle, ...range });
}

async function hasSize(path: string, size: number): Promise<boolean> {
  try {
    return (await stat(path)).size === size;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

function missing(cause?: unknown): FileError {
  return new FileError('file_missing', message('service.file_missing'), { cause });
}

/** Failures of the disk become those of the store; nothing of the path is told to those who asked. */
export async function inStore<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT') throw missing(cause);
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new FileError('file_store_full', message('service.file_disk_full'), { cause });
    }
    if (typeof code === 'string' && !(cause instanceof FileError)) {
      throw new FileError('file_store_unavailable', message('service.file_store_unavailable'), { cause });
    }
    throw cause;
  }
}
