import { DatabaseUnavailableError } from '@millrace/database/errors';
import { ServiceError } from '@millrace/engine';

/** Pauses between tries while the database is away, in milliseconds; the last one repeats. */
const PAUSES_MS = [50, 100, 250, 500, 1_000];
const PATIENCE_MS = 30_000;

/**
 * Does something with the database that may be done twice, again and again while the database is away.
 * @throws ServiceError `database_unavailable`, to be retried
 */
export async function retryWhileUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) throw error;
      if (performance.now() > giveUpAt) {
        throw new ServiceError('database_unavailable', 'The database of the service could not be reached.', {
          retryable: true,
          cause: error,
        });
      }
      const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
