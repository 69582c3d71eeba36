import { type CredentialOf, type JsonObject, ServiceError, type SqlQuery } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import pg from 'pg';
import { authError, lostError, parameterError, type StopReason, stopError, tlsError } from './result.ts';

interface Circumstances {
  readonly credential: CredentialOf<'sql'>;
  readonly query: SqlQuery;
  readonly stopReason: StopReason | null;
  /** Whether the statement itself was sent. */
  readonly isSent: boolean;
}

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
export function toPostgresqlError(error: unknown, given: Circumstances): ServiceError {
  const { credential, query, stopReason, isSent } = given;
  const where = `${credential.host}:${credential.port}`;
  if (error instanceof pg.DatabaseError && error.code !== undefined) {
    if (error.code === '57014' && stopReason !== null) return stopError(stopReason, query.timeoutMs);
    // A rejected COPY has the same state.
    if (error.code === '57014' && error.routine === 'ProcessInterrupts')
      return stopError('timeout', query.timeoutMs);
    return fromServer(error, error.code, where);
  }
  if (stopReason !== null && (query.readOnly || !isSent)) return stopError(stopReason, query.timeoutMs);
  if (isSent) return lostError(where, query.readOnly, error);
  const said = error instanceof Error ? error.message : String(error);
  if (/certificate|self.signed|SSL|TLS|altnames/i.test(said)) return tlsError(where, said.slice(0, 200));
  return new ServiceError(
    'sql_connection_failed',
    message('ports.connection_failed', { host: where, reason: said }),
    {
      retryable: true,
      cause: error,
    },
  );
}

function fromServer(error: pg.DatabaseError, sqlstate: string, where: string): ServiceError {
  const details = detailsOf(error, sqlstate);
  const [values, placeholders] = error.message.match(/\d+/g) ?? [];
  if (sqlstate === WRONG_COUNT && values !== undefined && placeholders !== undefined) {
    return parameterError(Number(placeholders), Number(values));
  }
  if (sqlstate === '28P01' || sqlstate === '28000') return authError(where, details);
  if (AWAY.test(sqlstate)) {
    return new ServiceError(
      'sql_connection_failed',
      message('ports.cannot_run_now', { host: where, reason: error.message }),
      {
        retryable: true,
        details,
      },
    );
  }
  if (sqlstate === '25006') {
    return new ServiceError('sql_read_only', message('ports.would_write', { reason: error.message }), {
      details,
    });
  }
  return new ServiceError('sql_error', describe(error, sqlstate), {
    retryable: CONFLICTS.includes(sqlstate),
    details,
  });
}

function describe(error: pg.DatabaseError, state: string): Message {
  const said = error.message;
  const { position, hint } = error;
  const placed =
    position === undefined
      ? message('ports.sql_error', { said, state })
      : message('ports.sql_error_at', { said, state, position });
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
