import type { Queryable } from '@millrace/database/database';

export interface DataEntryRow {
  readonly key: string;
  /** JSON text. */
  readonly value: string;
  readonly expires_at: Date | null;
}

export interface DataWriteRow {
  /** JSON text; `null` if it needn't be known. */
  readonly value: string;
  readonly expires_at_ms: number | null;
}

/** One entry; undefined if it doesn't exist or has expired. */
export async function findEntry(
  db: Queryable,
  organisationId: number,
  key: string,
): Promise<DataEntryRow | undefined> {
  const [row] = await db.query<DataEntryRow>(
    `SELECT key, value, expires_at FROM data_entries
     WHERE organisation_id = $1 AND key = $2 AND coalesce(expires_at > now(), true)`,
    [organisationId, key],
    'find_data_entry',
  );
  return row;
}

/** Entries whose key starts with the prefix, sorted by code points of the key. */
export async function listEntries(
  db: Queryable,
  organisationId: number,
  prefix: string,
  limit: number,
): Promise<DataEntryRow[]> {
  return db.query<DataEntryRow>(
    `SELECT key, value, expires_at FROM data_entries
     WHERE organisation_id = $1 AND key >= $2 AND starts_with(key, $2) AND coalesce(expires_at > now(), true)
     ORDER BY key LIMIT $3`,
    [organisationId, prefix, limit],
  );
}

/**
 * Puts an entry, replacing any existing one.
 * @param entry.ifAbsent never overwrites an existing entry
 * @returns undefined if nothing was written
 */
export async function putEntry(
  db: Queryable,
  organisationId: number,
  entry: {
    readonly key: string;
    readonly value: string;
    readonly ttlMs: number | null;
    readonly ifAbsent: boolean;
  },
): Promise<DataEntryRow | undefined> {
  const [row] = await db.query<DataEntryRow>(
    `INSERT INTO data_entries AS e (organisation_id, key, value, expires_at)
     VALUES ($1, $2, $3, now() + $4::bigint * interval '1 millisecond')
     ON CONFLICT (organisation_id, key) DO UPDATE
       SET value = excluded.value, expires_at = excluded.expires_at, updated_at = now()
       WHERE NOT $5::boolean OR e.expires_at <= now()
     RETURNING key, value, expires_at`,
    [organisationId, entry.key, entry.value, entry.ttlMs, entry.ifAbsent],
    'put_data_entry',
  );
  return row;
}

/**
 * Adds to a number with exact decimal arithmetic. A missing entry counts as 0 and gets the expiry; an existing one keeps its
 * own.
 * @param by decimal text
 * @returns undefined if the existing value is not a number that can be added to
 */
export async function addToEntry(
  db: Queryable,
  organisationId: number,
  key: string,
  by: string,
  ttlMs: number | null,
): Promise<DataEntryRow | undefined> {
  const [row] = await db.query<DataEntryRow>(
    `INSERT INTO data_entries AS e (organisation_id, key, value, expires_at)
     VALUES ($1, $2, to_json(trim_scale($3::numeric)), now() + $4::bigint * interval '1 millisecond')
     ON CONFLICT (organisation_id, key) DO UPDATE SET
       value = CASE WHEN e.expires_at <= now() THEN excluded.value
         ELSE to_json(trim_scale((e.value #>> '{}')::numeric + $3::numeric)) END,
       expires_at = CASE WHEN e.expires_at <= now() THEN excluded.expires_at ELSE e.expires_at END,
       updated_at = now()
     WHERE e.expires_at <= now()
       -- Longer ones could be of a size that nobody wants to add to.
       OR json_typeof(e.value) = 'number' AND (e.value #>> '{}') ~ '^-?\\d{1,30}(\\.\\d{1,30})?([eE][-+]?\\d{1,2})?$'
     RETURNING key, value, expires_at`,
    [organisationId, key, by, ttlMs],
    'add_to_data_entry',
  );
  return row;
}

/** Removes an entry. Returns false if it didn't exist or had expired. */
export async function removeEntry(db: Queryable, organisationId: number, key: string): Promise<boolean> {
  const rows = await db.query<{ existed: boolean }>(
    `DELETE FROM data_entries WHERE organisation_id = $1 AND key = $2
     RETURNING coalesce(expires_at > now(), true) AS existed`,
    [organisationId, key],
    'remove_data_entry',
  );
  return rows[0]?.existed === true;
}

