import { createAlerts } from '@millrace/alerts/alerts';
import { notePollFailure } from '@millrace/alerts/polls';
import { buildApp } from '@millrace/api/app';
import type { AppDeps } from '@millrace/api/app-deps';
import type { PgDatabase } from '@millrace/database/pool';
import { type RetryOptions, retryWhileUnavailable } from '@millrace/database/retry';
import { createEgress, type Egress } from '@millrace/egress/egress';
import { once } from '@millrace/engine';
import type { FileStore } from '@millrace/files/file-store';
import { createFiles, type Files } from '@millrace/files/files';
import { openStore } from '@millrace/files/open-store';
import { type OwnedStore, readInstallationId } from '@millrace/files/owned-store';
import { createFileSweep } from '@millrace/files/sweep';
import { findWebPages } from '@millrace/http/pages';
import { hasUser } from '@millrace/identity/users/store';
import { Listener } from '@millrace/listening/listener';
import { registry } from '@millrace/nodes';
import { examine } from '@millrace/operations/doctor/doctor';
import { typesOfVersions } from '@millrace/own-connectors/types';
import { Poller } from '@millrace/polling/poller';
import { createVectorIndexer } from '@millrace/ports/vectors/indexer';
import { AheadExecutor } from '@millrace/runtime/ahead-executor';
import { createBorrowedSlots } from '@millrace/runtime/borrowed-slots';
import type { Executor } from '@millrace/runtime/executor';
import { Meters } from '@millrace/runtime/meters/meters';
import { createNotifier, type ExecutionNotifier } from '@millrace/runtime/notifier';
import { createPlanCache, type PlanCache } from '@millrace/runtime/plans';
import type { Tracer } from '@millrace/runtime/tracing/tracer';
import { Worker } from '@millrace/runtime/worker';
import { createSecretKeys, prepareSecretKeys, type SecretKeys } from '@millrace/secrets/keys';
import { createAdmission } from '@millrace/service/admission/admission';
import { createAuditSealer, createAuditVerifier } from '@millrace/service/audit/chain-tasks';
import { createServices } from '@millrace/service/node-services';
import { createPruner } from '@millrace/service/retention/prune';
import { Scheduler } from '@millrace/service/schedules/scheduler';
import { createAllowedHostsReader } from '@millrace/service/settings/allowed-hosts';
import { createStorageTally } from '@millrace/service/storage/tally';
import { createSampler } from '@millrace/service/system/sampler';
import { createSecretOpener } from '@millrace/service/webhooks/secrets';
import { createLastRunNotes } from '@millrace/service/workflows/last-runs';
import { createRunStatistics } from '@millrace/service/workflows/run-statistics';
import type { Logger } from 'pino';
import { type Config, localUrl } from '../settings/config.ts';
import { makeSetupUrl, prepareFirstStart } from './first-start.ts';
import { installationOf } from './installation.ts';
import { type Listening, listen } from './listen.ts';
import type { ServiceDatabase } from './postgres.ts';
import { checkReadiness } from './readiness.ts';
import { removeRunningService, writeRunningService } from './running-service.ts';
import { serveMetrics } from './serve-metrics.ts';
import type { Service, StartOptions } from './service.ts';
import { startTracing } from './tracing.ts';

/** An action undone at a stop, latest first. */
type Undo = () => Promise<void>;

/**
 * Starts everything that runs on the database, which it stops with the service.
 *
 * @throws errors with messages for the user; anything already started, and the database, is stopped again
 */
