import type { Queryable } from '@millrace/database/database';

/** Changes added up by one statement. */
const CHANGES_AT_ONCE = 50_000;
/** Organisations over their limit that one process tracks; further ones are found when others are below it again. */
const MAX_FULL = 10_000;

/** Whether something has changed since it was added up the last time. */
export async function hasChanges(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>('SELECT EXISTS (SELECT FROM storage_changes) AS found');
  return row?.found === true;
}

/**
 * Adds up what has changed since the last time. Statements that store or delete executions only append their changes, so that they don't
 * wait for each other.
 * @returns whether there may be more
 */
export async function addUpChanges(tx: Queryable): Promise<boolean> {
  const [row] = await tx.query<{ changes: number }>(
    `WITH taken AS (
       DELETE FROM storage_changes WHERE ctid = ANY (ARRAY(SELECT ctid FROM storage_changes LIMIT $1))
       RETURNING organisation_id, bytes
     ), added AS (
       INSERT INTO storage_usage AS u (organisation_id, bytes)
       SELECT t.organisation_id, sum(t.bytes) FROM taken t JOIN organisations o ON o.id = t.organisation_id
       GROUP BY t.organisation_id
       ON CONFLICT (organisation_id) DO UPDATE SET bytes = u.bytes + excluded.bytes
     )
     SELECT count(*) AS changes FROM taken`,
    [CHANGES_AT_ONCE],
  );
  return row?.changes === CHANGES_AT_ONCE;
}

/** Organisations whose executions take up as many bytes as they may. @param executionsBytes for those without a limit of their own; 0: no limit */
export async function listFullOrganisations(
  db: Queryable,
  executionsBytes: number,
): Promise<{ readonly organisation_id: number; readonly limit_bytes: number }[]> {
  return db.query(
    `SELECT u.organisation_id, coalesce(o.executions_storage_bytes, $1) AS limit_bytes
     FROM storage_usage u JOIN organisations o ON o.id = u.organisation_id
     WHERE coalesce(o.executions_storage_bytes, $1) > 0 AND u.bytes >= coalesce(o.executions_storage_bytes, $1)
     ORDER BY u.bytes DESC LIMIT $2`,
    [executionsBytes, MAX_FULL],
    'list_full_organisations',
  );
}

/** What an organisation stores, in bytes. */
export interface StorageRow {
  readonly organisation_id: number;
  readonly name: string;
  readonly executions_bytes: number;
  readonly data_bytes: number;
  readonly files_bytes: number;
  /** Null: as configured for the service; 0: no limit. */
  readonly executions_limit: number | null;
  readonly data_limit: number | null;
}

/** The organisations that store most in total. */
export async function listStorage(db: Queryable, limit: number): Promise<StorageRow[]> {
  return db.query<StorageRow>(
    `SELECT o.id AS organisation_id, o.name, coalesce(u.bytes, 0) AS executions_bytes, coalesce(d.bytes, 0) AS data_bytes,
       coalesce(f.bytes, 0) AS files_bytes, o.executions_storage_bytes AS executions_limit, o.data_storage_bytes AS data_limit
     FROM organisations o LEFT JOIN storage_usage u ON u.organisation_id = o.id
       LEFT JOIN data_usage d ON d.organisation_id = o.id LEFT JOIN file_usage f ON f.organisation_id = o.id
     ORDER BY coalesce(u.bytes, 0) + coalesce(d.bytes, 0) + coalesce(f.bytes, 0) DESC, o.id LIMIT $1`,
    [limit],
  );
}

/** What one organisation stores; undefined if there is no such organisation. */
export async function findStorage(db: Queryable, organisationId: number): Promise<StorageRow | undefined> {
  const [row] = await db.query<StorageRow>(
    `SELECT o.id AS organisation_id, o.name, coalesce(u.bytes, 0) AS executions_bytes, coalesce(d.bytes, 0) AS data_bytes,
       coalesce(f.bytes, 0) AS files_bytes, o.executions_storage_bytes AS executions_limit, o.data_storage_bytes AS data_limit
     FROM organisations o LEFT JOIN storage_usage u ON u.organisation_id = o.id
       LEFT JOIN data_usage d ON d.organisation_id = o.id LEFT JOIN file_usage f ON f.organisation_id = o.id
     WHERE o.id = $1`,
    [organisationId],
  );
  return row;
}
