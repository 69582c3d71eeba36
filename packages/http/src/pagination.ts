import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { type ApiError, validationError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { createSigningSecret } from '@millrace/secrets/signing-secret';

/** What a cursor is valid for; it is refused anywhere else. */
export interface CursorBinding {
  readonly organisationId: number;
  /** Method and path of the list. */
  readonly endpoint: string;
  /** The list's effective filters, without `limit` and `cursor`. */
  readonly filters: { readonly [name: string]: string | number | null | undefined };
}

/** The row after which a page begins. */
interface Position {
  readonly id: number;
  /** What the list is ordered by before the id; empty if by nothing. */
  readonly key: string;
}

/** The envelope of a list response. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: {
    readonly next_cursor: string | null;
    readonly has_more: boolean;
    readonly limit: number;
  };
}

const ID_BYTES = 8;
const SIGNATURE_BYTES = 16;

/** The opaque cursors of lists, signed with the secret in the database, shared by all processes. */
export function createCursors(db: Queryable) {
  const loadSecret = createSigningSecret(db, 'cursor');

  /**
   * The row the page starts after.
   * @throws ApiError 422 on `cursor` if it was changed, isn't a cursor or belongs elsewhere
   */
  async function decodePosition(cursor: string, binding: CursorBinding): Promise<Position> {
    const bytes = Buffer.from(cursor, 'base64url');
    // Several spellings decode to the same bytes; only the issued one is accepted.
    if (bytes.length < ID_BYTES + SIGNATURE_BYTES || bytes.toString('base64url') !== cursor)
      throw invalidCursor();
    const position = bytes.subarray(0, -SIGNATURE_BYTES);
    if (!timingSafeEqual(bytes.subarray(-SIGNATURE_BYTES), sign(await loadSecret(), position, binding)))
      throw invalidCursor();
    return { id: Number(position.readBigUInt64BE()), key: position.subarray(ID_BYTES).toString() };
  }

  return {
    decodePosition,
    /** The cursor of the page that starts after the row with this id and key. */
    async encode(id: number, binding: CursorBinding, key = ''): Promise<string> {
      const idBytes = Buffer.alloc(ID_BYTES);
      idBytes.writeBigUInt64BE(BigInt(id));
      const bytes = Buffer.concat([idBytes, Buffer.from(key)]);
      return Buffer.concat([bytes, sign(await loadSecret(), bytes, binding)]).toString('base64url');
    },
    /** Like `decodePosition`, the id alone. */
    decode: async (cursor: string, binding: CursorBinding) => (await decodePosition(cursor, binding)).id,
  };
}

/**
 * Creates a page from rows read with one extra beyond the limit.
 * @param rows at most `limit + 1` rows, in the list's order
 */
export async function toPage<Row extends { readonly id: number; readonly sort_key?: string }, Item>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => Item,
  cursors: ReturnType<typeof createCursors>,
  binding: CursorBinding,
): Promise<Page<Item>> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    data: shown.map(present),
    pagination: {
      next_cursor: hasMore ? await cursors.encode(last.id, binding, last.sort_key) : null,
      has_more: hasMore,
      limit,
    },
  };
}

function sign(
  secret: Buffer,
  position: Buffer,
  { organisationId, endpoint, filters }: CursorBinding,
): Buffer {
  const applied = Object.entries(filters)
    .filter(([, value]) => value !== undefined && value !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha256', secret)
    .update(JSON.stringify([organisationId, endpoint, applied]))
    .update(position)
    .digest()
    .subarray(0, SIGNATURE_BYTES);
}

function invalidCursor(): ApiError {
  return validationError([
    {
      pointer: '/cursor',
      code: 'invalid_cursor',
      message: message('api.cursor_invalid'),
    },
  ]);
}
