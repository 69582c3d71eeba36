import type { Queryable } from '@millrace/database/database';
import { type FilterJson, lockCollection, type Place, type VectorRow } from '../vectors-store.ts';
import { toRealArrays } from './real-arrays.ts';
import { MAX_INDEXED_DIMENSION, MAX_INDEXES, MAX_INDEXES_OF_ORGANISATION } from './sizes.ts';

/** `ready`: there can be indexes. Otherwise why not: too old, not added to this database, or not on the server. */
export type ExtensionState = 'ready' | 'old' | 'available' | 'missing';

export async function readExtensionState(db: Queryable): Promise<ExtensionState> {
  const [row] = await db.query<{ state: ExtensionState }>('SELECT vector_extension_state() AS state');
  return row?.state ?? 'missing';
}

/** Adds the extension if the server has it and the role may. */
export async function addExtension(db: Queryable): Promise<ExtensionState> {
  const [row] = await db.query<{ state: ExtensionState }>('SELECT add_vector_extension() AS state');
  return row?.state ?? 'missing';
}

/** Keeps statements that wait for an index to be made or dropped from waiting long. */
const LOCK_TIMEOUT = "SET LOCAL lock_timeout = '2s'";

/**
 * Makes an index for a collection that has at least so many numbers and has none. It is empty: what is there is added by
 * {@link fillStep}, what is put from now on by whoever puts it.
 * @returns whether there is one now
 */
export async function makeIndex(
  tx: Queryable,
  { organisationId, collection }: Place,
  minNumbers: number,
): Promise<boolean> {
  await tx.query(LOCK_TIMEOUT);
  const rows = await tx.query<{ id: number; dimension: number }>(
    `INSERT INTO vector_indexes (organisation_id, collection, dimension)
     SELECT organisation_id, name, dimension FROM (
       SELECT organisation_id, name, dimension, items FROM vector_collections
       WHERE organisation_id = $1 AND name = $2 FOR NO KEY UPDATE) c
     WHERE items::bigint * dimension >= $3 AND dimension <= $4 AND vector_extension_state() = 'ready'
       AND (SELECT count(*) FROM vector_indexes WHERE organisation_id = $1) < $5
       AND (SELECT count(*) FROM pg_index WHERE indrelid = 'vector_embeddings'::regclass) <= $6
     ON CONFLICT DO NOTHING RETURNING id, dimension`,
    [organisationId, collection, minNumbers, MAX_INDEXED_DIMENSION, MAX_INDEXES_OF_ORGANISATION, MAX_INDEXES],
  );
  const [made] = rows;
  if (made === undefined) return false;
  await tx.query('SELECT make_vector_index($1, $2)', [made.id, made.dimension]);
  return true;
}

export interface IndexRow {
  readonly id: number;
  /** Null: all items are in it. */
  readonly filled_to: string | null;
}

/**
 * The index of a locked collection, which need not be filled yet. Not read by the statement that locks: if that has to wait, it sees an index that
 * was made meanwhile no more.
 */
export async function findIndex(
  tx: Queryable,
  { organisationId, collection }: Place,
): Promise<IndexRow | undefined> {
  const [row] = await tx.query<IndexRow>(
    `SELECT id, filled_to FROM vector_indexes
     WHERE organisation_id = $1 AND collection = $2 AND has_vector_index(id)`,
    [organisationId, collection],
  );
  return row;
}

/** Puts vectors into the index of a locked collection. Each is of length 1, as 32-bit numbers in little-endian order. */
export async function putEmbeddings(
  tx: Queryable,
  { organisationId, collection }: Place,
  indexId: number,
  { keys, vectors }: { readonly keys: readonly string[]; readonly vectors: readonly Buffer[] },
): Promise<void> {
  for (let at = 0; at < keys.length; at += EMBEDDINGS_AT_ONCE) {
    const some = vectors.slice(at, at + EMBEDDINGS_AT_ONCE);
    await tx.query(
      `INSERT INTO vector_embeddings (organisation_id, collection, key, index_id, embedding)
       SELECT $1, $2, k.key, $3, ARRAY(SELECT unnest(($5::real[])[k.place:k.place][:]))
       FROM unnest($4::text[]) WITH ORDINALITY AS k (key, place)
       ON CONFLICT (organisation_id, collection, key) DO UPDATE SET index_id = excluded.index_id, embedding = excluded.embedding`,
      [organisationId, collection, indexId, keys.slice(at, at + EMBEDDINGS_AT_ONCE), toRealArrays(some)],
    );
  }
}

/** An index takes a few milliseconds for each, so no statement comes near its limit of time. */
export const EMBEDDINGS_AT_ONCE = 50;

/** The candidates of a search, in no order. @param target of length 1 */
export async function findNear(
  tx: Queryable,
  { organisationId, collection }: Place,
  query: { readonly target: Float32Array; readonly filter: FilterJson; readonly candidates: number },
): Promise<VectorRow[]> {
  return tx.query<VectorRow>(
    `SELECT found_key AS key, found_vector AS vector
     FROM find_near_embeddings($1, $2, ARRAY(SELECT unnest($3::real[])), $4, $5)`,
    [
      organisationId,
      collection,
      toRealArrays([Buffer.from(query.target.buffer, query.target.byteOffset, query.target.byteLength)]),
      query.filter,
      query.candidates,
    ],
  );
}

