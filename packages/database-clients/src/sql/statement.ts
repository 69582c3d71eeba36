import type { CredentialOf, ServiceError, SqlQuery } from '@millrace/engine';
import type { ErrorContext } from './errors.ts';
import type { SqlAnswer } from './result.ts';
import { type Stopper, startStopper } from './stopper.ts';

/** One statement on a connection of its own, as a dialect runs it. */
export interface Statement {
  /** What is sent before it: settings, and the transaction of one that only reads. */
  readonly prepare: () => Promise<void>;
  readonly run: (stopper: Stopper) => Promise<SqlAnswer>;
  /** Asks the server to stop what it is running. */
  readonly cancel: () => Promise<void>;
  /** Ends the connection at once. */
  readonly cut: () => void;
  /** Ends the connection when the statement has ended; the server then rolls back what isn't committed. */
  readonly close: () => void;
  readonly toError: (error: unknown, context: ErrorContext) => ServiceError;
}

/**
 * Runs a statement until its time limit or until it is no longer wanted, and ends its connection.
 * @throws ServiceError sql_*
 */
export async function runOnce(
  statement: Statement,
  credential: CredentialOf<'sql'>,
  query: SqlQuery,
  signal: AbortSignal,
): Promise<SqlAnswer> {
  let isSent = false;
  const stopper = startStopper(query.timeoutMs, signal, statement.cancel, statement.cut);
  try {
    await statement.prepare();
    if (stopper.reason !== null) throw new Error('stopped before the statement was sent');
    isSent = true;
    return await statement.run(stopper);
  } catch (error) {
    throw statement.toError(error, { credential, query, stopReason: stopper.reason, isSent });
  } finally {
    stopper.done();
    statement.close();
  }
}
