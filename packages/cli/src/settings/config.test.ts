import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig, loadFileSettings } from './config.ts';
import { VARIABLES } from './variables.ts';

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  test('without any variable: the defaults', () => {
    expect(loadConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      portIsExplicit: false,
      databaseUrl: null,
      publicUrl: 'http://localhost:8080',
      publicUrlIsExplicit: false,
      logLevel: 'info',
      printsFirstKey: true,
      trustProxy: false,
      limits: {
        bodyBytes: 1_048_576,
        bodyBudgetBytes: expect.any(Number),
        flowBodyBytes: 5_242_880,
        requestsPerMinutePerKey: 6000,
        requestsPerMinutePerWebhook: 6000,
        waitingCallers: 1000,
        waitingCallersPerOrganisation: 200,
        failedAuthPerMinutePerIp: 30,
        nodes: 2000,
        folders: 1000,
        favourites: 200,
        jsonDepth: 100,
        nodeOutputBytes: 16_777_216,
        executionBytes: 67_108_864,
        nodeSteps: 50_000_000,
        maxRateWaitMs: 86_400_000,
        headerBytes: 16_384,
        headersTimeoutMs: 10_000,
        connections: null,
        connectionsPerAddress: null,
      },
      worker: {
        concurrency: 200,
        organisationPercent: 75,
        leaseMs: 30_000,
        heartbeatMs: 10_000,
        pollMs: 1000,
        maxCrashedAttempts: 3,
        shutdownGraceMs: 10_000,
        inlineWaitMs: 5000,
      },
      retention: {
        executionsDays: { completed: 30, failed: 30, cancelled: 30 },
        auditDays: 365,
        statisticsDays: 400,
        idempotencyHours: 24,
        idleSessionMs: 86_400_000,
      },
      allowHosts: [],
    });
  });

  test('empty variables count as not set', () => {
    expect(loadConfig({ PORT: '', DATABASE_URL: ' ', MILLRACE_RATE_LIMIT: '' })).toEqual(loadConfig({}));
  });

  test('reports every problem at once, each with name, value, what is allowed and an example', () => {
    const env = {
      PORT: '80x',
      MILLRACE_BODY_LIMIT: '1TB',
      MILLRACE_LOG_LEVEL: 'loud',
      MILLRACE_TRUST_PROXY: 'true',
      MILLRACE_PUBLIC_URL: 'example.com',
    };
    const problems = problemsOf(env);
    expect(problems).toHaveLength(5);
    for (const [name, value] of Object.entries(env)) {
      const problem = problems.find((each) => each.startsWith(`${name}: "${value}" is not `));
      expect(problem).toContain(`for example ${name}=`);
    }
  });

  test('reports a variable once, however many settings depend on it', () => {
    expect(problemsOf({ MILLRACE_SESSION_IDLE_HOURS: 'long' })).toHaveLength(1);
  });

  test('reports a mistyped name and suggests the right one', () => {
    expect(problemsOf({ MILLRACE_RATELIMIT: '5' })).toEqual([
      'MILLRACE_RATELIMIT is set, but there is no such variable. Did you mean MILLRACE_RATE_LIMIT?',
    ]);
    expect(problemsOf({ MILLRACE_COLOUR_OF_THE_SKY: 'blue' })[0]).toContain('docs/configuration.md');
    expect(problemsOf({ PATH: '/bin', DATABASE_URI: 'x' })).toEqual([]);
  });

  test('reports a password in DATABASE_URL without showing it', () => {
    const [problem] = problemsOf({ DATABASE_URL: 'mysql://me:topsecret@db/x' });
    expect(problem).toContain('DATABASE_URL');
    expect(problem).not.toContain('topsecret');
  });

  test.each([
    ['512', 512 * 1024, false],
    ['2048', 2048, true],
    ['64KiB', 65_536, true],
    ['2 MiB', 2_097_152, true],
    ['1GiB', 0, false],
    ['-1', 0, false],
    ['1.5MiB', 0, false],
  ])('MILLRACE_BODY_LIMIT=%s', (text, bytes, isAllowed) => {
    if (isAllowed) expect(loadConfig({ MILLRACE_BODY_LIMIT: text }).limits.bodyBytes).toBe(bytes);
    else expect(problemsOf({ MILLRACE_BODY_LIMIT: text })).toHaveLength(1);
  });

  test.each([
    ['off', false],
    ['2', 2],
    ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
  ])('MILLRACE_TRUST_PROXY=%s', (text, value) => {
    expect(loadConfig({ MILLRACE_TRUST_PROXY: text }).trustProxy).toEqual(value);
  });

  test.each(['0', '11', '10.0.0.0/33', 'proxy.local', '10.0.0.0/8/8'])(
    'MILLRACE_TRUST_PROXY=%s is refused',
    (text) => {
      expect(problemsOf({ MILLRACE_TRUST_PROXY: text })).toHaveLength(1);
    },
  );

  test('a public URL loses its trailing slash, and must not have a path', () => {
    const read = (url: string) => loadConfig({ MILLRACE_PUBLIC_URL: url }).publicUrl;
    expect(read('https://flows.example:8443/')).toBe('https://flows.example:8443');
    for (const address of [
      'https://a.example/flows/',
      'ftp://a.example',
      'https://me:pw@a.example',
      'https://a.example/?x',
      'https://a.example/#x',
    ]) {
      expect(problemsOf({ MILLRACE_PUBLIC_URL: address })[0]).toContain('without path');
    }
    // The format of issuer names is up to the provider.
    const oidc = { MILLRACE_OIDC_CLIENT_ID: 'x', MILLRACE_OIDC_ISSUER: 'https://login.example/realms/a/' };
    expect(loadConfig(oidc).singleSignOn?.issuer).toBe('https://login.example/realms/a');
  });

  test('the public URL follows host and port unless it is set', () => {
    expect(loadConfig({ HOST: '192.0.2.7', PORT: '9000' }).publicUrl).toBe('http://192.0.2.7:9000');
    expect(loadConfig({ HOST: '2001:db8::1' }).publicUrl).toBe('http://[2001:db8::1]:8080');
    expect(loadConfig({ HOST: '0.0.0.0' }).publicUrl).toBe('http://localhost:8080');
  });

  test('retention: one for all statuses, and one for each', () => {
    const env = { MILLRACE_RETENTION_DAYS: '7', MILLRACE_RETENTION_DAYS_FAILED: '90' };
    expect(loadConfig(env).retention.executionsDays).toEqual({ completed: 7, failed: 90, cancelled: 7 });
  });

  test("a heartbeat that can't keep its lease is refused", () => {
    expect(problemsOf({ MILLRACE_HEARTBEAT_MS: '15000' })[0]).toContain(
      'less than half of MILLRACE_LEASE_MS',
    );
    expect(problemsOf({ MILLRACE_HEARTBEAT_MS: '15000', MILLRACE_LEASE_MS: '60000' })).toEqual([]);
  });

  test('a bucket for files needs keys, and a place that is one', () => {
    const keys = { MILLRACE_FILES_S3_ACCESS_KEY: 'id', MILLRACE_FILES_S3_SECRET_KEY: 'secret' };
    const s3 = (env: NodeJS.ProcessEnv) => loadConfig({ ...keys, ...env }).files.s3;
    expect(s3({})).toBeNull();
    expect(s3({ MILLRACE_FILES_STORE: 's3://mill-files/a/b/', MILLRACE_FILES_S3_REGION: 'eu-1' })).toEqual({
      endpoint: 'https://s3.eu-1.amazonaws.com',
      region: 'eu-1',
      bucket: 'mill-files',
      prefix: 'a/b/',
      accessKeyId: 'id',
      secretAccessKey: 'secret',
    });
    const endpoint = {
      MILLRACE_FILES_STORE: 's3://mill-files',
      MILLRACE_FILES_S3_ENDPOINT: 'http://minio:9000/',
    };
    expect(s3(endpoint)).toMatchObject({ endpoint: 'http://minio:9000', prefix: '' });
    expect(loadFileSettings('s3://other', { ...keys, ...endpoint }).s3?.bucket).toBe('other');
    expect(() => loadConfig({ MILLRACE_FILES_STORE: 's3://mill-files' })).toThrow(
      'MILLRACE_FILES_S3_ACCESS_KEY',
    );
    for (const place of ['mill-files', 's3://', 's3://A', 's3://mill-files//x', 's3://mill-files/ü']) {
      expect(() => s3({ MILLRACE_FILES_STORE: place }), place).toThrow('MILLRACE_FILES_STORE');
    }
    expect(() => s3({ MILLRACE_FILES_S3_ENDPOINT: 'https://u:p@minio/' })).toThrow(
      'MILLRACE_FILES_S3_ENDPOINT',
    );
  });

  test('metrics that others can reach need a token', () => {
    const open = { MILLRACE_METRICS_PORT: '9464', MILLRACE_METRICS_HOST: '0.0.0.0' };
    expect(problemsOf(open)).toEqual([expect.stringContaining('MILLRACE_METRICS_TOKEN must be set')]);
    expect(problemsOf({ ...open, MILLRACE_METRICS_TOKEN: 'sixteen-or-more-x' })).toEqual([]);
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) {
      expect(problemsOf({ ...open, MILLRACE_METRICS_HOST: host })).toEqual([]);
    }
    expect(problemsOf({ ...open, MILLRACE_METRICS_HOST: '127.0.0.1.example.com' })).toHaveLength(1);
    const [short] = problemsOf({ MILLRACE_METRICS_TOKEN: 'short-secret' });
    expect(short).not.toContain('short-secret');
    expect(loadConfig({}).metrics.port).toBeNull();
  });

  test('invalid hosts are reported', () => {
    expect(problemsOf({ MILLRACE_ALLOW_HOSTS: '10.0.0.0/8,https://x/' })).toEqual([
      expect.stringContaining('https://x/'),
    ]);
  });

  test('a relative data folder is below the current folder', () => {
    expect(loadConfig({ MILLRACE_DATA_DIR: 'here' }).dataDir).toBe(`${process.cwd()}/here`);
  });
});

