import { type CredentialOf, type JsonObject, ServiceError, type SqlQuery } from '@millrace/engine';
import { mapTexts, message } from '@millrace/messages';
import { isTlsFault } from '@millrace/ports/connect-error';

/** Why a statement was stopped. */
export type StopReason = 'aborted' | 'timeout';

/** The state of a statement when it failed. */
export interface ErrorContext {
  readonly credential: CredentialOf<'sql'>;
  /** Null while the connection is being opened. */
  readonly query: SqlQuery | null;
  readonly stopReason: StopReason | null;
  /** Whether the statement itself was sent. */
  readonly isSent: boolean;
}

/** An error that isn't the server's: the statement was stopped, or the connection couldn't be opened or was lost. */
export function brokenError(
  error: unknown,
  { credential, query, stopReason, isSent }: ErrorContext,
): ServiceError {
  const where = whereOf(credential);
  const isReadOnly = query?.readOnly ?? true;
  if (stopReason !== null && (isReadOnly || !isSent)) return stopError(stopReason, query?.timeoutMs ?? 0);
  if (isSent) return lostError(where, isReadOnly, error);
  const reason = error instanceof Error ? error.message : String(error);
  const isHandshake =
    error instanceof Error && 'code' in error && String(error.code).startsWith('HANDSHAKE_');
  if (isHandshake || isTlsFault(reason)) {
    return tlsError(where, reason.slice(0, 200));
  }
  const said = message('ports.connection_failed', { host: where, reason });
  return new ServiceError('sql_connection_failed', said, { retryable: true, cause: error });
}

/** How a server is named to people. */
export function whereOf({ host, port }: CredentialOf<'sql'>): string {
  return `${host}:${port}`;
}

/** A statement that was stopped and is known to have changed nothing. */
export function stopError(reason: StopReason, timeoutMs: number): ServiceError {
  return reason === 'aborted'
    ? new ServiceError('aborted', message('ports.query_aborted'), { retryable: true })
    : new ServiceError('sql_timeout', message('ports.query_timeout', { ms: timeoutMs }), {
        retryable: true,
      });
}

/** The connection was lost while a statement ran. The outcome of a write is then unknown, so it isn't retried automatically. */
function lostError(where: string, isReadOnly: boolean, cause: unknown): ServiceError {
  return isReadOnly
    ? new ServiceError('sql_connection_failed', message('ports.connection_lost', { host: where }), {
        retryable: true,
        cause,
      })
    : new ServiceError('sql_outcome_unknown', message('ports.outcome_unknown', { host: where }), { cause });
}

/** The number of values differs from that of the placeholders. */
export function parameterError(placeholders: number, values: number): ServiceError {
  return new ServiceError('sql_error', message('ports.parameter_count', { count: placeholders, values }));
}

export function authError(where: string, details: JsonObject): ServiceError {
  return new ServiceError('sql_auth_failed', message('ports.sign_in_refused', { host: where }), {
    details,
  });
}

/** The server can't take connections or ended them. */
export function unavailableError(where: string, reason: string, details: JsonObject): ServiceError {
  const said = message('ports.cannot_run_now', { host: where, reason });
  return new ServiceError('sql_connection_failed', said, { retryable: true, details });
}

export function readOnlyError(reason: string, details: JsonObject): ServiceError {
  return new ServiceError('sql_read_only', message('ports.would_write', { reason }), { details });
}

export function tlsError(where: string, reason: string): ServiceError {
  return new ServiceError('sql_tls_failed', message('ports.tls_failed', { host: where, reason }));
}

/** The same error without the password, in case a server repeated it. */
export function hidePassword(error: ServiceError, password: string): ServiceError {
  if (password.length < 4 || !error.message.includes(password)) return error;
  const { code, retryable, details } = error;
  const hidden = mapTexts(error.explanation, (text) => text.replaceAll(password, '[hidden]'));
  return new ServiceError(code, hidden, { retryable, ...(details === undefined ? {} : { details }) });
}
