import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CopySession } from '@millrace/database/connection';
import type { Queryable } from '@millrace/database/database';
import { sqlState } from '@millrace/database/errors';
import { migrateWithin, releasedMigrations } from '@millrace/database/migrate';
import type { PgDatabase } from '@millrace/database/pool';
import { type ArchiveEntry, readArchive } from './archive.ts';
import { checksumsOf, type OnProgress, RunningSum } from './backup.ts';
import { continueSequences, listRebuilds, listTables, type TableCopy, truncateAll } from './catalog.ts';
import { BackupError, damaged } from './errors.ts';
import {
  CHECKSUMS_NAME,
  FORMAT_VERSION,
  MANIFEST_NAME,
  type Manifest,
  parseChecksums,
  parseManifest,
  type TableChecksum,
} from './manifest.ts';
import { beginLong } from './session.ts';
import { beginRestore, endRestore, lockRestore, requeueRunning, requireEmpty } from './target.ts';

export interface RestoreOptions {
  /** Called if the backup is encrypted. */
  readonly askPassphrase: () => Promise<string>;
  /** Called before everything is stored, so that a failure undoes the restore. */
  readonly placeKeys: (manifest: Manifest) => Promise<void>;
  readonly onProgress?: OnProgress;
}

/** What was restored. */
export interface RestoreSummary {
  readonly manifest: Manifest;
  readonly tables: readonly TableChecksum[];
  /** Migrations that were applied to the restored data, because the backup is older. */
  readonly migrated: readonly string[];
  /** Executions that were running and now wait for a worker. */
  readonly requeued: number;
}

/** What the old instance may have given out since the snapshot isn't given out again. */
const SKIPPED_IDS = 10_000;
const SKIPPED_EXECUTION_IDS = 100_000_000;

/**
 * Restores a backup into an empty database, in one transaction: everything the manifest promises, or nothing.
 * @throws BackupError
 */
export async function restore(
  db: PgDatabase,
  source: Readable,
  options: RestoreOptions,
): Promise<RestoreSummary> {
  const entries = readArchive(source, options.askPassphrase);
  try {
    const first = (await entries.next()).value;
    if (first?.name !== MANIFEST_NAME) throw damaged('it has no manifest');
    const manifest = parseManifest(first.body);
    await checkVersions(manifest);
    return await db.copying(async (session) => {
      await requireEmpty(session, manifest.schema_version);
      await beginRestore(session);
      await beginLong(session, 'WRITE');
      try {
        await lockRestore(session);
        await requireEmpty(session, manifest.schema_version);
        const summary = await restoreWithin(session, entries, { manifest, body: first.body }, options);
        await endRestore(session);
        await options.placeKeys(manifest);
        await session.query('COMMIT');
        return summary;
      } catch (error) {
        // Gives the lock back at once, so that the next attempt doesn't find it taken.
        await session.query('ROLLBACK').catch(() => {});
        // Another restore, or a service, was faster: what is there now is an instance like any other.
        if (error instanceof BackupError && error.code === 'restore_not_empty') await endRestore(session);
        throw error;
      }
    });
  } finally {
    await entries.return(undefined);
  }
}

/** A backup of a newer version, or of one whose migrations were others, can't be understood. */
async function checkVersions(manifest: Manifest): Promise<void> {
  const released = await releasedMigrations();
  const newer = manifest.format_version > FORMAT_VERSION || manifest.schema_version > released.length;
  if (newer) {
    throw new BackupError(
      'backup_version',
      `The backup was made by Millrace ${manifest.product_version} (schema ${manifest.schema_version}), which is newer than this version (schema ${released.length}). Restore it with that version or a later one. Nothing was restored.`,
    );
  }
  const expected = released
    .slice(0, manifest.schema_version)
    .map(({ version, name, checksum }) => ({ version, name, checksum }));
  if (isDeepStrictEqual(expected, manifest.migrations)) return;
  throw new BackupError(
    'backup_version',
    `The backup was made by a version of Millrace with other migrations (${manifest.product_version}, schema ${manifest.schema_version}). Restore it with that version. Nothing was restored.`,
  );
}

interface OpenedManifest {
  readonly manifest: Manifest;
  /** As it is in the file. */
  readonly body: Buffer;
}

async function restoreWithin(
  session: CopySession,
  entries: AsyncGenerator<ArchiveEntry>,
  { manifest, body }: OpenedManifest,
  options: RestoreOptions,
): Promise<RestoreSummary> {
  await migrateWithin(session, manifest.schema_version);
  await truncateAll(session);
  const copies = await matchTables(session, manifest);
  const rebuilds = await listRebuilds(session);
  for (const { before } of rebuilds) await session.query(before);
  const tables = await loadTables(session, entries, { copies, manifestBody: body }, options.onProgress);
  const requeued = await requeueRunning(session);
  await continueSequences(
    session,
    manifest.sequences.map((sequence) => ({
      ...sequence,
      skip: sequence.name === 'execution_ids' ? SKIPPED_EXECUTION_IDS : SKIPPED_IDS,
    })),
  );
  for (const { after } of rebuilds) {
    await session.query(after).catch((error: unknown) => {
      throw damaged('rows refer to rows that are not there', error);
    });
  }
  const migrated = await migrateWithin(session);
  // Nothing knows yet how many rows there are, and the first statements would be planned for none.
  await session.query('ANALYZE');
  return { manifest, tables, migrated: migrated.map(({ name }) => name), requeued };
}

async function matchTables(session: Queryable, manifest: Manifest): Promise<TableCopy[]> {
  const present = new Map((await listTables(session)).map((table) => [table.name, table]));
  return manifest.tables.map(({ name, columns }) => {
    const table = present.get(name);
    if (table === undefined || !isDeepStrictEqual([...table.columns], columns)) {
      throw damaged(`the manifest doesn't fit its schema at the table ${name}`);
    }
    return table;
  });
}

interface LoadPlan {
  readonly copies: readonly TableCopy[];
  readonly manifestBody: Buffer;
}

async function loadTables(
  session: CopySession,
  entries: AsyncGenerator<ArchiveEntry>,
  { copies, manifestBody }: LoadPlan,
  onProgress: OnProgress = () => {},
): Promise<readonly TableChecksum[]> {
  const sums: TableChecksum[] = [];
  let next = await entries.next();
  let bytes = 0;
  for (const table of copies) {
    const load = new TableLoad(session, table);
    try {
      while (next.done !== true && next.value.name === load.nextPart) {
        await load.write(next.value.body);
        bytes += next.value.body.length;
        onProgress({ table: table.name, bytes });
        next = await entries.next();
      }
      sums.push(await load.end());
    } catch (error) {
      await load.cancel();
      throw error;
    }
  }
  if (next.done === true || next.value.name !== CHECKSUMS_NAME) throw damaged('its end is missing');
  const promised = parseChecksums(next.value.body);
  if ((await entries.next()).done !== true) throw damaged('something follows its end');
  const found = checksumsOf(manifestBody, sums);
  if (promised.manifest_sha256 !== found.manifest_sha256) throw damaged('the manifest');
  const wrong = found.tables.find((table, index) => !isDeepStrictEqual(table, promised.tables[index]));
  if (wrong !== undefined) throw damaged(`the table ${wrong.name}`);
  if (promised.tables.length !== found.tables.length) throw damaged('tables are missing');
  return sums;
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
