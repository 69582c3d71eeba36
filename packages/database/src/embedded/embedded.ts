import { chmod, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '../connection.ts';
import { sqlState } from '../errors.ts';
import { findHolder, type ProcessLock, takeLock } from '../process-lock.mjs';
import { type Account, checkReachable, findAccount } from './account.ts';
import { type Binaries, prepareBinaries } from './binaries.ts';
import {
  type Credentials,
  clusterFolder,
  initialiseCluster,
  lastLogLines,
  prepareSocketFolder,
  readCredentials,
  removeSocketFolder,
  socketFolder,
  writeSettings,
} from './cluster.ts';
import { DataFolderInUseError, EmbeddedPostgresError, fileProblem } from './errors.ts';
import { findPostmaster, isAlive, type Postmaster, spawnPostmaster, stopPostmaster } from './postmaster.ts';
import { type ServerSettings, serverSettings } from './settings.ts';

export interface EmbeddedOptions {
  /** Absolute; created when missing. */
  readonly dataDir: string;
  /** Called with a plain description of each slow step. */
  readonly progress?: (text: string) => void;
  /** Called once the server's process runs, before it accepts connections. */
  readonly onLaunched?: () => void;
  /** Called when the running server was lost, with what happened next. */
  readonly onTrouble?: (text: string, cause?: unknown) => void;
  /** Server settings that replace ours (tests). */
  readonly settings?: ServerSettings;
}

/** A running embedded PostgreSQL owned by this process. It is restarted when it dies. */
export interface EmbeddedPostgres {
  /** Opens the database `millrace` as its owner, who isn't a superuser. */
  readonly url: string;
  /** Opens the database `postgres` as superuser. */
  readonly superuserUrl: string;
  /** Process id of the current server. */
  readonly pid: number;
  /** True when it was already running: the Millrace that started it was killed. */
  readonly adopted: boolean;
  /** Stops the server and releases the data folder. */
  stop(): Promise<void>;
  /** Requests a shutdown without waiting for it: for a process that must exit now. */
  stopWithoutWaiting(): void;
}

const LOCK = 'lock';
const START_TIMEOUT_MS = 120_000;
const POLL_MS = 20;
const WATCH_MS = 500;

/**
 * Installs, initialises and starts PostgreSQL on a data folder, or adopts the one still running there.
 * @throws EmbeddedPostgresError, DataFolderInUseError with a message for the user
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const progress = options.progress ?? (() => {});
  const account = await findAccount();
  const dataDir = await prepareDataFolder(options.dataDir, account);
  const lock = await lockFolder(dataDir);
  try {
    const binaries = await prepareBinaries(account !== null, dataDir);
    const credentials = await initialiseCluster(binaries, dataDir, account, progress);
    const server = { dataDir, account, binaries, credentials, settings: options.settings ?? {} };
    const supervisor = new Supervisor(
      server,
      await bringUp(server, progress, options.onLaunched),
      options.onTrouble,
    );
    return {
      ...embeddedUrls(dataDir, credentials),
      get pid() {
        return supervisor.postmaster.pid;
      },
      adopted: supervisor.postmaster.adopted,
      async stop() {
        await supervisor.stop();
        await removeSocketFolder(dataDir);
        await lock.release();
      },
      stopWithoutWaiting: () => supervisor.stopWithoutWaiting(),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The URLs of a data folder's server, or null when it was never initialised. The server may not be running. */
export async function findEmbeddedUrls(
  dataDir: string,
): Promise<Pick<EmbeddedPostgres, 'url' | 'superuserUrl'> | null> {
  const folder = await realpath(dataDir).catch(() => dataDir);
  const credentials = await readCredentials(folder);
  return credentials === null ? null : embeddedUrls(folder, credentials);
}

async function prepareDataFolder(wanted: string, account: Account | null): Promise<string> {
  try {
    await mkdir(wanted, { recursive: true, mode: account === null ? 0o700 : 0o755 });
    const dataDir = await realpath(wanted);
    // PostgreSQL's own user must be able to traverse this folder to reach its own, which are private; nobody else may list it.
    await chmod(dataDir, account === null ? 0o700 : 0o711);
    if (account !== null) await checkReachable(dataDir, account);
    return dataDir;
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw fileProblem('The data folder cannot be made', wanted, error);
  }
}

/** Makes this process the only Millrace on a data folder. */
async function lockFolder(dataDir: string): Promise<ProcessLock> {
  const lock = await takeLock(dataDir, LOCK).catch((error) => {
    throw fileProblem('The data folder cannot be used', dataDir, error);
  });
  if (lock === null) throw new DataFolderInUseError(dataDir, await findHolder(dataDir, LOCK));
  return lock;
}

/** Everything needed to start a data folder's server. */
interface Server {
  readonly dataDir: string;
  readonly account: Account | null;
  readonly binaries: Binaries;
  readonly credentials: Credentials;
  readonly settings: ServerSettings;
}

/** Monitors the server and restarts it when it is killed, manually or by the OOM killer. */
class Supervisor {
  postmaster: Postmaster;
  readonly #server: Server;
  readonly #onTrouble: (text: string, cause?: unknown) => void;
  #timer: NodeJS.Timeout | null = null;
  #checking: Promise<void> | null = null;
  #isStopping = false;

  constructor(server: Server, postmaster: Postmaster, onTrouble: EmbeddedOptions['onTrouble']) {
    this.#server = server;
    this.postmaster = postmaster;
    this.#onTrouble = onTrouble ?? (() => {});
    this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopWatching();
    await this.#checking;
    await stopPostmaster(this.postmaster);
  }

  stopWithoutWaiting(): void {
    this.#stopWatching();
    try {
      process.kill(this.postmaster.pid, 'SIGINT');
    } catch {
      // Already gone.
    }
  }

  #stopWatching(): void {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** The end of a process that was started here is an event; one that was found has to be looked for. */
  #watch(): void {
    const { child } = this.postmaster;
    if (child === null || child.exitCode !== null || child.signalCode !== null) this.#checkSoon();
    else child.once('exit', () => this.#checkSoon());
  }

  #checkSoon(): void {
    if (this.#isStopping) return;
    this.#timer = setTimeout(() => {
      this.#checking = this.#check().finally(() => {
        this.#checking = null;
        if (!this.#isStopping) this.#watch();
      });
    }, WATCH_MS);
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    if (await isAlive(this.postmaster)) return;
    this.#onTrouble('PostgreSQL has ended; starting it again');
    try {
      this.postmaster = await bringUp(this.#server, () => {});
      this.#onTrouble('PostgreSQL runs again');
    } catch (error) {
      this.#onTrouble('PostgreSQL could not be started again; trying once more', error);
    }
  }
}

