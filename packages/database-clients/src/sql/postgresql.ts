import type { Socket } from 'node:net';
import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import type { CredentialOf, JsonObject, SqlQuery } from '@millrace/engine';
import { connectError } from '@millrace/ports/connect-error';
import pg from 'pg';
import { cancelPostgresql } from './postgresql-cancel.ts';
import { toPostgresqlError } from './postgresql-errors.ts';
import { readColumn, toPostgresqlParameter } from './postgresql-values.ts';
import { checkPostgresqlReadOnly } from './read-only-text.ts';
import { ByteMeter, columnNames, rowObject, type SqlAnswer } from './result.ts';
import { runOnce, type Statement } from './statement.ts';

type SqlCredential = CredentialOf<'sql'>;

const CONNECT_MS = 15_000;
/** The server-side statement limit is a safety net behind the cancel request sent at the time limit. */
const SERVER_MARGIN_MS = 2_000;
/** The protocol's largest number of rows. With any number, the driver sends Sync, which commits, only after the last row. */
const ALL_ROWS = 2 ** 31 - 1;
const SETTINGS = `SELECT set_config('statement_timeout', $1, false), set_config('DateStyle', 'ISO, MDY', false),
  set_config('TimeZone', 'UTC', false), set_config('IntervalStyle', 'iso_8601', false),
  set_config('bytea_output', 'hex', false), set_config('extra_float_digits', '1', false)`;

/**
 * Runs one statement by the extended protocol, which accepts only one. Read-only: runs in a READ ONLY transaction that has
 * already read something, after which PostgreSQL doesn't allow making it writable (`SET TRANSACTION`), and which is rolled
 * back; at most `maxRows` + 1 rows are requested. Otherwise the statement always runs to its end, however many of its rows are
 * kept, and is committed once all of them have arrived and aren't too large.
 * @throws ServiceError sql_*
 */
export async function queryPostgresql(
  sockets: GuardedSockets,
  credential: SqlCredential,
  query: SqlQuery,
  signal: AbortSignal,
): Promise<SqlAnswer> {
  if (query.readOnly) checkPostgresqlReadOnly(query.sql);
  const { host, port } = credential;
  const socket = await sockets.connect({ host, port }, signal).catch((error: unknown) => {
    throw connectError(error, 'sql_connection_failed');
  });
  const client = createPostgresqlClient(credential, socket);
  // The statement in progress reports the failure; without a listener this event would end the process.
  client.on('error', () => undefined);
  const statement: Statement = {
    async prepare() {
      await client.connect();
      if (query.readOnly) await client.query('BEGIN READ ONLY');
      await client.query(SETTINGS, [String(query.timeoutMs + SERVER_MARGIN_MS)]);
    },
    async run() {
      const answer = await runStatement(client, query);
      if (query.readOnly) await client.query('ROLLBACK');
      return answer;
    },
    cancel: () => cancelPostgresql(sockets, credential, client),
    cut: () => void socket.destroy(),
    close() {
      void client.end().catch(() => undefined);
      socket.destroySoon();
    },
    toError: toPostgresqlError,
  };
  return runOnce(statement, credential, query, signal);
}

/** A client on a socket that is connected already. */
export function createPostgresqlClient(
  { host, port, database, username, password, tls }: SqlCredential,
  socket: Socket,
): pg.Client {
  return new pg.Client({
    host,
    port,
    database,
    user: username,
    // A function, because an empty string would make the driver look in the environment and in files.
    password: () => password,
    application_name: 'millrace',
    connectionTimeoutMillis: CONNECT_MS,
    ssl: tls === 'off' ? false : { rejectUnauthorized: tls === 'verify' },
    stream: () => asUnconnected(socket),
  });
}

/** The driver insists on connecting; the socket is already connected, to a permitted address. */
function asUnconnected(socket: Socket): Socket {
  return Object.assign(socket, {
    connect: () => {
      process.nextTick(() => socket.emit('connect'));
      return socket;
    },
  });
}

/** A statement that fetches no more rows than initially requested. */
class LimitedQuery extends pg.Query<(string | null)[], unknown[]> {
  /** Called by the driver when the server has more rows than requested; ends the statement. */
  handlePortalSuspended(connection: pg.Connection & { sync(): void }): void {
    connection.sync();
  }

  /** Called by the driver for COPY FROM STDIN; the server discards what was sent before the refusal, and waits for Sync again. */
  handleCopyInResponse(
    connection: pg.Connection & { sendCopyFail(reason: string): void; sync(): void },
  ): void {
    connection.sendCopyFail('A node has no rows to copy. INSERT takes them as parameters');
    connection.sync();
  }
}

function runStatement(
  client: pg.Client,
  { sql, parameters, readOnly, maxRows }: SqlQuery,
): Promise<SqlAnswer> {
  const meter = new ByteMeter();
  const kept: (string | null)[][] = [];
  let count = 0;
  const config: pg.QueryArrayConfig<unknown[]> & { rows: number } = {
    text: sql,
    values: parameters.map(toPostgresqlParameter),
    rowMode: 'array',
    // Columns arrive as text and are converted once their names and types are known.
    types: { getTypeParser: () => (text: string) => text },
    rows: readOnly ? maxRows + 1 : ALL_ROWS,
  };
  const statement = new LimitedQuery(config);
  return new Promise((resolve, reject) => {
    statement.on('row', (row) => {
      count += 1;
      if (kept.length >= maxRows) return;
      kept.push(row);
      try {
        meter.add(row.reduce((bytes, text) => bytes + Buffer.byteLength(text ?? ''), 0));
      } catch (error) {
        // The server rolls back what it has got no Sync for.
        client.connection.stream.destroy();
        reject(error);
      }
    });
    statement.on('error', reject);
    statement.on('end', (result) => {
      const { fields, rowCount } = result as pg.QueryArrayResult;
      const names = columnNames(fields.map(({ name }) => name));
      const rows = kept.map(
        (row): JsonObject =>
          rowObject(
            names,
            row.map((text, index) => readColumn(fields[index]?.dataTypeID ?? 0, text)),
          ),
      );
      const isTruncated = count > kept.length;
      resolve({ rows, rowCount: readOnly ? rows.length : (rowCount ?? count), isTruncated });
    });
    client.query(statement);
  });
}