/**
 * Claims a write for the transaction. Of two concurrent ones with the same key, the second waits for the first.
 * @returns false if it was already applied
 */
export async function claimWrite(db: Queryable, organisationId: number, writeKey: Buffer): Promise<boolean> {
  const rows = await db.query<{ claimed: boolean }>(
    `INSERT INTO data_writes (organisation_id, write_key, result) VALUES ($1, $2, 'null')
     ON CONFLICT DO NOTHING RETURNING true AS claimed`,
    [organisationId, writeKey],
    'claim_data_write',
  );
  return rows.length === 1;
}

export async function storeWrite(
  db: Queryable,
  organisationId: number,
  writeKey: Buffer,
  write: DataWriteRow,
): Promise<void> {
  await db.query(
    `UPDATE data_writes SET result = json_build_object('value', $3::json, 'expires_at_ms', $4::bigint)
     WHERE organisation_id = $1 AND write_key = $2`,
    [organisationId, writeKey, write.value, write.expires_at_ms],
    'store_data_write',
  );
}

/** Releases a claim: nothing was written. */
export async function dropWrite(db: Queryable, organisationId: number, writeKey: Buffer): Promise<void> {
  await db.query('DELETE FROM data_writes WHERE organisation_id = $1 AND write_key = $2', [
    organisationId,
    writeKey,
  ]);
}

/** The result of an applied write. */
export async function findWrite(
  db: Queryable,
  organisationId: number,
  writeKey: Buffer,
): Promise<DataWriteRow | undefined> {
  const [row] = await db.query<DataWriteRow>(
    `SELECT (result -> 'value')::text AS value, (result ->> 'expires_at_ms')::bigint AS expires_at_ms
     FROM data_writes WHERE organisation_id = $1 AND write_key = $2`,
    [organisationId, writeKey],
  );
  return row;
}

/** What an organisation has, including entries that have expired and await deletion. */
export interface DataUsageRow {
  readonly entries: number;
  /** Of keys and values. */
  readonly bytes: number;
  /** Most bytes, where that differs from the settings; 0: no limit. */
  readonly own_limit: number | null;
}

export async function readDataUsage(db: Queryable, organisationId: number): Promise<DataUsageRow> {
  const [row] = await db.query<DataUsageRow>(
    `SELECT coalesce(u.entries, 0) AS entries, coalesce(u.bytes, 0) AS bytes, o.data_storage_bytes AS own_limit
     FROM organisations o LEFT JOIN data_usage u ON u.organisation_id = o.id WHERE o.id = $1`,
    [organisationId],
    'read_data_usage',
  );
  return row ?? { entries: 0, bytes: 0, own_limit: null };
}

/** Deletes an organisation's expired entries, except those that others are writing. */
export async function removeExpiredOf(
  db: Queryable,
  organisationId: number,
  exceptKey: string,
): Promise<number> {
  const rows = await db.query(
    `DELETE FROM data_entries WHERE organisation_id = $1 AND key IN (
       SELECT key FROM data_entries WHERE organisation_id = $1 AND expires_at <= now() AND key <> $2
       LIMIT 10000 FOR UPDATE SKIP LOCKED)
     RETURNING key`,
    [organisationId, exceptKey],
  );
  return rows.length;
}

/** Deletes expired entries, at most `limit`. Returns how many. */
export async function pruneDataEntries(db: Queryable, limit: number): Promise<number> {
  const rows = await db.query(
    `DELETE FROM data_entries WHERE (organisation_id, key) IN (
       SELECT organisation_id, key FROM data_entries WHERE expires_at <= now()
       ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING key`,
    [limit],
  );
  return rows.length;
}

/** Deletes records of applied writes older than this many days, at most `limit`. Returns how many. */
export async function pruneDataWrites(db: Queryable, days: number, limit: number): Promise<number> {
  const rows = await db.query(
    `DELETE FROM data_writes WHERE (organisation_id, write_key) IN (
       SELECT organisation_id, write_key FROM data_writes WHERE created_at < now() - $1::integer * interval '1 day'
       ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
     RETURNING write_key`,
    [days, limit],
  );
  return rows.length;
}