async function bringUp(
  server: Server,
  progress: (text: string) => void,
  onLaunched: () => void = () => {},
): Promise<Postmaster> {
  const postmaster = await findOrSpawn(server, progress);
  onLaunched();
  try {
    const connection = await connectOnceReady(server, postmaster);
    if (connection !== null) {
      await ensureDatabase(server, connection);
      return postmaster;
    }
  } catch (error) {
    await stopPostmaster(postmaster);
    throw error;
  }
  if (!postmaster.adopted) throw await startFailure(server.dataDir);
  // The one that was found was about to exit.
  return await bringUp(server, progress);
}

async function findOrSpawn(
  { dataDir, account, binaries, settings }: Server,
  progress: (text: string) => void,
): Promise<Postmaster> {
  const cluster = clusterFolder(dataDir);
  const running = await findPostmaster(cluster);
  if (running !== null) {
    progress(`Found PostgreSQL still running (process ${running.pid})`);
    return running;
  }
  progress('Starting PostgreSQL');
  const socketDir = await prepareSocketFolder(dataDir, account);
  await writeSettings(dataDir, { ...serverSettings(socketDir), ...settings });
  return await spawnPostmaster({
    binary: join(binaries.folder, 'bin', 'postgres'),
    cluster,
    socketDir,
    account,
    logFile: join(dataDir, 'startup.log'),
  });
}

/** Connects as superuser, retrying: recovery after a crash may take a while. Null: the server exited. */
async function connectOnceReady(server: Server, postmaster: Postmaster): Promise<Connection | null> {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    if (!(await isAlive(postmaster))) return null;
    try {
      return await connectAsSuperuser(server);
    } catch (error) {
      const state = error instanceof Error ? sqlState(error.cause) : undefined;
      const passing = state === undefined || state.startsWith('57P') || state.startsWith('53');
      if (!passing || performance.now() > giveUpAt) {
        throw new EmbeddedPostgresError(
          `PostgreSQL (process ${postmaster.pid}) does not accept connections: ${error instanceof Error ? error.message : String(error)}. Its log is in ${join(clusterFolder(server.dataDir), 'log')}`,
          { cause: error },
        );
      }
      await pause(POLL_MS);
    }
  }
}

async function startFailure(dataDir: string): Promise<EmbeddedPostgresError> {
  const log = await lastLogLines(dataDir);
  const full = /no space left/i.test(log)
    ? 'the disk is full. Make room and start again.'
    : 'it ended at once.';
  return new EmbeddedPostgresError(
    `PostgreSQL did not start: ${full}\n${log}\nIts log is in ${join(clusterFolder(dataDir), 'log')}`,
  );
}

/** Creates the service's own user and database. Idempotent, so the next start repairs a crash in between. Closes the connection. */
async function ensureDatabase(server: Server, connection: Connection): Promise<void> {
  try {
    const [found] = await connection.query<{ role: boolean; database: boolean }>(`
      SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace') AS role,
        EXISTS (SELECT FROM pg_database WHERE datname = 'millrace') AS database`);
    if (found?.role !== true) {
      const [statement] = await connection.query<{ text: string }>(
        `SELECT format('CREATE ROLE millrace LOGIN NOSUPERUSER PASSWORD %L', $1::text) AS text`,
        [server.credentials.millrace],
      );
      if (statement !== undefined) await connection.query(statement.text);
    }
    if (found?.database !== true) await connection.query('CREATE DATABASE millrace OWNER millrace');
  } finally {
    await connection.end();
  }
}

function connectAsSuperuser({ dataDir, credentials }: Server): Promise<Connection> {
  return Connection.open({
    url: embeddedUrls(dataDir, credentials).superuserUrl,
    applicationName: 'millrace supervisor',
    connectTimeoutMs: 5000,
    mustBeWritable: false,
    isPooled: false,
    statementTimeoutMs: 60_000,
  });
}

function embeddedUrls(
  dataDir: string,
  credentials: Credentials,
): Pick<EmbeddedPostgres, 'url' | 'superuserUrl'> {
  const host = encodeURIComponent(socketFolder(dataDir));
  return {
    url: `postgresql://millrace:${credentials.millrace}@localhost:5432/millrace?host=${host}`,
    superuserUrl: `postgresql://postgres:${credentials.superuser}@localhost:5432/postgres?host=${host}`,
  };
}
