import { isIP } from 'node:net';
import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import {
  type CredentialOf,
  type JsonObject,
  type JsonValue,
  ServiceError,
  type SqlQuery,
} from '@millrace/engine';
import { connectError } from '@millrace/ports/connect-error';
import mysql from 'mysql2';
import { parameterError, stopError, tlsError, whereOf } from './errors.ts';
import { toMysqlError } from './mysql-errors.ts';
import {
  type MysqlColumn,
  mysqlSize,
  readInsertId,
  readMysqlValue,
  toMysqlParameter,
} from './mysql-values.ts';
import { checkMysqlReadOnly } from './read-only-text.ts';
import { ByteMeter, columnNames, rowObject, type SqlAnswer } from './result.ts';
import { runOnce } from './statement.ts';
import type { Stopper } from './stopper.ts';

type SqlCredential = CredentialOf<'sql'>;

const CONNECT_MS = 15_000;
const KILL_MS = 4_000;

/**
 * Runs one statement as a prepared statement; the server rejects several in one text. Read-only: statements that start like
 * ones that could end the transaction are refused, the session and the transaction are READ ONLY, the transaction is rolled
 * back, and the connection is cut after `maxRows` + 1 rows. Otherwise the statement always runs to its end.
 * @throws ServiceError sql_*
 */
export async function queryMysql(
  sockets: GuardedSockets,
  credential: SqlCredential,
  query: SqlQuery,
  signal: AbortSignal,
): Promise<SqlAnswer> {
  if (query.readOnly) checkMysqlReadOnly(query.sql);
  const { connection, cut } = await open(sockets, credential, signal);
  const prepare = async (): Promise<void> => {
    await command(connection, "SET time_zone = '+00:00'");
    if (!query.readOnly) return;
    // For the session as well: a statement with an implicit commit would start a new transaction.
    await command(connection, 'SET SESSION TRANSACTION READ ONLY');
    await command(connection, 'START TRANSACTION READ ONLY');
  };
  const run = async (stopper: Stopper): Promise<SqlAnswer> => {
    const answer = await runStatement(connection, query, cut);
    // Some functions (SLEEP, BENCHMARK) end normally when killed, with a meaningless value.
    if (stopper.reason !== null && query.readOnly) throw stopError(stopper.reason, query.timeoutMs);
    return answer;
  };
  const cancel = (): Promise<void> => kill(sockets, credential, connection.threadId);
  // Closing rolls back; a read-only transaction has nothing to keep.
  const statement = { prepare, run, cancel, cut, close: cut, toError: toMysqlError };
  return runOnce(statement, credential, query, signal);
}

interface OpenConnection {
  readonly connection: mysql.Connection;
  /** Ends it at once. The driver's own methods only request the end, and keep reading until the server has sent every row. */
  readonly cut: () => void;
}

async function open(
  sockets: GuardedSockets,
  credential: SqlCredential,
  signal: AbortSignal,
): Promise<OpenConnection> {
  const { host, port, username, password, database, tls } = credential;
  if (tls === 'verify' && isIP(host) !== 0) {
    throw tlsError(
      whereOf(credential),
      'a certificate is checked against a name, and the host is an address',
    );
  }
  const socket = await sockets.connect({ host, port }, signal).catch((error: unknown) => {
    throw connectError(error, 'sql_connection_failed');
  });
  const isVerified = tls === 'verify';
  const connection = mysql.createConnection({
    host,
    port,
    user: username,
    password,
    database,
    stream: socket,
    connectTimeout: CONNECT_MS,
    ...(tls === 'off' ? {} : { ssl: { rejectUnauthorized: isVerified, verifyIdentity: isVerified } }),
    multipleStatements: false,
    // The server must not request a local file.
    flags: ['-LOCAL_FILES'],
    // Column names are the author's data and must not become code.
    disableEval: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    rowsAsArray: true,
  });
  // The statement in progress reports the failure; without a listener this event would end the process.
  connection.on('error', () => undefined);
  const cut = (): void => {
    connection.destroy();
    socket.destroy();
  };
  const connected = () =>
    new Promise<void>((resolve, reject) => {
      socket.once('close', () => reject(new Error('the server closed the connection')));
      connection.connect((error) => (error === null ? resolve() : reject(error)));
    });
  try {
    await cutOnAbort(signal, cut, connected);
    return { connection, cut };
  } catch (error) {
    cut();
    throw toMysqlError(error, {
      credential,
      query: null,
      stopReason: signal.aborted ? 'aborted' : null,
      isSent: false,
    });
  }
}

