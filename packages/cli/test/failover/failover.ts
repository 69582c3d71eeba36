import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { Client, chain, post, set } from '../faults/support/client.ts';
import { readExecutions } from '../faults/support/ledger.ts';
import { type Acknowledgement, Load, retryUntilAccepted } from '../faults/support/load.ts';
import { Receiver } from '../faults/support/receiver.ts';
import { ServiceProcess } from '../faults/support/service-process.ts';
import { until } from '../faults/support/until.ts';
import { addOrganisation } from '../faults/support/world.ts';
import type { FailoverOptions } from './options.ts';
import { preparePatroni, type Server } from './patroni.ts';
import type { KillKind, Report, Takeover } from './report.ts';
import { judge } from './verdict.ts';

/** Of each kind: `millrace api` and `millrace worker`. */
const PROCESSES = 2;
/** Clients of each API, and what each of them waits between starts: failures are to hit them, not a queue. */
const CLIENTS = 3;
const PAUSE_MS = 40;
/** Commits wait for the standby, and that for the disk. */
const PATIENT = { acquireTimeoutMs: 60_000, connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 };
/** Starts between the moment that all servers are well and the next kill. */
const STARTS_BETWEEN = 200;

/** Runs the test in an empty folder. */
export async function runFailover(
  options: FailoverOptions,
  folder: string,
  progress: (text: string) => void,
): Promise<Report> {
  const startedAt = performance.now();
  const { etcd, servers } = await preparePatroni(folder, options.servers);
  const failover = new Failover(servers, progress);
  try {
    await failover.open();
    const takeovers: Takeover[] = [];
    for (let n = 0; n < options.kills; n += 1) {
      takeovers.push(await failover.kill(n % 2 === 0 ? 'PostgreSQL' : 'machine'));
      progress(`${n + 1} of ${options.kills}: ${JSON.stringify(takeovers.at(-1))}`);
    }
    const evidence = await failover.settle();
    return {
      options,
      seconds: (performance.now() - startedAt) / 1_000,
      postgres: await failover.version(),
      takeovers,
      verdict: judge(evidence),
      ended: failover.ended,
    };
  } finally {
    progress(`Logs are in ${await failover.keepLogs()}`);
    await failover.close();
    await etcd.kill();
  }
}

class Failover {
  readonly #servers: readonly Server[];
  readonly #progress: (text: string) => void;
  readonly #services: ServiceProcess[] = [];
  readonly #loads: Load[] = [];
  #receiver: Receiver | null = null;
  #db: PgDatabase | null = null;
  #workflow = 0;
  #apiKey = '';

  constructor(servers: readonly Server[], progress: (text: string) => void) {
    this.#servers = servers;
    this.#progress = progress;
  }

  /** Processes of the service that ended by themselves. */
  get ended(): number {
    return this.#services.filter(({ isRunning }) => !isRunning).length;
  }

