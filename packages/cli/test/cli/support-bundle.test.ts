import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetricsPage } from '@millrace/api/metrics/page';
import { createMetricsServer } from '@millrace/api/metrics/server';
import { finishWork, type JsonObject, success } from '@millrace/engine';
import { maskSecrets } from '@millrace/runtime/mask';
import { Meters } from '@millrace/runtime/meters/meters';
import { createSnapshots } from '@millrace/service/system/snapshot';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import pino from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { millrace } from './millrace.ts';

const TOKEN = 'canary-token-of-the-metrics';
const log = pino({ level: 'silent' });

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'millrace-support-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** The metrics of a service that has worked for the organisation. */
async function serveMetrics(organisationId: number): Promise<number> {
  const { db } = database;
  const meters = new Meters();
  meters.startsAccepted('api', organisationId);
  meters.executionEnded({ organisationId, workflowId: 1 }, 'http_error', 1);
  const snapshots = createSnapshots({ db, log, everyMs: 10_000, busiest: 20 });
  const pool = { pools: () => [], waitingMs: () => 0 };
  const limits = { executionsBytes: 0, dataBytes: 0, filesBytes: 0 };
  const page = createMetricsPage({ meters, pool, snapshots, limits });
  const server = createMetricsServer({ page, token: TOKEN, log });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Data that workflows and people wrote, wherever the service keeps it. */
async function plantData(organisationId: number, canary: (what: string) => string): Promise<void> {
  const { db } = database;
  const hash = randomBytes(32).toString('base64url');
  canary(hash);
  await db.query('UPDATE organisations SET name = $2 WHERE id = $1', [
    organisationId,
    canary('organisation name'),
  ]);
  const [workflow] = await db.query<{ id: number }>(
    `INSERT INTO workflows (organisation_id, name, status, version, webhook_hash)
     VALUES ($1, $2, 'active', 1, $3) RETURNING id`,
    [organisationId, canary('workflow name'), hash],
  );
  await db.query(
    'INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data) VALUES ($1, 1, $2, $3)',
    [workflow?.id, organisationId, JSON.stringify({ nodes: [], edges: [], note: canary('flow data') })],
  );
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name, is_test_mode, input)
     VALUES ($1, $2, 1, 'queued', 'api', $3, false, $4)`,
    [
      organisationId,
      workflow?.id,
      canary('display name'),
      JSON.stringify({ card: canary('execution input') }),
    ],
  );
  await db.query('INSERT INTO users (email, name, password_hash) VALUES ($1, $2, $3)', [
    canary('person@canary.example'),
    canary('name of a person'),
    canary('password hash'),
  ]);
}

test('says much about the installation, and nothing that is secret or that somebody wrote, in any encoding', async () => {
  const secrets: string[] = [];
  const canary = (what: string): string => {
    secrets.push(what.includes('canary') || what.length > 40 ? what : `canary of the ${what}`);
    return secrets.at(-1) ?? '';
  };
  const secretKey = randomBytes(32);
  secrets.push(secretKey.toString('base64'), secretKey.toString('hex'), TOKEN);
  const env = {
    DATABASE_URL: database.url,
    MILLRACE_DATA_DIR: folder,
    MILLRACE_PUBLIC_URL: 'http://127.0.0.1:1',
    MILLRACE_SECRET_KEY: secretKey.toString('base64'),
    MILLRACE_OIDC_ISSUER: 'https://login.example.com',
    MILLRACE_OIDC_CLIENT_ID: 'millrace',
    MILLRACE_OIDC_CLIENT_SECRET: canary('canary-client-secret'),
    MILLRACE_METRICS_TOKEN: TOKEN,
    MILLRACE_KEY: canary('canary-key-of-the-shell'),
  };
  const { password } = new URL(database.url);
  if (password !== '') secrets.push(password);
  const run = async (words: readonly string[], stdin = ''): Promise<{ [name: string]: unknown }> => {
    const { exitCode, stdout, stderr } = await millrace([...words, '--json'], { env, stdin });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return JSON.parse(stdout) as { [name: string]: unknown };
  };
  const organisation = await run(['orgs', 'create', '--name', 'Acme']);
  const organisationId = Number(organisation.id);
  const key = await run(['keys', 'create', '--name', canary('name of a key'), '--scopes', 'workflows:read']);
  const keyText = Object.values(key).find((value) => String(value).startsWith('mr_'));
  expect(keyText).toMatch(/^mr_\w{12}_/);
  secrets.push(String(keyText));
  const credential = ['credentials', 'add', '--name', canary('credential name'), '--type', 'bearer'];
  await run(
    [...credential, '--host', 'canary-host.example', '--stdin', 'token'],
    canary('canary-bearer-token'),
  );
  secrets.push('canary-host.example');
  await plantData(organisationId, canary);

  const port = await serveMetrics(organisationId);
  const file = join(folder, 'bundle.json');
  const withMetrics = { ...env, MILLRACE_METRICS_PORT: String(port) };
  const { exitCode, stdout } = await millrace(['support-bundle', file], { env: withMetrics });
  expect(exitCode).toBe(0);
  expect(stdout).toContain(file);
  const text = await readFile(file, 'utf8');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const bundle = JSON.parse(text) as JsonObject;
  expect(bundle).toMatchObject({
    settings: {
      DATABASE_URL: '(set)',
      MILLRACE_SECRET_KEY: '(set)',
      MILLRACE_OIDC_CLIENT_SECRET: '(set)',
      MILLRACE_METRICS_TOKEN: '(set)',
      MILLRACE_OIDC_ISSUER: 'https://login.example.com',
    },
    database: { counts: { organisations: 1, accounts: 1, workflows: 1, credentials: 1 } },
    diagnosis: { findings: expect.any(Array) },
    metrics: expect.arrayContaining(['millrace_executions_failed_total{code="http_error"} 1']),
  });

  /** What is left of a text once all secrets in it, encoded or not, are masked. */
  const masked = (content: JsonObject) => finishWork(maskSecrets(success(content), secrets));
  expect(masked({ text })).toEqual(success({ text }));
  expect(masked(bundle)).toEqual(success(bundle));
  for (const secret of secrets) {
    const encoded = { text: `${text}${Buffer.from(secret).toString('base64')}` };
    expect(masked(encoded), 'the search finds it').not.toEqual(success(encoded));
  }
});

test('never overwrites a file', async () => {
  const file = join(folder, 'twice.json');
  const env = { DATABASE_URL: database.url, MILLRACE_PUBLIC_URL: 'http://127.0.0.1:1' };
  expect((await millrace(['support-bundle', file], { env })).exitCode).toBe(0);
  const before = await readFile(file, 'utf8');
  const again = await millrace(['support-bundle', file, '--json'], { env });
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toContain('file_exists');
  expect(await readFile(file, 'utf8')).toBe(before);
});

test('is written even if settings are not valid, without their values, and if no database is there', async () => {
  const file = join(folder, 'invalid.json');
  const env = { MILLRACE_PUBLIC_URL: 'https://me:canary-password@example.com', MILLRACE_LOG_LEVEL: 'info' };
  expect((await millrace(['support-bundle', file], { env })).exitCode).toBe(0);
  const text = await readFile(file, 'utf8');
  expect(text).not.toContain('canary-password');
  expect(JSON.parse(text)).toMatchObject({
    settings: { MILLRACE_PUBLIC_URL: '(set, not valid)', MILLRACE_LOG_LEVEL: 'info' },
    database: null,
    diagnosis: null,
  });
  const away = join(folder, 'away.json');
  expect((await millrace(['support-bundle', away], { env: { MILLRACE_DATA_DIR: folder } })).exitCode).toBe(0);
  expect(JSON.parse(await readFile(away, 'utf8'))).toMatchObject({
    database: null,
    diagnosis: { findings: [{ check: 'server', level: 'error' }] },
  });
});
