import { ServiceError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { connectError, isTlsFault } from '@millrace/ports/connect-error';

/** What a connection goes to. */
interface Server {
  readonly host: string;
  readonly port: number;
}

/** The state of a command when its connection failed. */
export interface Broken {
  readonly credential: Server;
  readonly isReadOnly: boolean;
  /** Whether a command was sent. */
  readonly isSent: boolean;
  readonly stopReason: 'aborted' | 'timeout' | null;
  readonly timeoutMs: number;
}

/** Of a connection, encrypted or not, that couldn't be opened. */
export function notConnected(error: unknown, { host, port }: Server): unknown {
  const reason = error instanceof Error ? error.message : '';
  if (!isTlsFault(reason)) return connectError(error, 'db_connection_failed');
  const said = message('ports.tls_failed', { host: `${host}:${port}`, reason: reason.slice(0, 200) });
  return new ServiceError('db_tls_failed', said, { cause: error });
}

/** An error that isn't the server's. */
export function broken(error: unknown, given: Broken): ServiceError {
  if (error instanceof ServiceError) return error;
  const { isReadOnly, isSent, stopReason } = given;
  const where = `${given.credential.host}:${given.credential.port}`;
  if (stopReason !== null && (isReadOnly || !isSent)) return stopped(stopReason, given.timeoutMs);
  const reason = error instanceof Error ? error.message : String(error);
  const failed = (code: string, said: Message, retryable: boolean): ServiceError =>
    new ServiceError(code, said, { retryable, cause: error });
  if (isSent && !isReadOnly)
    return failed('db_outcome_unknown', message('ports.outcome_unknown', { host: where }), false);
  if (!isSent && isTlsFault(reason)) {
    return failed(
      'db_tls_failed',
      message('ports.tls_failed', { host: where, reason: reason.slice(0, 200) }),
      false,
    );
  }
  return failed('db_connection_failed', message('ports.connection_failed', { host: where, reason }), true);
}

function stopped(reason: 'aborted' | 'timeout', timeoutMs: number): ServiceError {
  return reason === 'aborted'
    ? new ServiceError('aborted', message('ports.query_aborted'), { retryable: true })
    : new ServiceError('db_timeout', message('ports.db_timeout', { ms: timeoutMs }), { retryable: true });
}
