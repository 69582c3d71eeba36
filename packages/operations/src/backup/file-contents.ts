import { createHash } from 'node:crypto';
import type { Database, Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { FileError } from '@millrace/files/file-error';
import type { FileStore } from '@millrace/files/file-store';
import { abandonFile, removeFile } from '@millrace/files/statements';
import type { ArchiveEntry } from './archive.ts';
import { BackupError, damaged } from './errors.ts';
import { inParts } from './parts.ts';
import type { OnProgress } from './progress.ts';

/** What a backup has of the contents of files. */
export interface FileTotals {
  readonly files: number;
  readonly bytes: number;
}

/** What was really read. */
export interface FileContents extends FileTotals {
  /** Files that were deleted since the snapshot, are missing, or aren't what was stored: restored without content. */
  readonly unreadable: string[];
}

const FOLDER = 'files/';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const BATCH = 1_000;
/** Until then, what a killed restore has left is deleted by the sweep. */
const KEPT_DAYS = 7;

/** @param organisationId absent: of all organisations */
export async function countFiles(session: Queryable, organisationId?: number): Promise<FileTotals> {
  return queryRow<FileTotals>(
    session,
    `SELECT count(*) AS files, coalesce(sum(size), 0)::bigint AS bytes FROM files
     WHERE state = 'stored' AND ($1::bigint IS NULL OR organisation_id = $1)`,
    [organisationId ?? null],
  );
}

interface StoredFile {
  readonly id: string;
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** The contents of the snapshot's files, in parts: `files/<id>/00000001` and so on, one at least. */
export async function* readContents(
  session: Queryable,
  store: FileStore,
  organisationId: number | undefined,
  read: FileContents & { files: number; bytes: number },
  onProgress: (bytes: number) => void,
): AsyncGenerator<ArchiveEntry> {
  for (let last: string | null = null; ; ) {
    const batch: StoredFile[] = await session.query<StoredFile>(
      `SELECT id, size, encode(sha256, 'hex') AS sha256 FROM files
       WHERE state = 'stored' AND ($1::bigint IS NULL OR organisation_id = $1) AND ($2::uuid IS NULL OR id > $2)
       ORDER BY id LIMIT $3`,
      [organisationId ?? null, last, BATCH],
    );
    for (const file of batch) yield* readContent(store, file, read, onProgress);
    last = batch.at(-1)?.id ?? null;
    if (batch.length < BATCH) return;
  }
}

async function* readContent(
  store: FileStore,
  { id, size, sha256 }: StoredFile,
  read: FileContents & { files: number; bytes: number },
  onProgress: (bytes: number) => void,
): AsyncGenerator<ArchiveEntry> {
  const content = await store.read(id, size).catch((error: unknown) => {
    if (error instanceof FileError && error.code === 'file_missing') return null;
    throw error;
  });
  if (content === null) {
    read.unreadable.push(id);
    return;
  }
  const hash = createHash('sha256');
  let parts = 0;
  for await (const part of inParts(content)) {
    hash.update(part);
    parts += 1;
    yield { name: partOf(id, parts), body: part };
    onProgress(part.length);
  }
  if (parts === 0) yield { name: partOf(id, 1), body: Buffer.alloc(0) };
  read.files += 1;
  read.bytes += size;
  if (hash.digest('hex') !== sha256) read.unreadable.push(id);
}

function partOf(id: string, part: number): string {
  return `${FOLDER}${id}/${String(part).padStart(8, '0')}`;
}

/** Takes entries of an archive in their order; the one that isn't taken is still there. */
export interface EntryReader {
  peek(): Promise<ArchiveEntry | null>;
  take(): Promise<ArchiveEntry>;
}

/** Where restored files belong to, and what of them is known. */
export interface FileTarget {
  /** With the ids that the rows have now. */
  readonly table: 'files' | 'moved_files';
  /** Into an instance that is in use: what is written must have a row, which the sweep finds if this process is killed. */
  readonly organisationId: number | null;
}

/** Writes contents from a backup back into the store, and takes them away again if the restore fails. */
export class RestoredContents {
  readonly #db: Database;
  readonly #store: FileStore;
  readonly #written: string[] = [];
  #target: FileTarget = { table: 'files', organisationId: null };
  #count = 0;
  bytes = 0;

  constructor(db: Database, store: FileStore) {
    this.#db = db;
    this.#store = store;
  }

  get files(): number {
    return this.#count;
  }

  /** @throws BackupError `restore_space` before anything is written */
  async requireSpace({ bytes, files }: FileTotals, keepFreeBytes: number): Promise<void> {
    if (files === 0) return;
    const free = await this.#store.freeBytes();
    if (free === null || free - bytes >= keepFreeBytes) return;
    throw new BackupError(
      'restore_space',
      `The backup has ${bytes} bytes of files, and the disk of the folder for files has room for ${Math.max(0, free - keepFreeBytes)} (MILLRACE_FILES_FREE_DISK stay free). Make room, set MILLRACE_FILES_FOLDER to a larger disk, or restore with --no-files. Nothing was restored.`,
    );
  }

  /**
   * Writes all contents that come next, each compared with its row.
   * @throws BackupError `backup_damaged`
   */
  async load(
    session: Queryable,
    entries: EntryReader,
    target: FileTarget,
    onProgress: OnProgress,
  ): Promise<string[]> {
    this.#target = target;
    if (target.table === 'moved_files') await session.query('CREATE UNIQUE INDEX ON moved_files (id)');
    const wrong: string[] = [];
    for (
      let next = await entries.peek();
      next?.name.startsWith(FOLDER) === true;
      next = await entries.peek()
    ) {
      const id = next.name.slice(FOLDER.length, FOLDER.length + 36);
      const row = UUID.test(id) ? await this.#rowOf(session, id) : undefined;
      if (row === undefined) throw damaged(`the file ${id}, which no row knows`);
      await this.#announce(row);
      this.#count += 1;
      // Content that somebody has put there before isn't this restore's to delete.
      if (!(await this.#store.has(id, row.size))) this.#written.push(id);
      const hash = createHash('sha256');
      await this.#store.write(id, this.#content(entries, id, hash, onProgress));
      if (hash.digest('hex') !== row.sha256) wrong.push(id);
    }
    return wrong;
  }

  /**
   * What the backup itself calls unreadable has no content; anything else that isn't what its row says is damage.
   * @throws BackupError `backup_damaged`
   */
  async settle(wrong: readonly string[], promised: FileContents): Promise<void> {
    if (promised.files !== this.files || promised.bytes !== this.bytes)
      throw damaged('contents of files are missing');
    const unreadable = new Set(promised.unreadable);
    for (const id of wrong) {
      if (!unreadable.has(id)) throw damaged(`the file ${id}`);
      await this.#store.delete(id);
    }
  }

  /** In the transaction that inserts the rows: those that announced them make way. */
  async makeWay(tx: Queryable): Promise<void> {
    const { organisationId } = this.#target;
    if (organisationId === null) return;
    await tx.query(
      `DELETE FROM files f USING moved_files m WHERE f.id = m.id AND f.state = 'writing' AND f.organisation_id = $1`,
      [organisationId],
    );
  }

  /** After a failure. What can't be deleted now, the sweep deletes. */
  async undo(): Promise<void> {
    for (const id of this.#written) {
      const isOwn = this.#target.organisationId === null || (await abandonFile(this.#db, id));
      if (!isOwn) continue;
      await this.#store.delete(id);
      if (this.#target.organisationId !== null) await removeFile(this.#db, id);
    }
  }

  async #rowOf(
    session: Queryable,
    id: string,
  ): Promise<(StoredFile & { name: string; type: string }) | undefined> {
    const [row] = await session.query<StoredFile & { name: string; type: string }>(
      `SELECT id, name, type, size, encode(sha256, 'hex') AS sha256 FROM ${this.#target.table}
       WHERE id = $1::uuid AND state = 'stored'`,
      [id],
    );
    return row;
  }

  async #announce({ id, name, type, size }: StoredFile & { name: string; type: string }): Promise<void> {
    const { organisationId } = this.#target;
    if (organisationId === null) return;
    // Of a restore that was killed: its organisation has never been there.
    await this.#db.query(
      `DELETE FROM files f WHERE id = $1 AND state <> 'stored'
         AND NOT EXISTS (SELECT FROM organisations o WHERE o.id = f.organisation_id)`,
      [id],
    );
    const rows = await this.#db.query(
      `INSERT INTO files (id, organisation_id, state, name, type, size, sweep_at)
       VALUES ($1, $2, 'writing', $3, $4, greatest($5::bigint, 1), now() + $6::integer * interval '1 day')
       ON CONFLICT (id) DO NOTHING RETURNING id`,
      [id, organisationId, name, type, size, KEPT_DAYS],
    );
    if (rows.length === 1) return;
    throw new BackupError(
      'restore_clash',
      `This instance already has the file ${id}: has the organisation been restored before? Nothing was restored.`,
    );
  }

  async *#content(
    entries: EntryReader,
    id: string,
    hash: ReturnType<typeof createHash>,
    onProgress: OnProgress,
  ): AsyncGenerator<Buffer> {
    for (let part = 1; (await entries.peek())?.name === partOf(id, part); part += 1) {
      const { body } = await entries.take();
      hash.update(body);
      this.bytes += body.length;
      onProgress({ table: 'files', bytes: this.bytes });
      yield body;
    }
  }
}

export const NO_FILES: FileTotals = { files: 0, bytes: 0 };

/**
 * What is done with contents of files while a backup is read.
 * @param findTarget called once all rows are there
 */
export function fileSteps(
  session: Queryable,
  contents: RestoredContents | null,
  findTarget: () => Promise<FileTarget>,
  onProgress: OnProgress = () => {},
) {
  return {
    takeFiles:
      contents === null
        ? null
        : async (entries: EntryReader) => contents.load(session, entries, await findTarget(), onProgress),
    settleFiles: async (wrong: readonly string[], promised: FileContents) =>
      contents?.settle(wrong, promised),
  };
}
