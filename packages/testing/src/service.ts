import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCOPES, type Scope } from '@millrace/admin-api';
import { buildApp } from '@millrace/api/app';
import type { AppDeps } from '@millrace/api/app-deps';
import { type Config, loadConfig } from '@millrace/cli/settings/config';
import type { DatabaseOptions } from '@millrace/database/pool';
import { createEgress } from '@millrace/egress/egress';
import type { FileStore } from '@millrace/files/file-store';
import { createFiles } from '@millrace/files/files';
import { openStore } from '@millrace/files/open-store';
import { readInstallationId } from '@millrace/files/owned-store';
import { issueKey } from '@millrace/identity/api-keys/keys';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { registry } from '@millrace/nodes';
import { typesOfVersions } from '@millrace/own-connectors/types';
import { type BorrowedSlots, createBorrowedSlots } from '@millrace/runtime/borrowed-slots';
import { type Executor, NO_EXECUTOR } from '@millrace/runtime/executor';
import { Meters } from '@millrace/runtime/meters/meters';
import type { Services } from '@millrace/runtime/node-services';
import { createNotifier } from '@millrace/runtime/notifier';
import { createPlanCache } from '@millrace/runtime/plans';
import { Worker } from '@millrace/runtime/worker';
import { createSecretKeys } from '@millrace/secrets/keys';
import { createServices } from '@millrace/service/node-services';
import { createAllowedHostsReader } from '@millrace/service/settings/allowed-hosts';
import { createSecretOpener } from '@millrace/service/webhooks/secrets';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { type ApiClient, createApiClient } from './api.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** The deps of a service under test, with all of its settings. */
type TestDeps = AppDeps & { readonly config: Config; readonly store: FileStore };

/** A busy machine refuses nothing, except in tests of overload. */
const NEVER_SHEDS: Config['shedding'] = { loopDelayMs: 0, poolWaitMs: 0 };

/** Options of a test; everything else is as in a service started without any settings. */
export interface TestOverrides {
  readonly limits?: Partial<Config['limits']>;
  readonly worker?: Partial<Config['worker']>;
  readonly config?: Partial<Config>;
  readonly deps?: Partial<TestDeps>;
  /** How it connects. */
  readonly database?: DatabaseOptions;
  /** False: nothing is executed, so executions stay queued. Default: a worker runs. */
  readonly runsWorker?: boolean;
  /** Called before the service listens, to add the test's routes. */
  readonly extend?: (app: FastifyInstance) => void;
}

/** A key and its owner. */
export interface TestKey {
  /** The part of the Authorization header after `Bearer `. */
  readonly text: string;
  /** `api_keys.id`. */
  readonly id: number;
  readonly keyId: string;
  readonly organisationId: number;
}

/** A running service with its own database. */
export interface TestService {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly port: number;
  readonly app: FastifyInstance;
  readonly deps: TestDeps;
  /** Null if the test runs without one. */
  readonly worker: Worker | null;
  readonly database: TestDatabase;
  readonly logs: readonly string[];
  /** Sends a request and checks the response against the OpenAPI document. */
  readonly api: ApiClient;
  createOrganisation(): Promise<number>;
  /** An operator key in an organisation (a new one by default). */
  createKey(options?: KeyOptions): Promise<TestKey>;
  stop(): Promise<void>;
}

export interface KeyOptions {
  readonly scopes?: readonly Scope[];
  readonly organisationId?: number;
  /** `members.id` of the issuer, whose role restricts the key. */
  readonly issuedBy?: number;
  readonly expiresAt?: Date;
}

