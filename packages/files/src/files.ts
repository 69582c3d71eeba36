import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Database } from '@millrace/database/database';
import { type FileValue, isFileId } from '@millrace/engine';
import { message } from '@millrace/messages';
import { inGigabytes } from '@millrace/messages/gigabytes';
import { FileError } from './file-error.ts';
import type { ByteRange, FileStore } from './file-store.ts';
import type { FileSettings } from './settings.ts';
import {
  abandonFile,
  doomFiles,
  type FileRow,
  findFile,
  finishFile,
  giveFile,
  insertFile,
  listFilesOf,
  listKnownFiles,
  lockUploads,
  readUsage,
  removeFile,
  reserveBytes,
} from './statements.ts';

/** Reserved at a time while nobody knows how long a file will be. */
const STEP_BYTES = 8 * 1024 * 1024;
/** A fraction of the lease. */
const RENEW_MS = 60_000;

/** A file to be written. */
export interface NewFile {
  readonly organisationId: number;
  /** The execution that gets it; null: an upload, which is kept for a while until an execution uses it. */
  readonly executionId: number | null;
  readonly name: string;
  readonly type: string;
  /** As its sender says; null if it doesn't. */
  readonly declaredBytes: number | null;
  /** If that is less than the settings allow. */
  readonly maxBytes?: number;
}

export interface FilesDeps {
  readonly db: Database;
  readonly store: FileStore;
  readonly settings: Pick<FileSettings, 'maxBytes' | 'organisationBytes' | 'freeDiskBytes' | 'unusedMs'>;
}

export type Files = ReturnType<typeof createFiles>;

/** Writes and reads files of organisations. */
export function createFiles(deps: FilesDeps) {
  const { db, store } = deps;
  return {
    /**
     * Writes while it reads. A failure leaves nothing.
     * @throws FileError; what the source throws
     * @throws DatabaseUnavailableError; the file is then deleted later
     */
    save: (file: NewFile, source: AsyncIterable<Uint8Array>) => save(deps, file, source),
    /** A file of the organisation; undefined if it has none with this id, whatever the id is. */
    async find(organisationId: number, id: string): Promise<FileRow | undefined> {
      if (!isFileId(id)) return undefined;
      return db.forOrganisation(organisationId, (tx) => findFile(tx, organisationId, id));
    },
    /** The same, if an execution refers to it. */
    async findOf(organisationId: number, executionId: number, id: string): Promise<FileRow | undefined> {
      if (!isFileId(id)) return undefined;
      const [file] = await db.forOrganisation(organisationId, (tx) =>
        listFilesOf(tx, organisationId, executionId, [id]),
      );
      return file;
    },
    /** Of these ids, the files that an execution refers to. */
    listOf: (organisationId: number, executionId: number, ids: readonly string[]): Promise<FileRow[]> =>
      db.forOrganisation(organisationId, (tx) => listFilesOf(tx, organisationId, executionId, ids)),
    /** @throws FileError `file_missing`, `file_store_unavailable` */
    open: (file: FileRow, range?: ByteRange): Promise<Readable> => store.read(file.id, file.size, range),
    /** Deletes uploads, apart from those that an execution uses. The sweep does what fails here. */
    async discard(organisationId: number, ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return;
      const doomed = await db.forOrganisation(organisationId, async (tx) =>
        doomFiles(tx, await lockUploads(tx, organisationId, ids)),
      );
      for (const { id } of doomed) {
        await store.delete(id);
        await removeFile(db, id);
      }
    },
    /** Of these ids, those of no file that the organisation has. */
    async listUnknown(organisationId: number, ids: readonly string[]): Promise<string[]> {
      const known = await db.forOrganisation(organisationId, (tx) => listKnownFiles(tx, organisationId, ids));
      const rest = new Set(ids);
      for (const id of known) rest.delete(id);
      return [...rest];
    },
  };
}

