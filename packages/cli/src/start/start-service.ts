import type { RetryOptions } from '@millrace/database/retry';
import { openDatabase } from './postgres.ts';
import type { Service, StartOptions } from './service.ts';

/** The requested roles need a PostgreSQL that several processes can reach. */
export class RolesError extends Error {
  override readonly name = 'RolesError';
}

/**
 * Starts the service: PostgreSQL, migrations, the first organisation, the worker, and the API last, so that it responds only when
 * everything behind it is running.
 *
 * @throws errors with messages for the user; anything already started is stopped again
 */
export async function startService(options: StartOptions): Promise<Service> {
  const { config, roles, log, progress = () => {} } = options;
  if (config.databaseUrl === null && !(roles.api && roles.worker)) {
    throw new RolesError(
      'The embedded PostgreSQL serves one process, so "api" and "worker" need a shared server: DATABASE_URL=postgresql://user:password@host:5432/millrace',
    );
  }
  const retry: RetryOptions = {
    signal: options.signal,
    onUnavailable: (error) =>
      log.warn({ err: error }, 'database unavailable; startup continues when it is back'),
  };
  const launched = Promise.withResolvers<void>();
  const opening = openDatabase(config, log, progress, retry, launched.resolve);
  await Promise.race([launched.promise, opening]);
  // What runs on the database takes most of a start to load, and PostgreSQL starts meanwhile. Whether that failed is seen afterwards.
  opening.catch(() => {});
  const { startOn } = await import('./start-on.ts').catch(async (error: unknown) => {
    const database = await opening;
    await database.stop();
    throw error;
  });
  return await startOn(await opening, options, retry);
}
