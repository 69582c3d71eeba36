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

/** Encodes and decodes the opaque, signed cursors of lists. */
export interface Cursors {
  /** The cursor of the page that starts below `id`. */
  encode(id: number, binding: CursorBinding): Promise<string>;
  /**
   * The id the page starts below.
   * @throws ApiError 422 on `cursor` if it was changed, isn't a cursor or belongs elsewhere
   */
  decode(cursor: string, binding: CursorBinding): Promise<number>;
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

/** Cursors signed with the secret in the database, shared by all processes. */
export function createCursors(db: Queryable): Cursors {
  const loadSecret = createSigningSecret(db, 'cursor');
  return {
    async encode(id, binding) {
      const bytes = Buffer.alloc(ID_BYTES);
      bytes.writeBigUInt64BE(BigInt(id));
      return Buffer.concat([bytes, sign(await loadSecret(), bytes, binding)]).toString('base64url');
    },
    async decode(cursor, binding) {
      const bytes = Buffer.from(cursor, 'base64url');
      // Several spellings decode to the same bytes; only the issued one is accepted.
      if (bytes.length !== ID_BYTES + SIGNATURE_BYTES || bytes.toString('base64url') !== cursor)
        throw invalidCursor();
      const id = bytes.subarray(0, ID_BYTES);
      if (!timingSafeEqual(bytes.subarray(ID_BYTES), sign(await loadSecret(), id, binding)))
        throw invalidCursor();
      return Number(id.readBigUInt64BE());
    },
  };
}

/**
 * Creates a page from rows read with one extra beyond the limit.
 * @param rows at most `limit + 1` rows, in the list's order
 */
export async function toPage<Row extends { readonly id: number }, Item>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => Item,
  cursors: Cursors,
  binding: CursorBinding,
): Promise<Page<Item>> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    data: shown.map(present),
    pagination: {
      next_cursor: hasMore ? await cursors.encode(last.id, binding) : null,
      has_more: hasMore,
      limit,
    },
  };
}

function sign(secret: Buffer, id: Buffer, { organisationId, endpoint, filters }: CursorBinding): Buffer {
  const applied = Object.entries(filters)
    .filter(([, value]) => value !== undefined && value !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha256', secret)
    .update(JSON.stringify([organisationId, endpoint, applied]))
    .update(id)
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