async function save(deps: FilesDeps, file: NewFile, source: AsyncIterable<Uint8Array>): Promise<FileValue> {
  const writing = new Writing(deps, file);
  await writing.begin();
  try {
    await deps.store.write(writing.id, writing.counted(source));
    return await writing.finish();
  } catch (error) {
    // The sweep does what fails here.
    await writing.abandon().catch(() => {});
    throw error;
  }
}

/** One file being written: what is reserved for it, and what has arrived. */
class Writing {
  readonly id = randomUUID();
  readonly #deps: FilesDeps;
  readonly #file: NewFile;
  readonly #maxBytes: number;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #reserved = 0;
  #renewedAt = performance.now();

  constructor(deps: FilesDeps, file: NewFile) {
    this.#deps = deps;
    this.#file = file;
    this.#maxBytes = Math.min(file.maxBytes ?? Number.POSITIVE_INFINITY, deps.settings.maxBytes);
  }

  async begin(): Promise<void> {
    const { declaredBytes } = this.#file;
    if (declaredBytes !== null && declaredBytes > this.#maxBytes) throw this.#tooLarge();
    // At least one byte: a row without any is that of a file whose bytes are deleted already.
    const bytes = Math.max(1, declaredBytes ?? Math.min(STEP_BYTES, this.#maxBytes));
    await this.#reserve(bytes, async (tx) => {
      await insertFile(tx, { id: this.id, ...this.#file }, bytes);
      return true;
    });
  }

  /** The same bytes, no more than may be stored, each once there is room for it. */
  async *counted(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#bytes += chunk.byteLength;
      if (this.#bytes > this.#maxBytes) throw this.#tooLarge();
      this.#hash.update(chunk);
      if (this.#bytes > this.#reserved || performance.now() - this.#renewedAt > RENEW_MS) await this.#renew();
      yield chunk;
    }
  }

  async finish(): Promise<FileValue> {
    const { db, settings } = this.#deps;
    const { organisationId, executionId, name, type } = this.#file;
    const content = { bytes: this.#bytes, sha256: this.#hash.digest() };
    const isDone = await db.forOrganisation(organisationId, async (tx) => {
      if (!(await finishFile(tx, this.id, content, settings.unusedMs))) return false;
      if (executionId !== null) await giveFile(tx, organisationId, executionId, this.id);
      return true;
    });
    if (!isDone) throw expired();
    return { $file: this.id, name, type, size: content.bytes, sha256: content.sha256.toString('hex') };
  }

  async abandon(): Promise<void> {
    const { db, store } = this.#deps;
    if (!(await abandonFile(db, this.id))) return;
    await store.delete(this.id);
    await removeFile(db, this.id);
  }

  async #renew(): Promise<void> {
    const bytes = Math.max(this.#reserved, Math.min(this.#bytes + STEP_BYTES, this.#maxBytes));
    await this.#reserve(bytes, (tx) => reserveBytes(tx, this.id, bytes));
  }

  async #reserve(bytes: number, write: (tx: Parameters<typeof reserveBytes>[0]) => Promise<boolean>) {
    const { db, store, settings } = this.#deps;
    const { organisationId } = this.#file;
    const free = await store.freeBytes();
    if (free !== null && free - (bytes - this.#bytes) < settings.freeDiskBytes) {
      throw new FileError('file_store_full', message('service.file_disk_full'));
    }
    const isHeld = await db.forOrganisation(organisationId, async (tx) => {
      const isWritten = await write(tx);
      // The trigger has locked the count, so uploads at the same time see each other.
      const { bytes: used } = await readUsage(tx, organisationId);
      const limit = settings.organisationBytes;
      if (limit > 0 && used > limit && bytes > this.#reserved) {
        throw new FileError(
          'storage_full',
          message('service.files_storage_full', { max: inGigabytes(limit) }),
        );
      }
      return isWritten;
    });
    if (!isHeld) throw expired();
    this.#reserved = bytes;
    this.#renewedAt = performance.now();
  }

  #tooLarge(): FileError {
    const { name } = this.#file;
    return new FileError('file_too_large', message('service.file_too_large', { name, max: this.#maxBytes }));
  }
}

function expired(): FileError {
  return new FileError('upload_expired', message('service.upload_expired'));
}