/** Asks the server, over a separate connection, to kill what another one is running. */
async function kill(
  sockets: GuardedSockets,
  credential: SqlCredential,
  threadId: number | null,
): Promise<void> {
  if (threadId === null) return;
  const { connection, cut } = await open(sockets, credential, AbortSignal.timeout(KILL_MS));
  try {
    // The text protocol has no parameters for KILL, so the driver inserts the number.
    await new Promise<void>((resolve, reject) => {
      connection.query('KILL QUERY ?', [threadId], (error) => (error === null ? resolve() : reject(error)));
    });
  } finally {
    cut();
  }
}

function command(connection: mysql.Connection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** @param cut ends the connection once nothing more is needed from it */
async function runStatement(
  connection: mysql.Connection,
  query: SqlQuery,
  cut: () => void,
): Promise<SqlAnswer> {
  const { sql, parameters } = query;
  const statement = await prepare(connection, sql);
  // The driver would send any number of values, and the server would misread them.
  if (statement.parameters.length !== parameters.length) {
    throw parameterError(statement.parameters.length, parameters.length);
  }
  return readAnswer(connection, statement.execute(parameters.map(toMysqlParameter)), query, cut);
}

/** The statement as the server parsed it; `parameters` is missing from the driver's declarations. */
type Prepared = mysql.PrepareStatementInfo & { readonly parameters: readonly unknown[] };

function prepare(connection: mysql.Connection, sql: string): Promise<Prepared> {
  return new Promise((resolve, reject) => {
    connection.on('error', reject);
    connection.on('end', () => reject(new Error('the connection was closed')));
    connection.prepare(sql, (error, statement) =>
      error === null ? resolve(statement as Prepared) : reject(error),
    );
  });
}

/** The driver's result for a statement without rows. */
interface ResultHeader {
  readonly affectedRows?: number;
  readonly insertId?: number | string;
}

function readAnswer(
  connection: mysql.Connection,
  statement: mysql.Query,
  { readOnly, maxRows }: SqlQuery,
  cut: () => void,
): Promise<SqlAnswer> {
  const meter = new ByteMeter();
  const rows: JsonObject[] = [];
  let columns: readonly MysqlColumn[] | null = null;
  let names: readonly string[] = [];
  let count = 0;
  let affected = 0;
  let insertId: JsonValue | undefined;
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      const isTruncated = count > rows.length;
      const rowCount = columns === null ? affected : readOnly ? rows.length : count;
      resolve({ rows, rowCount, isTruncated, ...(insertId === undefined ? {} : { insertId }) });
    };
    const takeRow = (values: readonly unknown[], known: readonly MysqlColumn[]): void => {
      count += 1;
      if (rows.length < maxRows) {
        meter.add(values.reduce<number>((bytes, value) => bytes + mysqlSize(value), 0));
        rows.push(
          rowObject(
            names,
            known.map((column, index): JsonValue => readMysqlValue(column, values[index])),
          ),
        );
      } else if (readOnly) {
        finish();
        cut();
      }
    };
    let resultSet = -1;
    statement.on('fields', (fields: readonly MysqlColumn[] | undefined) => {
      resultSet += 1;
      // A procedure may return several result sets; the first one is used.
      if (fields === undefined || columns !== null) return;
      columns = fields;
      names = columnNames(fields.map(({ name }) => name));
    });
    statement.on('result', (row: unknown) => {
      try {
        if (!Array.isArray(row)) {
          const header = row as ResultHeader | null;
          affected += header?.affectedRows ?? 0;
          insertId ??= readInsertId(header?.insertId);
        } else if (columns !== null && resultSet === 0) takeRow(row, columns);
      } catch (error) {
        reject(
          error instanceof ServiceError ? error : new Error('a row could not be read', { cause: error }),
        );
        cut();
      }
    });
    statement.on('error', reject);
    statement.on('end', finish);
    // The driver doesn't report a connection that ends in the middle of a result.
    connection.on('error', reject);
    connection.on('end', () => reject(new Error('the connection was closed')));
  });
}
