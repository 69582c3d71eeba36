import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { CopySession } from '@millrace/database/connection';
import { migrateWithin, releasedMigrations } from '@millrace/database/migrate';
import type { PgDatabase } from '@millrace/database/pool';
import { type ArchiveEntry, readArchive } from './archive.ts';
import { continueSequences, listRebuilds, listTables, truncateAll } from './catalog.ts';
import { BackupError, damaged } from './errors.ts';
import { fileSteps, NO_FILES, RestoredContents } from './file-contents.ts';
import { loadTables, matchTables, type OpenedManifest } from './load.ts';
import { FORMAT_VERSION, MANIFEST_NAME, type Manifest, parseManifest } from './manifest.ts';
import { restoreOrganisation } from './organisation.ts';
import type { RestoreOptions, RestoreSummary } from './restoring.ts';
import { beginLong } from './session.ts';
import { beginRestore, endRestore, lockRestore, pauseAll, requeueRunning, requireEmpty } from './target.ts';

/** What the old instance may have given out since the snapshot isn't given out again. */
const SKIPPED_IDS = 10_000;
const SKIPPED_EXECUTION_IDS = 100_000_000;

/**
 * Restores a backup, in one transaction: everything the manifest promises, or nothing. That of a whole instance goes into an empty database, that
 * of an organisation into one that may be in use.
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
    const opened = { manifest, body: first.body };
    if (manifest.organisation !== undefined) return await restoreOrganisation(db, entries, opened, options);
    return await db.copying(async (session) => {
      await requireEmpty(session, manifest.schema_version);
      await beginRestore(session);
      await beginLong(session, 'WRITE');
      const contents = options.files === null ? null : new RestoredContents(db, options.files.store);
      try {
        await lockRestore(session);
        await requireEmpty(session, manifest.schema_version);
        const summary = await restoreWithin(session, entries, opened, options, contents);
        await endRestore(session);
        await options.placeKeys(manifest);
        await session.query('COMMIT');
        return summary;
      } catch (error) {
        // Gives the lock back at once, so that the next attempt doesn't find it taken.
        await session.query('ROLLBACK').catch(() => {});
        await contents?.undo();
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

async function restoreWithin(
  session: CopySession,
  entries: AsyncGenerator<ArchiveEntry>,
  opened: OpenedManifest,
  options: RestoreOptions,
  contents: RestoredContents | null,
): Promise<RestoreSummary> {
  const { manifest } = opened;
  await contents?.requireSpace(manifest.files ?? NO_FILES, options.files?.freeDiskBytes ?? 0);
  await migrateWithin(session, manifest.schema_version);
  await truncateAll(session);
  const copies = matchTables(await listTables(session), manifest);
  const rebuilds = await listRebuilds(session);
  for (const { before } of rebuilds) await session.query(before);
  const target = { table: 'files', organisationId: null } as const;
  const tables = await loadTables(
    session,
    entries,
    { copies, opened, ...fileSteps(session, contents, async () => target, options.onProgress) },
    options.onProgress,
  );
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
  if (options.isPaused) await pauseAll(session);
  // Nothing knows yet how many rows there are, and the first statements would be planned for none.
  await session.query('ANALYZE');
  return {
    manifest,
    tables,
    migrated: migrated.map(({ name }) => name),
    files: contents?.files ?? 0,
    requeued,
  };
}
