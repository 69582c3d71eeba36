import { type ConnectionSettings, type CopySession, STATEMENT_TIMEOUT_MS } from './connection.ts';
import { Connector } from './connector.ts';
import type { Database, PoolState, Queryable } from './database.ts';
import { LockTakenError } from './errors.ts';
import { parseDatabaseHosts } from './hosts.ts';
import { LargePool, MAX_LARGE_CONNECTIONS } from './large-pool.ts';
import { Listener, Poller } from './listener.ts';
import { PipelinedPool } from './pipelined-pool.ts';
import { runRead, runTransaction } from './transaction.ts';
import { TransactionPool } from './transaction-pool.ts';
import { type WriteObstacle, WriteWatch } from './write-watch.ts';

export interface DatabaseOptions {
  /** Shown in pg_stat_activity; `millrace` by default. */
  readonly applicationName?: string;
  /** Connections for statements outside transactions, 4 by default. */
  readonly lanes?: number;
  /** Maximum number of connections for transactions, 8 by default. */
  readonly maxSessions?: number;
  /** How long a transaction waits for a free connection, 5000 by default. */
  readonly acquireTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** After this the server ends a statement; 10000 by default. 3 more seconds of silence close the connection. */
  readonly statementTimeoutMs?: number;
  /** Where a pooler in transaction mode is in between; see {@link ConnectionSettings}. Notifications don't get through it, so their readers poll. */
  readonly pooling?: { readonly pollMs: number };
  /** The same for statements that carry much data; 60000 by default. */
  readonly largeStatementTimeoutMs?: number;
}

/** Enough for people who sign in, and for callbacks, while everything else waits. */
const RESERVED = { lanes: 1, sessions: 2 };

const LANES = 4;
const SESSIONS = 8;
/** Connections that a process may open unless it is told otherwise: those of all pools, and the one that listens. */
export const CONNECTIONS_PER_PROCESS =
  LANES + SESSIONS + MAX_LARGE_CONNECTIONS + RESERVED.lanes + RESERVED.sessions + 1;

/** What the process that runs the service needs in addition to {@link Database}. */
export interface PgDatabase extends Database {
  /**
   * Lends a dedicated connection, without time limits and outside any transaction, until `work` ends, and closes it. For long tasks.
   * Behind a pooler in transaction mode, the server's time limits apply, and only a transaction of its own keeps to one session.
   */
  exclusive<T>(work: (session: Queryable) => Promise<T>): Promise<T>;
  /** Like {@link exclusive}, for copying in bulk. */
  copying<T>(work: (session: CopySession) => Promise<T>): Promise<T>;
  /**
   * Runs `work` while no other process does the same with this lock, which a transaction on a connection of its own holds.
   * @throws LockTakenError if another process has it
   */
  withLock<T>(lock: number, work: () => Promise<T>): Promise<T>;
  /**
   * The same database by a few connections of their own, for what has to be answered while all others are busy. They are opened on
   * first use.
   */
  readonly reserved: Database;
  /** How long the first of those that need a connection has been waiting for one, in milliseconds; 0 if nobody has to. */
  waitingMs(): number;
  /** The connections of this process, without short-lived ones. */
  pools(): PoolState[];
  /**
   * Why writes fail although the database responds; null when they succeed.
   * @throws DatabaseUnavailableError when it doesn't respond
   */
  findWriteObstacle(): Promise<WriteObstacle | null>;
}

/**
 * Access to the PostgreSQL at `url`, which may name several servers ({@link parseDatabaseHosts}). Connects on the first statement; lost
 * connections are reopened by the next one.
 */
