import type { DoctorFinding, HealthState, SystemSample, SystemState, WorkerItem } from '@millrace/admin-api';
import { presentMessage } from '@millrace/messages/english';
import type { Diagnosis, Finding } from '@millrace/operations/doctor/finding';
import {
  COUNT_LIMIT,
  listSamples,
  listWorkers,
  type QueueRow,
  readQueue,
  readServer,
  type SampleRow,
  type ServerRow,
  type WorkerRow,
} from '@millrace/service/system/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { SERVICE_VERSION } from '../../version.ts';
import { adminRoute } from '../http/route.ts';

const DEFAULT_HOURS = 6;
/** Points of a chart; screens don't have more columns. */
const MAX_POINTS = 720;
const MAX_WORKERS = 200;
/** An execution queued for longer than this is waiting for a free worker. */
const SLOW_QUEUE_MS = 60_000;
/** Samples are written every minute. */
const LATE_SAMPLE_MS = 5 * 60_000;

/** The state of the service, for its administrators. */
export function systemRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config, examine } = deps;

  adminRoute(app, deps, 'GET /system', async () => {
    const startedAt = performance.now();
    const server = await readServer(db);
    const roundTripMs = performance.now() - startedAt;
    const [queue, workers] = await Promise.all([
      readQueue(db),
      listWorkers(db, config.worker.leaseMs, MAX_WORKERS),
    ]);
    return presentSystem(server, roundTripMs, queue, workers);
  });

  /** Shared by concurrent requests: some checks leave the process. */
  let examining: Promise<Diagnosis> | null = null;
  adminRoute(app, deps, 'GET /system/diagnosis', async () => {
    if (examine === undefined) return { checks: [], findings: [] };
    examining ??= examine().finally(() => {
      examining = null;
    });
    const { checks, findings } = await examining;
    return { checks: [...checks], findings: findings.map(presentFinding) };
  });

  adminRoute(app, deps, 'GET /system/samples', async ({ query }) => {
    const hours = query.hours ?? DEFAULT_HOURS;
    const step = Math.ceil((hours * 60) / MAX_POINTS);
    return { items: (await listSamples(db, hours, step)).map(presentSample) };
  });
}

function presentFinding({ check, level, what, why, fix }: Finding): DoctorFinding {
  return {
    check,
    level,
    what: presentMessage(what),
    why: presentMessage(why),
    fix: presentMessage(fix),
  };
}

function presentSystem(
  server: ServerRow,
  roundTripMs: number,
  queue: QueueRow,
  workers: readonly WorkerRow[],
): SystemState {
  const sinceStart = workers.filter(({ state }) => state === 'alive').map(({ started_at: at }) => at);
  // A process that has just started hasn't written a sample yet.
  const isYoung = sinceStart.some((at) => server.now.getTime() - at.getTime() < LATE_SAMPLE_MS);
  const ofNoSample = isYoung ? 'ok' : 'warning';
  return {
    version: SERVICE_VERSION,
    node_version: process.versions.node,
    postgresql_version: server.postgresql_version,
    schema_version: server.schema_version,
    now: server.now.toISOString(),
    count_limit: COUNT_LIMIT,
    queue: {
      queued: Math.min(queue.queued, COUNT_LIMIT),
      running: queue.running,
      waiting: Math.min(queue.waiting, COUNT_LIMIT),
      oldest_queued_at: queue.oldest_queued_at?.toISOString() ?? null,
    },
    database: {
      bytes: server.database_bytes,
      round_trip_ms: Math.round(roundTripMs * 100) / 100,
      earlier:
        server.earlier_at === null || server.earlier_bytes === null
          ? null
          : { at: server.earlier_at.toISOString(), bytes: server.earlier_bytes },
    },
    workers: workers.map(presentWorker),
    health: [
      // It has responded, or this code wouldn't be reached.
      { check: 'database', state: 'ok' },
      { check: 'workers', state: stateOfWorkers(workers) },
      { check: 'queue', state: stateOf(server.now, queue.oldest_queued_at, SLOW_QUEUE_MS, 'ok') },
      { check: 'samples', state: stateOf(server.now, server.last_sample_at, LATE_SAMPLE_MS, ofNoSample) },
    ],
  };
}

function stateOf(now: Date, since: Date | null, mostMs: number, ofNone: HealthState): HealthState {
  if (since === null) return ofNone;
  return now.getTime() - since.getTime() > mostMs ? 'warning' : 'ok';
}

function stateOfWorkers(workers: readonly WorkerRow[]): HealthState {
  if (!workers.some(({ state }) => state === 'alive')) return 'failed';
  return workers.some(({ state }) => state === 'silent') ? 'warning' : 'ok';
}

function presentWorker(row: WorkerRow): WorkerItem {
  return {
    id: row.id,
    host: row.host,
    pid: row.pid,
    started_at: row.started_at.toISOString(),
    heartbeat_at: row.heartbeat_at.toISOString(),
    state: row.state,
    running: row.running,
  };
}

function presentSample(row: SampleRow): SystemSample {
  return {
    at: row.minute.toISOString(),
    queued: row.queued,
    running: row.running,
    waiting: row.waiting,
    workers: row.workers,
    started_per_minute: perMinute(row.started, row.seconds),
    failed_per_minute: perMinute(row.failed, row.seconds),
    database_bytes: row.database_bytes,
  };
}

function perMinute(count: number | null, seconds: number | null): number | null {
  return count === null || seconds === null ? null : Math.round((count * 6_000) / seconds) / 100;
}
