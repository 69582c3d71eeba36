import { randomUUID } from 'node:crypto';
import type { Queryable } from './database.ts';
import type { PgDatabase } from './pool.ts';

/** A pooler that also serves others may return the same connection by chance, so one check isn't enough. */
const LOOKS = 4;

/**
 * Whether a session doesn't keep its server connection, as with a pooler in transaction mode. One session is marked; then either another
 * session finds the mark, or it keeps the marked connection busy and the first one is given a different one.
 */
export async function isPooledByTransaction(db: PgDatabase): Promise<boolean> {
  const mark = randomUUID();
  return await db.exclusive(async (marked) => {
    await marked.query(`SELECT set_config('millrace.session_mark', $1, false)`, [mark]);
    return await db.exclusive(async (other) => {
      if ((await readMark(other)) === mark) return true;
      for (let look = 0; look < LOOKS; look += 1) {
        await other.query('BEGIN');
        const isFound = (await readMark(other)) === mark;
        const isKept = isFound || (await readMark(marked)) === mark;
        await other.query('ROLLBACK');
        if (isFound || !isKept) return true;
      }
      return false;
    });
  });
}

async function readMark(session: Queryable): Promise<string | null> {
  const [row] = await session.query<{ mark: string | null }>(
    `SELECT current_setting('millrace.session_mark', true) AS mark`,
  );
  return row?.mark ?? null;
}
