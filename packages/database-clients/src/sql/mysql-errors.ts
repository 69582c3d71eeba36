import { type JsonObject, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import {
  authError,
  brokenError,
  type ErrorContext,
  readOnlyError,
  stopError,
  unavailableError,
  whereOf,
} from './errors.ts';

interface MysqlFault extends Error {
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
export function toMysqlError(error: unknown, given: ErrorContext): ServiceError {
  if (error instanceof ServiceError) return error;
  const fault = error as MysqlFault;
  // The driver's own errors have operating system error numbers and no SQLSTATE.
  if (fault.sqlState === undefined || fault.errno === undefined) return brokenError(error, given);
  if (INTERRUPTED.includes(fault.errno)) {
    return stopError(given.stopReason ?? 'timeout', given.query?.timeoutMs ?? 0);
  }
  return fromServer(fault, fault.errno, fault.sqlState, whereOf(given.credential));
}

function fromServer(fault: MysqlFault, errno: number, sqlstate: string, where: string): ServiceError {
  const details: JsonObject = { sqlstate, errno };
  const said = fault.sqlMessage ?? fault.message;
  // Its message names the client's user and host.
  if (DENIED.includes(errno)) return authError(where, details);
  if (errno === NO_RIGHTS) {
    return new ServiceError('sql_auth_failed', message('ports.no_rights', { host: where }), { details });
  }
  if (AWAY.includes(errno)) return unavailableError(where, said, details);
  if (errno === READ_ONLY) return readOnlyError(said, details);
  return new ServiceError('sql_error', message('ports.sql_error', { said, state: sqlstate }), {
    retryable: CONFLICTS.includes(errno),
    details,
  });
}
