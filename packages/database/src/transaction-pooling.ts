import { randomUUID } from 'node:crypto';
import { ROLE_SETTINGS } from './connection.ts';
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

/**
 * What the role lacks of the settings that can't be made behind a pooler in transaction mode, as statements that make them; those that this
 * version of PostgreSQL doesn't know are left out.
 */
export async function missingRoleSettings(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ statement: string }>(
    `SELECT format('ALTER ROLE %I SET %I = %L', current_user, name, value) AS statement
     FROM (
       SELECT name, value, current_setting(name, true) AS present, set_config(name, value, true) AS wanted
       FROM unnest($1::text[], $2::text[]) AS setting (name, value) WHERE current_setting(name, true) IS NOT NULL
     ) AS setting WHERE present <> wanted`,
    [Object.keys(ROLE_SETTINGS), Object.values(ROLE_SETTINGS)],
  );
  return rows.map(({ statement }) => statement);
}

async function readMark(session: Queryable): Promise<string | null> {
  const [row] = await session.query<{ mark: string | null }>(
    `SELECT current_setting('millrace.session_mark', true) AS mark`,
  );
  return row?.mark ?? null;
}
