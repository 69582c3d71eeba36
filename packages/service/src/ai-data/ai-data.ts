import type { VectorCollection, VectorItem, WorkflowMemory } from '@millrace/admin-api';
import { findMemory } from '@millrace/chat/memory-store';
import type { Database, Queryable } from '@millrace/database/database';
import { formatTimestamp, type JsonObject, parseJson } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { createVectorService } from '@millrace/ports/vectors';
import {
  type CollectionRow,
  findItemCount,
  findItemText,
  type ItemRow,
  type MemoryRow,
  readItemWindow,
} from './store.ts';

/** Characters of an item's text in a list. */
const SHOWN_CHARS = 1_000;
/** Items that a search looks at in one statement. */
const SEARCH_WINDOW = 500;
/** A search returns after this many bytes, even if it has found nothing. */
const SEARCH_BYTES = 32 * 1024 * 1024;

/** Whose data, and who deletes it. */
interface Deletion {
  readonly organisationId: number;
  readonly by: AuditActor;
}

export interface ItemPage {
  readonly items: readonly VectorItem[];
  /** The last key that was checked, if there may be more. */
  readonly end: string | null;
}

/**
 * A page of a collection. A search checks a bounded part at a time, so its page may be short although others follow.
 * @throws ApiError not_found
 */
export async function readItems(
  db: Database,
  organisationId: number,
  query: {
    readonly collection: string;
    readonly search: string;
    readonly after: string;
    readonly limit: number;
  },
): Promise<ItemPage> {
  const { collection, search, limit } = query;
  const isSearch = search !== '';
  const window = isSearch ? SEARCH_WINDOW : limit;
  const known = await db.forOrganisation(organisationId, (tx) =>
    findItemCount(tx, organisationId, collection),
  );
  if (known === undefined) throw notFound('vector_collection');
  let { after } = query;
  for (let bytes = 0; ; ) {
    const from = { collection, search, after, window, chars: SHOWN_CHARS };
    const found = await db.forOrganisation(organisationId, (tx) => readItemWindow(tx, organisationId, from));
    bytes += found.bytes;
    const shown = found.items.slice(0, limit);
    // What was found beyond the page is found again by the next one.
    const end = shown.length < found.items.length ? (shown.at(-1)?.key ?? null) : found.end;
    if (shown.length > 0 || end === null || bytes >= SEARCH_BYTES)
      return { items: shown.map(presentItem), end };
    after = end;
  }
}

/** @throws ApiError not_found */
export async function readItemText(
  db: Database,
  organisationId: number,
  { collection, key }: { readonly collection: string; readonly key: string },
): Promise<string> {
  const text = await db.forOrganisation(organisationId, (tx) =>
    findItemText(tx, organisationId, collection, key),
  );
  if (text === undefined) throw notFound('vector_item');
  return text;
}

/**
 * Deletes items of a collection, or the collection. Recorded first: a large one is deleted piece by piece, so that its items don't hold the
 * organisation's counts for long.
 * @returns how many items
 * @throws ApiError not_found
 */
export async function deleteVectors(
  db: Database,
  { organisationId, by }: Deletion,
  collection: string,
  key: string | null,
): Promise<number> {
  await db.forOrganisation(organisationId, async (tx) => {
    const items = await findItemCount(tx, organisationId, collection);
    if (items === undefined) throw notFound('vector_collection');
    if (key === null) {
      const details = { collection, items };
      await insertAudit(tx, { organisationId, action: 'ai_data.collection_deleted', by, details });
    } else {
      if ((await findItemText(tx, organisationId, collection, key)) === undefined) {
        throw notFound('vector_item');
      }
      await insertAudit(tx, {
        organisationId,
        action: 'ai_data.item_deleted',
        by,
        details: { collection, key },
      });
    }
  });
  const vectors = createVectorService({ db, maxBytes: 0 })({ organisationId });
  return vectors.delete(collection, key === null ? null : { keys: [key] });
}

/** @throws ApiError not_found */
export async function readTurns(
  tx: Queryable,
  of: { readonly organisationId: number; readonly workflowId: number; readonly key: string },
): Promise<{ summary: string; turns: { user: string; assistant: string }[] }> {
  const found = await findMemory(tx, of);
  if (found === undefined) throw notFound('memory');
  return {
    summary: found.summary ?? '',
    turns: found.turns.map(({ user, assistant }) => ({ user, assistant })),
  };
}

export function presentCollection(row: CollectionRow): VectorCollection {
  return { ...row, bytes: Math.max(row.bytes, 0), updated_at: formatTimestamp(row.updated_at) };
}

function presentItem({ metadata, updated_at: at, ...row }: ItemRow): VectorItem {
  const { key, text, is_cut, bytes } = row;
  return {
    key,
    text,
    is_cut,
    bytes,
    metadata: parseJson(metadata) as JsonObject,
    updated_at: formatTimestamp(at),
  };
}

export function presentMemory(row: MemoryRow): WorkflowMemory {
  const { id, workflow_name: name, key, turns, has_summary, bytes } = row;
  return {
    workflow: { id, name },
    key,
    turns,
    has_summary,
    bytes,
    updated_at: formatTimestamp(row.updated_at),
    expires_at: formatTimestamp(row.expires_at),
  };
}
