import type { Queryable } from '@millrace/database/database';

/** A file whose bytes are stored. */
export interface FileRow {
  readonly id: string;
  readonly organisation_id: number;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
  readonly created_at: Date;
}

/** What an organisation has, including what is being written or deleted. */
export interface FileUsageRow {
  readonly files: number;
  readonly bytes: number;
}

/** How long a writer may be silent before its file is given up. */
export const LEASE_MINUTES = 15;

export async function insertFile(
  tx: Queryable,
  file: {
    readonly id: string;
    readonly organisationId: number;
    readonly name: string;
    readonly type: string;
  },
  reservedBytes: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO files (id, organisation_id, state, name, type, size, sweep_at)
     VALUES ($1, $2, 'writing', $3, $4, $5, now() + $6::integer * interval '1 minute')`,
    [file.id, file.organisationId, file.name, file.type, reservedBytes, LEASE_MINUTES],
  );
}

/** Renews the writer's lease. @returns false if the file was given up */
export async function reserveBytes(tx: Queryable, id: string, bytes: number): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE files SET size = $2, sweep_at = now() + $3::integer * interval '1 minute'
     WHERE id = $1 AND state = 'writing' RETURNING id`,
    [id, bytes, LEASE_MINUTES],
  );
  return rows.length === 1;
}

export async function readUsage(tx: Queryable, organisationId: number): Promise<FileUsageRow> {
  const [row] = await tx.query<FileUsageRow>(
    'SELECT files, bytes FROM file_usage WHERE organisation_id = $1',
    [organisationId],
  );
  return row ?? { files: 0, bytes: 0 };
}

/**
 * The bytes are stored. The sweep looks at it again when nobody has used it for so long.
 * @returns false if the file was given up
 */
export async function finishFile(
  tx: Queryable,
  id: string,
  content: { readonly bytes: number; readonly sha256: Buffer },
  unusedMs: number,
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE files SET state = 'stored', size = $2, sha256 = $3,
       sweep_at = now() + $4::double precision * interval '1 millisecond'
     WHERE id = $1 AND state = 'writing' RETURNING id`,
    [id, content.bytes, content.sha256, unusedMs],
  );
  return rows.length === 1;
}

/** Makes an execution refer to a file; not if the execution has been deleted. */
export async function giveFile(
  tx: Queryable,
  organisationId: number,
  executionId: number,
  id: string,
): Promise<void> {
  await tx.query(
    `WITH execution AS (SELECT id FROM executions WHERE id = $2 AND organisation_id = $1 FOR KEY SHARE)
     INSERT INTO execution_files (organisation_id, execution_id, file_id) SELECT $1, id, $3::uuid FROM execution
     ON CONFLICT DO NOTHING`,
    [organisationId, executionId, id],
  );
}

/** Marks it for deletion, unless it was finished. */
export async function abandonFile(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(
    `UPDATE files SET state = 'deleting', sweep_at = now() WHERE id = $1 AND state = 'writing' RETURNING id`,
    [id],
  );
  return rows.length === 1;
}

/** A file of the organisation; undefined if it has none with this id. */
export async function findFile(
  db: Queryable,
  organisationId: number,
  id: string,
): Promise<FileRow | undefined> {
  const [row] = await db.query<FileRow>(
    `SELECT id, organisation_id, name, type, size, encode(sha256, 'hex') AS sha256, created_at
     FROM files WHERE id = $2 AND organisation_id = $1 AND state = 'stored'`,
    [organisationId, id],
  );
  return row;
}

/** Of these, the files that an execution refers to. */
export async function listFilesOf(
  db: Queryable,
  organisationId: number,
  executionId: number,
  ids: readonly string[],
): Promise<FileRow[]> {
  return db.query<FileRow>(
    `SELECT f.id, f.organisation_id, f.name, f.type, f.size, encode(f.sha256, 'hex') AS sha256, f.created_at
     FROM execution_files r JOIN files f ON f.id = r.file_id
     WHERE r.execution_id = $2 AND r.file_id = ANY ($3::uuid[]) AND r.organisation_id = $1 AND f.organisation_id = $1
       AND f.state = 'stored'`,
    [organisationId, executionId, ids],
  );
}

/** Of these, the ids of files that the organisation has. */
export async function listKnownFiles(
  db: Queryable,
  organisationId: number,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `SELECT id FROM files WHERE id = ANY ($2::uuid[]) AND organisation_id = $1 AND state = 'stored'`,
    [organisationId, ids],
  );
  return rows.map(({ id }) => id);
}

/** What the sweep has to look at. */
export interface DueFile {
  readonly id: string;
  readonly state: 'writing' | 'stored' | 'deleting';
}

/** Locked until the end of the transaction; those that others have locked are left to the next round. */
export async function lockDueFiles(tx: Queryable, limit: number): Promise<DueFile[]> {
  return tx.query<DueFile>(
    'SELECT id, state FROM files WHERE sweep_at <= now() ORDER BY sweep_at LIMIT $1 FOR UPDATE SKIP LOCKED',
    [limit],
  );
}

/** Of these ids, those of uploads that nobody else is using or deleting. Locked until the end of the transaction. */
export async function lockUploads(
  tx: Queryable,
  organisationId: number,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM files WHERE id = ANY ($2::uuid[]) AND organisation_id = $1 AND state = 'stored' AND sweep_at IS NOT NULL
     FOR UPDATE SKIP LOCKED`,
    [organisationId, ids],
  );
  return rows.map(({ id }) => id);
}

/** A file whose bytes are to be deleted now. */
export interface DoomedFile {
  readonly id: string;
  /** It was never finished, so that its writer may still put bytes there. */
  readonly may_be_written: boolean;
  readonly size: number;
}

/**
 * Marks locked files, unless executions refer to them. A statement of its own after the lock: it sees what was committed until then. Another process
 * takes over what isn't deleted within an hour.
 */
export async function doomFiles(tx: Queryable, ids: readonly string[]): Promise<DoomedFile[]> {
  const rows = await tx.query<DoomedFile & { readonly state: string }>(
    `UPDATE files f SET
       state = CASE WHEN u.is_used THEN f.state ELSE 'deleting' END,
       sweep_at = CASE WHEN u.is_used THEN NULL ELSE now() + interval '1 hour' END
     FROM (SELECT id, EXISTS (SELECT FROM execution_files r WHERE r.file_id = d.id) AS is_used
       FROM unnest($1::uuid[]) AS d (id)) u
     WHERE f.id = u.id
     RETURNING f.id, f.state, f.sha256 IS NULL AS may_be_written, f.size`,
    [ids],
  );
  return rows.filter(({ state }) => state === 'deleting');
}

/** The bytes are deleted. */
export async function removeFile(db: Queryable, id: string): Promise<void> {
  await db.query(`DELETE FROM files WHERE id = $1 AND state = 'deleting'`, [id]);
}

/** The bytes are deleted, but may come back: they take no more space, and are deleted once more a day later. */
export async function keepTombstone(db: Queryable, id: string): Promise<void> {
  await db.query(
    `UPDATE files SET size = 0, sweep_at = now() + interval '1 day' WHERE id = $1 AND state = 'deleting'`,
    [id],
  );
}
