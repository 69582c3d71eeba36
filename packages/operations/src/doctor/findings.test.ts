import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { filesFindings } from './files-findings.ts';
import type { Finding } from './finding.ts';
import { diskFindings, type Installation, reachFindings, settingsFindings } from './machine-findings.ts';
import { clockFindings, serverFindings, workerFindings } from './server-findings.ts';
import type { ServerFacts } from './store.ts';

const PATIENCE_MS = 60_000;
const SOUND: ServerFacts = {
  version: 180_000,
  version_name: '18.0',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  autovacuum: 'on',
  connections: 97,
  role: 'millrace',
  is_unrestricted: false,
  live_workers: 2,
};
const keysOf = (findings: readonly Finding[]) => findings.map(({ level, what }) => `${level} ${what.key}`);

describe('the database server', () => {
  const found = (facts: Partial<ServerFacts>) => keysOf(serverFindings({ ...SOUND, ...facts }, 19));

  test('a sound one has no findings', () => {
    expect(found({})).toEqual([]);
    // A standby that confirms, or less than the disk of the standby, is the operator's choice.
    expect(found({ synchronous_commit: 'remote_apply' })).toEqual([]);
    expect(found({ synchronous_commit: 'local' })).toEqual([]);
  });

  test.each(['fsync', 'full_page_writes', 'synchronous_commit'])('%s switched off is an error', (name) => {
    const [finding, ...others] = serverFindings({ ...SOUND, [name]: 'off' }, 19);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ check: 'durability', level: 'error', what: { params: { name } } });
  });

  test('an old version, a superuser and no autovacuum', () => {
    expect(found({ version: 140_012 })).toEqual(['error doctor.server_old']);
    expect(found({ is_unrestricted: true })).toEqual(['warning doctor.role_unrestricted']);
    expect(found({ autovacuum: 'off' })).toEqual(['warning doctor.autovacuum_off']);
  });

  test('too few connections for all processes, or for one without a worker', () => {
    expect(found({ live_workers: 5, connections: 95 })).toEqual([]);
    expect(found({ live_workers: 5, connections: 94 })).toEqual(['warning doctor.connections_short']);
    expect(found({ live_workers: 0, connections: 18 })).toEqual(['warning doctor.connections_short']);
  });

  test('no worker', () => {
    expect(workerFindings(SOUND)).toEqual([]);
    expect(keysOf(workerFindings({ ...SOUND, live_workers: 0 }))).toEqual(['error doctor.no_workers']);
  });
});

test.each([
  [4_999, []],
  [-4_999, []],
  [5_000, ['warning doctor.clock_ahead']],
  [-6_000, ['warning doctor.clock_behind']],
  [30_000, ['error doctor.clock_ahead']],
  [-3_600_000, ['error doctor.clock_behind']],
])('a clock that is %d ms ahead', (driftMs, expected) => {
  expect(keysOf(clockFindings(driftMs))).toEqual(expected);
});

test.each([
  [{ free: 6e9, total: 1e12 }, []],
  [{ free: 4e9, total: 20e9 }, []],
  [{ free: 4e9, total: 1e12 }, ['warning doctor.disk_full']],
  [{ free: 0.9e9, total: 1e12 }, ['error doctor.disk_full']],
])('a disk with %j', async (space, expected) => {
  expect(keysOf(await diskFindings('/data', async () => space))).toEqual(expected);
});

test('the disk of a folder can be read', async () => {
  expect(Array.isArray(await diskFindings(process.cwd()))).toBe(true);
});

describe('the folder for files', () => {
  const OWN = { installationId: 'own', lookForContents: async () => ({ looked: 7, missing: [] }) };
  const ROOMY = async () => ({ free: 7e9, total: 1e12 });
  const found = async (folder: string, readSpace = ROOMY) =>
    keysOf(await filesFindings({ folder, freeDiskBytes: 1e9 }, OWN, readSpace));

  async function makeFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-files-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    return folder;
  }

  test('that is fine, or not made yet, has no findings', async () => {
    const folder = await makeFolder();
    expect(await found(folder)).toEqual([]);
    expect(await found(join(folder, 'not', 'yet'))).toEqual([]);
    await writeFile(join(folder, 'installation'), 'own\n');
    expect(await found(folder)).toEqual([]);
  });

  test('that is none, or belongs to another installation', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, 'installation'), 'other\n');
    const findings = await filesFindings({ folder, freeDiskBytes: 0 }, OWN, ROOMY);
    expect(keysOf(findings)).toEqual(['error doctor.files_foreign']);
    expect(findings[0]?.fix.params).toEqual({ path: join(folder, 'installation') });
    expect(await found(join(folder, 'installation', 'below'))).toEqual(['error doctor.files_unwritable']);
  });

  test('without the content of files; that of another installation is not looked at', async () => {
    const folder = await makeFolder();
    const known = { ...OWN, lookForContents: async () => ({ looked: 7, missing: ['a', 'b'] }) };
    const settings = { folder, freeDiskBytes: 0 };
    const findings = await filesFindings(settings, known, ROOMY);
    expect(keysOf(findings)).toEqual(['error doctor.contents_missing']);
    expect(findings[0]?.what.params).toEqual({ count: 2, looked: 7, path: folder, file: 'a' });
    await writeFile(join(folder, 'installation'), 'other\n');
    expect(keysOf(await filesFindings(settings, known, ROOMY))).toEqual(['error doctor.files_foreign']);
  });

  test.each([
    [2e9, ['warning doctor.disk_full']],
    [1e9, ['error doctor.disk_full']],
  ])('with %d bytes free', async (free, expected) => {
    expect(await found(await makeFolder(), async () => ({ free, total: 1e12 }))).toEqual(expected);
  });
});

describe('settings', () => {
  const SAFE: Installation = {
    host: '0.0.0.0',
    publicUrl: 'https://flows.example.com',
    publicUrlIsExplicit: true,
    trustProxy: ['10.0.0.1'],
    dataDir: null,
    files: { folder: '/nowhere', freeDiskBytes: 0, s3: null },
    connectionsPerProcess: 19,
  };
  const found = (installation: Partial<Installation>) =>
    keysOf(settingsFindings({ ...SAFE, ...installation }));

  test('that are sound have no findings', () => {
    expect(found({})).toEqual([]);
    expect(found({ trustProxy: 1, host: '127.0.0.1' })).toEqual([]);
  });

  test('that let others claim addresses, or read what is sent', () => {
    expect(found({ trustProxy: 1 })).toEqual(['warning doctor.proxy_count']);
    expect(found({ publicUrl: 'http://flows.example.com' })).toEqual(['warning doctor.public_url_http']);
    expect(found({ publicUrl: 'http://localhost:8080' })).toEqual(['info doctor.public_url_local']);
  });
});

describe('the public URL', () => {
  async function serve(status: number, body: string): Promise<string> {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test('leads to this service', async () => {
    expect(await reachFindings(await serve(200, '{"status":"alive"}'), PATIENCE_MS)).toEqual([]);
  });

  test('leads to another server, or nowhere', async () => {
    const status = 'warning doctor.unreachable_status';
    expect(keysOf(await reachFindings(await serve(502, 'bad gateway'), PATIENCE_MS))).toEqual([status]);
    expect(keysOf(await reachFindings(await serve(200, '<h1>Welcome</h1>'), PATIENCE_MS))).toEqual([status]);
    // Nothing ever listens on it.
    expect(keysOf(await reachFindings('http://127.0.0.1:1'))).toEqual(['warning doctor.unreachable']);
  });
});
