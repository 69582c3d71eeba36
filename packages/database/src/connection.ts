import type { Readable, Writable } from 'node:stream';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { columnTypes } from './column-types.ts';
import type { Queryable } from './database.ts';
import {
  DatabaseUnavailableError,
  isReadOnly,
  SilenceError,
  StaleStatementError,
  sqlState,
  toDatabaseError,
} from './errors.ts';

/** How one connection is opened. Times are milliseconds; 0 means no limit. */
export interface ConnectionSettings {
  readonly url: string;
  readonly applicationName: string;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** A server that rejects writes is refused, and dropped when it stops accepting them. */
  readonly mustBeWritable: boolean;
  /**
   * Whether a pooler gives each transaction a server connection of its choice: a setting or a prepared statement of one transaction is not
   * there for the next. The role then has to have {@link ROLE_SETTINGS}.
   */
  readonly isPooled: boolean;
  /** Lends itself to COPY, and so waits for the response to each statement before it sends the next. */
  readonly isCopying?: boolean;
}

/** One session in which data is also copied in bulk, in either direction. */
export interface CopySession extends Queryable {
  /** The output of a COPY ... TO STDOUT. No other statement may be sent before it has ended. */
  copyTo(statement: string): Readable & { readonly rowCount: number };
  /** The input of a COPY ... FROM STDIN; it finishes once PostgreSQL has accepted everything. */
  copyFrom(statement: string): Writable & { readonly rowCount: number };
}

/** The server ends a statement at its limit; no response this much later means the connection is dead. */
const ANSWER_MARGIN_MS = 3000;
/** How much of a COPY is buffered ahead of a slow reader or a slow server. */
const COPY_CHUNK_BYTES = 64 * 1024;
const IDLE_IN_TRANSACTION_MS = 10_000;
/** The server ends a statement after this, unless a connection asks for something else. */
export const STATEMENT_TIMEOUT_MS = 10_000;

/** What values and statements depend on, whatever the server, the database or the role are configured to. */
const STATEMENT_SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  default_transaction_isolation: 'read committed',
  lock_timeout: '0',
  transaction_timeout: '0',
};

/** What the role must be configured to where a session can't be, because of a pooler in transaction mode. */
export const ROLE_SETTINGS: Readonly<Record<string, string>> = {
  ...STATEMENT_SETTINGS,
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
};

/** While it runs a statement, the server looks this often whether its client is still there. */
export const CLIENT_CHECK_MS = 5_000;

/**
 * What plans depend on. PostgreSQL's default prices are those of spinning disks: for a page of a long list it then reads and sorts thousands of
 * rows, where an index has them in order. No statement is long enough to be compiled, or to be shared out between processes.
 */
export const PLANNER_SETTINGS: Readonly<Record<string, string>> = {
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

/** Sent after connecting: a pooler allows only few settings as startup parameters. */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  ...STATEMENT_SETTINGS,
  ...PLANNER_SETTINGS,
  // Compresses what executions store many times faster than PostgreSQL's own method (docs/adr/0114).
  default_toast_compression: 'lz4',
  idle_session_timeout: '0',
  // The server also gives up on a client that went silent, so that a host that was cut off holds no locks.
  client_connection_check_interval: String(CLIENT_CHECK_MS),
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '20000',
};

/** Skips settings that are unknown to this PostgreSQL, and values that it doesn't offer. */
const PREPARE_SESSION = `SELECT count(set_config(name, value, false)),
    current_setting('transaction_read_only') = 'on' AS is_read_only
  FROM unnest($1::text[], $2::text[]) AS setting (name, value)
  JOIN pg_settings AS known USING (name)
  WHERE known.enumvals IS NULL OR value = ANY (known.enumvals)`;

