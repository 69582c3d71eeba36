import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import type { ApiSettings } from '@millrace/api/settings';
import { parseAllowHosts } from '@millrace/egress/allow-hosts';
import type { HostLimitSettings } from '@millrace/egress/host-limits';
import type { FileSettings, S3Settings } from '@millrace/files/settings';
import type { WorkerSettings } from '@millrace/runtime/settings';
import type { SamplerName } from '@millrace/runtime/tracing/tracer';
import type { SecretKeySettings } from '@millrace/secrets/settings';
import type { AuditSettings } from '@millrace/service/settings';
import type { OtlpProtocol } from './tracing-variables.ts';
import { describeVariables, VariableReader } from './variable-reader.ts';
import type { DatabasePooling, LogLevel } from './variables.ts';

/** All configuration from outside. Created by {@link loadConfig} only. */
export interface Config extends ApiSettings, SecretKeySettings {
  readonly worker: WorkerSettings;
  readonly hostLimits: HostLimitSettings;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** False: if the port is taken, the next free one is used. */
  readonly portIsExplicit: boolean;
  /** Null: the embedded PostgreSQL is used. */
  readonly databaseUrl: string | null;
  /** What a pooler in front of it does; `session` without one. */
  readonly databasePooling: DatabasePooling;
  /** False: derived from host and port, and adjusted if another port has to be used. */
  readonly publicUrlIsExplicit: boolean;
  readonly logLevel: LogLevel;
  readonly metrics: MetricsSettings;
  readonly audit: AuditSettings;
  readonly files: FileSettings;
  /** Null: no traces are made. */
  readonly tracing: TracingSettings | null;
  /** Whether the first start prints an API key and the link for creating the first account. */
  readonly printsFirstKey: boolean;
}

/** Where `/metrics` is served. */
export interface MetricsSettings {
  /** Null: nowhere. 0: any free port. */
  readonly port: number | null;
  readonly host: string;
  readonly token: string | null;
  /** Organisations and workflows that are told apart. */
  readonly busiest: number;
  /** Between two readings of the database. */
  readonly queryMs: number;
}

/** Which traces are made, and where they are sent. */
export interface TracingSettings {
  readonly url: string;
  readonly protocol: OtlpProtocol;
  readonly headers: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly serviceName: string;
  readonly attributes: { readonly [name: string]: string };
  readonly sampler: SamplerName;
  /** For samplers with a ratio. */
  readonly ratio: number;
  /** Whether the trace continues from requests and into calls. */
  readonly propagates: boolean;
  readonly maxSpans: number;
  readonly batchSpans: number;
  readonly delayMs: number;
}

/** The environment isn't a valid configuration; lists every problem, one per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const HOUR_MS = 3_600_000;
/** The commands printed at a start read the caller's API key from it, so it is set in many environments. */
const CALLERS_KEY = 'MILLRACE_KEY';

