import { DatabaseUnavailableError, isStatementTimeout } from '@millrace/database/errors';
import { retryWhileUnavailable } from '@millrace/database/retry';
import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';

const TIMEOUT_MS = 30_000;

/**
 * {@link retryWhileUnavailable} for a node's requests to the service. A statement that took too long isn't repeated at once: the database is
 * available, and would take as long again.
 * @throws ServiceError `database_unavailable`, `statement_timeout`; both retryable
 */
export async function retryForNode<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await retryWhileUnavailable(() => work().catch(throwTimeout), { timeoutMs: TIMEOUT_MS });
  } catch (cause) {
    if (!(cause instanceof DatabaseUnavailableError)) throw cause;
    throw new ServiceError('database_unavailable', message('ports.database_unavailable'), {
      retryable: true,
      cause,
    });
  }
}

function throwTimeout(cause: unknown): never {
  if (!isStatementTimeout(cause)) throw cause;
  throw new ServiceError('statement_timeout', message('ports.statement_timeout'), { retryable: true, cause });
}
