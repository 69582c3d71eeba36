import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { NODE_OPTIONS } from '../packages/cli/bin/node-options.js';
import { VARIABLES } from '../packages/cli/src/settings/variables.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');
const readYaml = (path: string): unknown => parse(read(path), { merge: true });

const FILES = globSync('deploy/**/*', { cwd: ROOT, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.parentPath.includes('monitoring'))
  .map((entry) => `${entry.parentPath}/${entry.name}`.slice(ROOT.length).replace(/^\//, ''));
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  optionalDependencies: Record<string, string>;
};
const PORT = Number(VARIABLES.PORT.fallback);

test('the files are found', () => {
  expect(FILES).toEqual(
    expect.arrayContaining([
      'deploy/Dockerfile',
      'deploy/compose/scaled.yml',
      'deploy/helm/millrace/Chart.yaml',
    ]),
  );
});

test.each(FILES)('%s names settings that exist', (path) => {
  const named = read(path).match(/\b(MILLRACE_[A-Z0-9_]+|DATABASE_URL)\b/g) ?? [];
  expect([...new Set(named)].filter((name) => !(name in VARIABLES))).toEqual([]);
});

test.each(FILES)('%s names this version', (path) => {
  const versions = [...read(path).matchAll(/millrace[:-](\d+\.\d+\.\d+)/g)].map(([, version]) => version);
  expect(versions.filter((version) => version !== manifest.version)).toEqual([]);
});

test.each(FILES)('%s names the paths of probes as the service has them', (path) => {
  const served = read('packages/http/src/health.ts');
  for (const [probe] of read(path).matchAll(/\/(healthz|readyz)\b/g)) expect(served).toContain(`'${probe}'`);
  expect(read(path)).not.toMatch(/\/(health|ready|livez|status)\b(?!z)/);
});

test('docs/operations.md shows how to use each of them', () => {
  const page = read('docs/operations.md');
  for (const path of [
    'Dockerfile',
    'compose/single.yml',
    'compose/scaled.yml',
    'helm/millrace',
    'nginx',
    'caddy',
    'patroni/patroni.yml',
  ]) {
    expect(page).toContain(`deploy/${path}`);
  }
  expect(page).toContain('deploy/systemd');
});

test('what starts the service gives Node the options of npm start', () => {
  const options = NODE_OPTIONS.join(' ');
  expect(read('deploy/Dockerfile')).toContain(` NODE_OPTIONS=${options} \\\n`);
  expect(read('deploy/systemd/millrace.service')).toContain(`\nExecStart=/usr/bin/node ${options} /opt/`);
});

describe('deploy/Dockerfile', () => {
  const text = read('deploy/Dockerfile');
  const last = text.slice(text.lastIndexOf('\nFROM '));

  test('has the Node of package.json', () => {
    const [, version] = /^ARG NODE_VERSION=(.*)$/m.exec(text) ?? [];
    expect([...new Set(Object.values(manifest.optionalDependencies))]).toEqual([version]);
    expect([...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)).toEqual(
      Array.from({ length: 3 }, () => 'node:${NODE_VERSION}-bookworm-slim'),
    );
  });

  test('runs the installed package as a user without privileges, on the port that it exposes', () => {
    expect(last).toContain('\nUSER 1000:1000\n');
    expect(last).toContain(`\nEXPOSE ${PORT}\n`);
    expect(last).toContain(` PORT=${PORT} \\\n`);
    const { bin } = JSON.parse(read('packages/cli/package.json')) as { bin: Record<string, string> };
    expect(bin.millrace).toBe('bin/millrace.js');
    expect(last).toContain(`ln -s /opt/millrace/node_modules/millrace/${bin.millrace} `);
  });

  test('keeps its data in a volume', () => {
    expect(last).toContain(' MILLRACE_DATA_DIR=/data\n');
    expect(last).toContain('\nVOLUME /data\n');
  });

  test('asks for its health in a way that works', () => {
    const [, command = ''] = /HEALTHCHECK [^[]*CMD (\[.*\])/.exec(last) ?? [];
    const [program, option, script = ''] = JSON.parse(command) as string[];
    expect([program, option]).toEqual(['node', '-e']);
    expect(() => new Script(script)).not.toThrow();
  });
});

interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks?: Readonly<Record<string, { ipam: { config: readonly { subnet: string }[] } }>>;
}

describe.each(['single', 'scaled'])('deploy/compose/%s.yml', (name) => {
  const { services, networks } = readYaml(`deploy/compose/${name}.yml`) as Compose;
  const ours = Object.entries(services).filter(([, { image }]) => image.startsWith('millrace:'));

  test('keeps everything read-only, without capabilities', () => {
    expect(ours.length).toBeGreaterThan(0);
    for (const [, service] of ours) expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  });

  test('gives values that the service accepts', () => {
    for (const [service, { environment }] of ours) {
      for (const [key, value] of Object.entries(environment)) {
        const given = value.replace(/\$\{SITE[^}]*\}/, 'example.com').replace(/\$\{[A-Z_]+:-([^}]*)\}/, '$1');
        if (given.includes('${')) continue;
        const variable = VARIABLES[key as keyof typeof VARIABLES];
        expect(variable.parse(given), `${service}: ${key}=${given}`).toBeDefined();
      }
    }
  });

  test('publishes the API to this machine, or the proxy', () => {
    const published = Object.entries(services).flatMap(([service, { ports = [] }]) =>
      ports.map((port) => `${service} ${port}`),
    );
    expect(published).toEqual(
      name === 'single' ? [`millrace 127.0.0.1:${PORT}:${PORT}`] : ['proxy 80:80', 'proxy 443:443'],
    );
  });

  if (name === 'scaled') {
    test('has two APIs behind the proxy and two workers, with the same settings', () => {
      const withCommand = (command: string) =>
        ours.filter(([, service]) => service.command?.[0] === command).map(([service]) => service);
      expect(withCommand('worker')).toHaveLength(2);
      const upstreams = withCommand('api').map((service) => `${service}:${PORT}`);
      expect(services.proxy?.environment.UPSTREAMS).toBe(upstreams.join(' '));
      expect(new Set(ours.map(([, { environment }]) => JSON.stringify(environment))).size).toBe(1);
    });

    test('trusts the network that the proxy is in', () => {
      const [subnet] = networks?.inside?.ipam.config ?? [];
      for (const [, { environment }] of ours) expect(environment.MILLRACE_TRUST_PROXY).toBe(subnet?.subnet);
    });

    test('has an example for every variable that it needs', () => {
      const needed = read('deploy/compose/scaled.yml').matchAll(/\$\{([A-Z_]+):\?/g);
      const example = read('deploy/compose/env.example');
      for (const [, variable] of needed) expect(example).toMatch(new RegExp(`^${variable}=`, 'm'));
    });
  }
});

describe('the proxies', () => {
  const caddy = read('deploy/caddy/Caddyfile');
  const nginx = read('deploy/nginx/millrace.conf');

  test('pass requests on to the default port', () => {
    expect(caddy).toContain(`127.0.0.1:${PORT}}`);
    expect(nginx).toContain(`server 127.0.0.1:${PORT};`);
  });

  test('let headers through that Millrace allows', () => {
    expect(VARIABLES.MILLRACE_HEADER_LIMIT.fallback).toBe('16KiB');
    expect(nginx).toContain('large_client_header_buffers 4 16k;');
  });
});

describe('deploy/systemd/millrace.service', () => {
  const unit = read('deploy/systemd/millrace.service');

  test('gives values that the service accepts', () => {
    const [, line = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
    const settings = line.split(' ').map((each) => each.split('=') as [string, string]);
    expect(settings.map(([name]) => name)).toEqual(expect.arrayContaining(['PORT', 'MILLRACE_DATA_DIR']));
    for (const [name, value] of settings) {
      if (name === 'NODE_ENV') continue;
      expect(VARIABLES[name as keyof typeof VARIABLES].parse(value), name).toBeDefined();
    }
  });

  test('waits for longer than a stop may take', () => {
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(seconds) * 1000).toBeGreaterThan(
      Number(VARIABLES.MILLRACE_SHUTDOWN_GRACE_MS.fallback) + 30_000,
    );
  });
});

describe('deploy/helm/millrace', () => {
  const FOLDER = 'deploy/helm/millrace';
  const chart = readYaml(`${FOLDER}/Chart.yaml`) as { version: string; appVersion: string };
  const values = readYaml(`${FOLDER}/values.yaml`) as Record<string, object>;
  const required = {
    publicUrl: 'https://millrace.example.com',
    database: { ...values.database, secretName: 'millrace-database' },
    encryptionKey: { ...values.encryptionKey, secretName: 'millrace-key' },
  };
  const validate = new Ajv({ strict: false }).compile(JSON.parse(read(`${FOLDER}/values.schema.json`)));
  const templates = globSync(`${FOLDER}/templates/*`, { cwd: ROOT }).map(read).join('\n');

  test('has the version of Millrace', () => {
    expect(chart).toMatchObject({ version: manifest.version, appVersion: manifest.version });
  });

  test('accepts its own values once the required ones are set', () => {
    expect(validate({ ...values, ...required }) || validate.errors).toBe(true);
    expect(validate(values)).toBe(false);
    expect(validate.errors?.map(({ instancePath }) => instancePath)).toEqual(['/publicUrl']);
  });

  test.each([
    ['a misspelled value', { replicaCount: 3 }],
    ['a misspelled value of a process', { worker: { ...values.worker, replica: 3 } }],
    ['a secret among the settings', { settings: { MILLRACE_SECRET_KEY: 'x' } }],
    ['a setting that the chart makes', { settings: { MILLRACE_TRUST_PROXY: 'off' } }],
    ['a number as a setting', { settings: { MILLRACE_RETENTION_DAYS: 90 } }],
    ['metrics for everyone', { metrics: { ...values.metrics, enabled: true } }],
    ['an ingress without a host', { ingress: { ...values.ingress, enabled: true } }],
    ['a public URL with a path', { publicUrl: 'https://example.com/millrace' }],
  ])('refuses %s', (_what, wrong) => {
    expect(validate({ ...values, ...required, ...wrong })).toBe(false);
  });

  test('uses values that exist', () => {
    const used = [...templates.matchAll(/\$?\.Values\.([a-zA-Z.]+)/g)].map(([, path = '']) => path);
    expect(used.length).toBeGreaterThan(20);
    const missing = used.filter((path) => {
      const found = path
        .split('.')
        .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], values);
      return found === undefined;
    });
    expect(missing).toEqual([]);
  });

  test('probes the port of the API, and runs as the user of the image', () => {
    expect(templates).toContain(`containerPort: ${PORT}\n`);
    expect(templates).toContain('runAsUser: 1000\n');
    expect(templates).toContain('mountPath: /data\n');
  });

  test('scales by a metric that is explained', () => {
    const { metric } = (values.worker as { autoscaling: { metric: string } }).autoscaling;
    expect(read('docs/operations.md')).toContain(`as: ${metric}`);
  });
});

