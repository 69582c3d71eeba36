import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PgDatabase } from '@millrace/database/pool';
import { issueKey } from '@millrace/identity/api-keys/keys';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { SCOPES } from '@millrace/identity/values/roles';
import { afterAll, afterEach, beforeAll, beforeEach, onTestFailed, vi } from 'vitest';
import { Client } from './client.ts';
import { sweepAbandoned } from './folders.ts';
import { Receiver } from './receiver.ts';
import { type Environment, ServiceProcess } from './service-process.ts';
import { TestCluster } from './test-cluster.ts';
import { until } from './until.ts';

/** What one file of fault tests works with: a database server, the world outside, processes of the service. */
export class World {
  readonly cluster: TestCluster;
  readonly receiver: Receiver;
  /** The test's own eyes. */
  readonly db: PgDatabase;
  readonly apiKey: string;
  /** Those of the test that runs or has just ended. */
  #services: ServiceProcess[] = [];

  private constructor(cluster: TestCluster, receiver: Receiver, db: PgDatabase, apiKey: string) {
    this.cluster = cluster;
    this.receiver = receiver;
    this.db = db;
    this.apiKey = apiKey;
  }

  static async create(): Promise<World> {
    await sweepAbandoned();
    const [cluster, receiver] = await Promise.all([TestCluster.start(), Receiver.start()]);
    const db = cluster.connect();
    const { id } = await createOrganisation(db, 'Acme', { actor: 'operator' });
    const key = await issueKey(
      db,
      { organisationId: id, name: 'fault test', scopes: SCOPES },
      { actor: 'operator' },
    );
    return new World(cluster, receiver, db, key.text);
  }

  /** Starts a process of the service on the cluster. */
  async spawn(command: string, environment: Environment = {}): Promise<ServiceProcess> {
    const service = await ServiceProcess.spawn(command, { DATABASE_URL: this.cluster.url, ...environment });
    this.#services.push(service);
    return service;
  }

  /** Starts `millrace api` and waits until it is ready. */
  async api(environment: Environment = {}): Promise<ServiceProcess> {
    return await (await this.spawn('api', environment)).ready();
  }

  /** Starts `millrace worker` and waits until it holds a lease in the database. */
  async worker(environment: Environment = {}): Promise<ServiceProcess> {
    const worker = await this.spawn('worker', environment);
    await until(`a lease of worker ${worker.pid}`, async () => {
      return !worker.isRunning || (await this.leaseOf(worker)) !== null;
    });
    if (!worker.isRunning) throw new Error(`The worker ended:\n${worker.output}`);
    return worker;
  }

  client(api: ServiceProcess): Client {
    return new Client(api.url, this.apiKey);
  }

  /** Id of the newest lease of a worker process; null while it has none. */
  async leaseOf(worker: ServiceProcess): Promise<string | null> {
    const [row] = await this.db.query<{ id: string }>(
      'SELECT id FROM workers WHERE pid = $1 ORDER BY started_at DESC LIMIT 1',
      [worker.pid],
    );
    return row?.id ?? null;
  }

  /** SIGKILL, and its lease has run out: a long lease keeps a busy machine from taking it away sooner. */
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

  /** Begins a test: what earlier processes said is of no interest any more. */
  forgetServices(): void {
    this.#services = [];
  }

  /** What the processes said, to be shown when a test fails. */
  logs(): string {
    return this.#services
      .map(({ command, pid, output }) => `--- millrace ${command} (${pid})\n${output.slice(-8000)}`)
      .join('\n');
  }

  async destroy(): Promise<void> {
    await this.endServices();
    await this.db.close();
    await this.receiver.stop();
    await this.cluster.stop();
    await rm(dirname(this.cluster.dataDir), { recursive: true, force: true });
  }
}

/** Real processes on a machine that may be busy: the limit only ends what hangs. */
export function giveTime(): void {
  vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });
}

/** Makes a world for the tests of a file; each test's processes end with it. */
export function useWorld(): () => World {
  let world: World | undefined;
  const current = (): World => {
    if (world === undefined) throw new Error('The world is made before the first test');
    return world;
  };
  giveTime();
  beforeAll(async () => {
    world = await World.create();
  });
  beforeEach(() => {
    current().forgetServices();
    onTestFailed(() => {
      process.stderr.write(`${current().logs()}\n`);
    });
  });
  afterEach(() => current().endServices());
  afterAll(() => world?.destroy());
  return current;
}
