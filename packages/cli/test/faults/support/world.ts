import { SCOPES } from '@millrace/admin-api';
import type { PgDatabase } from '@millrace/database/pool';
import { issueKey } from '@millrace/identity/api-keys/keys';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { Client } from './client.ts';
import { removeOwnFolder, sweepAbandoned } from './folders.ts';
import { Receiver } from './receiver.ts';
import { type Environment, ServiceProcess } from './service-process.ts';
import { type ClusterOptions, TestCluster } from './test-cluster.ts';
import { until } from './until.ts';

/** What is to be interrupted is mostly the way through the queue, which an API without a worker spares executions that have no effect. */
const QUEUES_ALL: Environment = { MILLRACE_RUN_AHEAD_NODES: '0' };

/** What a file of fault tests or a campaign works with: a database server, the outside world, processes of the service. */
export class World {
  readonly cluster: TestCluster;
  readonly receiver: Receiver;
  /** The test's own connection. */
  readonly db: PgDatabase;
  readonly apiKey: string;
  readonly #environment: Environment;
  /** Processes of the current or last test. */
  #services: ServiceProcess[] = [];
  /** Serves all tests of the file. */
  #api: Promise<ServiceProcess> | null = null;

  private constructor(
    { cluster, receiver, db, apiKey }: Pick<World, 'cluster' | 'receiver' | 'db' | 'apiKey'>,
    environment: Environment,
  ) {
    this.cluster = cluster;
    this.receiver = receiver;
    this.db = db;
    this.apiKey = apiKey;
    this.#environment = environment;
  }

  /** @param environment of every process of the service */
  static async create(options: ClusterOptions, environment: Environment = {}): Promise<World> {
    await sweepAbandoned();
    const [cluster, receiver] = await Promise.all([TestCluster.start(options), Receiver.start()]);
    const db = cluster.connect();
    return new World({ cluster, receiver, db, apiKey: await addOrganisation(db, 'Acme') }, environment);
  }

  /**
   * Starts a process of the service on the cluster.
   * @param entry of another version than this one
   */
  async spawn(command: string, environment: Environment = {}, entry?: string): Promise<ServiceProcess> {
    const service = await this.#spawn(command, environment, entry);
    this.#services.push(service);
    return service;
  }

  async #spawn(command: string, environment: Environment, entry?: string): Promise<ServiceProcess> {
    const own = { DATABASE_URL: this.cluster.url, ...(command === 'api' ? QUEUES_ALL : {}) };
    return await ServiceProcess.spawn(command, { ...own, ...this.#environment, ...environment }, entry);
  }

  /** The `millrace api` that all tests of the file share. One that is to be killed is started with {@link spawn}. */
  async api(): Promise<ServiceProcess> {
    this.#api ??= this.#spawn('api', {}).then((api) => api.ready());
    return await this.#api;
  }

  /** Starts `millrace worker` and waits until it has a lease in the database. */
  async worker(environment: Environment = {}, entry?: string): Promise<ServiceProcess> {
    const worker = await this.spawn('worker', environment, entry);
    await until(`a lease of worker ${worker.pid}`, async () => {
      return !worker.isRunning || (await this.leaseOf(worker)) !== null;
    });
    if (!worker.isRunning) throw new Error(`The worker ended:\n${worker.output}`);
    return worker;
  }

  client(api: ServiceProcess): Client {
    return new Client(api.url, this.apiKey);
  }

  /** Id of a worker process's newest lease; null while it has none. */
  async leaseOf(worker: ServiceProcess): Promise<string | null> {
    const [row] = await this.db.query<{ id: string }>(
      'SELECT id FROM workers WHERE pid = $1 ORDER BY started_at DESC LIMIT 1',
      [worker.pid],
    );
    return row?.id ?? null;
  }

  /** SIGKILL, and its lease is expired: a long lease prevents a busy machine from losing it earlier. */
  async killForGood(worker: ServiceProcess): Promise<void> {
    await worker.end('SIGKILL');
    await this.db.query('UPDATE workers SET lease_expires_at = clock_timestamp() WHERE pid = $1', [
      worker.pid,
    ]);
  }

  /** Ends all processes of the service at once. */
  async endServices(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.end()));
  }

  /** Starts a new test: the output of earlier processes no longer matters. */
  forgetServices(): void {
    this.#services = [];
  }

  /** The output of the processes, shown when a test fails. */
  async logs(): Promise<string> {
    const api = await this.#api;
    return [...(api === null ? [] : [api]), ...this.#services]
      .map(({ command, pid, output }) => `--- millrace ${command} (${pid})\n${output.slice(-8000)}`)
      .join('\n');
  }

  async destroy(): Promise<void> {
    await Promise.all([this.endServices(), this.#api?.then((api) => api.end())]);
    await this.db.close();
    await this.receiver.stop();
    await this.cluster.stop();
    await removeOwnFolder();
  }
}

/** Creates an organisation. @returns an API key of it, with all scopes */
export async function addOrganisation(db: PgDatabase, name: string): Promise<string> {
  const { id } = await createOrganisation(db, name, { actor: 'operator' });
  const key = await issueKey(
    db,
    { organisationId: id, name: 'fault test', scopes: SCOPES },
    { actor: 'operator' },
  );
  return key.text;
}
