import { startEmbedded } from '@millrace/database/embedded/embedded';
import { migrate } from '@millrace/database/migrate';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { type RetryOptions, retryWhileUnavailable } from '@millrace/database/retry';
import { isPooledByTransaction } from '@millrace/database/transaction-pooling';
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

/** Opens and migrates the configured database, starting the embedded server if none is configured. */
export async function openDatabase(
  config: Config,
  log: Logger,
  progress: (text: string) => void,
  retry: RetryOptions,
): Promise<ServiceDatabase> {
  if (config.databaseUrl !== null) {
    const db = createDatabase(config.databaseUrl);
    const stop = () => db.close();
    return await prepared({ db, stop, stopWithoutWaiting: () => {} }, log, progress, retry);
  }
  requireKnownUser();
  const server = await startEmbedded({
    dataDir: config.dataDir,
    progress,
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
  return await prepared(database, log, progress, retry);
}

async function prepared(
  database: ServiceDatabase,
  log: Logger,
  progress: (text: string) => void,
  retry: RetryOptions,
): Promise<ServiceDatabase> {
  const { db } = database;
  try {
    await waitForServer(db, progress, retry);
    await retryWhileUnavailable(() => checkServer(db, log), retry);
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
async function checkServer(db: PgDatabase, log: Logger): Promise<void> {
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
  if (await isPooledByTransaction(db)) throw transactionPooling();
  if (server.unrestricted) {
    log.warn(
      'the user of DATABASE_URL is a superuser or has BYPASSRLS, so row-level security has no effect; use an ordinary user who owns the database',
    );
  }
}

/** The error for a pooler in transaction mode. */
export function transactionPooling(): UnsuitableDatabaseError {
  return new UnsuitableDatabaseError(
    'DATABASE_URL uses a connection pooler in transaction mode; Millrace needs connections for whole sessions (LISTEN, advisory locks, prepared statements). Set the pooler to session mode (pgbouncer: pool_mode = session), or connect to PostgreSQL directly.',
  );
}
