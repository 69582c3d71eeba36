import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Queryable } from './database.ts';
import { DatabaseUnavailableError, isRetryable, sqlState } from './errors.ts';
import type { PgDatabase } from './pool.ts';

/** One numbered migration of the schema. Migrations only go forward; a released one never changes. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, hex. */
  readonly checksum: string;
}

/** The database doesn't match this version of Millrace; the message says why and what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

const FOLDER = fileURLToPath(new URL('./migrations', import.meta.url));
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
/** An arbitrary constant that is the same in every version of Millrace. */
const LOCK = 7_303_014_001;
/** Shorter than the timeout of other statements, so that they outlast a migration that waits for a lock. */
const LOCK_TIMEOUT_MS = 4_000;
/** A few minutes in total, including waiting for locks. */
const MAX_ATTEMPTS = 40;
const PAUSE_MS = 100;
/** How a migration begins whose statements make or drop indexes while others write, which PostgreSQL doesn't do in a transaction. */
const IS_CONCURRENT = /^-- Concurrently\b/;

/**
 * Brings the schema up to date, each migration in its own transaction, or statement by statement if it says that it is concurrent. Several
 * processes may do so at once: each migration is applied by one of them, while the others wait.
 * @returns the migrations this call applied, in order
 * @throws MigrationError when an applied migration was changed or belongs to a newer version of Millrace
 */
export async function migrate(db: PgDatabase, folder = FOLDER): Promise<Migration[]> {
  const migrations = await readMigrations(folder);
  // A restore that is still running has the lock for as long as it takes, so this mustn't wait for it first.
  await refuseUnfinishedRestore(db);
  // Nearly every start finds nothing to do, and needs neither the lock nor a connection of its own to see that.
  if ((await listPending(db, migrations)).length === 0) return [];
  return await db.exclusive(async (session) => {
    const applied: Migration[] = [];
    for (;;) {
      const migration = await applyNext(db, session, migrations);
      if (migration === null) return applied;
      applied.push(migration);
    }
  });
}

/**
 * Applies pending migrations in a transaction of the caller's, with the lock of all migrations: the schema of one version, or of this one.
 * @param last the last one to apply
 */
export async function migrateWithin(tx: Queryable, last = Number.POSITIVE_INFINITY): Promise<Migration[]> {
  await waitForLock(tx);
  await createTable(tx);
  const pending = verify(await readMigrations(FOLDER), await readApplied(tx));
  const applied = pending.filter(({ version }) => version <= last);
  for (const migration of applied) {
    // Nobody else uses what this transaction is making.
    await tx.query(migration.sql.replaceAll(' CONCURRENTLY', ''));
    await note(tx, migration);
  }
  return applied;
}

/** All migrations of this version of Millrace, in order. */
export function releasedMigrations(): Promise<Migration[]> {
  return readMigrations(FOLDER);
}

/** The migrations {@link migrate} would apply now. */
export async function pendingMigrations(db: Queryable, folder = FOLDER): Promise<Migration[]> {
  return await listPending(db, await readMigrations(folder));
}

async function listPending(db: Queryable, migrations: readonly Migration[]): Promise<Migration[]> {
  return verify(migrations, (await hasTable(db)) ? await readApplied(db) : []);
}

/**
 * Whether a table is there, by default that of migrations. Not by `to_regclass`, which may remember in its session that there was none
 * while another one has made it since.
 */
export async function hasTable(db: Queryable, name = 'schema_migrations'): Promise<boolean> {
  const [table] = await db.query<{ present: boolean }>(
    'SELECT EXISTS (SELECT FROM pg_class WHERE relname = $1 AND pg_table_is_visible(oid)) AS present',
    [name],
  );
  return table?.present === true;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return await Promise.all(
    files.map(async (file, index) => {
      const match = FILE_NAME.exec(file);
      if (match === null || Number(match[1]) !== index + 1) {
        throw new MigrationError(
          `${join(folder, file)}: migrations are numbered without a gap, as in ${String(index + 1).padStart(4, '0')}_name.sql`,
        );
      }
      const sql = await readFile(join(folder, file), 'utf8');
      return {
        version: index + 1,
        name: match[2] ?? '',
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
      };
    }),
  );
}

/**
 * A restore creates this table before it begins and drops it in the transaction that stores everything. So while it exists, the database has
 * no content, and must not be taken for a new one.
 */
async function refuseUnfinishedRestore(session: Queryable): Promise<void> {
  if (!(await hasTable(session, 'unfinished_restore'))) return;
  throw new MigrationError(
    'A restore into this database is running or was interrupted; nothing of the backup is there yet. ' +
      'Wait for it, or run `millrace restore` again. To begin without the backup, use a new database or data folder.',
  );
}

