import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CopySession } from '@millrace/database/connection';
import { sqlState } from '@millrace/database/errors';
import type { ArchiveEntry } from './archive.ts';
import { checksumsOf, RunningSum } from './backup.ts';
import type { TableCopy } from './catalog.ts';
import { damaged } from './errors.ts';
import type { EntryReader, FileContents } from './file-contents.ts';
import { CHECKSUMS_NAME, type Manifest, parseChecksums, type TableChecksum } from './manifest.ts';
import type { OnProgress } from './progress.ts';

/** A manifest that was read. */
export interface OpenedManifest {
  readonly manifest: Manifest;
  /** As it is in the file. */
  readonly body: Buffer;
}

/** Those of the tables that the manifest names, in its order. @throws BackupError `backup_damaged` */
export function matchTables(tables: readonly TableCopy[], manifest: Manifest): TableCopy[] {
  const present = new Map(tables.map((table) => [table.name, table]));
  return manifest.tables.map(({ name, columns }) => {
    const table = present.get(name);
    if (table === undefined || !isDeepStrictEqual([...table.columns], columns)) {
      throw damaged(`the manifest doesn't fit its schema at the table ${name}`);
    }
    return table;
  });
}

/** The tables to load in their order, and the manifest as it is in the file. */
interface LoadPlan {
  readonly copies: readonly TableCopy[];
  readonly opened: OpenedManifest;
  /** Takes the contents of files, once all rows are there; null: they are passed over. */
  readonly takeFiles: ((entries: EntryReader) => Promise<readonly string[]>) | null;
  /** @param wrong what `takeFiles` has returned */
  readonly settleFiles: (wrong: readonly string[], promised: FileContents) => Promise<void>;
}

/** Entries of an archive, one of which can be looked at before it is taken. */
class Entries implements EntryReader {
  readonly #source: AsyncGenerator<ArchiveEntry>;
  #next: ArchiveEntry | null | undefined;

  constructor(source: AsyncGenerator<ArchiveEntry>) {
    this.#source = source;
  }

  async peek(): Promise<ArchiveEntry | null> {
    if (this.#next === undefined) {
      const { done, value } = await this.#source.next();
      this.#next = done === true ? null : value;
    }
    return this.#next;
  }

  async take(): Promise<ArchiveEntry> {
    const entry = await this.peek();
    if (entry === null) throw damaged('its end is missing');
    this.#next = undefined;
    return entry;
  }
}

/**
 * Loads all rows that follow the manifest, and compares them with its checksums.
 * @throws BackupError `backup_damaged`
 */
export async function loadTables(
  session: CopySession,
  source: AsyncGenerator<ArchiveEntry>,
  { copies, opened, takeFiles, settleFiles }: LoadPlan,
  onProgress: OnProgress = () => {},
): Promise<readonly TableChecksum[]> {
  const entries = new Entries(source);
  const sums: TableChecksum[] = [];
  let bytes = 0;
  for (const table of copies) {
    const load = new TableLoad(session, table);
    try {
      while ((await entries.peek())?.name === load.nextPart) {
        const { body } = await entries.take();
        await load.write(body);
        bytes += body.length;
        onProgress({ table: table.name, bytes });
      }
      sums.push(await load.end());
    } catch (error) {
      await load.cancel();
      throw error;
    }
  }
  const wrong = (await takeFiles?.(entries)) ?? [];
  if (takeFiles === null) await passOver(entries);
  if ((await entries.peek())?.name !== CHECKSUMS_NAME) throw damaged('its end is missing');
  const promised = parseChecksums((await entries.take()).body);
  if ((await entries.peek()) !== null) throw damaged('something follows its end');
  const found = checksumsOf(opened.body, sums, null);
  if (promised.manifest_sha256 !== found.manifest_sha256) throw damaged('the manifest');
  const changed = found.tables.find((table, index) => !isDeepStrictEqual(table, promised.tables[index]));
  if (changed !== undefined) throw damaged(`the table ${changed.name}`);
  if (promised.tables.length !== found.tables.length) throw damaged('tables are missing');
  if (takeFiles !== null) await settleFiles(wrong, promised.files ?? { files: 0, bytes: 0, unreadable: [] });
  return sums;
}

/** Contents of files that aren't wanted. */
async function passOver(entries: EntryReader): Promise<void> {
  while ((await entries.peek())?.name.startsWith('files/') === true) await entries.take();
}

/** One table's rows on their way into the database, at the speed at which it takes them. */
class TableLoad {
  readonly #table: TableCopy;
  readonly #sum = new RunningSum();
  readonly #copy: Writable & { readonly rowCount: number };
  readonly #outcome: Promise<void>;
  /** PostgreSQL has accepted or refused the copy: its stream must not be used any more. */
  #isOver = false;

  constructor(session: CopySession, table: TableCopy) {
    this.#table = table;
    this.#copy = session.copyFrom(table.write);
    this.#outcome = finished(this.#copy).then(
      () => {
        this.#isOver = true;
      },
      (error: unknown) => {
        this.#isOver = true;
        throw this.#explain(error);
      },
    );
    // It is awaited where it matters; a failure before that must not end the process.
    this.#outcome.catch(() => {});
  }

  /** Name of the entry that has this table's next part. */
  get nextPart(): string {
    return `tables/${this.#table.name}/${String(this.#sum.parts + 1).padStart(8, '0')}`;
  }

  async write(part: Buffer): Promise<void> {
    if (this.#isOver) await this.#outcome;
    this.#sum.add(part);
    if (!this.#copy.write(part))
      await Promise.race([once(this.#copy, 'drain').catch(() => this.#outcome), this.#outcome]);
  }

  async end(): Promise<TableChecksum> {
    if (!this.#isOver) this.#copy.end();
    await this.#outcome;
    return this.#sum.result(this.#table.name, this.#copy.rowCount);
  }

  /** Leaves the session ready for the next statement. */
  async cancel(): Promise<void> {
    if (!this.#isOver) this.#copy.destroy(new Error('the restore was given up'));
    await this.#outcome.catch(() => {});
  }

  /** PostgreSQL refuses what isn't a row of this table: invalid data (class 22) or a broken rule (class 23). */
  #explain(error: unknown): unknown {
    const state = sqlState(error) ?? '';
    return /^2[23]/.test(state) ? damaged(`the table ${this.#table.name}`, error) : error;
  }
}
