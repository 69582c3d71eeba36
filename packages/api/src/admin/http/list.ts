import type { CursorBinding, Cursors } from '../../http/pagination.ts';

const DEFAULT_LIMIT = 50;

/** One page of a list of the admin API. */
interface AdminPage<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}

/** A list's source of rows and their presentation. */
interface AdminList<Row, Item> {
  /** At most `limit` rows below an id, latest first; null: from the latest. */
  read(belowId: number | null, limit: number): Promise<readonly Row[]>;
  present(row: Row): Item;
}

/**
 * The requested page of a list.
 * @throws ApiError 422 on `cursor`
 */
export async function toAdminPage<Row extends { readonly id: number }, Item>(
  cursors: Cursors,
  binding: CursorBinding,
  query: { readonly limit?: number; readonly cursor?: string } | undefined,
  list: AdminList<Row, Item>,
): Promise<AdminPage<Item>> {
  const { limit = DEFAULT_LIMIT, cursor } = query ?? {};
  const belowId = cursor === undefined ? null : await cursors.decode(cursor, binding);
  // One extra row shows whether there is another page.
  const rows = await list.read(belowId, limit + 1);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    items: shown.map((row) => list.present(row)),
    next_cursor: hasMore ? await cursors.encode(last.id, binding) : null,
  };
}
