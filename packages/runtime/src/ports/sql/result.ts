import {
  HttpClientError,
  type JsonObject,
  type JsonValue,
  parseDecimal,
  parseJson,
  ServiceError,
  type SqlService,
  setOwn,
} from '@millrace/engine';
import { mapTexts, message } from '@millrace/messages';

export type SqlAnswer = Awaited<ReturnType<SqlService['query']>>;

/** Maximum bytes of one result as the server sends it: anything larger wouldn't be a valid node output either. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

/** Why a statement was stopped. */
export type StopReason = 'aborted' | 'timeout';

/** Counts the bytes of a result. @throws ServiceError `sql_result_too_large` */
export class ByteMeter {
  #bytes = 0;

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= MAX_RESULT_BYTES) return;
    throw new ServiceError(
      'sql_result_too_large',
      message('ports.rows_too_large', { max: MAX_RESULT_BYTES }),
    );
  }
}

/** Column names, made unique: a second `id` becomes `id_2`, because an object has each name only once. */
export function columnNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>(names);
  const used = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let count = 2; used.has(unique) || (unique !== name && taken.has(unique)); count += 1) {
      unique = `${name}_${count}`;
    }
    used.add(unique);
    return unique;
  });
}

/** A row as an object; a column may have any name, even `__proto__`. */
export function rowObject(names: readonly string[], values: readonly JsonValue[]): JsonObject {
  const row: { [name: string]: JsonValue } = {};
  for (const [index, name] of names.entries()) setOwn(row, name, values[index] ?? null);
  return row;
}

/** A decimal number without loss: exact if it doesn't fit in a double; NaN and infinity are text. */
export function exactNumber(text: string): JsonValue {
  return parseDecimal(text) === null ? text : parseJson(text);
}

/** A column's JSON without loss; text if it is nested too deeply to parse. */
export function jsonValue(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Converts an error of opening the connection. */
export function connectError(error: unknown): unknown {
  if (!(error instanceof HttpClientError)) return error;
  const isPassing = error.code === 'timeout' || error.code === 'connection_failed';
  return new ServiceError(isPassing ? 'sql_connection_failed' : error.code, error.explanation, {
    retryable: isPassing || error.code === 'aborted',
    cause: error,
  });
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
export function lostError(where: string, isReadOnly: boolean, cause: unknown): ServiceError {
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
