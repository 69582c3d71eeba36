import type { Queryable } from '@millrace/database/database';

/** Whose collection. */
export interface Place {
  readonly organisationId: number;
  readonly collection: string;
}

export interface CollectionRow {
  readonly model: string;
  readonly dimension: number;
}

/** A collection that this transaction has locked: of two writers, the second waits for the first. */
export interface LockedRow extends CollectionRow {
  readonly items: number;
}

/** A collection that is searched. */
export interface SearchedRow extends CollectionRow {
  readonly items: number;
  /** Whether its index has all of its vectors. */
  readonly is_indexed: boolean;
}

export async function findSearched(
  db: Queryable,
  { organisationId, collection }: Place,
): Promise<SearchedRow | undefined> {
  const [row] = await db.query<SearchedRow>(
    `SELECT c.model, c.dimension, c.items, EXISTS (
       SELECT FROM vector_indexes x WHERE x.organisation_id = $1 AND x.collection = $2
         AND x.filled_to IS NULL AND has_vector_index(x.id)) AS is_indexed
     FROM vector_collections c WHERE c.organisation_id = $1 AND c.name = $2`,
    [organisationId, collection],
  );
  return row;
}

export async function findCollection(
  db: Queryable,
  { organisationId, collection }: Place,
): Promise<CollectionRow | undefined> {
  const [row] = await db.query<CollectionRow>(
    'SELECT model, dimension FROM vector_collections WHERE organisation_id = $1 AND name = $2',
    [organisationId, collection],
  );
  return row;
}

/** Makes a collection that isn't there. */
export async function makeCollection(
  db: Queryable,
  { organisationId, collection }: Place,
  { model, dimension }: CollectionRow,
): Promise<void> {
  await db.query(
    `INSERT INTO vector_collections (organisation_id, name, model, dimension) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING`,
    [organisationId, collection, model, dimension],
  );
}

export async function lockCollection(
  db: Queryable,
  { organisationId, collection }: Place,
): Promise<LockedRow | undefined> {
  const [row] = await db.query<LockedRow>(
    `SELECT model, dimension, items FROM vector_collections WHERE organisation_id = $1 AND name = $2
     FOR NO KEY UPDATE`,
    [organisationId, collection],
  );
  return row;
}

/** Adds to the number of items of a locked collection, or takes from it. */
export async function addToCount(
  db: Queryable,
  { organisationId, collection }: Place,
  items: number,
): Promise<void> {
  await db.query(
    'UPDATE vector_collections SET items = items + $3 WHERE organisation_id = $1 AND name = $2',
    [organisationId, collection, items],
  );
}

export async function countCollections(db: Queryable, organisationId: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM vector_collections WHERE organisation_id = $1',
    [organisationId],
  );
  return row?.count ?? 0;
}

/** Rows as columns: one list for each. */
export interface ItemColumns {
  readonly keys: readonly string[];
  readonly texts: readonly string[];
  /** JSON texts. */
  readonly metadata: readonly string[];
}

/** Gives items whose text is the stored one their metadata. Returns their keys. */
export async function keepItems(
  db: Queryable,
  { organisationId, collection }: Place,
  { keys, texts, metadata }: ItemColumns,
): Promise<string[]> {
  const rows = await db.query<{ key: string }>(
    `WITH given AS (SELECT * FROM unnest($3::text[], $4::text[], $5::text[]) AS g (key, text, metadata)),
     changed AS (
       UPDATE vector_items i SET metadata = g.metadata::jsonb, updated_at = now() FROM given g
       WHERE i.organisation_id = $1 AND i.collection = $2 AND i.key = g.key AND i.text = g.text
         AND i.metadata <> g.metadata::jsonb)
     SELECT i.key FROM vector_items i JOIN given g ON g.key = i.key AND g.text = i.text
     WHERE i.organisation_id = $1 AND i.collection = $2`,
    [organisationId, collection, keys, texts, metadata],
  );
  return rows.map(({ key }) => key);
}

