import { type Config, loadConfig } from '../config.ts';
import type { Database } from '../db/database.ts';
import { sqlState } from '../db/errors.ts';
import { connectToRunningService } from '../start/running-service.ts';
import { RefusedError } from './shell.ts';

const UNDEFINED_TABLE = '42P01';

/**
 * Gives `work` the database of the running service and closes it afterwards.
 * @throws NotRunningError, ConfigError, RefusedError `not_migrated`
 */
export async function withDatabase<T>(work: (db: Database, config: Config) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const { db, close } = await connectToRunningService(config);
  try {
    return await work(db, config);
  } catch (error) {
    if (sqlState(error) !== UNDEFINED_TABLE) throw error;
    throw new RefusedError(
      'not_migrated',
      'The database has no Millrace tables yet; start the service or run `millrace migrate`.',
    );
  } finally {
    await close();
  }
}
