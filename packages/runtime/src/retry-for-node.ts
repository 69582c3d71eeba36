import { DatabaseUnavailableError } from '@millrace/database/errors';
import { retryWhileUnavailable } from '@millrace/database/retry';
import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';

const TIMEOUT_MS = 30_000;

/**
 * {@link retryWhileUnavailable} for a node's requests to the service.
 * @throws ServiceError `database_unavailable`, retryable
 */
export async function retryForNode<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await retryWhileUnavailable(work, { timeoutMs: TIMEOUT_MS });
  } catch (cause) {
    if (!(cause instanceof DatabaseUnavailableError)) throw cause;
    throw new ServiceError('database_unavailable', message('ports.database_unavailable'), {
      retryable: true,
      cause,
    });
  }
}