export async function startOn(
  database: ServiceDatabase,
  { config, roles, log }: StartOptions,
  retry: RetryOptions,
): Promise<Service> {
  const undo: Undo[] = [() => database.stop()];
  const stop = once(() => undoAll(undo));
  try {
    const { db } = database;
    const meters = new Meters(config.metrics.busiest);
    const metrics = await serveMetrics(config, { db, meters, log });
    if (metrics !== null) undo.push(() => metrics.close());
    const tracing = await startTracing(config, { meters, log });
    if (tracing !== null) undo.push(() => tracing.stop());
    const secretKeys = createSecretKeys(config);
    const makesKey = config.databaseUrl === null;
    const notifier = createNotifier(db, log);
    undo.push(() => notifier.close());
    await Promise.all([
      retryWhileUnavailable(() => prepareSecretKeys(db, secretKeys, { makesKey }), retry),
      retryWhileUnavailable(() => notifier.start(), retry),
    ]);
    const firstStart = roles.api ? await prepareFirstStart(db, config.printsFirstKey, retry) : null;
    const plans = createPlanCache(db, typesOfVersions(registry, db));
    const egress = createEgress(config.allowHosts, createAllowedHostsReader(db), config.hostLimits);
    meters.hosts = () => egress.hosts.state;
    undo.push(() => egress.close());
    const tracer = tracing?.tracer ?? null;
    const store = openStore(config.files, () => readInstallationId(db));
    await lookAtStore(store, log);
    const files = createFiles({ db, store, settings: config.files });
    const parts: Parts = { config, db, log, meters, tracer, plans, notifier, egress, store, files, retry };
    const announced: Announced = { publicUrl: config.publicUrl, secretKeys };
    const worker = roles.worker ? await startWorker(parts, announced, undo) : null;
    const openSecret = createSecretOpener({ db, keys: secretKeys, log, egress });
    const toApi = { ...parts, secretKeys, openSecret };
    const api = roles.api
      ? await startApi(toApi, worker ?? (await startAheadExecutor(parts, undo)), undo)
      : null;
    if (api !== null) announced.publicUrl = api.publicUrl;
    const address = api === null ? null : localUrl(config.host, api.port);
    if (config.databaseUrl === null) await announceInDataFolder(config.dataDir, address, undo);
    log.info({ address, roles }, 'service started');
    const printsLink = api !== null && firstStart !== null && config.printsFirstKey;
    const setupUrl = printsLink
      ? await retryWhileUnavailable(() => makeSetupUrl(db, api.publicUrl), retry)
      : null;
    const needsSetup = api !== null && !(await retryWhileUnavailable(() => hasUser(db), retry));
    return {
      address,
      port: api?.port ?? null,
      firstStart,
      setupUrl,
      needsSetup,
      metricsUrl: metrics?.url ?? null,
      db,
      stop,
      stopWithoutWaiting: () => database.stopWithoutWaiting(),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Says at once what would otherwise be said by the first file. It keeps nothing else from working, so the service starts. */
async function lookAtStore(store: OwnedStore, log: Logger): Promise<void> {
  await store
    .requireOwn()
    .catch((error: unknown) => log.error({ err: error }, 'the store for files cannot be used'));
}

interface Parts {
  readonly config: Config;
  readonly db: PgDatabase;
  readonly log: Logger;
  readonly meters: Meters;
  readonly tracer: Tracer | null;
  readonly plans: PlanCache;
  readonly notifier: ExecutionNotifier;
  readonly egress: Egress;
  readonly store: FileStore;
  readonly files: Files;
  readonly retry: RetryOptions;
}

interface Announced {
  readonly secretKeys: SecretKeys;
  /** Only certain once the API listens: the port may differ from the one requested. */
  publicUrl: string;
}

async function startWorker(parts: Parts, announced: Announced, undo: Undo[]): Promise<Worker> {
  const { http, hosts } = parts.egress;
  const onWorkersCounted = (count: number) => hosts.setProcesses(count);
  const slots = createBorrowedSlots();
  const publicUrl = () => announced.publicUrl;
  const services = createServices({
    ...parts,
    registry,
    slots,
    publicUrl,
    secretKeys: announced.secretKeys,
  });
  undo.push(() => services.close());
  // Stops after the worker: what ends while that stops counts, too.
  run(createRunStatistics(parts), undo);
  const worker = new Worker({ ...parts, http, services, slots, onWorkersCounted });
  undo.push(() => worker.stop());
  await retryWhileUnavailable(() => worker.start(), parts.retry);
  run(createPruner(parts.db, parts.config.retention, parts.log), undo);
  run(createAuditSealer(parts.db, parts.log), undo);
  run(createAuditVerifier(parts.db, parts.config.audit, parts.log), undo);
  const scheduler = new Scheduler(parts);
  undo.push(() => scheduler.stop());
  await retryWhileUnavailable(() => scheduler.start(), parts.retry);
  const poller = new Poller({ ...parts, ...pollingParts(parts), http, services });
  undo.push(() => poller.stop());
  await retryWhileUnavailable(() => poller.start(), parts.retry);
  const { sockets, fetch } = parts.egress;
  const listener = new Listener({ ...parts, ...pollingParts(parts), http, sockets, fetch, services });
  undo.push(() => listener.stop());
  await retryWhileUnavailable(() => listener.start(), parts.retry);
  run(createSampler(parts), undo);
  run(createStorageTally(parts), undo);
  run(createFileSweep(parts), undo);
  run(createVectorIndexer(parts), undo);
  run(createLastRunNotes(parts), undo);
  run(createAlerts({ ...parts, registry, secretKeys: announced.secretKeys, publicUrl }), undo);
  return worker;
}

/** For an API without a worker: what completes before it is stored needs none. */
async function startAheadExecutor(parts: Parts, undo: Undo[]): Promise<Executor> {
  run(createRunStatistics(parts), undo);
  const executor = new AheadExecutor(parts);
  undo.push(() => executor.stop());
  await retryWhileUnavailable(() => executor.start(), parts.retry);
  return executor;
}

/** What a worker does beside executions, such as deleting old ones. */
interface BackgroundTask {
  start(): void;
  stop(): Promise<void>;
}

function run(task: BackgroundTask, undo: Undo[]): void {
  undo.push(() => task.stop());
  task.start();
}

/** What polls and listeners start is admitted, limited and told of like everything else. */
function pollingParts({ config, db }: Parts) {
  const admission = createAdmission(db, config);
  return {
    maxSteps: config.limits.nodeSteps,
    maxItemBytes: config.limits.bodyBytes,
    enterQueue: (organisationId: number, count: number) => admission.enterQueue(organisationId, count),
    tellAlerts: notePollFailure,
  };
}

async function startApi(
  parts: Parts & Pick<AppDeps, 'openSecret' | 'secretKeys'>,
  executor: Executor,
  undo: Undo[],
): Promise<Listening> {
  const { db } = parts;
  let isStopping = false;
  const readiness = () => checkReadiness(db, isStopping);
  const api = await listen(parts.config, (config) =>
    buildApp({
      ...parts,
      config,
      registry,
      executor,
      reservedDb: db.reserved,
      poolWaitMs: () => db.waitingMs(),
      readiness,
      examine: () => examine({ db, secretKeys: parts.secretKeys, installation: installationOf(config) }),
      webPages: findWebPages(),
    }),
  );
  undo.push(async () => {
    isStopping = true;
    // Clients still waiting for a response have had enough time.
    const timer = setTimeout(() => api.app.server.closeAllConnections(), parts.config.worker.shutdownGraceMs);
    await api.app.close();
    clearTimeout(timer);
  });
  return api;
}

async function announceInDataFolder(dataDir: string, address: string | null, undo: Undo[]): Promise<void> {
  undo.push(() => removeRunningService(dataDir));
  await writeRunningService(dataDir, { pid: process.pid, address, startedAt: new Date().toISOString() });
}

/** Runs every step even if others fail; throws the first failure. */
async function undoAll(undo: Undo[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.reverse()) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
