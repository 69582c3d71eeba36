import { CLIENT_CHECK_MS } from '@millrace/database/connection';
import type { Queryable } from '@millrace/database/database';
import { DatabaseUnavailableError, sqlState } from '@millrace/database/errors';
import { hasTable } from '@millrace/database/migrate';
import { BackupError } from './errors.ts';

/** An arbitrary constant that is the same in every version of Millrace. */
const RESTORE_LOCK = 7_303_014_040;
const LOCK_NOT_AVAILABLE = '55P03';
/** Until PostgreSQL has noticed that a restore was killed, even if that was while it made an index for it, and has undone it. */
const KILLED_MS = CLIENT_CHECK_MS + 3_000;

/**
 * Whether nothing would be lost or mixed: no organisation, no account and no process at work. A database that has the tables of another
 * version isn't emptied of them either.
 * @param schemaVersion that of the backup
 * @throws BackupError `restore_not_empty`
 */
export async function requireEmpty(session: Queryable, schemaVersion: number): Promise<void> {
  if (!(await hasTable(session))) return;
  const [row] = await session.query<{ version: number }>(
    'SELECT coalesce(max(version), 0) AS version FROM schema_migrations',
  );
  const version = row?.version ?? 0;
  if (version === 0) return;
  const [content] = await session.query<{ organisations: boolean; workers: boolean }>(
    `SELECT EXISTS (SELECT FROM organisations) AS organisations, EXISTS (SELECT FROM workers WHERE lease_expires_at > now()) AS workers`,
  );
  const users = (await hasTable(session, 'users')) ? await session.query('SELECT FROM users LIMIT 1') : [];
  if (content?.organisations === true || content?.workers === true || users.length > 0) {
    throw new BackupError(
      'restore_not_empty',
      'A backup is only restored into an empty instance, and this one has organisations, accounts or a running worker. ' +
        'Give a data folder that does not exist yet (MILLRACE_DATA_DIR), or an empty database (DATABASE_URL).',
    );
  }
  if (version === schemaVersion) return;
  throw new BackupError(
    'restore_not_empty',
    `The database was already migrated to schema ${version}, and the backup has schema ${schemaVersion}. Give a database without tables; the restore makes and migrates them.`,
  );
}

/** From here until everything is stored, the service refuses to start on this database. */
export async function beginRestore(session: Queryable): Promise<void> {
  await session.query(
    'CREATE TABLE IF NOT EXISTS unfinished_restore (begun_at timestamptz NOT NULL DEFAULT now())',
  );
}

/** In the transaction that stores everything; or because something else has been stored. */
export async function endRestore(tx: Queryable): Promise<void> {
  await tx.query('DROP TABLE IF EXISTS unfinished_restore');
}

/**
 * The session of a restore that was just killed may have it for another moment.
 * @throws BackupError `restore_running` if another restore into this database keeps the lock
 */
export async function lockRestore(tx: Queryable): Promise<void> {
  try {
    await tx.query(`SET LOCAL lock_timeout = ${KILLED_MS}`);
    await tx.query('SELECT pg_advisory_xact_lock($1)', [RESTORE_LOCK]);
    await tx.query('SET LOCAL lock_timeout = 0');
  } catch (error) {
    const cause = error instanceof DatabaseUnavailableError ? error.cause : error;
    if (sqlState(cause) !== LOCK_NOT_AVAILABLE) throw error;
    throw new BackupError('restore_running', 'Another restore into this database is running.', { cause });
  }
}

/** Nothing of what was restored runs until each organisation is resumed. */
export async function pauseAll(tx: Queryable): Promise<void> {
  await tx.query('UPDATE organisations SET paused_at = coalesce(paused_at, now())');
}

/**
 * Puts what was running back into the queue, as a worker does that is told to stop: its worker isn't here, so that its lease would never
 * expire. No crash is counted. Triggers must be off.
 * @returns how many there were
 */
export async function requeueRunning(tx: Queryable): Promise<number> {
  const rows = await tx.query(
    `UPDATE executions SET status = 'queued', worker_id = NULL WHERE status = 'running' RETURNING id`,
  );
  return rows.length;
}