test('what the image is built from contains nothing that was installed or built before', () => {
  const ignored = read('.dockerignore').split('\n');
  expect(ignored).toEqual(
    expect.arrayContaining(['**/node_modules', '**/dist', '.git', '.millrace', '**/.env']),
  );
  for (const needed of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'tools',
    'packages',
    'docs',
    'examples',
    'README.md',
  ]) {
    expect(existsSync(`${ROOT}/${needed}`)).toBe(true);
    expect(ignored).not.toContain(needed);
  }
});

test('the example for Patroni never acknowledges what only one server has', () => {
  const { bootstrap } = readYaml('deploy/patroni/patroni.yml') as {
    bootstrap: { dcs: { ttl: number; loop_wait: number; retry_timeout: number; postgresql: object } };
  };
  const { ttl, loop_wait, retry_timeout } = bootstrap.dcs;
  expect(bootstrap.dcs).toMatchObject({
    synchronous_mode: true,
    synchronous_mode_strict: true,
    primary_start_timeout: 0,
    postgresql: {
      use_pg_rewind: true,
      parameters: { synchronous_commit: 'on', restart_after_crash: 'off', wal_log_hints: 'on' },
    },
  });
  expect(ttl).toBeGreaterThanOrEqual(loop_wait + 2 * retry_timeout);
});
