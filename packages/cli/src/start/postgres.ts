import { startEmbedded } from '@millrace/database/embedded/embedded';
import { migrate } from '@millrace/database/migrate';
import { createDatabase, type DatabaseOptions, type PgDatabase } from '@millrace/database/pool';
import { type RetryOptions, retryWhileUnavailable } from '@millrace/database/retry';
import { isPooledByTransaction, missingRoleSettings } from '@millrace/database/transaction-pooling';
import type { Logger } from 'pino';
import type { Config } from '../settings/config.ts';
import { requireKnownUser } from './user.ts';

/** A migrated database that is ready for the service. */
export interface ServiceDatabase {
  readonly db: PgDatabase;
  /** Closes the connections and stops the embedded server. */
  stop(): Promise<void>;
  /** Tells the embedded server to stop without waiting for it. */
  stopWithoutWaiting(): void;
}

/** A database server that can't be used; the message says why and how to fix it. */
export class UnsuitableDatabaseError extends Error {
  override readonly name = 'UnsuitableDatabaseError';
}

const OLDEST_VERSION = 150_000;
/** How long to wait for a database that has never responded: its address may be wrong. */
const FIRST_PATIENCE_MS = 60_000;

/**
 * Opens and migrates the configured database, starting the embedded server if none is configured.
 * @param onLaunched called once all that is left is waiting for the server
 */
export async function openDatabase(
  config: Config,
  log: Logger,
  progress: (text: string) => void,
  retry: RetryOptions,
  onLaunched: () => void = () => {},
): Promise<ServiceDatabase> {
  if (config.databaseUrl !== null) {
    const db = createDatabase(config.databaseUrl, poolingOf(config));
    const stop = () => db.close();
    onLaunched();
    return await prepared({ db, stop, stopWithoutWaiting: () => {} }, config, log, progress, retry);
  }
  requireKnownUser();
  const server = await startEmbedded({
    dataDir: config.dataDir,
    progress,
    onLaunched,
    onTrouble: (text, cause) => (cause === undefined ? log.warn(text) : log.error({ err: cause }, text)),
  });
  const db = createDatabase(server.url);
  const database: ServiceDatabase = {
    db,
    async stop() {
      await db.close();
      await server.stop();
    },
    stopWithoutWaiting: () => server.stopWithoutWaiting(),
  };
  return await prepared(database, config, log, progress, retry);
}

async function prepared(
  database: ServiceDatabase,
  config: Config,
  log: Logger,
  progress: (text: string) => void,
  retry: RetryOptions,
): Promise<ServiceDatabase> {
  const { db } = database;
  try {
    // The embedded server accepts connections by now, and is as it should be.
    if (config.databaseUrl !== null) {
      await waitForServer(db, progress, retry);
      await retryWhileUnavailable(() => checkServer(db, config, log), retry);
    }
    const applied = await retryWhileUnavailable(() => migrate(db), retry);
    if (applied.length > 0) log.info({ migrations: applied.map(({ name }) => name) }, 'database migrated');
    return database;
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** A separate server may be starting at the same time. Errors that waiting can't fix are reported at once. */
async function waitForServer(
  db: PgDatabase,
  progress: (text: string) => void,
  { signal }: RetryOptions,
): Promise<void> {
  let isAnnounced = false;
  await retryWhileUnavailable(() => db.query('SELECT 1'), {
    signal,
    timeoutMs: FIRST_PATIENCE_MS,
    onUnavailable() {
      if (!isAnnounced) progress('Waiting for the database of DATABASE_URL');
      isAnnounced = true;
    },
  });
}

/** @throws UnsuitableDatabaseError if Millrace can't work with the server, or with the pooler in front of it */
async function checkServer(db: PgDatabase, config: Config, log: Logger): Promise<void> {
  const [server] = await db.query<{ version: number; name: string; encoding: string; unrestricted: boolean }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name,
       current_setting('server_encoding') AS encoding, rolsuper OR rolbypassrls AS unrestricted
     FROM pg_roles WHERE rolname = current_user`,
  );
  if (server === undefined) return;
  if (server.version < OLDEST_VERSION) {
    throw new UnsuitableDatabaseError(
      `The server of DATABASE_URL is PostgreSQL ${server.name}; Millrace needs 15 or later, and is tested with 18.`,
    );
  }
  if (server.encoding !== 'UTF8') {
    throw new UnsuitableDatabaseError(
      `The database of DATABASE_URL has the encoding ${server.encoding}; Millrace needs UTF8. Create one with: CREATE DATABASE millrace ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
  await checkPooling(db, config);
  if (server.unrestricted) {
    log.warn(
      'the user of DATABASE_URL is a superuser or has BYPASSRLS, so row-level security has no effect; use an ordinary user who owns the database',
    );
  }
}

/** How the database of DATABASE_URL is opened. */
export function poolingOf({ databasePooling, worker }: Config): Pick<DatabaseOptions, 'pooling'> {
  return databasePooling === 'transaction' ? { pooling: { pollMs: worker.pollMs } } : {};
}

/** @throws UnsuitableDatabaseError if there is a pooler in transaction mode that isn't configured, or its role lacks settings */
export async function checkPooling(db: PgDatabase, config: Config): Promise<void> {
  if (config.databaseUrl === null) return;
  if (config.databasePooling === 'session') {
    if (!(await isPooledByTransaction(db))) return;
    throw new UnsuitableDatabaseError(
      'DATABASE_URL uses a connection pooler in transaction mode. Set MILLRACE_DATABASE_POOLING=transaction, set the pooler to session mode (pgbouncer: pool_mode = session), or connect to PostgreSQL directly.',
    );
  }
  const statements = await missingRoleSettings(db);
  if (statements.length === 0) return;
  throw new UnsuitableDatabaseError(
    `With MILLRACE_DATABASE_POOLING=transaction, the role in DATABASE_URL needs other settings. Run these statements, and restart the pooler: ${statements.join('; ')};`,
  );
}
