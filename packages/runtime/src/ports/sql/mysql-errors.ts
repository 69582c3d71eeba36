import { type CredentialOf, type JsonObject, ServiceError, type SqlQuery } from '@millrace/engine';
import { message } from '@millrace/messages';
import { authError, lostError, type StopReason, stopError, tlsError } from './result.ts';

interface Circumstances {
  readonly credential: CredentialOf<'sql'>;
  /** Null while the connection is being opened. */
  readonly query: SqlQuery | null;
  readonly stopReason: StopReason | null;
  /** Whether the statement itself was sent. */
  readonly isSent: boolean;
}

interface MysqlFault extends Error {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
  readonly sqlMessage?: string;
}

/** Error numbers of MySQL and MariaDB. */
const DENIED = [1045, 1698, 3118];
const NO_RIGHTS = 1044;
const CONFLICTS = [1205, 1213, 3572];
const AWAY = [1040, 1053, 1203, 1226, 1927];
const INTERRUPTED = [1317, 1969, 3024];
const READ_ONLY = 1792;

/** Converts any error of a statement to one that a workflow's author can read, with SQLSTATE and error number. */
export function toMysqlError(error: unknown, given: Circumstances): ServiceError {
  if (error instanceof ServiceError) return error;
  const { credential, query, stopReason, isSent } = given;
  const where = `${credential.host}:${credential.port}`;
  const fault = error as MysqlFault;
  const timeoutMs = query?.timeoutMs ?? 0;
  // The driver's own errors have operating system error numbers and no SQLSTATE.
  if (fault.sqlState !== undefined && fault.errno !== undefined) {
    if (INTERRUPTED.includes(fault.errno)) return stopError(stopReason ?? 'timeout', timeoutMs);
    return fromServer(fault, fault.errno, fault.sqlState, where);
  }
  const isReadOnly = query?.readOnly ?? true;
  if (stopReason !== null && (isReadOnly || !isSent)) return stopError(stopReason, timeoutMs);
  if (isSent) return lostError(where, isReadOnly, error);
  const said = fault.message;
  if (
    fault.code?.startsWith('HANDSHAKE_') === true ||
    /certificate|self.signed|SSL|TLS|altnames/i.test(said)
  ) {
    return tlsError(where, said.slice(0, 200));
  }
  return new ServiceError(
    'sql_connection_failed',
    message('ports.connection_failed', { host: where, reason: said }),
    {
      retryable: true,
      cause: error,
    },
  );
}

function fromServer(fault: MysqlFault, errno: number, sqlstate: string, where: string): ServiceError {
  const details: JsonObject = { sqlstate, errno };
  const said = fault.sqlMessage ?? fault.message;
  // Its message names the client's user and host.
  if (DENIED.includes(errno)) return authError(where, details);
  if (errno === NO_RIGHTS) {
    return new ServiceError('sql_auth_failed', message('ports.no_rights', { host: where }), { details });
  }
  if (AWAY.includes(errno)) {
    return new ServiceError(
      'sql_connection_failed',
      message('ports.cannot_run_now', { host: where, reason: said }),
      {
        retryable: true,
        details,
      },
    );
  }
  if (errno === READ_ONLY) {
    return new ServiceError('sql_read_only', message('ports.would_write', { reason: said }), { details });
  }
  return new ServiceError('sql_error', message('ports.sql_error', { said, state: sqlstate }), {
    retryable: CONFLICTS.includes(errno),
    details,
  });
}