/** One connection to PostgreSQL. Statements may be sent without waiting for earlier ones: they are pipelined. */
export class Connection implements CopySession {
  readonly #client: pg.Client;
  readonly #statementTimeoutMs: number;
  readonly #mustBeWritable: boolean;
  readonly #isPooled: boolean;
  /** How often the prepared statement of a name had to be recreated; each time it gets another name. */
  readonly #renewals = new Map<string, number>();
  #pending = 0;
  #lastAnswerAt = performance.now();
  #failure: DatabaseUnavailableError | null = null;
  #onClose: (() => void)[] = [];

  private constructor(client: pg.Client, settings: ConnectionSettings) {
    this.#client = client;
    this.#statementTimeoutMs = settings.statementTimeoutMs;
    this.#mustBeWritable = settings.mustBeWritable;
    this.#isPooled = settings.isPooled;
    client.on('error', (error) => this.#close(error));
    client.on('end', () => this.#close(new Error('Connection terminated unexpectedly')));
  }

  /** @throws DatabaseUnavailableError whatever the reason, which is its cause */
  static async open(settings: ConnectionSettings): Promise<Connection> {
    const client = new pg.Client({
      connectionString: settings.url,
      application_name: settings.applicationName,
      connectionTimeoutMillis: settings.connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      types: columnTypes,
      pipeline: settings.isCopying !== true,
    });
    const connection = new Connection(client, settings);
    try {
      await client.connect();
      await connection.#prepare(settings);
    } catch (error) {
      client.connection.stream.destroy();
      throw error instanceof DatabaseUnavailableError ? error : new DatabaseUnavailableError(error);
    }
    return connection;
  }

  async #prepare({
    statementTimeoutMs,
    connectTimeoutMs,
    mustBeWritable,
    isPooled,
  }: ConnectionSettings): Promise<void> {
    const values: Readonly<Record<string, string>> = isPooled
      ? {}
      : {
          ...SESSION_SETTINGS,
          statement_timeout: String(statementTimeoutMs),
          idle_in_transaction_session_timeout: String(statementTimeoutMs === 0 ? 0 : IDLE_IN_TRANSACTION_MS),
        };
    // Nothing monitors a connection that isn't open yet.
    const timer =
      connectTimeoutMs === 0
        ? undefined
        : setTimeout(() => this.destroy(new Error('timeout expired')), connectTimeoutMs);
    try {
      const [row] = await this.query<{ is_read_only: boolean }>(PREPARE_SESSION, [
        Object.keys(values),
        Object.values(values),
      ]);
      if (mustBeWritable && row?.is_read_only === true) throw new Error('the server accepts no writes');
    } finally {
      clearTimeout(timer);
    }
  }

  /** Statements sent and still awaiting a response. */
  get pending(): number {
    return this.#pending;
  }

  /** How long PostgreSQL hasn't responded to what is pending; 0 if nothing is. */
  silentMs(now: number): number {
    return this.#pending === 0 ? 0 : now - this.#lastAnswerAt;
  }

  get isOpen(): boolean {
    return this.#failure === null;
  }