/** Puts items by their keys. Returns how many are new. */
export async function putItems(
  db: Queryable,
  { organisationId, collection }: Place,
  { keys, texts, metadata, vectors }: ItemColumns & { readonly vectors: readonly Buffer[] },
): Promise<number> {
  const rows = await db.query<{ is_new: boolean }>(
    `INSERT INTO vector_items (organisation_id, collection, key, text, metadata, vector)
     SELECT $1, $2, g.key, g.text, g.metadata::jsonb, g.vector
     FROM unnest($3::text[], $4::text[], $5::text[], $6::bytea[]) AS g (key, text, metadata, vector)
     ON CONFLICT (organisation_id, collection, key) DO UPDATE
       SET text = excluded.text, metadata = excluded.metadata, vector = excluded.vector, updated_at = now()
     RETURNING xmax = 0 AS is_new`,
    [organisationId, collection, keys, texts, metadata, vectors],
  );
  return rows.filter(({ is_new: isNew }) => isNew).length;
}

/** `[{"name", "values"}]`: each member has one of the values, or a list with one of them; null is one that is absent. */
export type FilterJson = string;

/** As in the function `find_near_embeddings`. */
const FILTER_MET = `NOT EXISTS (
  SELECT FROM jsonb_array_elements($3::jsonb) f CROSS JOIN LATERAL (SELECT i.metadata -> (f ->> 'name') AS own) m
  WHERE NOT CASE WHEN jsonb_typeof(own) = 'array'
    THEN EXISTS (SELECT FROM jsonb_array_elements(own) e WHERE f -> 'values' @> jsonb_build_array(e))
    ELSE f -> 'values' @> jsonb_build_array(own) END)`;

export interface VectorRow {
  readonly key: string;
  readonly vector: Buffer;
}

/** The next items in the order of their keys. */
export async function readVectors(
  db: Queryable,
  { organisationId, collection }: Place,
  { filter, after, limit }: { readonly filter: FilterJson; readonly after: string; readonly limit: number },
): Promise<VectorRow[]> {
  return db.query<VectorRow>(
    `SELECT key, vector FROM vector_items i
     WHERE organisation_id = $1 AND collection = $2 AND key > $4 AND ${FILTER_MET}
     ORDER BY key LIMIT $5`,
    [organisationId, collection, filter, after, limit],
  );
}

export interface ItemRow {
  readonly key: string;
  readonly text: string;
  /** JSON text. */
  readonly metadata: string;
}

export async function readItems(
  db: Queryable,
  { organisationId, collection }: Place,
  keys: readonly string[],
): Promise<ItemRow[]> {
  return db.query<ItemRow>(
    `SELECT key, text, metadata::text AS metadata FROM vector_items
     WHERE organisation_id = $1 AND collection = $2 AND key = ANY ($3::text[])`,
    [organisationId, collection, keys],
  );
}

export async function deleteItems(
  db: Queryable,
  { organisationId, collection }: Place,
  keys: readonly string[],
): Promise<number> {
  const rows = await db.query(
    `DELETE FROM vector_items WHERE organisation_id = $1 AND collection = $2 AND key = ANY ($3::text[]) RETURNING key`,
    [organisationId, collection, keys],
  );
  return rows.length;
}

/** Deletes at most `limit` items. Returns how many. */
export async function deleteMatching(
  db: Queryable,
  { organisationId, collection }: Place,
  filter: FilterJson,
  limit: number,
): Promise<number> {
  const rows = await db.query(
    `DELETE FROM vector_items WHERE organisation_id = $1 AND collection = $2 AND key IN (
       SELECT key FROM vector_items i WHERE organisation_id = $1 AND collection = $2 AND ${FILTER_MET}
       LIMIT $4)
     RETURNING key`,
    [organisationId, collection, filter, limit],
  );
  return rows.length;
}

export async function deleteCollection(db: Queryable, { organisationId, collection }: Place): Promise<void> {
  await db.query('DELETE FROM vector_collections WHERE organisation_id = $1 AND name = $2', [
    organisationId,
    collection,
  ]);
}
