import { createHash, type Hash } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { CopySession } from '@millrace/database/connection';
import type { Queryable } from '@millrace/database/database';
import type { PgDatabase } from '@millrace/database/pool';
import type { FileStore } from '@millrace/files/file-store';
import { findOrganisation } from '@millrace/identity/organisations/store';
import type { SecretKeys } from '@millrace/secrets/keys';
import { listKeysInUse, listSecretKeys } from '@millrace/secrets/store';
import { type ArchiveEntry, writeArchive } from './archive.ts';
import { listSequences, listTables, type TableCopy } from './catalog.ts';
import { BackupError } from './errors.ts';
import { countFiles, type FileContents, type FileTotals, readContents } from './file-contents.ts';
import {
  CHECKSUMS_NAME,
  type Checksums,
  FORMAT_VERSION,
  MANIFEST_NAME,
  type Manifest,
  type TableChecksum,
} from './manifest.ts';
import { keysOf, ofOrganisation, requirePaused, waitUntilPaused } from './organisation-rows.ts';
import { inParts } from './parts.ts';
import type { OnProgress } from './progress.ts';
import { beginLong } from './session.ts';
import { TABLES } from './tables.ts';

export interface BackupOptions {
  readonly productVersion: string;
  /** Null: not encrypted. */
  readonly passphrase: string | null;
  /** Includes the keys that decrypt the stored secrets. */
  readonly withKeys: boolean;
  /** Only what belongs to this organisation, which must be paused. */
  readonly organisationId?: number | undefined;
  /** Where the contents of files lie; null: they are left out. */
  readonly store: FileStore | null;
  readonly onProgress?: OnProgress;
}

/** What a backup contains. */
export interface BackupSummary {
  readonly manifest: Manifest;
  readonly checksums: Checksums;
}

/**
 * Writes one consistent snapshot of the whole instance, or of one organisation, to `out`, while it serves.
 * @throws BackupError `backup_version`, `organisation_not_paused`
 * @throws SecretError when a key is to be included that this process doesn't have
 */
export async function backUp(
  db: PgDatabase,
  keys: SecretKeys,
  out: Writable,
  options: BackupOptions,
): Promise<BackupSummary> {
  const { organisationId } = options;
  // What was accepted before the pause was seen everywhere is then in the snapshot.
  if (organisationId !== undefined) await waitUntilPaused(db, organisationId);
  return await db.copying(async (session) => {
    await beginLong(session, 'SNAPSHOT');
    if (organisationId !== undefined) await requirePaused(session, organisationId);
    const tables = await tablesToKeep(session, organisationId);
    const files = options.store === null ? null : await countFiles(session, organisationId);
    const manifest = await describe(session, keys, tables, { ...options, files });
    const read: Read = { sums: [], contents: files === null ? null : { files: 0, bytes: 0, unreadable: [] } };
    await writeArchive(entriesOf(session, manifest, tables, read, options), out, options.passphrase);
    await session.query('COMMIT');
    return { manifest, checksums: checksumsOf(jsonBody(manifest), read.sums, read.contents) };
  });
}

/** What the archive has so far. */
interface Read {
  readonly sums: TableChecksum[];
  readonly contents: (FileContents & { files: number; bytes: number }) | null;
}

async function tablesToKeep(session: Queryable, organisationId?: number): Promise<TableCopy[]> {
  const tables = await listTables(session);
  if (!tables.some(({ name }) => name === 'schema_migrations')) {
    throw new BackupError(
      'backup_version',
      'The database has no Millrace tables yet, so there is nothing to back up.',
    );
  }
  const unknown = tables.filter(({ name }) => !Object.hasOwn(TABLES, name)).map(({ name }) => name);
  if (unknown.length > 0) {
    throw new BackupError(
      'backup_version',
      `This version of Millrace doesn't know these tables: ${unknown.join(', ')}. Back up with the version that uses the database; tables that aren't Millrace's belong in another schema or database.`,
    );
  }
  const kept = tables.filter(({ name }) => TABLES[name] === 'kept');
  return organisationId === undefined ? kept : ofOrganisation(session, kept, organisationId);
}

