import { type JsonObject, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { NotEncrypted, SqlServerFault, Stopped } from '../sqlserver/session.ts';
import type { ServerError } from '../sqlserver/tokens.ts';
import {
  authError,
  brokenError,
  type ErrorContext,
  stopError,
  tlsError,
  unavailableError,
  whereOf,
} from './errors.ts';
import { isOneChange } from './transact-text.ts';

/** Error numbers of SQL Server and Azure SQL. The sign-in is refused; the password must be changed; the firewall. */
const DENIED = [18_452, 18_456, 18_470, 18_486, 18_487, 18_488, 40_615];
/** The database can't be opened, or not by this user. */
const NO_RIGHTS = [916, 4_060, 4_064];
/** Deadlock, lock time-out, no memory now, conflicts of snapshots and of tables in memory. */
const CONFLICTS = [701, 1_205, 1_222, 3_960, 3_961, 8_645, 41_301, 41_302, 41_305, 41_325, 41_839];
/** Starting, stopping, busy or moving. */
const AWAY = [
  921, 922, 927, 4_221, 6_005, 10_928, 10_929, 17_142, 17_148, 18_401, 40_143, 40_197, 40_501, 40_540, 40_613,
  42_108, 42_109, 49_918, 49_919, 49_920,
];

/** Converts any error of a statement to one that a workflow's author can read, with the server's number and line. */
export function toSqlServerError(error: unknown, given: ErrorContext): ServiceError {
  if (error instanceof ServiceError) return error;
  const where = whereOf(given.credential);
  if (error instanceof NotEncrypted) return tlsError(where, error.message);
  if (error instanceof Stopped && given.stopReason !== null) return stopped(given);
  if (!(error instanceof SqlServerFault)) return brokenError(error, given);
  return fromServer(error.said, where, isKnown(given));
}

/** Whether a statement that failed has changed nothing. */
function isKnown({ query, isSent }: ErrorContext): boolean {
  return query === null || query.readOnly || !isSent || isOneChange(query.sql);
}

/** The server has stopped a statement; of several, those before may have been applied. */
function stopped(given: ErrorContext): ServiceError {
  if (given.stopReason !== null && isKnown(given)) {
    return stopError(given.stopReason, given.query?.timeoutMs ?? 0);
  }
  return new ServiceError('sql_outcome_unknown', message('ports.sqlserver_stopped'));
}

function fromServer(said: ServerError, where: string, isRepeatable: boolean): ServiceError {
  const { number, state, line, procedure, text } = said;
  const details: JsonObject = {
    number,
    state,
    line,
    ...(procedure === '' ? {} : { procedure }),
  };
  // Its message names the user, and the firewall's the address.
  if (DENIED.includes(number)) return authError(where, details);
  if (NO_RIGHTS.includes(number)) {
    return new ServiceError('sql_auth_failed', message('ports.no_rights', { host: where }), { details });
  }
  if (AWAY.includes(number) && isRepeatable) return unavailableError(where, text, details);
  return new ServiceError('sql_error', message('ports.sqlserver_error', { said: text, number, line }), {
    retryable: isRepeatable && CONFLICTS.includes(number),
    details,
  });
}