/**
 * Reads the configuration. Empty variables count as not set.
 *
 * @throws ConfigError listing every problem, including unknown MILLRACE_ names
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const from = new VariableReader(env, CALLERS_KEY);
  const dataDir = from.read('MILLRACE_DATA_DIR');
  const folder = dataDir === null ? defaultDataDir() : resolve(dataDir);
  const sessions = readSessions(from);
  const config: Config = {
    ...readAddresses(from),
    dataDir: folder,
    databaseUrl: from.read('DATABASE_URL'),
    databasePooling: from.need('MILLRACE_DATABASE_POOLING'),
    secretKeys: readSecretKeys(from),
    logLevel: from.need('MILLRACE_LOG_LEVEL'),
    metrics: readMetrics(from),
    printsFirstKey: from.need('MILLRACE_PRINT_FIRST_KEY') === '1',
    limits: readLimits(from),
    sessions,
    singleSignOn: readSingleSignOn(from),
    worker: readWorker(from),
    hostLimits: {
      processCalls: from.need('MILLRACE_HOST_CALLS'),
      organisationCalls: from.need('MILLRACE_ORGANISATION_HOST_CALLS'),
      organisationRate: from.need('MILLRACE_ORGANISATION_HOST_RATE'),
      maxPauseMs: from.need('MILLRACE_HOST_MAX_PAUSE_S') * 1_000,
    },
    admission: {
      queuedPerOrganisation: from.need('MILLRACE_ORGANISATION_QUEUE_LIMIT'),
      queuedInService: from.need('MILLRACE_QUEUE_LIMIT'),
    },
    storage: {
      executionsBytes: from.need('MILLRACE_ORGANISATION_EXECUTIONS_STORAGE'),
      dataBytes: from.need('MILLRACE_ORGANISATION_DATA_STORAGE'),
    },
    files: {
      folder: resolve(from.read('MILLRACE_FILES_FOLDER') ?? join(folder, 'files')),
      s3: readBucket(from),
      maxBytes: from.need('MILLRACE_FILE_LIMIT'),
      organisationBytes: from.need('MILLRACE_ORGANISATION_FILES_STORAGE'),
      freeDiskBytes: from.need('MILLRACE_FILES_FREE_DISK'),
      unusedMs: from.need('MILLRACE_UNUSED_FILES_HOURS') * HOUR_MS,
    },
    alerts: {
      rules: from.need('MILLRACE_ALERT_RULES'),
      messagesPerHour: from.need('MILLRACE_ALERTS_PER_HOUR'),
    },
    shedding: {
      loopDelayMs: from.need('MILLRACE_SHED_LOOP_DELAY_MS'),
      poolWaitMs: from.need('MILLRACE_SHED_POOL_WAIT_MS'),
    },
    retention: readRetention(from, sessions.idleMs),
    tracing: readTracing(from),
    audit: { verifyMs: from.need('MILLRACE_AUDIT_VERIFY_HOURS') * HOUR_MS },
    allowHosts: readAllowHosts(from),
  };
  if (from.problems.length > 0) throw new ConfigError(from.problems);
  return config;
}

function readAddresses(
  from: VariableReader,
): Pick<Config, 'host' | 'port' | 'portIsExplicit' | 'publicUrl' | 'publicUrlIsExplicit' | 'trustProxy'> {
  const [host, port] = [from.need('HOST'), from.need('PORT')];
  const publicUrl = from.read('MILLRACE_PUBLIC_URL');
  return {
    host,
    port,
    portIsExplicit: from.isSet('PORT'),
    publicUrl: publicUrl ?? localUrl(host, port),
    publicUrlIsExplicit: publicUrl !== null,
    trustProxy: from.need('MILLRACE_TRUST_PROXY'),
  };
}

function readSecretKeys(from: VariableReader): Config['secretKeys'] {
  const current = from.read('MILLRACE_SECRET_KEY')?.[0] ?? null;
  const previous = from.read('MILLRACE_SECRET_KEY_PREVIOUS') ?? [];
  if (previous.length > 0 && !from.isSet('MILLRACE_SECRET_KEY')) {
    from.problems.push(
      'MILLRACE_SECRET_KEY_PREVIOUS is set, but MILLRACE_SECRET_KEY is not: set it to the new key, or to the previous one if there is no new key',
    );
  }
  return { current, previous };
}

function readMetrics(from: VariableReader): MetricsSettings {
  const metrics = {
    port: from.read('MILLRACE_METRICS_PORT'),
    host: from.need('MILLRACE_METRICS_HOST'),
    token: from.read('MILLRACE_METRICS_TOKEN'),
    busiest: from.need('MILLRACE_METRICS_BUSIEST'),
    queryMs: from.need('MILLRACE_METRICS_QUERY_S') * 1_000,
  };
  if (metrics.port !== null && metrics.token === null && !isLoopback(metrics.host)) {
    from.problems.push(
      `MILLRACE_METRICS_HOST: others can reach "${metrics.host}", so MILLRACE_METRICS_TOKEN must be set; for example MILLRACE_METRICS_TOKEN=$(openssl rand -base64 32)`,
    );
  }
  return metrics;
}

function readLimits(from: VariableReader): Config['limits'] {
  return {
    bodyBytes: from.need('MILLRACE_BODY_LIMIT'),
    bodyBudgetBytes: from.read('MILLRACE_BODY_BUDGET') ?? partOfHeap(16),
    flowBodyBytes: from.need('MILLRACE_FLOW_BODY_LIMIT'),
    batchBodyBytes: from.need('MILLRACE_BATCH_BODY_LIMIT'),
    requestsPerMinutePerKey: from.need('MILLRACE_RATE_LIMIT'),
    requestsPerMinutePerWebhook: from.need('MILLRACE_WEBHOOK_RATE_LIMIT'),
    waitingCallers: from.need('MILLRACE_WAITING_CALLERS'),
    waitingCallersPerOrganisation: from.need('MILLRACE_WAITING_CALLERS_PER_ORGANISATION'),
    failedAuthPerMinutePerIp: from.need('MILLRACE_FAILED_AUTH_LIMIT'),
    nodes: from.need('MILLRACE_MAX_NODES'),
    folders: from.need('MILLRACE_MAX_FOLDERS'),
    favourites: from.need('MILLRACE_MAX_FAVOURITES'),
    jsonDepth: from.need('MILLRACE_JSON_DEPTH'),
    nodeOutputBytes: from.need('MILLRACE_NODE_OUTPUT_LIMIT'),
    executionBytes: from.need('MILLRACE_EXECUTION_LIMIT'),
    nodeSteps: from.need('MILLRACE_NODE_STEPS'),
    maxRateWaitMs: from.need('MILLRACE_MAX_RATE_WAIT_S') * 1_000,
    headerBytes: from.need('MILLRACE_HEADER_LIMIT'),
    headersTimeoutMs: from.need('MILLRACE_HEADERS_TIMEOUT_MS'),
    connections: from.read('MILLRACE_MAX_CONNECTIONS'),
    connectionsPerAddress: from.read('MILLRACE_MAX_CONNECTIONS_PER_ADDRESS'),
  };
}

function readSessions(from: VariableReader): Config['sessions'] {
  return {
    idleMs: from.need('MILLRACE_SESSION_IDLE_HOURS') * HOUR_MS,
    lifetimeMs: from.need('MILLRACE_SESSION_DAYS') * 24 * HOUR_MS,
  };
}

function readSingleSignOn(from: VariableReader): Config['singleSignOn'] {
  const [issuer, clientId] = [from.read('MILLRACE_OIDC_ISSUER'), from.read('MILLRACE_OIDC_CLIENT_ID')];
  const newMembers = from.need('MILLRACE_OIDC_NEW_MEMBERS');
  if (from.isSet('MILLRACE_OIDC_ISSUER') !== from.isSet('MILLRACE_OIDC_CLIENT_ID')) {
    from.problems.push(
      'MILLRACE_OIDC_ISSUER and MILLRACE_OIDC_CLIENT_ID belong together: set both, or neither for passwords only',
    );
  }
  if (issuer !== null && !isSafeIssuer(issuer)) {
    from.problems.push(
      `MILLRACE_OIDC_ISSUER: "${issuer}" must begin with https://, or name this machine (http://localhost:9000)`,
    );
  }
  if (issuer === null || clientId === null) return null;
  const clientSecret = from.read('MILLRACE_OIDC_CLIENT_SECRET');
  const name = from.need('MILLRACE_OIDC_NAME');
  return { issuer, clientId, clientSecret, name, newMembers: newMembers === 'off' ? null : newMembers };
}

function readWorker(from: VariableReader): WorkerSettings {
  const [leaseMs, heartbeatMs] = [from.need('MILLRACE_LEASE_MS'), from.need('MILLRACE_HEARTBEAT_MS')];
  if (heartbeatMs * 2 >= leaseMs) {
    from.problems.push(
      `MILLRACE_HEARTBEAT_MS (${heartbeatMs}) must be less than half of MILLRACE_LEASE_MS (${leaseMs}), or a single late heartbeat costs a worker its lease; for example MILLRACE_HEARTBEAT_MS=${Math.floor(leaseMs / 3)}`,
    );
  }
  return {
    concurrency: from.need('MILLRACE_WORKER_CONCURRENCY'),
    organisationPercent: from.need('MILLRACE_ORGANISATION_SLOTS_PERCENT'),
    dataBytes: from.read('MILLRACE_DATA_BUDGET') ?? partOfHeap(40),
    leaseMs,
    heartbeatMs,
    pollMs: from.need('MILLRACE_POLL_MS'),
    maxCrashedAttempts: 3,
    shutdownGraceMs: from.need('MILLRACE_SHUTDOWN_GRACE_MS'),
    inlineWaitMs: from.need('MILLRACE_INLINE_WAIT_MS'),
    runAhead: {
      nodes: from.need('MILLRACE_RUN_AHEAD_NODES'),
      bytes: from.need('MILLRACE_RUN_AHEAD_SIZE'),
      ms: from.need('MILLRACE_RUN_AHEAD_MS'),
    },
  };
}

/** Null: files are in a folder. */
function readBucket(from: VariableReader): S3Settings | null {
  const place = from.read('MILLRACE_FILES_STORE');
  const accessKeyId = from.read('MILLRACE_FILES_S3_ACCESS_KEY');
  const secretAccessKey = from.read('MILLRACE_FILES_S3_SECRET_KEY');
  const region = from.need('MILLRACE_FILES_S3_REGION');
  const endpoint = from.read('MILLRACE_FILES_S3_ENDPOINT') ?? `https://s3.${region}.amazonaws.com`;
  if (place === null) return null;
  if (accessKeyId === null || secretAccessKey === null) {
    from.problems.push(
      'MILLRACE_FILES_STORE names a bucket, so MILLRACE_FILES_S3_ACCESS_KEY and MILLRACE_FILES_S3_SECRET_KEY must be set, too',
    );
  }
  return {
    endpoint,
    region,
    ...place,
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
  };
}