/** What there is to do for indexes. */
export interface IndexWork {
  /** Large collections without one, which may get one. */
  readonly wanted: readonly Place[];
  /** To be filled, oldest first. */
  readonly unfilled: readonly Place[];
  /** Whose index is gone: the extension was dropped. */
  readonly lost: readonly Place[];
  /** Ids of indexes whose collection is gone. */
  readonly orphans: readonly number[];
}

/** One statement, because it is sent every minute while there is nothing to do. */
export async function findIndexWork(db: Queryable, minNumbers: number): Promise<IndexWork> {
  const rows = await db.query<{
    kind: 'wanted' | 'unfilled' | 'lost' | 'orphan';
    organisation_id: number | null;
    name: string | null;
    id: number | null;
  }>(
    `WITH there AS MATERIALIZED (
       SELECT substring(c.relname FROM '[0-9]+$')::bigint AS id FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
       WHERE i.indrelid = 'vector_embeddings'::regclass AND i.indisvalid AND c.relname ~ '^vector_embeddings_hnsw_[0-9]+$')
     (SELECT 'wanted' AS kind, organisation_id, name, NULL::bigint AS id FROM vector_collections c
      WHERE items::bigint * dimension >= $1 AND dimension <= $2 AND (SELECT vector_extension_state()) = 'ready'
        AND NOT EXISTS (SELECT FROM vector_indexes x WHERE x.organisation_id = c.organisation_id AND x.collection = c.name)
        AND (SELECT count(*) FROM vector_indexes x WHERE x.organisation_id = c.organisation_id) < $3
        AND (SELECT count(*) FROM there) < $4
      ORDER BY items::bigint * dimension DESC LIMIT 10)
     UNION ALL
     (SELECT CASE WHEN x.id IN (SELECT id FROM there) THEN 'unfilled' ELSE 'lost' END, organisation_id, collection, x.id
      FROM vector_indexes x WHERE filled_to IS NOT NULL OR x.id NOT IN (SELECT id FROM there) ORDER BY x.id LIMIT 100)
     UNION ALL
     SELECT 'orphan', NULL, NULL, id FROM there t WHERE NOT EXISTS (SELECT FROM vector_indexes x WHERE x.id = t.id)`,
    [minNumbers, MAX_INDEXED_DIMENSION, MAX_INDEXES_OF_ORGANISATION, MAX_INDEXES],
  );
  const places = (kind: string) =>
    rows.flatMap(({ kind: own, organisation_id: organisationId, name }) =>
      own === kind && organisationId !== null && name !== null ? [{ organisationId, collection: name }] : [],
    );
  return {
    wanted: places('wanted'),
    unfilled: places('unfilled'),
    lost: places('lost'),
    orphans: rows.flatMap(({ kind, id }) => (kind === 'orphan' && id !== null ? [id] : [])),
  };
}

/** Adds the next items to an index that isn't filled yet. @returns whether there is more */
export async function fillStep(tx: Queryable, place: Place): Promise<boolean> {
  const { organisationId, collection } = place;
  if ((await lockCollection(tx, place)) === undefined) return false;
  const index = await findIndex(tx, place);
  if (index === undefined || index.filled_to === null) return false;
  const items = await tx.query<VectorRow>(
    `SELECT key, vector FROM vector_items i WHERE organisation_id = $1 AND collection = $2 AND key > $3
       AND NOT EXISTS (SELECT FROM vector_embeddings e
         WHERE e.organisation_id = $1 AND e.collection = $2 AND e.key = i.key AND e.index_id = $4)
     ORDER BY key LIMIT $5`,
    [organisationId, collection, index.filled_to, index.id, EMBEDDINGS_AT_ONCE],
  );
  await putEmbeddings(tx, place, index.id, {
    keys: items.map(({ key }) => key),
    vectors: items.map(({ vector }) => vector),
  });
  const hasMore = items.length === EMBEDDINGS_AT_ONCE;
  await tx.query(
    'UPDATE vector_indexes SET filled_to = $3, filled = filled + $4 WHERE organisation_id = $1 AND collection = $2',
    [organisationId, collection, hasMore ? items.at(-1)?.key : null, items.length],
  );
  return hasMore;
}

/** Deletes what was meant for an index that is gone, a part at a time. @returns whether there is more */
export async function forgetStep(tx: Queryable, place: Place): Promise<boolean> {
  const { organisationId, collection } = place;
  if ((await lockCollection(tx, place)) === undefined || (await findIndex(tx, place)) !== undefined)
    return false;
  const deleted = await tx.query(
    `DELETE FROM vector_embeddings WHERE organisation_id = $1 AND collection = $2 AND key IN (
       SELECT key FROM vector_embeddings WHERE organisation_id = $1 AND collection = $2 LIMIT $3)
     RETURNING key`,
    [organisationId, collection, FORGOTTEN_AT_ONCE],
  );
  if (deleted.length === FORGOTTEN_AT_ONCE) return true;
  await tx.query('DELETE FROM vector_indexes WHERE organisation_id = $1 AND collection = $2', [
    organisationId,
    collection,
  ]);
  return false;
}

const FORGOTTEN_AT_ONCE = 1_000;

/** Drops the index of a collection that is gone. */
export async function dropIndex(tx: Queryable, id: number): Promise<void> {
  await tx.query(LOCK_TIMEOUT);
  await tx.query('SELECT drop_vector_index($1)', [id]);
}
