/**
 * The database can't be reached, is shutting down, is out of space or didn't respond in time. Whether a failed write took effect is
 * unknown: read it back before retrying.
 */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';

  constructor(cause: unknown) {
    super(`The database is unavailable: ${causeText(cause)}`, { cause });
  }
}

/** A connection that was closed because the response to a statement was overdue. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';

  constructor(silentMs: number) {
    super(`PostgreSQL did not answer for ${Math.round(silentMs / 1000)} seconds`);
  }
}

/** A transaction whose work succeeded although one of its statements had failed: PostgreSQL rolled all of it back. */
export class TransactionRolledBackError extends Error {
  override readonly name = 'TransactionRolledBackError';

  constructor() {
    super('A statement of the transaction failed and its error was swallowed, so nothing of it was stored');
  }
}

/** A prepared statement that was refused before it ran; next time it is prepared again under the same name. */
export class StaleStatementError extends Error {
  override readonly name = 'StaleStatementError';

  constructor(cause: unknown) {
    super(`A prepared statement has to be prepared again: ${causeText(cause)}`, { cause });
  }
}

/** Another process does what only one may do at a time. */
export class LockTakenError extends Error {
  override readonly name = 'LockTakenError';

  constructor() {
    super('Another process has the lock');
  }
}

/** The SQLSTATE of a PostgreSQL error, or undefined for other errors. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Distinguishes an unavailable database from a faulty statement.
 * @returns a {@link DatabaseUnavailableError} around the error when it isn't about the statement itself, else the error unchanged
 */
export function toDatabaseError(error: unknown): Error {
  if (error instanceof DatabaseUnavailableError) return error;
  if (!(error instanceof Error)) return new DatabaseUnavailableError(error);
  const state = sqlState(error);
  if (state !== undefined) return meansUnavailable(state) ? new DatabaseUnavailableError(error) : error;
  return isConnectionFailure(error) ? new DatabaseUnavailableError(error) : error;
}

/** True when a row would have duplicated one that must be unique. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505';
}

/** True for the failures after which PostgreSQL expects clients to retry: serialisation failure and deadlock. */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/** True when the server refused a write because it is a standby, or is set to reject writes. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError && sqlState(error.cause) === '25006';
}

/** True when the server refused a write because a disk, or a quota on it, is full. */
export function isDiskFull(error: unknown): boolean {
  const state = error instanceof DatabaseUnavailableError ? sqlState(error.cause) : undefined;
  return state === '53100';
}

/**
 * True when a statement took longer than it may. The database may be fine: the statement itself may be too much, or wait for a lock. Ended by
 * the server, it changed nothing; ended by silence, its outcome is unknown.
 */
export function isTimeout(error: unknown): boolean {
  if (!(error instanceof DatabaseUnavailableError)) return false;
  return error.cause instanceof SilenceError || isStatementTimeout(error);
}

/** True when the server ended a statement for taking too long: it is up, and the statement changed nothing. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError && sqlState(error.cause) === '57014';
}

/** False for errors that persist until someone changes the address, the password or the database. */
export function mayRecover(error: unknown): error is DatabaseUnavailableError {
  if (!(error instanceof DatabaseUnavailableError)) return false;
  const state = sqlState(error.cause);
  return state === undefined || meansUnavailable(state);
}

const UNAVAILABLE_STATES = new Set([
  '25006', // read-only: a standby, or a primary that was demoted
  '25P03', // idle in a transaction for too long
  '25P04', // transaction timeout
  '55P03', // lock timeout
  '57014', // statement timeout
  '57P01', // shut down by the administrator, terminated
  '57P02', // crash of another backend
  '57P03', // starting up or shutting down
  '57P04', // database dropped
  '57P05', // idle session timeout
  '58030', // input/output error
]);

function meansUnavailable(state: string): boolean {
  return UNAVAILABLE_STATES.has(state) || state.startsWith('08') || state.startsWith('53');
}

// The driver reports lost connections as plain errors, recognisable only by their message.
const DRIVER_TEXTS =
  /^(Connection terminated|Connection ended|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Client has already been connected|The server does not support SSL|There was an error establishing an SSL|Received unexpected \w+ message)/;

function isConnectionFailure(error: Error): boolean {
  return 'syscall' in error || 'errno' in error || DRIVER_TEXTS.test(error.message);
}

function causeText(cause: unknown): string {
  // A host name with several addresses fails with one error per address and no message of its own.
  if (cause instanceof AggregateError) return cause.errors.map(causeText).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
