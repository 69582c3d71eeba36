import type { VectorIndexState } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import {
  MAX_INDEXED_DIMENSION,
  MAX_INDEXES,
  MAX_INDEXES_OF_ORGANISATION,
  MIN_INDEXED_NUMBERS,
} from '@millrace/ports/vectors/sizes';

/** A collection as lists show it. */
export interface CollectionRow {
  readonly name: string;
  readonly model: string;
  readonly dimension: number;
  readonly items: number;
  readonly bytes: number;
  readonly index: VectorIndexState;
  readonly indexed: number;
  readonly updated_at: Date;
}

/** The collections of an organisation; it has 100 at most. */
export async function listCollections(
  tx: Queryable,
  organisationId: number,
  minIndexedNumbers = MIN_INDEXED_NUMBERS,
): Promise<CollectionRow[]> {
  return tx.query<CollectionRow>(
    `WITH state AS MATERIALIZED (
       SELECT vector_extension_state() AS extension,
         (SELECT count(*) FROM vector_indexes WHERE organisation_id = $1) >= $4
           OR (SELECT count(*) FROM pg_index WHERE indrelid = 'vector_embeddings'::regclass) > $5 AS has_enough)
     SELECT name, model, c.dimension, items, bytes, updated_at,
       CASE
         WHEN x.id IS NOT NULL THEN CASE WHEN x.filled_to IS NULL THEN 'ready' ELSE 'building' END
         WHEN items::bigint * c.dimension < $2 THEN 'small'
         WHEN c.dimension > $3 THEN 'too_long'
         WHEN extension <> 'ready' THEN 'no_pgvector'
         WHEN has_enough THEN 'enough'
         ELSE 'waiting' END AS index,
       least(coalesce(x.filled, 0), items) AS indexed
     FROM state CROSS JOIN vector_collections c
     LEFT JOIN vector_indexes x ON x.organisation_id = c.organisation_id AND x.collection = c.name AND has_vector_index(x.id)
     WHERE c.organisation_id = $1 ORDER BY name`,
    [organisationId, minIndexedNumbers, MAX_INDEXED_DIMENSION, MAX_INDEXES_OF_ORGANISATION, MAX_INDEXES],
    'list_vector_collections',
  );
}

export async function findItemCount(
  tx: Queryable,
  organisationId: number,
  name: string,
): Promise<number | undefined> {
  const [row] = await tx.query<{ items: number }>(
    'SELECT items FROM vector_collections WHERE organisation_id = $1 AND name = $2',
    [organisationId, name],
    'find_vector_collection',
  );
  return row?.items;
}

export interface ItemRow {
  readonly key: string;
  /** At most as many characters as requested. */
  readonly text: string;
  readonly is_cut: boolean;
  /** JSON text. */
  readonly metadata: string;
  readonly bytes: number;
  readonly updated_at: Date;
}

/** A range of a collection in the order of its keys. */
export interface ItemWindow {
  readonly items: readonly ItemRow[];
  /** The last key that was checked; null: there is nothing more. */
  readonly end: string | null;
  /** Bytes that were checked. */
  readonly bytes: number;
}

export interface ItemQuery {
  readonly collection: string;
  /** The key to start after; empty: from the first. */
  readonly after: string;
  /** Searched for in keys and texts, ignoring case; empty: all. */
  readonly search: string;
  /** How many items are checked. */
  readonly window: number;
  /** Characters of each text. */
  readonly chars: number;
}

/** Checks the next items of a collection. */
export async function readItemWindow(
  tx: Queryable,
  organisationId: number,
  { collection, after, search, window, chars }: ItemQuery,
): Promise<ItemWindow> {
  const rows = await tx.query<ItemRow & { readonly is_found: boolean }>(
    `WITH seen AS MATERIALIZED (
       SELECT key, text, metadata, bytes, updated_at FROM vector_items
       WHERE organisation_id = $1 AND collection = $2 AND key > $3 ORDER BY key LIMIT $5)
     SELECT key, bytes, updated_at, is_found, char_length(text) > $6 AS is_cut,
       CASE WHEN is_found THEN left(text, $6) ELSE '' END AS text,
       CASE WHEN is_found THEN metadata::text ELSE '{}' END AS metadata
     FROM seen CROSS JOIN LATERAL (
       SELECT $4 = '' OR position(lower($4) IN lower(key)) > 0 OR position(lower($4) IN lower(text)) > 0 AS is_found) f
     ORDER BY key`,
    [organisationId, collection, after, search, window, chars],
    'read_vector_item_window',
  );
  return {
    items: rows.filter((row) => row.is_found),
    end: rows.length < window ? null : (rows.at(-1)?.key ?? null),
    bytes: rows.reduce((sum, row) => sum + row.bytes, 0),
  };
}

export async function findItemText(
  tx: Queryable,
  organisationId: number,
  collection: string,
  key: string,
): Promise<string | undefined> {
  const [row] = await tx.query<{ text: string }>(
    'SELECT text FROM vector_items WHERE organisation_id = $1 AND collection = $2 AND key = $3',
    [organisationId, collection, key],
    'find_vector_item_text',
  );
  return row?.text;
}

/** What models remember of a conversation, as lists show it. */
export interface MemoryRow {
  /** The workflow's. */
  readonly id: number;
  readonly workflow_name: string;
  readonly key: string;
  readonly turns: number;
  readonly has_summary: boolean;
  readonly bytes: number;
  readonly updated_at: Date;
  readonly expires_at: Date;
  /** When it was used, and its key: see `MOMENT_CHARS`. */
  readonly sort_key: string;
}

/** Characters of the moment at the beginning of a sort key. */
const MOMENT_CHARS = 27;

/** Conversations of all workflows, most recently used first. An organisation has 10,000 at most. */
export async function listMemories(
  tx: Queryable,
  organisationId: number,
  query: { readonly search: string; readonly after: MemoryPlace | null; readonly limit: number },
): Promise<MemoryRow[]> {
  const { search, after, limit } = query;
  return tx.query<MemoryRow>(
    `WITH page AS MATERIALIZED (
       SELECT m.workflow_id, w.name, m.key, m.turns, m.summary IS NOT NULL AS has_summary, m.bytes, m.updated_at, m.expires_at
       FROM ai_memories m JOIN workflows w ON w.id = m.workflow_id AND w.organisation_id = m.organisation_id
       WHERE m.organisation_id = $1 AND m.expires_at > now()
         AND ($2 = '' OR position(lower($2) IN lower(m.key)) > 0 OR position(lower($2) IN lower(w.name)) > 0)
         AND ($3::timestamptz IS NULL OR m.updated_at < $3 OR m.updated_at = $3 AND (m.workflow_id, m.key) > ($4::bigint, $5::text))
       ORDER BY m.updated_at DESC, m.workflow_id, m.key LIMIT $6)
     SELECT workflow_id AS id, name AS workflow_name, key, json_array_length(turns) AS turns, has_summary, bytes, updated_at, expires_at,
       to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || key AS sort_key
     FROM page ORDER BY updated_at DESC, workflow_id, key`,
    [organisationId, search, after?.moment ?? null, after?.workflowId ?? null, after?.key ?? null, limit],
    'list_memories_of_organisation',
  );
}

/** A row of the list of conversations. */
export interface MemoryPlace {
  readonly workflowId: number;
  readonly moment: string;
  readonly key: string;
}

/** The position that a row's id and sort key stand for. */
export function memoryPlace(id: number, sortKey: string): MemoryPlace {
  return { workflowId: id, moment: sortKey.slice(0, MOMENT_CHARS), key: sortKey.slice(MOMENT_CHARS) };
}
