import type { Socket } from 'node:net';
import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import {
  type CredentialOf,
  type JsonObject,
  type JsonValue,
  ServiceError,
  type SqlQuery,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { connectError } from '@millrace/ports/connect-error';
import { type Redirect, SqlServerSession } from '../sqlserver/session.ts';
import type { Done } from '../sqlserver/tokens.ts';
import { authError, whereOf } from './errors.ts';
import { ByteMeter, columnNames, rowObject, type SqlAnswer } from './result.ts';
import { toSqlServerError } from './sqlserver-errors.ts';
import { runOnce, type Statement } from './statement.ts';
import { checkTransactReadOnly } from './transact-text.ts';

type SqlCredential = CredentialOf<'sql'>;

const CONNECT_MS = 15_000;
/** Azure SQL sends clients to the machine that has the database. */
const MAX_REDIRECTS = 2;
/** The protocol's limit for a name or a password. */
const MAX_NAME = 128;
/** Results of one text; a procedure can go on for ever. */
const MAX_RESULTS = 100;
const SELECT = 193;
/** Texts arrive whole; dates are read as ISO 8601 whatever the language of the account. */
const SETTINGS = 'SET TEXTSIZE 2147483647; SET DATEFORMAT ymd;';

/**
 * Runs a text by `sp_executesql`. Read-only: its words are checked, for SQL Server has no read-only transaction; it runs in a transaction
 * that is never committed, and the connection is cut after `maxRows` + 1 rows. Otherwise each statement commits by itself and runs to its
 * end.
 * @throws ServiceError sql_*
 */
export async function querySqlServer(
  sockets: GuardedSockets,
  credential: SqlCredential,
  query: SqlQuery,
  signal: AbortSignal,
): Promise<SqlAnswer> {
  if (query.readOnly) checkTransactReadOnly(query.sql);
  const { session, socket } = await open(sockets, credential, signal);
  const cut = (): void => void socket.destroy();
  const statement: Statement = {
    prepare: () => session.batch(query.readOnly ? `${SETTINGS} BEGIN TRANSACTION;` : SETTINGS),
    run: () => runStatement(session, query, cut),
    cancel: async () => session.attention(),
    cut,
    close: cut,
    toError: toSqlServerError,
  };
  return runOnce(statement, credential, query, signal);
}

interface Opened {
  readonly session: SqlServerSession;
  readonly socket: Socket;
}

async function open(
  sockets: GuardedSockets,
  credential: SqlCredential,
  signal: AbortSignal,
): Promise<Opened> {
  const { username, password, database, tls } = credential;
  if ([username, password, database].some((text) => text.length > MAX_NAME)) {
    throw authError(whereOf(credential), { limit: MAX_NAME });
  }
  const until = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]);
  let target: Redirect = credential;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const { host, port } = target;
    const socket = await sockets.connect({ host, port }, signal).catch((error: unknown) => {
      throw connectError(error, 'sql_connection_failed');
    });
    const session = new SqlServerSession(socket);
    const cut = (): void => void socket.destroy();
    const signIn = () => session.signIn({ host, username, password, database }, tls);
    try {
      const next = await cutOnAbort(until, cut, signIn);
      if (next === null) return { session, socket };
      cut();
      target = next;
    } catch (error) {
      cut();
      const stopReason = signal.aborted ? 'aborted' : null;
      throw toSqlServerError(error, { credential, query: null, stopReason, isSent: false });
    }
  }
  throw new ServiceError(
    'sql_connection_failed',
    message('ports.sqlserver_redirects', { host: whereOf(credential) }),
  );
}

/** @param cut ends the connection once nothing more is needed from it */
function runStatement(session: SqlServerSession, query: SqlQuery, cut: () => void): Promise<SqlAnswer> {
  const { sql, parameters, readOnly, maxRows } = query;
  const meter = new ByteMeter();
  const results: JsonObject[][] = [];
  let names: readonly string[] = [];
  let kept = 0;
  let count = 0;
  let affected = 0;
  const answer = (): SqlAnswer => {
    const [rows = [], ...further] = results;
    const rowCount = results.length === 0 ? affected : readOnly ? kept : count;
    return {
      rows,
      rowCount,
      isTruncated: count > kept,
      ...(further.length === 0 ? {} : { furtherResults: further }),
    };
  };
  return new Promise((resolve, reject) => {
    const take = (row: readonly JsonValue[]): void => {
      count += 1;
      if (kept < maxRows) {
        results.at(-1)?.push(rowObject(names, row));
        kept += 1;
      } else if (readOnly) {
        resolve(answer());
        cut();
      }
    };
    session
      .execute(sql, parameters, {
        columns: (columns) => {
          if (columns.length === 0) return;
          if (results.length === MAX_RESULTS) {
            throw new ServiceError(
              'sql_result_too_large',
              message('ports.sqlserver_results', { max: MAX_RESULTS }),
            );
          }
          results.push([]);
          names = columnNames(columns.map(({ name }) => name));
        },
        meter: () => (kept < maxRows ? (bytes) => meter.add(bytes) : null),
        row: take,
        done: ({ count: rows, command }: Done) => {
          if (rows !== null && command !== SELECT) affected += rows;
        },
      })
      .then(() => resolve(answer()), reject);
  });
}