describe('docs/configuration.md', () => {
  test('lists every variable with its default, allowed values and purpose', async () => {
    const page = await readFile(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    const expected = Object.entries(VARIABLES).map(([name, { fallback, allowed, about }]) =>
      `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${about} | ${allowed} |`.replace(
        '|  |',
        '| |',
      ),
    );
    expect(rows).toEqual(expected);
  });
});

describe('traces', () => {
  const read = (env: NodeJS.ProcessEnv) => loadConfig(env).tracing;

  test('are off without an endpoint, whatever else is set for other programs', () => {
    expect(read({})).toBeNull();
    expect(read({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'jaeger_remote' })).toBeNull();
  });

  test('are sent as the standard variables say', () => {
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' })).toMatchObject({
      url: 'http://collector:4318/v1/traces',
      protocol: 'http/protobuf',
      headers: {},
      serviceName: 'millrace',
      sampler: 'parentbased_always_on',
      ratio: 1,
      propagates: true,
      maxSpans: 2048,
    });
    expect(
      read({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/in',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi, x-team = a=b',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '.25',
        OTEL_PROPAGATORS: 'none',
      }),
    ).toMatchObject({
      url: 'https://traces.example.com/in',
      headers: { authorization: 'Basic YTpi', 'x-team': 'a=b' },
      ratio: 0.25,
      propagates: false,
    });
  });

  test('with a value that is not allowed are refused, without showing a secret', () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'canary',
      OTEL_TRACES_SAMPLER_ARG: '2',
    };
    const problems = problemsOf(env);
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_TRACES_SAMPLER_ARG',
    ]);
    expect(problems.join()).not.toContain('canary');
  });
});