  /** Calls back once when the connection is lost or ended. */
  onClose(callback: () => void): void {
    if (this.#failure === null) this.#onClose.push(callback);
    else callback();
  }

  onNotification(callback: (channel: string, payload: string) => void): void {
    this.#client.on('notification', (message) => callback(message.channel, message.payload ?? ''));
  }

  async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
    const renewals = name === undefined ? 0 : (this.#renewals.get(name) ?? 0);
    try {
      const result = await this.#send(text, values, renewals === 0 ? name : `${name}~${renewals}`);
      // The shape of the rows depends on the statement; only its author can know it.
      return result.rows as Row[];
    } catch (error) {
      // The driver's stack starts in the socket; this one leads to the caller that sent the statement.
      if (error instanceof Error) Error.captureStackTrace(error);
      if (name !== undefined && isStale(error)) {
        this.#renewals.set(name, renewals + 1);
        throw new StaleStatementError(error);
      }
      throw error;
    }
  }

  /** Sends a statement and returns its command tag, such as `COMMIT`. */
  async command(text: string): Promise<string> {
    return (await this.#send(text)).command;
  }

  copyTo(statement: string): Readable & { readonly rowCount: number } {
    return this.#client.query(copyTo(statement, { highWaterMark: COPY_CHUNK_BYTES }));
  }

  copyFrom(statement: string): Writable & { readonly rowCount: number } {
    return this.#client.query(copyFrom(statement, { highWaterMark: COPY_CHUNK_BYTES }));
  }

  #send(text: string, values?: readonly unknown[], name?: string): Promise<pg.QueryResult> {
    if (this.#failure !== null) return Promise.reject(new DatabaseUnavailableError(this.#failure.cause));
    if (this.#pending === 0) this.#lastAnswerAt = performance.now();
    this.#pending += 1;
    const query: pg.QueryConfig<unknown[]> = { text };
    if (values !== undefined) query.values = [...values];
    if (name !== undefined && !this.#isPooled) query.name = name;
    return new Promise((resolve, reject) => {
      this.#client.query(query, (error: Error | null, result: pg.QueryResult | pg.QueryResult[]) => {
        this.#pending -= 1;
        this.#lastAnswerAt = performance.now();
        if (error) {
          const explained = this.#explain(error);
          // The former primary: the next connection finds the current one.
          if (this.#mustBeWritable && isReadOnly(explained)) this.destroy(error);
          return reject(explained);
        }
        // A script of several statements returns one result each.
        const last = Array.isArray(result) ? result.at(-1) : result;
        if (last === undefined) return reject(new Error('PostgreSQL answered without a result'));
        resolve(last);
      });
    });
  }

  /** Once the connection is lost, the driver fails pending statements with its own error; ours is the original reason. */
  #explain(error: Error): Error {
    if (this.#failure === null || sqlState(error) !== undefined) return toDatabaseError(error);
    return new DatabaseUnavailableError(this.#failure.cause);
  }

  /** Closes the connection when the response to the oldest statement is overdue. */
  cutIfSilent(now: number): void {
    if (this.#pending === 0 || this.#statementTimeoutMs === 0 || this.#failure !== null) return;
    const silentMs = this.silentMs(now);
    if (silentMs > this.#statementTimeoutMs + ANSWER_MARGIN_MS) {
      this.destroy(new SilenceError(silentMs));
    }
  }

  /** Restarts the response timeout: this process itself was stalled, so silence proves nothing. */
  forgiveSilence(now: number): void {
    this.#lastAnswerAt = now;
  }

  /** Closes the connection at once; statements in progress fail with an unknown outcome. */
  destroy(reason: Error): void {
    this.#close(reason);
    this.#client.connection.stream.destroy();
  }

  /** Closes the connection once the statements in progress have completed. */
  async end(): Promise<void> {
    const lost = this.#failure !== null;
    this.#close(new Error('The connection was closed'));
    if (lost) this.#client.connection.stream.destroy();
    else await this.#client.end();
  }

  #close(reason: Error): void {
    if (this.#failure !== null) return;
    this.#failure = new DatabaseUnavailableError(reason);
    const callbacks = this.#onClose;
    this.#onClose = [];
    for (const callback of callbacks) callback();
  }
}

/** {@link Connection.query}, once more if the prepared statement was refused before it ran. */
export async function queryPrepared<Row>(
  connection: Connection,
  text: string,
  values?: readonly unknown[],
  name?: string,
): Promise<Row[]> {
  try {
    return await connection.query<Row>(text, values, name);
  } catch (error) {
    if (!(error instanceof StaleStatementError)) throw error;
    return await connection.query<Row>(text, values, name).catch((again: unknown) => {
      throw again instanceof StaleStatementError ? again.cause : again;
    });
  }
}

/**
 * True when a prepared statement was refused before it ran: it is gone, or its tables were migrated. The second case can be distinguished from other
 * unsupported features only by its message, which is in the server's language; either way nothing has run.
 */
function isStale(error: unknown): boolean {
  const state = sqlState(error);
  return state === '26000' || state === '0A000';
}