/** Starts the service on a free port of 127.0.0.1. */
export async function startTestService(overrides: TestOverrides = {}): Promise<TestService> {
  const database = await createTestDatabase(overrides.database);
  const logs: string[] = [];
  const parts = createParts(database, logs, overrides);
  const { http } = parts.egress;
  const { services, slots } = createTestServices(parts);
  const worker = overrides.runsWorker === false ? null : new Worker({ ...parts, http, services, slots });
  await parts.notifier.start();
  await worker?.start();
  const deps = createDeps(parts, database, worker ?? NO_EXECUTOR, overrides);
  const app = buildApp(deps);
  overrides.extend?.(app);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    app,
    deps,
    worker,
    database,
    logs,
    api: createApiClient(url, () => documentOf(app, overrides)),
    createOrganisation: () => newOrganisation(database),
    createKey: (options) => newKey(database, options),
    async stop() {
      await app.close();
      await worker?.stop();
      await services.close();
      await parts.notifier.close();
      await parts.egress.close();
      await rm(parts.config.files.folder, { recursive: true, force: true });
      await database.drop();
    },
  };
}

/** Of the service's own routes, which are the same in all services: to make it takes 12 ms. */
let document: unknown;

function documentOf(app: FastifyInstance, { extend }: TestOverrides): unknown {
  if (extend !== undefined) return app.swagger();
  document ??= app.swagger();
  return document;
}

type Parts = Omit<TestDeps, 'executor' | 'readiness'>;

function createParts({ db }: TestDatabase, logs: string[], overrides: TestOverrides): Parts {
  const defaults = loadConfig({});
  const log = pino({ level: 'trace' }, { write: (line: string) => void logs.push(line) });
  const config = {
    ...defaults,
    publicUrl: 'https://flows.example',
    shedding: NEVER_SHEDS,
    // Made by the first file.
    files: { ...defaults.files, folder: join(tmpdir(), `millrace-files-${randomUUID()}`), freeDiskBytes: 0 },
    ...overrides.config,
    limits: { ...defaults.limits, ...overrides.limits },
    worker: { ...defaults.worker, ...overrides.worker },
  };
  const secretKeys = createSecretKeys(config);
  const store = openStore(config.files, () => readInstallationId(db));
  const egress = createEgress(config.allowHosts, createAllowedHostsReader(db), config.hostLimits);
  const meters = new Meters(config.metrics.busiest);
  meters.hosts = () => egress.hosts.state;
  return {
    config,
    db,
    log,
    meters,
    registry,
    plans: createPlanCache(db, typesOfVersions(registry, db)),
    notifier: createNotifier(db, log),
    egress,
    store,
    files: createFiles({ db, store, settings: config.files }),
    secretKeys,
    openSecret: createSecretOpener({ db, keys: secretKeys, log, egress }),
  };
}

function createDeps(
  parts: Parts,
  { db }: TestDatabase,
  executor: Executor,
  overrides: TestOverrides,
): TestDeps {
  return {
    ...parts,
    reservedDb: db.reserved,
    poolWaitMs: () => db.waitingMs(),
    executor,
    readiness: async () => ({ ready: true }),
    examine: async () => ({ checks: [], findings: [] }),
    ...overrides.deps,
  };
}

/** External access for nodes, as in the service itself. */
export function createTestServices(
  parts: Pick<Parts, 'config' | 'db' | 'log' | 'registry' | 'plans' | 'notifier' | 'egress' | 'files'>,
): { services: Services; slots: BorrowedSlots } {
  const slots = createBorrowedSlots();
  const secretKeys = createSecretKeys(parts.config);
  const publicUrl = () => parts.config.publicUrl;
  return { slots, services: createServices({ ...parts, slots, secretKeys, publicUrl }) };
}

async function newOrganisation({ db }: TestDatabase): Promise<number> {
  const row = await createOrganisation(db, `organisation ${randomUUID()}`, { actor: 'operator' });
  return row.id;
}

async function newKey(database: TestDatabase, options: KeyOptions = {}): Promise<TestKey> {
  const organisationId = options.organisationId ?? (await newOrganisation(database));
  const { text, row } = await issueKey(
    database.db,
    {
      organisationId,
      name: 'test',
      scopes: options.scopes ?? SCOPES,
      ...(options.issuedBy === undefined ? {} : { holder: { memberId: options.issuedBy, userId: null } }),
      expiresAt: options.expiresAt ?? null,
    },
    { actor: 'operator' },
  );
  return { text, id: row.id, keyId: row.key_id, organisationId };
}