function readRetention(from: VariableReader, idleSessionMs: number): Config['retention'] {
  const allDays = from.need('MILLRACE_RETENTION_DAYS');
  return {
    executionsDays: {
      completed: from.read('MILLRACE_RETENTION_DAYS_COMPLETED') ?? allDays,
      failed: from.read('MILLRACE_RETENTION_DAYS_FAILED') ?? allDays,
      cancelled: from.read('MILLRACE_RETENTION_DAYS_CANCELLED') ?? allDays,
    },
    auditDays: from.need('MILLRACE_AUDIT_RETENTION_DAYS'),
    statisticsDays: from.need('MILLRACE_STATISTICS_DAYS'),
    idempotencyHours: 24,
    idleSessionMs,
  };
}

/** Without an endpoint, OpenTelemetry's variables may be meant for others. */
function readTracing(from: VariableReader): TracingSettings | null {
  const base = from.read('OTEL_EXPORTER_OTLP_ENDPOINT');
  const url = from.read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? (base === null ? null : `${base}/v1/traces`);
  if (url === null) return null;
  return {
    url,
    protocol: from.need('OTEL_EXPORTER_OTLP_PROTOCOL'),
    headers: from.read('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
    timeoutMs: from.need('OTEL_EXPORTER_OTLP_TIMEOUT'),
    serviceName: from.need('OTEL_SERVICE_NAME'),
    attributes: from.read('OTEL_RESOURCE_ATTRIBUTES') ?? {},
    sampler: from.need('OTEL_TRACES_SAMPLER'),
    ratio: from.need('OTEL_TRACES_SAMPLER_ARG'),
    propagates: from.need('OTEL_PROPAGATORS').includes('tracecontext'),
    maxSpans: from.need('OTEL_BSP_MAX_QUEUE_SIZE'),
    batchSpans: from.need('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    delayMs: from.need('OTEL_BSP_SCHEDULE_DELAY'),
  };
}

function readAllowHosts(from: VariableReader): readonly string[] {
  const allowHosts = from.read('MILLRACE_ALLOW_HOSTS') ?? [];
  from.problems.push(...parseAllowHosts(allowHosts).problems);
  return allowHosts;
}

/**
 * The settings of files as they would be if these were in another bucket.
 * @param place what would be in MILLRACE_FILES_STORE
 * @throws ConfigError
 */
export function loadFileSettings(place: string, env: NodeJS.ProcessEnv = process.env): FileSettings {
  return loadConfig({ ...env, MILLRACE_FILES_STORE: place }).files;
}

/** The environment's settings for a support bundle: see {@link describeVariables}. */
export function describeSettings(problems: readonly string[]): { readonly [name: string]: string } {
  return describeVariables(problems, process.env);
}

/** Bytes: one of so many parts of the memory that JavaScript may use in this process. */
function partOfHeap(parts: number): number {
  return Math.floor(getHeapStatistics().heap_size_limit / parts);
}

/** Codes and tokens must not cross a network in the clear. */
function isSafeIssuer(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Whether only programs on this machine can reach it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Base URL of a service without a proxy in front of it. */
export function localUrl(host: string, port: number): string {
  const isWildcard = host === '0.0.0.0' || host === '::' || host === '127.0.0.1' || host === '::1';
  const name = isWildcard ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/**
 * PostgreSQL can't run as root, and the user it runs as instead can't enter a private home folder: the data is then kept elsewhere, in a
 * folder that belongs to this copy of Millrace.
 */
function defaultDataDir(): string {
  const home = homeFolder();
  if (process.getuid?.() !== 0) return join(home, '.millrace');
  const hash = createHash('sha256').update(home).digest('hex').slice(0, 8);
  return join('/var/lib/millrace/data', `${basename(home)}-${hash}`);
}

/** A clone has its data in itself. An installed package is replaced by updates and shared by projects, so the working folder has it. */
function homeFolder(): string {
  const clone = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '');
  return existsSync(join(clone, 'packages', 'cli')) ? clone : process.cwd();
}
