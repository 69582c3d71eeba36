import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

// What the tools themselves say of the files in deploy/, where they are installed. tools/deploy.test.ts needs none of them.
vi.setConfig({ testTimeout: 60_000 });

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mr-deploy-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Null if the tool isn't installed. */
function run(tool: string, args: readonly string[]): { status: number | null; output: string } | null {
  const env = {
    PATH: `${process.env.PATH}:/usr/sbin`,
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  };
  const { error, status, stdout, stderr } = spawnSync(tool, args, { cwd: ROOT, encoding: 'utf8', env });
  // EACCES: PATH names a folder that this user may not read, as after `su`.
  if (error !== undefined && 'code' in error && ['ENOENT', 'EACCES'].includes(String(error.code)))
    return null;
  return { status, output: stdout + stderr };
}

function expectAccepted(tool: string, args: readonly string[]): void {
  const result = run(tool, args);
  if (result === null) return;
  expect({ tool, args, status: result.status }, result.output).toEqual({ tool, args, status: 0 });
}

test('Caddy accepts its file', () => {
  expectAccepted('caddy', ['validate', '--adapter', 'caddyfile', '--config', 'deploy/caddy/Caddyfile']);
});

test('nginx accepts its file', () => {
  const [certificate, key] = [join(folder, 'millrace.pem'), join(folder, 'millrace.key')];
  const pair = ['-keyout', key, '-out', certificate, '-days', '1', '-subj', '/CN=localhost', '-nodes'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  if (run('openssl', ['req', '-x509', ...curve, ...pair]) === null) return;
  // It opens the ports even when it only tests; these would need privileges, and others may have them.
  const site = read('deploy/nginx/millrace.conf')
    .replace(/^\s*listen \[::\].*$/gm, '')
    .replace(/listen (80|443)\b/g, (_, port) => `listen unix:${join(folder, port)}`)
    .replace('/etc/ssl/certs/millrace.pem', certificate)
    .replace('/etc/ssl/private/millrace.key', key);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join('\n');
  const config = `pid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${site}\n}\n`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  expectAccepted('nginx', ['-t', '-c', join(folder, 'nginx.conf'), '-e', 'stderr']);
});

test('systemd accepts the unit, and rates its exposure below 2', () => {
  const version = /^systemd (\d+)/.exec(run('systemd-analyze', ['--version'])?.output ?? '')?.[1];
  if (version === undefined || Number(version) < 250) return;
  const unit = join(folder, 'millrace.service');
  writeFileSync(unit, read('deploy/systemd/millrace.service').replace('/usr/bin/node', process.execPath));
  expectAccepted('systemd-analyze', ['verify', '--man=no', unit]);
  expectAccepted('systemd-analyze', ['security', '--no-pager', '--offline=yes', '--threshold=20', unit]);
});

test('helm accepts the chart', () => {
  const values = [
    'publicUrl=https://millrace.example.com',
    'database.secretName=database',
    'encryptionKey.secretName=key',
  ];
  expectAccepted('helm', [
    'lint',
    '--strict',
    'deploy/helm/millrace',
    ...values.map((each) => `--set=${each}`),
  ]);
});