interface AppliedRow {
  version: number;
  name: string;
  checksum: string;
}

/** Only if it isn't there: a role that doesn't own the schema may start the service once everything is applied. */
async function createTable(session: Queryable): Promise<void> {
  if (await hasTable(session)) return;
  await session.query(`
    CREATE TABLE schema_migrations (
      version integer PRIMARY KEY CHECK (version >= 1),
      name text NOT NULL,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`);
}

function readApplied(session: Queryable): Promise<AppliedRow[]> {
  return session.query<AppliedRow>('SELECT version, name, checksum FROM schema_migrations ORDER BY version');
}

function verify(migrations: readonly Migration[], applied: readonly AppliedRow[]): Migration[] {
  for (const row of applied) {
    const migration = migrations[row.version - 1];
    if (migration === undefined) {
      throw new MigrationError(
        `The database has migration ${row.version} (${row.name}), which this version of Millrace does not know: ` +
          'it was used by a newer one. Start that version, or restore a backup from before the upgrade.',
      );
    }
    if (migration.checksum !== row.checksum) {
      throw new MigrationError(
        `Migration ${row.version} (${row.name}) is not the one the database was migrated with: ` +
          'its file was changed afterwards. Restore the released file and put changes into a new migration.',
      );
    }
  }
  const done = new Set(applied.map((row) => row.version));
  return migrations.filter((migration) => !done.has(migration.version));
}

/**
 * Applies the first pending migration; null if there is none.
 *
 * Processes of the previous version may be using the tables. When they and a migration block each other, or a migration waits too long, the
 * migration yields: statements queued behind its locks proceed, and it is retried.
 */
async function applyNext(
  db: PgDatabase,
  session: Queryable,
  migrations: readonly Migration[],
): Promise<Migration | null> {
  for (let attempt = 1; ; attempt += 1) {
    let migration = null as Migration | null;
    try {
      return await transaction(session, async () => {
        [migration = null] = verify(migrations, await readApplied(session));
        if (migration !== null) await apply(db, session, migration);
        return migration;
      });
    } catch (error) {
      if (error instanceof DatabaseUnavailableError && !isLockTimeout(error)) throw error;
      if (migration === null) throw error;
      const isInTheWay = isRetryable(error) || isLockTimeout(error);
      if (!isInTheWay || attempt === MAX_ATTEMPTS) {
        throw new MigrationError(
          `Migration ${migration.version} (${migration.name}) failed: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        );
      }
    }
    await pause(Math.min(attempt, 10) * PAUSE_MS * (0.5 + Math.random()));
  }
}

/**
 * In the transaction that has the lock of all migrations. The statements of a concurrent one have a connection of their own; if they are
 * interrupted, the next attempt begins with the first of them again.
 */
async function apply(db: PgDatabase, session: Queryable, migration: Migration): Promise<void> {
  if (!IS_CONCURRENT.test(migration.sql)) {
    await session.query(migration.sql);
  } else {
    await db.exclusive(async (other) => {
      for (const statement of statementsOf(migration.sql)) await other.query(statement);
    });
  }
  await note(session, migration);
}

/** Of a concurrent migration: there are no functions or texts in it. */
function statementsOf(sql: string): string[] {
  return sql
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .filter((statement) => statement.trim() !== '');
}

async function note(session: Queryable, { version, name, checksum }: Migration): Promise<void> {
  const row = [version, name, checksum];
  await session.query('INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)', row);
}

/**
 * Waits as long as it takes for the lock of all migrations, and has it until the end of the transaction. Asks again and again, because a
 * statement that waits keeps its view of the database, and whoever has the lock may be making an index that waits for all of those to end. So
 * does a statement with parameters until the next one, so this has none.
 */
async function waitForLock(tx: Queryable): Promise<void> {
  for (;;) {
    const [row] = await tx.query<{ taken: boolean }>(`SELECT pg_try_advisory_xact_lock(${LOCK}) AS taken`);
    if (row?.taken === true) return;
    await pause(PAUSE_MS);
  }
}

/** The transaction has the lock of all migrations. */
async function transaction<T>(session: Queryable, work: () => Promise<T>): Promise<T> {
  await session.query(
    'BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
  );
  try {
    await waitForLock(session);
    await session.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await refuseUnfinishedRestore(session);
    await createTable(session);
    const result = await work();
    await session.query('COMMIT');
    return result;
  } catch (error) {
    if (!(error instanceof DatabaseUnavailableError) || isLockTimeout(error)) await session.query('ROLLBACK');
    throw error;
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError && sqlState(error.cause) === '55P03';
}
