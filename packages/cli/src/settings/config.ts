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
import { nearestName } from './nearest-name.ts';
import type { OtlpProtocol } from './tracing-variables.ts';
import type { Variable } from './variable.ts';
import { type DatabasePooling, type LogLevel, VARIABLES } from './variables.ts';

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

type Name = keyof typeof VARIABLES;
type ValueOf<N extends Name> = (typeof VARIABLES)[N] extends Variable<infer T> ? T : never;

/**
 * Reads the configuration. Empty variables count as not set.
 *
 * @throws ConfigError listing every problem, including unknown MILLRACE_ names
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems = unknownNames(env);
  /** Null: not set and without a default. */
  function read<N extends Name>(name: N): ValueOf<N> | null {
    const variable: Variable<unknown> = VARIABLES[name];
    const given = env[name]?.trim() ?? '';
    const fallback = variable.fallback === '' ? null : variable.parse(variable.fallback);
    if (given === '') return fallback as ValueOf<N> | null;
    const value = variable.parse(given);
    if (value === undefined) problems.push(describeProblem(name, given, variable));
    return (value ?? fallback) as ValueOf<N> | null;
  }
  /** For variables that have a default. */
  function need<N extends Name>(name: N): ValueOf<N> {
    const value = read(name);
    if (value === null) throw new Error(`${name} has no default`);
    return value;
  }

  const [host, port] = [need('HOST'), need('PORT')];
  const publicUrl = read('MILLRACE_PUBLIC_URL');
  const dataDir = read('MILLRACE_DATA_DIR');
  const folder = dataDir === null ? defaultDataDir() : resolve(dataDir);
  const [leaseMs, heartbeatMs] = [need('MILLRACE_LEASE_MS'), need('MILLRACE_HEARTBEAT_MS')];
  if (heartbeatMs * 2 >= leaseMs) {
    problems.push(
      `MILLRACE_HEARTBEAT_MS (${heartbeatMs}) must be less than half of MILLRACE_LEASE_MS (${leaseMs}), or a single late heartbeat costs a worker its lease; for example MILLRACE_HEARTBEAT_MS=${Math.floor(leaseMs / 3)}`,
    );
  }
  const previousKeys = read('MILLRACE_SECRET_KEY_PREVIOUS') ?? [];
  if (previousKeys.length > 0 && !isSet(env, 'MILLRACE_SECRET_KEY')) {
    problems.push(
      'MILLRACE_SECRET_KEY_PREVIOUS is set, but MILLRACE_SECRET_KEY is not: set it to the new key, or to the previous one if there is no new key',
    );
  }
  const [issuer, clientId] = [read('MILLRACE_OIDC_ISSUER'), read('MILLRACE_OIDC_CLIENT_ID')];
  const newMembers = need('MILLRACE_OIDC_NEW_MEMBERS');
  if (isSet(env, 'MILLRACE_OIDC_ISSUER') !== isSet(env, 'MILLRACE_OIDC_CLIENT_ID')) {
    problems.push(
      'MILLRACE_OIDC_ISSUER and MILLRACE_OIDC_CLIENT_ID belong together: set both, or neither for passwords only',
    );
  }
  if (issuer !== null && !isSafeIssuer(issuer)) {
    problems.push(
      `MILLRACE_OIDC_ISSUER: "${issuer}" must begin with https://, or name this machine (http://localhost:9000)`,
    );
  }
  const metrics = {
    port: read('MILLRACE_METRICS_PORT'),
    host: need('MILLRACE_METRICS_HOST'),
    token: read('MILLRACE_METRICS_TOKEN'),
    busiest: need('MILLRACE_METRICS_BUSIEST'),
    queryMs: need('MILLRACE_METRICS_QUERY_S') * 1_000,
  };
  if (metrics.port !== null && metrics.token === null && !isLoopback(metrics.host)) {
    problems.push(
      `MILLRACE_METRICS_HOST: others can reach "${metrics.host}", so MILLRACE_METRICS_TOKEN must be set; for example MILLRACE_METRICS_TOKEN=$(openssl rand -base64 32)`,
    );
  }
  /** Without an endpoint, OpenTelemetry's variables may be meant for others. */
  function readTracing(): TracingSettings | null {
    const base = read('OTEL_EXPORTER_OTLP_ENDPOINT');
    const url = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? (base === null ? null : `${base}/v1/traces`);
    if (url === null) return null;
    return {
      url,
      protocol: need('OTEL_EXPORTER_OTLP_PROTOCOL'),
      headers: read('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
      timeoutMs: need('OTEL_EXPORTER_OTLP_TIMEOUT'),
      serviceName: need('OTEL_SERVICE_NAME'),
      attributes: read('OTEL_RESOURCE_ATTRIBUTES') ?? {},
      sampler: need('OTEL_TRACES_SAMPLER'),
      ratio: need('OTEL_TRACES_SAMPLER_ARG'),
      propagates: need('OTEL_PROPAGATORS').includes('tracecontext'),
      maxSpans: need('OTEL_BSP_MAX_QUEUE_SIZE'),
      batchSpans: need('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
      delayMs: need('OTEL_BSP_SCHEDULE_DELAY'),
    };
  }
  /** Null: files are in a folder. */
  function readBucket(): S3Settings | null {
    const place = read('MILLRACE_FILES_STORE');
    const [accessKeyId, secretAccessKey] = [
      read('MILLRACE_FILES_S3_ACCESS_KEY'),
      read('MILLRACE_FILES_S3_SECRET_KEY'),
    ];
    const region = need('MILLRACE_FILES_S3_REGION');
    const endpoint = read('MILLRACE_FILES_S3_ENDPOINT') ?? `https://s3.${region}.amazonaws.com`;
    if (place === null) return null;
    if (accessKeyId === null || secretAccessKey === null) {
      problems.push(
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
  const tracing = readTracing();
  const allowHosts = read('MILLRACE_ALLOW_HOSTS') ?? [];
  problems.push(...parseAllowHosts(allowHosts).problems);
  const allDays = need('MILLRACE_RETENTION_DAYS');
  const config: Config = {
    host,
    port,
    portIsExplicit: isSet(env, 'PORT'),
    dataDir: folder,
    databaseUrl: read('DATABASE_URL'),
    databasePooling: need('MILLRACE_DATABASE_POOLING'),
    secretKeys: { current: read('MILLRACE_SECRET_KEY')?.[0] ?? null, previous: previousKeys },
    publicUrl: publicUrl ?? localUrl(host, port),
    publicUrlIsExplicit: publicUrl !== null,
    logLevel: need('MILLRACE_LOG_LEVEL'),
    metrics,
    printsFirstKey: need('MILLRACE_PRINT_FIRST_KEY') === '1',
    trustProxy: need('MILLRACE_TRUST_PROXY'),
    limits: {
      bodyBytes: need('MILLRACE_BODY_LIMIT'),
      bodyBudgetBytes: read('MILLRACE_BODY_BUDGET') ?? partOfHeap(16),
      flowBodyBytes: need('MILLRACE_FLOW_BODY_LIMIT'),
      batchBodyBytes: need('MILLRACE_BATCH_BODY_LIMIT'),
      requestsPerMinutePerKey: need('MILLRACE_RATE_LIMIT'),
      requestsPerMinutePerWebhook: need('MILLRACE_WEBHOOK_RATE_LIMIT'),
      waitingCallers: need('MILLRACE_WAITING_CALLERS'),
      waitingCallersPerOrganisation: need('MILLRACE_WAITING_CALLERS_PER_ORGANISATION'),
      failedAuthPerMinutePerIp: need('MILLRACE_FAILED_AUTH_LIMIT'),
      nodes: need('MILLRACE_MAX_NODES'),
      folders: need('MILLRACE_MAX_FOLDERS'),
      favourites: need('MILLRACE_MAX_FAVOURITES'),
      jsonDepth: need('MILLRACE_JSON_DEPTH'),
      nodeOutputBytes: need('MILLRACE_NODE_OUTPUT_LIMIT'),
      executionBytes: need('MILLRACE_EXECUTION_LIMIT'),
      nodeSteps: need('MILLRACE_NODE_STEPS'),
      maxRateWaitMs: need('MILLRACE_MAX_RATE_WAIT_S') * 1_000,
      headerBytes: need('MILLRACE_HEADER_LIMIT'),
      headersTimeoutMs: need('MILLRACE_HEADERS_TIMEOUT_MS'),
      connections: read('MILLRACE_MAX_CONNECTIONS'),
      connectionsPerAddress: read('MILLRACE_MAX_CONNECTIONS_PER_ADDRESS'),
    },
    sessions: {
      idleMs: need('MILLRACE_SESSION_IDLE_HOURS') * HOUR_MS,
      lifetimeMs: need('MILLRACE_SESSION_DAYS') * 24 * HOUR_MS,
    },
    singleSignOn:
      issuer === null || clientId === null
        ? null
        : {
            issuer,
            clientId,
            clientSecret: read('MILLRACE_OIDC_CLIENT_SECRET'),
            name: need('MILLRACE_OIDC_NAME'),
            newMembers: newMembers === 'off' ? null : newMembers,
          },
    worker: {
      concurrency: need('MILLRACE_WORKER_CONCURRENCY'),
      organisationPercent: need('MILLRACE_ORGANISATION_SLOTS_PERCENT'),
      dataBytes: read('MILLRACE_DATA_BUDGET') ?? partOfHeap(40),
      leaseMs,
      heartbeatMs,
      pollMs: need('MILLRACE_POLL_MS'),
      maxCrashedAttempts: 3,
      shutdownGraceMs: need('MILLRACE_SHUTDOWN_GRACE_MS'),
      inlineWaitMs: need('MILLRACE_INLINE_WAIT_MS'),
      runAhead: {
        nodes: need('MILLRACE_RUN_AHEAD_NODES'),
        bytes: need('MILLRACE_RUN_AHEAD_SIZE'),
        ms: need('MILLRACE_RUN_AHEAD_MS'),
      },
    },
    hostLimits: {
      processCalls: need('MILLRACE_HOST_CALLS'),
      organisationCalls: need('MILLRACE_ORGANISATION_HOST_CALLS'),
      organisationRate: need('MILLRACE_ORGANISATION_HOST_RATE'),
      maxPauseMs: need('MILLRACE_HOST_MAX_PAUSE_S') * 1_000,
    },
    admission: {
      queuedPerOrganisation: need('MILLRACE_ORGANISATION_QUEUE_LIMIT'),
      queuedInService: need('MILLRACE_QUEUE_LIMIT'),
    },
    storage: {
      executionsBytes: need('MILLRACE_ORGANISATION_EXECUTIONS_STORAGE'),
      dataBytes: need('MILLRACE_ORGANISATION_DATA_STORAGE'),
    },
    files: {
      folder: resolve(read('MILLRACE_FILES_FOLDER') ?? join(folder, 'files')),
      s3: readBucket(),
      maxBytes: need('MILLRACE_FILE_LIMIT'),
      organisationBytes: need('MILLRACE_ORGANISATION_FILES_STORAGE'),
      freeDiskBytes: need('MILLRACE_FILES_FREE_DISK'),
      unusedMs: need('MILLRACE_UNUSED_FILES_HOURS') * HOUR_MS,
    },
    alerts: {
      rules: need('MILLRACE_ALERT_RULES'),
      messagesPerHour: need('MILLRACE_ALERTS_PER_HOUR'),
    },
    shedding: {
      loopDelayMs: need('MILLRACE_SHED_LOOP_DELAY_MS'),
      poolWaitMs: need('MILLRACE_SHED_POOL_WAIT_MS'),
    },
    retention: {
      executionsDays: {
        completed: read('MILLRACE_RETENTION_DAYS_COMPLETED') ?? allDays,
        failed: read('MILLRACE_RETENTION_DAYS_FAILED') ?? allDays,
        cancelled: read('MILLRACE_RETENTION_DAYS_CANCELLED') ?? allDays,
      },
      auditDays: need('MILLRACE_AUDIT_RETENTION_DAYS'),
      statisticsDays: need('MILLRACE_STATISTICS_DAYS'),
      idempotencyHours: 24,
      idleSessionMs: need('MILLRACE_SESSION_IDLE_HOURS') * HOUR_MS,
    },
    tracing,
    audit: { verifyMs: need('MILLRACE_AUDIT_VERIFY_HOURS') * HOUR_MS },
    allowHosts,
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/**
 * The settings of files as they would be if these were in another bucket.
 * @param place what would be in MILLRACE_FILES_STORE
 * @throws ConfigError
 */
export function loadFileSettings(place: string, env: NodeJS.ProcessEnv = process.env): FileSettings {
  return loadConfig({ ...env, MILLRACE_FILES_STORE: place }).files;
}

/** Bytes: one of so many parts of the memory that JavaScript may use in this process. */
function partOfHeap(parts: number): number {
  return Math.floor(getHeapStatistics().heap_size_limit / parts);
}

/**
 * The variables that are set, with their values if these can't be secret. Nothing else of the environment.
 * @param problems of the configuration; what is wrong may be anything, such as a password in another variable
 */
export function describeSettings(
  problems: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): { readonly [name: string]: string } {
  const described: Record<string, string> = {};
  for (const [name, variable] of Object.entries<Variable<unknown>>(VARIABLES)) {
    const given = env[name]?.trim() ?? '';
    if (given === '') continue;
    if (problems.some((problem) => problem.startsWith(name))) described[name] = '(set, not valid)';
    else described[name] = variable.secret === true ? '(set)' : given;
  }
  return described;
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

function isSet(env: NodeJS.ProcessEnv, name: Name): boolean {
  return (env[name]?.trim() ?? '') !== '';
}

function describeProblem(name: string, given: string, variable: Variable<unknown>): string {
  const shown =
    variable.secret === true
      ? 'its value (not shown because it may contain a password)'
      : JSON.stringify(given);
  return `${name}: ${shown} is not ${variable.allowed}; for example ${name}=${variable.example}`;
}

/** The commands printed at a start read the caller's API key from it, so it is set in many environments. */
const CALLERS_KEY = 'MILLRACE_KEY';

function unknownNames(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('MILLRACE_') && name !== CALLERS_KEY)
    .filter((name) => !Object.hasOwn(VARIABLES, name))
    .sort()
    .map((name) => {
      const near = nearestName(name, Object.keys(VARIABLES));
      const hint = near === null ? 'See docs/configuration.md for all names' : `Did you mean ${near}?`;
      return `${name} is set, but there is no such variable. ${hint}`;
    });
}
