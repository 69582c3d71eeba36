import { type JsonObject, ServiceError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import pg from 'pg';
import {
  authError,
  brokenError,
  type ErrorContext,
  parameterError,
  readOnlyError,
  stopError,
  unavailableError,
  whereOf,
} from './errors.ts';

/** Conflicts that a retry may resolve: serialization, deadlock, lock not available. */
const CONFLICTS = ['40001', '40P01', '55P03'];
/** A protocol violation; on a working connection it means the number of values differs from that of the placeholders. */
const WRONG_COUNT = '08P01';
/** Can't accept connections or ended them: resources, shutdown, start-up (classes 53, 57P). */
const AWAY = /^(?:53|08(?!P01)|57P0[1235])/;

/**
 * Converts any error of a statement to one that a workflow's author can read, with SQLSTATE, position and hint (PostgreSQL,
 * "Error and Notice Message Fields"). The detail is omitted: it repeats rows.
 */
export function toPostgresqlError(error: unknown, given: ErrorContext): ServiceError {
  if (error instanceof ServiceError) return error;
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return brokenError(error, given);
  // A rejected COPY has the same state.
  const isTimeout = error.routine === 'ProcessInterrupts';
  if (error.code === '57014' && (given.stopReason !== null || isTimeout)) {
    return stopError(given.stopReason ?? 'timeout', given.query?.timeoutMs ?? 0);
  }
  return fromServer(error, error.code, whereOf(given.credential));
}

function fromServer(error: pg.DatabaseError, sqlstate: string, where: string): ServiceError {
  const details = detailsOf(error, sqlstate);
  const [values, placeholders] = error.message.match(/\d+/g) ?? [];
  if (sqlstate === WRONG_COUNT && values !== undefined && placeholders !== undefined) {
    return parameterError(Number(placeholders), Number(values));
  }
  if (sqlstate === '28P01' || sqlstate === '28000') return authError(where, details);
  if (AWAY.test(sqlstate)) return unavailableError(where, error.message, details);
  if (sqlstate === '25006') return readOnlyError(error.message, details);
  return new ServiceError('sql_error', describe(error, sqlstate), {
    retryable: CONFLICTS.includes(sqlstate),
    details,
  });
}

function describe(error: pg.DatabaseError, state: string): Message {
  const text = error.message;
  const { position, hint } = error;
  const placed =
    position === undefined
      ? message('ports.sql_error', { said: text, state })
      : message('ports.sql_error_at', { said: text, state, position });
  return hint === undefined ? placed : message('ports.sql_hint', { said: placed, hint });
}

function detailsOf(error: pg.DatabaseError, sqlstate: string): JsonObject {
  const { position, hint, constraint, table, column } = error;
  const given = {
    position: position === undefined ? undefined : Number(position),
    hint,
    constraint,
    table,
    column,
  };
  const known = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { sqlstate, ...Object.fromEntries(known) };
}