async function describe(
  session: Queryable,
  keys: SecretKeys,
  tables: readonly TableCopy[],
  options: BackupOptions & { readonly files: FileTotals | null },
): Promise<Manifest> {
  const migrations = await session.query<Manifest['migrations'][number]>(
    'SELECT version, name, checksum FROM schema_migrations ORDER BY version',
  );
  const [clock] = await session.query<{ now: Date }>('SELECT now() AS now');
  const { organisationId } = options;
  const organisation =
    organisationId === undefined ? null : await findOrganisation(session, String(organisationId));
  const keyIds =
    organisation === null ? await keysOfInstance(session) : await keysOf(session, organisation.id);
  const included = options.withKeys ? await Promise.all(keyIds.map((id) => keys.find(id))) : null;
  return {
    format: 'millrace-backup',
    format_version: formatVersionOf(organisation !== null, options.files),
    product_version: options.productVersion,
    schema_version: migrations.at(-1)?.version ?? 0,
    migrations,
    made_at: (clock?.now ?? new Date()).toISOString(),
    secret_key_ids: keyIds,
    ...(included === null ? {} : { secret_keys: included.map(({ bytes }) => bytes.toString('base64')) }),
    ...(organisation === null ? {} : { organisation: { id: organisation.id, name: organisation.name } }),
    ...(options.files === null ? {} : { files: options.files }),
    tables: tables.map(({ name, columns }) => ({ name, columns: [...columns] })),
    sequences: await listSequences(session),
  };
}

/** What an older version of Millrace can read has the version that it knows. */
function formatVersionOf(isOrganisation: boolean, files: FileTotals | null): number {
  if (files !== null && files.files > 0) return FORMAT_VERSION;
  return isOrganisation ? 2 : 1;
}

async function keysOfInstance(session: Queryable): Promise<string[]> {
  const current = (await listSecretKeys(session)).filter(({ state }) => state === 'current');
  return [...new Set([...current.map(({ id }) => id), ...(await listKeysInUse(session))])];
}

async function* entriesOf(
  session: CopySession,
  manifest: Manifest,
  tables: readonly TableCopy[],
  { sums, contents }: Read,
  { store, organisationId, onProgress = () => {} }: BackupOptions,
): AsyncGenerator<ArchiveEntry> {
  const body = jsonBody(manifest);
  yield { name: MANIFEST_NAME, body };
  let bytes = 0;
  for (const { name, read } of tables) {
    const copy = session.copyTo(read);
    const sum = new RunningSum();
    for await (const part of inParts(copy)) {
      sum.add(part);
      yield { name: `tables/${name}/${String(sum.parts).padStart(8, '0')}`, body: part };
      bytes += part.length;
      onProgress({ table: name, bytes });
    }
    sums.push(sum.result(name, copy.rowCount));
  }
  if (store !== null && contents !== null) {
    yield* readContents(session, store, organisationId, contents, (more) => {
      bytes += more;
      onProgress({ table: 'files', bytes });
    });
  }
  yield { name: CHECKSUMS_NAME, body: jsonBody(checksumsOf(body, sums, contents)) };
}

/** The checksum of a table's rows as they are copied, part by part. */
export class RunningSum {
  readonly #hash: Hash = createHash('sha256');
  bytes = 0;
  parts = 0;

  add(part: Buffer): void {
    this.#hash.update(part);
    this.bytes += part.length;
    this.parts += 1;
  }

  result(name: string, rows: number): TableChecksum {
    return { name, rows, bytes: this.bytes, sha256: this.#hash.digest('hex') };
  }
}

/** @param body the manifest as it is in the file */
export function checksumsOf(
  body: Buffer,
  tables: readonly TableChecksum[],
  files: FileContents | null,
): Checksums {
  return {
    manifest_sha256: createHash('sha256').update(body).digest('hex'),
    tables: [...tables],
    ...(files === null ? {} : { files }),
  };
}

function jsonBody(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`, 'utf8');
}
