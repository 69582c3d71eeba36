import { type CursorBinding, createCursors, toPage } from '@millrace/http/pagination';
import type { FastifyRequest } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';

const DEFAULT_LIMIT = 50;
/** No organisation has this id: cursors of lists of the whole service are bound to it. */
const NO_ORGANISATION = 0;

/** One page of a list of the admin API. */
interface AdminPage<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}

/** A list's source of rows and their presentation. */
interface AdminList<Row, Item> {
  readonly filters?: CursorBinding['filters'];
  /**
   * At most `limit` rows after the one with this id, and with this `sort_key` if the list isn't ordered by id; null: from the
   * first.
   */
  readonly read: (afterId: number | null, limit: number, afterKey: string | null) => Promise<readonly Row[]>;
  readonly present: (row: Row) => Item;
}

interface ListCall {
  readonly organisation: { readonly id: number } | null;
  readonly request: FastifyRequest;
  readonly query: { readonly limit?: number; readonly cursor?: string } | undefined;
}

/** The page of a list that a call requests. @throws ApiError 422 on `cursor` */
export type ReadPage = <Row extends { readonly id: number; readonly sort_key?: string }, Item>(
  call: ListCall,
  list: AdminList<Row, Item>,
) => Promise<AdminPage<Item>>;

export function createReadPage({ db }: Pick<AppDeps, 'db'>): ReadPage {
  const cursors = createCursors(db);
  return async ({ organisation, request, query }, { filters = {}, read, present }) => {
    const { limit = DEFAULT_LIMIT, cursor } = query ?? {};
    const [endpoint = ''] = request.url.split('?', 1);
    const binding = { organisationId: organisation?.id ?? NO_ORGANISATION, endpoint, filters };
    const after = cursor === undefined ? null : await cursors.decodePosition(cursor, binding);
    // One extra row shows whether there is another page.
    const rows = await read(after?.id ?? null, limit + 1, after?.key ?? null);
    const { data, pagination } = await toPage(rows, limit, present, cursors, binding);
    return { items: [...data], next_cursor: pagination.next_cursor };
  };
}
