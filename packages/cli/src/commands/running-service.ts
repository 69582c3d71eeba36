import { findEmbeddedUrls, startEmbedded } from '@millrace/database/embedded/embedded';
import { DatabaseUnavailableError, sqlState } from '@millrace/database/errors';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { type Config, loadConfig } from '../settings/config.ts';
import { poolingOf } from '../start/postgres.ts';
import { readRunningService } from '../start/running-service.ts';
import { requireKnownUser } from '../start/user.ts';
import { RefusedError } from './shell.ts';

const UNDEFINED_TABLE = '42P01';

/**
 * Passes `work` the running service's database, that of DATABASE_URL, else the embedded one of the data folder, and closes it afterwards.
 * @throws RefusedError `not_running`, `not_migrated`
 * @throws ConfigError
 */
export async function withDatabase<T>(work: (db: PgDatabase, config: Config) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const url = config.databaseUrl ?? (await findEmbeddedUrls(config.dataDir))?.url;
  if (url === undefined) throw notRunning(config);
  const options = { applicationName: 'millrace command', lanes: 1, maxSessions: 1 };
  const db = createDatabase(
    url,
    config.databaseUrl === null ? options : { ...options, ...poolingOf(config) },
  );
  try {
    await db.query('SELECT 1').catch((error: unknown) => {
      throw error instanceof DatabaseUnavailableError ? notRunning(config, error) : error;
    });
    return await work(db, config);
  } catch (error) {
    if (sqlState(error) !== UNDEFINED_TABLE) throw error;
    throw new RefusedError(
      'not_migrated',
      'The database has no Millrace tables yet. Start the service or run `millrace migrate`.',
    );
  } finally {
    await db.close();
  }
}

/**
 * Like {@link withDatabase}, also while the service isn't running: its embedded PostgreSQL is then started for this.
 * @param options.createsFolder whether a data folder that doesn't exist is made
 * @throws RefusedError `not_running` if there is no such data folder
 */
export async function withAnyDatabase<T>(
  options: { readonly createsFolder: boolean },
  work: (db: PgDatabase, config: Config) => Promise<T>,
): Promise<T> {
  const config = loadConfig();
  if (config.databaseUrl !== null || (await readRunningService(config.dataDir)) !== null) {
    return withDatabase(work);
  }
  if (!options.createsFolder && (await findEmbeddedUrls(config.dataDir)) === null) throw notRunning(config);
  requireKnownUser();
  const server = await startEmbedded({ dataDir: config.dataDir });
  try {
    const db = createDatabase(server.url, { applicationName: 'millrace command', lanes: 1, maxSessions: 1 });
    try {
      return await work(db, config);
    } finally {
      await db.close();
    }
  } finally {
    await server.stop();
  }
}

/** A service configured with neither a public URL nor a port may have taken another port than the default. */
export async function findPublicUrl(config: Config): Promise<string> {
  if (config.publicUrlIsExplicit || config.databaseUrl !== null) return config.publicUrl;
  return (await readRunningService(config.dataDir))?.address ?? config.publicUrl;
}

function notRunning(config: Config, cause?: Error): RefusedError {
  const message =
    config.databaseUrl === null
      ? `No Millrace is running on the data folder ${config.dataDir}. Start it with "npx millrace start", or set the data folder of the one that is running: MILLRACE_DATA_DIR=/its/folder`
      : `Couldn't reach the database of DATABASE_URL (${cause?.message ?? 'no answer'}). Check the address, and that PostgreSQL is running.`;
  return new RefusedError('not_running', message);
}