export function createDatabase(url: string, options: DatabaseOptions = {}): PgDatabase {
  const hosts = parseDatabaseHosts(url);
  if (hosts === undefined) throw new TypeError('This is not the URL of a PostgreSQL database');
  const connector = new Connector(hosts.urls, {
    mustBeWritable: hosts.mustBeWritable,
    applicationName: options.applicationName ?? 'millrace',
    connectTimeoutMs: options.connectTimeoutMs ?? 5000,
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    isPooled: options.pooling !== undefined,
  });
  const lanes = new PipelinedPool(connector, options.lanes ?? LANES);
  const acquireTimeoutMs = options.acquireTimeoutMs ?? 5000;
  const sessions = new TransactionPool(connector, options.maxSessions ?? SESSIONS, acquireTimeoutMs);
  const large = new LargePool(connector, options.largeStatementTimeoutMs ?? 60_000);
  const reservedLanes = new PipelinedPool(connector, RESERVED.lanes);
  const reservedSessions = new TransactionPool(connector, RESERVED.sessions, acquireTimeoutMs);
  const listener =
    options.pooling === undefined ? new Listener(connector) : new Poller(options.pooling.pollMs);
  const writes = new WriteWatch(lanes);
  /** Reports a failure to the write watch and rethrows it. */
  async function watched<T>(outcome: Promise<T>): Promise<T> {
    try {
      return await outcome;
    } catch (error) {
      writes.noteFailure(error);
      throw error;
    }
  }
  /** Access by the connections of two pools. */
  function accessBy(statements: PipelinedPool, transactions: TransactionPool): Omit<Database, 'close'> {
    return {
      query: (text, values, name) => watched(statements.query(text, values, name)),
      large: { query: (text, values, name) => watched(large.query(text, values, name)) },
      transaction: (work) => watched(runTransaction(transactions, null, work)),
      forOrganisation: (organisationId, work) => watched(runTransaction(transactions, organisationId, work)),
      readForOrganisation: (organisationId, work) => watched(runRead(transactions, organisationId, work)),
      listen: (channel, onNotify, onReconnect) => listener.listen(channel, onNotify, onReconnect),
    };
  }
  async function close(): Promise<void> {
    connector.refuse();
    const pools = [lanes, large, sessions, reservedLanes, reservedSessions, listener];
    await Promise.allSettled(pools.map((pool) => pool.close()));
    connector.stop();
  }
  return {
    ...accessBy(lanes, sessions),
    close,
    reserved: { ...accessBy(reservedLanes, reservedSessions), close },
    waitingMs: () => Math.max(sessions.waitingMs, lanes.waitingMs),
    pools: () => [
      { pool: 'statements', ...lanes.state },
      { pool: 'transactions', ...sessions.state },
      { pool: 'large', ...large.state },
      { pool: 'reserved_statements', ...reservedLanes.state },
      { pool: 'reserved_transactions', ...reservedSessions.state },
    ],
    exclusive: (work) => runExclusive(connector, {}, work),
    copying: (work) => runExclusive(connector, { isCopying: true }, work),
    withLock: (lock, work) => runExclusive(connector, {}, (session) => runLocked(session, lock, work)),
    findWriteObstacle: () => writes.check(),
  };
}

async function runExclusive<T>(
  connector: Connector,
  settings: Pick<ConnectionSettings, 'isCopying'>,
  work: (session: CopySession) => Promise<T>,
): Promise<T> {
  const connection = await connector.connect({ ...settings, statementTimeoutMs: 0 });
  try {
    return await work(connection);
  } catch (error) {
    // In the middle of a copy, nothing that is sent would be answered.
    if (settings.isCopying === true) connection.destroy(new Error('The copy was given up'));
    throw error;
  } finally {
    await connection.end();
  }
}

/** A lock of the session would stay behind in a pooler's server connection. */
async function runLocked<T>(session: Queryable, lock: number, work: () => Promise<T>): Promise<T> {
  await session.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
  const [row] = await session.query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS taken', [
    lock,
  ]);
  try {
    if (row?.taken !== true) throw new LockTakenError();
    return await work();
  } finally {
    await session.query('ROLLBACK').catch(() => {});
  }
}