  async open(): Promise<void> {
    for (const server of this.#servers) {
      server.start();
      // The first one sets the cluster up; the others copy it.
      await until(`${server.name} to run`, async () => {
        const members = await server.members();
        return members.some(({ name, state }) => name === server.name && /running|streaming/.test(state));
      });
      this.#progress(`${server.name} runs`);
    }
    await this.#wholeCluster();
    await this.#createDatabase();
    const ports = this.#servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const url = `postgresql://millrace:secret@${ports}/millrace?target_session_attrs=read-write`;
    this.#db = createDatabase(url, { applicationName: 'failover test', lanes: 2, ...PATIENT });
    for (let n = 0; n < PROCESSES; n += 1) {
      await (await this.#spawn('api', url)).ready();
      await this.#spawn('worker', url);
    }
    this.#receiver = await Receiver.start();
    this.#apiKey = await addOrganisation(this.#db, 'Acme');
    const flow = chain(post('call', this.#receiver.url('/work')), set('result', { done: true }));
    this.#workflow = await this.#client(0).createWorkflow('failover', flow);
    for (let n = 0; n < PROCESSES; n += 1) {
      this.#loads.push(new Load(this.#client(n), this.#workflow, CLIENTS, PAUSE_MS));
    }
    this.#progress('the service runs');
  }

  /** Kills the primary and waits until a start was acknowledged by the next one. */
  async kill(kind: KillKind): Promise<Takeover> {
    const primary = await this.#wholeCluster();
    const enough = this.#acknowledgements.length + STARTS_BETWEEN;
    await until('some starts', () => this.#acknowledgements.length >= enough);
    const others = this.#servers.filter((server) => server !== primary);
    const killedAt = performance.now();
    if (kind === 'machine') await primary.killAll();
    else primary.killPostgres();
    const next = await until('a promotion', async () => {
      const writable = await Promise.all(others.map((server) => isPrimary(server)));
      return others.find((_, index) => writable[index]) ?? null;
    });
    const promotedAt = performance.now();
    // With two servers nothing is accepted before it is back.
    if (kind === 'machine') primary.start();
    const [standbyAt, backAt] = await Promise.all([
      until('a standby', () => hasStandby(next)).then(() => performance.now()),
      until('an acknowledged start', () => {
        // One that was sent before may have been stored by the former primary.
        const sent = this.#acknowledgements.filter(({ sentAt }) => sentAt > promotedAt);
        return sent.map(({ at }) => at).toSorted((a, b) => a - b)[0] ?? null;
      }),
    ]);
    return {
      kind,
      from: primary.name,
      to: next.name,
      promotedMs: promotedAt - killedAt,
      standbyMs: standbyAt - killedAt,
      backMs: backAt - promotedAt,
    };
  }

  /** Ends the load, waits for all executions, and collects what everyone saw. */
  async settle(): Promise<Parameters<typeof judge>[0]> {
    const starts = (await Promise.all(this.#loads.map((load) => load.stop()))).flat();
    const open = starts.filter(({ key, answer }) => key !== null && answer.kind !== 'accepted');
    const retried = await Promise.all(
      open.map((start) => retryUntilAccepted(this.#client(0), this.#workflow, start)),
    );
    const { db, receiver } = this.#opened();
    const executions = await until('the end of all executions', async () => {
      const rows = await readExecutions(db, this.#workflow);
      return rows.every(({ completed_at }) => completed_at !== null) ? rows : null;
    });
    return { starts: [...starts, ...retried], executions, calls: receiver.received };
  }

  async version(): Promise<string> {
    const [row] = await this.#opened().db.query<{ version: string }>(
      `SELECT 'PostgreSQL ' || current_setting('server_version') AS version`,
    );
    return row?.version ?? '';
  }

  /** What PostgreSQL, Patroni and the service said. @returns the folder */
  async keepLogs(): Promise<string> {
    const folder = join(tmpdir(), `millrace-failover-${process.pid}`);
    await mkdir(folder, { recursive: true });
    for (const { name, log } of this.#servers) await copyFile(log, join(folder, `${name}.log`));
    for (const { command, pid, output } of this.#services) {
      await writeFile(join(folder, `${command}-${pid}.log`), output);
    }
    return folder;
  }

  async close(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.end()));
    await Promise.all(this.#loads.map((load) => load.stop()));
    await this.#db?.close().catch(() => {});
    await this.#receiver?.stop();
    await Promise.all(this.#servers.map((server) => server.killAll()));
  }

  async #spawn(command: string, url: string): Promise<ServiceProcess> {
    const environment = { DATABASE_URL: url, MILLRACE_SECRET_KEY: KEY };
    const service = await ServiceProcess.spawn(command, environment);
    // Also when this process is told to end.
    process.once('exit', () => service.signal('SIGKILL'));
    this.#services.push(service);
    return service;
  }

  get #acknowledgements(): Acknowledgement[] {
    return this.#loads.flatMap(({ acknowledgements }) => acknowledgements);
  }

  #client(n: number): Client {
    const api = this.#services.filter(({ command }) => command === 'api')[n];
    if (api === undefined) throw new Error('There is no such process');
    return new Client(api.url, this.#apiKey);
  }

  #opened(): { readonly db: PgDatabase; readonly receiver: Receiver } {
    if (this.#db === null || this.#receiver === null) throw new Error('It was not opened');
    return { db: this.#db, receiver: this.#receiver };
  }

  /**
   * Waits until there is a primary from which all others stream, one of them synchronously. Patroni calls a server running that has still to be
   * rewound, and one whose rewind is interrupted doesn't come back by itself.
   * @returns the primary
   */
  async #wholeCluster(): Promise<Server> {
    return await until('a primary from which all others stream', async () => {
      for (const server of this.#servers) {
        if (await hasStandbys(server, this.#servers.length - 1)) return server;
      }
      return null;
    });
  }

  async #createDatabase(): Promise<void> {
    const primary = await this.#wholeCluster();
    const db = createDatabase(primary.superuserUrl('postgres'), { lanes: 1, ...PATIENT });
    try {
      await db.query(`CREATE ROLE millrace LOGIN PASSWORD 'secret'`);
      await db.query('CREATE DATABASE millrace OWNER millrace');
    } finally {
      await db.close();
    }
  }
}

const KEY = randomBytes(32).toString('base64');

const isPrimary = (server: Server): Promise<boolean> => asks(server, 'SELECT NOT pg_is_in_recovery() AS yes');

/** Whether it is the primary of so many standbys, one of which acknowledges what it commits. */
const hasStandbys = (server: Server, count: number): Promise<boolean> =>
  asks(
    server,
    `SELECT NOT pg_is_in_recovery() AND count(*) >= ${count} AND bool_or(sync_state = 'sync') AS yes
     FROM pg_stat_replication WHERE state = 'streaming' AND application_name LIKE 'db_'`,
  );

/** Whether a standby acknowledges what it commits. */
const hasStandby = (server: Server): Promise<boolean> =>
  asks(server, `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync') AS yes`);

/** The answer to a question; no while the server doesn't respond. */
async function asks(server: Server, question: string): Promise<boolean> {
  const db = createDatabase(server.superuserUrl('postgres'), { lanes: 1, connectTimeoutMs: 2_000 });
  try {
    const [row] = await db.query<{ yes: boolean }>(question);
    return row?.yes === true;
  } catch {
    return false;
  } finally {
    await db.close();
  }
}
