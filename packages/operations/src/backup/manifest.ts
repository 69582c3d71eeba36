import { parseSecretKey } from '@millrace/secrets/key-text';
import { type MasterKey, masterKey } from '@millrace/secrets/sealed';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { damaged } from './errors.ts';

/** Raised when an older version of Millrace couldn't read the file any more: 3 has contents of files, 2 is for organisations, 1 for whole instances. */
export const FORMAT_VERSION = 3;
/** The first and the last entry of the archive; the parts of tables are in between, in the order of the manifest. */
export const MANIFEST_NAME = 'manifest.json';
export const CHECKSUMS_NAME = 'checksums.json';

const Count = Type.Integer({ minimum: 0 });

/** What a backup is, known before its first row. */
export const Manifest = Type.Object({
  format: Type.Literal('millrace-backup'),
  format_version: Type.Integer({ minimum: 1 }),
  product_version: Type.String(),
  schema_version: Type.Integer({ minimum: 1 }),
  /** In order; those of the database when the backup was made. */
  migrations: Type.Array(
    Type.Object({ version: Type.Integer(), name: Type.String(), checksum: Type.String() }),
  ),
  /** The moment of the snapshot, by the database's clock. */
  made_at: Type.String(),
  /** Ids of the keys that decrypt the secrets in it, the current one first. */
  secret_key_ids: Type.Array(Type.String()),
  /** The keys themselves, in base64, if they were to be included. */
  secret_keys: Type.Optional(Type.Array(Type.String())),
  /** The organisation that is in it; absent: all of them. */
  organisation: Type.Optional(Type.Object({ id: Type.Integer({ minimum: 1 }), name: Type.String() })),
  /** The contents of files that are in it, by their rows; absent: none. */
  files: Type.Optional(Type.Object({ files: Count, bytes: Count })),
  tables: Type.Array(Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) })),
  sequences: Type.Array(
    Type.Object({ name: Type.String(), last_value: Type.Integer(), is_called: Type.Boolean() }),
  ),
});
export type Manifest = Type.Static<typeof Manifest>;

const TableChecksum = Type.Object({
  name: Type.String(),
  rows: Count,
  bytes: Count,
  sha256: Type.String(),
});
export type TableChecksum = Type.Static<typeof TableChecksum>;

/** What must have been read when the file has been read to its end. */
export const Checksums = Type.Object({
  manifest_sha256: Type.String(),
  tables: Type.Array(TableChecksum),
  /** Contents of files that were read, and ids of those that couldn't be or weren't what had been stored. Each has its checksum in its row. */
  files: Type.Optional(Type.Object({ files: Count, bytes: Count, unreadable: Type.Array(Type.String()) })),
});
export type Checksums = Type.Static<typeof Checksums>;

/** @throws BackupError `backup_damaged` */
export function parseManifest(body: Buffer): Manifest {
  const value = parse(body, MANIFEST_NAME);
  if (!Value.Check(Manifest, value)) throw damaged(`${MANIFEST_NAME} isn't a manifest`);
  return value;
}

/** The keys that are in the backup. @throws BackupError `backup_damaged` */
export function includedKeys({ secret_keys: texts = [] }: Manifest): MasterKey[] {
  return texts.map((text) => {
    const bytes = parseSecretKey(text);
    if (bytes === undefined) throw damaged('a key in the manifest');
    return masterKey(bytes);
  });
}

/** @throws BackupError `backup_damaged` */
export function parseChecksums(body: Buffer): Checksums {
  const value = parse(body, CHECKSUMS_NAME);
  if (!Value.Check(Checksums, value)) throw damaged(`${CHECKSUMS_NAME} has no checksums`);
  return value;
}

function parse(body: Buffer, name: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw damaged(name, error);
  }
}
