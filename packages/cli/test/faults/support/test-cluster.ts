import { readdir, readlink, rm } from 'node:fs/promises';
import { clusterFolder } from '@millrace/database/embedded/cluster';
import { type EmbeddedPostgres, startEmbedded } from '@millrace/database/embedded/embedded';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { copyDataDir } from '@millrace/testing/data-dir';
import { freshFolder } from './folders.ts';
import { until } from './until.ts';

/** Commits don't wait for the disk: the operating system keeps what a killed process has written. Everything else is as in production. */
const SETTINGS = { fsync: 'off' };

/** A busy machine may take its time. */
const PATIENT = { acquireTimeoutMs: 60_000, connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 };

export interface ClusterOptions {
  /** A stopped server with the migrated template, which is copied. */
  readonly preparedDataDir: string;
  /** Folder of the copy, in a folder that exists; by default a new one. */
  readonly dataDir?: string;
}

/** A separate PostgreSQL server with the schema, which can be killed and restarted. */
export class TestCluster {
  readonly dataDir: string;
  #postgres: EmbeddedPostgres;

  private constructor(dataDir: string, postgres: EmbeddedPostgres) {
    this.dataDir = dataDir;
    this.#postgres = postgres;
  }

  static async start({
    preparedDataDir,
    dataDir = freshFolder('cluster'),
  }: ClusterOptions): Promise<TestCluster> {
    await copyDataDir(preparedDataDir, dataDir);
    const cluster = new TestCluster(dataDir, await startEmbedded({ dataDir, settings: SETTINGS }));
    const superuser = createDatabase(cluster.#postgres.superuserUrl, { lanes: 1, ...PATIENT });
    await superuser.query('DROP DATABASE millrace');
    await superuser.query('ALTER DATABASE millrace_template RENAME TO millrace');
    await superuser.close();
    return cluster;
  }

  /** Opens the database as the service does. */
  get url(): string {
    return this.#postgres.url;
  }

  get socketPath(): string {
    const folder = new URL(this.url).searchParams.get('host');
    return `${folder}/.s.PGSQL.5432`;
  }

  /**
   * A connection for the test's own queries.
   * @param url of another of its databases
   */
  connect(url = this.url): PgDatabase {
    return createDatabase(url, { applicationName: 'fault test', lanes: 2, maxSessions: 2, ...PATIENT });
  }

  /** Creates a database without tables. @returns its URL */
  async addDatabase(name: string): Promise<string> {
    const superuser = createDatabase(this.#postgres.superuserUrl, { lanes: 1, ...PATIENT });
    const [statement] = await superuser.query<{ text: string }>(
      `SELECT format('CREATE DATABASE %I OWNER millrace', $1::text) AS text`,
      [name],
    );
    await superuser.query(statement?.text ?? '');
    await superuser.close();
    const url = new URL(this.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  /** SIGKILL for the server's main process and then for each of its other processes, as in a power failure. */
  async kill(): Promise<void> {
    signalIfThere(this.#postgres.pid, 'SIGKILL');
    await this.#signalOthers('SIGKILL');
    // Releases the folder. Its supervisor may have been about to start the next server.
    await this.#postgres.stop();
    await until('the end of PostgreSQL', async () => (await this.#processes()).length === 0);
  }

  /** SIGSTOP for the server's main process, so that it starts no others, and then for each of them: connections stay open, and nothing is answered. */
  async freeze(): Promise<void> {
    process.kill(this.#postgres.pid, 'SIGSTOP');
    await this.#signalOthers('SIGSTOP');
  }

  /** Ends {@link freeze}. */
  async thaw(): Promise<void> {
    await this.#signalOthers('SIGCONT');
    process.kill(this.#postgres.pid, 'SIGCONT');
  }

  /** Restarts it on the same data; it recovers from its log first. */
  async restart(): Promise<void> {
    this.#postgres = await startEmbedded({ dataDir: this.dataDir, settings: SETTINGS });
  }

  /** Ends every session except those of the test, as an administrator does, and waits until they are gone. */
  async terminateSessions(): Promise<number> {
    const db = createDatabase(this.#postgres.superuserUrl, {
      applicationName: 'fault test',
      lanes: 1,
      ...PATIENT,
    });
    try {
      const rows = await db.query(
        `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
         WHERE datname = 'millrace' AND application_name <> 'fault test' AND backend_type = 'client backend'`,
      );
      return rows.length;
    } finally {
      await db.close();
    }
  }

  async stop(): Promise<void> {
    await this.#postgres.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /** Signals the processes that the main one has started. */
  async #signalOthers(signal: NodeJS.Signals): Promise<void> {
    for (const pid of await this.#processes()) {
      if (pid !== this.#postgres.pid) signalIfThere(pid, signal);
    }
  }

  /** Every process of a server has its data folder as its working directory. */
  async #processes(): Promise<number[]> {
    const folder = clusterFolder(this.dataDir);
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
    const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => null)));
    return pids.filter((_, index) => folders[index] === folder);
  }
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
