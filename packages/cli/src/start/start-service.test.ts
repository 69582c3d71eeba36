import { createServer, type Server } from 'node:net';
import { createDatabase } from '@millrace/database/pool';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { millrace } from '../../test/cli/millrace.ts';
import { PgProxy } from '../../test/faults/support/pg-proxy.ts';
import { NEVER_SHEDS } from '../../test/never-sheds.ts';
import { loadConfig } from '../settings/config.ts';
import { announce, announceJson } from './announce.ts';
import type { Roles, Service } from './service.ts';
import { startService } from './start-service.ts';

const BOTH: Roles = { api: true, worker: true };
const log = pino({ level: 'silent' });

let database: TestDatabase;
const services: Service[] = [];
const listeners: Server[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()));
  for (const server of listeners.splice(0)) server.close();
  await database.drop();
});

function configOf(env: NodeJS.ProcessEnv) {
  return loadConfig({
    ...NEVER_SHEDS,
    DATABASE_URL: database.url,
    PORT: '0',
    MILLRACE_SHUTDOWN_GRACE_MS: '500',
    ...env,
  });
}

async function start(env: NodeJS.ProcessEnv = {}, roles = BOTH): Promise<Service> {
  const service = await startService({ config: configOf(env), roles, log });
  services.push(service);
  return service;
}

/** Occupies a port that was free. */
async function occupyPort(): Promise<number> {
  const server = createServer();
  listeners.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function get(
  service: Service,
  path: string,
  key: string | null = null,
): Promise<{ status: number; body: unknown }> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(`${service.address}${path}`, { headers });
  return { status: response.status, body: await response.json() };
}

describe('the first start', () => {
  test('creates an organisation, a working key and a workflow that runs', async () => {
    const service = await start();
    const { apiKey = null, workflowId = 0 } = service.firstStart ?? {};
    const response = await fetch(`${service.address}/api/v1/workflows/${workflowId}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(202);
    const { polling_url: url } = (await response.json()) as { polling_url: string };
    expect(await get(service, `${new URL(url).pathname}?wait=30`, apiKey)).toMatchObject({
      status: 200,
      body: {
        status: 'completed',
        node_outputs: {
          greet_one: { status: 'skipped' },
          answer: { status: 'success', output: { greeting: 'Hello, everyone!' } },
        },
      },
    });
    expect(await get(service, `/api/v1/workflows/${workflowId}`, apiKey)).toMatchObject({
      body: { status: 'active', problems: [] },
    });
  });

  test('happens once, however many start at once, and later starts change nothing', async () => {
    const started = await Promise.all([start(), start(), start()]);
    expect(started.filter((service) => service.firstStart !== null)).toHaveLength(1);
    expect((await start()).firstStart).toBeNull();
    expect(await database.db.query('SELECT count(*) FROM organisations')).toEqual([{ count: 1 }]);
    expect(await database.db.query('SELECT count(*) FROM api_keys')).toEqual([{ count: 1 }]);
  });

  test('key and setup link are announced once, and later starts say how to get others', async () => {
    const first = announce(await start(), configOf({}));
    expect(first).toMatch(/^ {2}mr_\S+$/m);
    expect(first).toMatch(/^ {2}http:\/\/localhost:\d+\/setup#token=[\w-]{43}$/m);
    const second = await start();
    const later = announce(second, configOf({}));
    expect(later).not.toMatch(/mr_|token=/);
    expect(later).toContain('npx millrace keys create');
    expect(later).toContain('npx millrace setup-link');
    expect(later).toContain(
      `  curl -s ${second.address}/api/v1/workflows -H "Authorization: Bearer $MILLRACE_KEY"; echo`,
    );
  });

  test('creates neither key nor link if they are not to be printed', async () => {
    const env = { MILLRACE_PRINT_FIRST_KEY: '0' };
    const service = await start(env);
    expect(service).toMatchObject({ firstStart: { apiKey: null, workflowId: 1 }, setupUrl: null });
    expect(await database.db.query('SELECT FROM api_keys UNION ALL SELECT FROM setup_links')).toEqual([]);
    const text = announce(service, configOf(env));
    expect(text).toContain('npx millrace keys create');
    expect(text).toContain('npx millrace setup-link');
    expect(text).toContain('/api/v1/workflows/1/execute -H "Authorization: Bearer $MILLRACE_KEY"');
    expect(JSON.parse(announceJson(service, configOf(env)))).toEqual({
      address: service.address,
      public_url: service.address,
      pid: process.pid,
      sample_workflow_id: 1,
    });
  });
});

describe('a database connection lost during startup', () => {
  let proxy: PgProxy;
  beforeEach(async () => {
    const folder = new URL(database.url).searchParams.get('host');
    proxy = await PgProxy.start(`${folder}/.s.PGSQL.${new URL(database.url).port || '5432'}`);
  });
  afterEach(() => proxy.stop());

  test.each([
    ['looking at the server', 'server_encoding'],
    ['looking for applied migrations', 'FROM schema_migrations'],
    ['looking for keys', 'key_id FROM credentials'],
    ['storing the first key', 'COMMIT'],
    ['listening for executions', 'LISTEN millrace_executions'],
    ['registering the worker', 'INSERT INTO workers'],
    ['listening for schedules', 'LISTEN millrace_schedules'],
    ['storing the setup link', 'INSERT INTO setup_links'],
  ])('%s: the start continues, and announces what it created', async (_, statement) => {
    proxy.loseReplyTo(statement);
    const service = await start({ DATABASE_URL: proxy.through(database.url) });
    expect(proxy.lostReplies).toBe(1);
    expect(service.setupUrl).toContain('/setup#token=');
    expect(await database.db.query('SELECT FROM organisations')).toHaveLength(1);
    expect(await get(service, '/api/v1/workflows/1', service.firstStart?.apiKey)).toMatchObject({
      status: 200,
    });
  });

  test('during the migrations: they continue', async () => {
    await database.db.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    proxy.loseReplyTo('INSERT INTO schema_migrations');
    const service = await start({ DATABASE_URL: proxy.through(database.url) });
    expect(proxy.lostReplies).toBe(1);
    expect(await get(service, '/readyz')).toMatchObject({ status: 200 });
  });

  test('a stop ends the waiting', async () => {
    const stop = new AbortController();
    const starting = startService({
      config: configOf({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }),
      roles: BOTH,
      log,
      signal: stop.signal,
      progress: () => stop.abort(),
    });
    await expect(starting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('the setup link', () => {
  test('works once, in any process, and the command line creates others until there is an account', async () => {
    const [first, second] = [await start(), await start()];
    expect(second).toMatchObject({ setupUrl: null, needsSetup: true });
    const made = await millrace(['setup-link'], { env: { DATABASE_URL: database.url, PORT: '4711' } });
    expect(made.stdout).toMatch(/^http:\/\/localhost:4711\/setup#token=[\w-]{43}\n$/);
    const use = (service: Service, url: string | null) =>
      fetch(`${service.address}/api/admin/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({
          token: url?.trim().split('#token=')[1],
          email: 'ada@example.com',
          name: 'Ada',
          password: 'analytical engine',
        }),
      });
    expect((await use(first, made.stdout)).status).toBe(204);
    expect((await use(second, first.setupUrl)).status).toBe(404);
    const third = await start();
    expect(third).toMatchObject({ setupUrl: null, needsSetup: false });
    expect(announce(third, configOf({}))).not.toContain('setup');
    const refused = await millrace(['setup-link', '--json'], { env: { DATABASE_URL: database.url } });
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'already_set_up' } });
  });
});

describe('ports', () => {
  test('a busy port that was set is refused with a remedy', async () => {
    const port = await occupyPort();
    await expect(start({ PORT: String(port) })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is in use by another program. Stop it, or choose another port: PORT=${port + 1}`,
    );
  });

  test('without a setting the next free port is used, and URLs follow it', async () => {
    const port = await occupyPort();
    const config = { ...configOf({ PORT: String(port) }), portIsExplicit: false };
    const service = await startService({ config, roles: BOTH, log });
    services.push(service);
    expect(service.port).toBeGreaterThan(port);
    expect(service.address).toBe(`http://localhost:${service.port}`);
    expect(announce(service, config)).toContain(`Port ${port} is taken`);
    const { apiKey, workflowId } = service.firstStart ?? {};
    const receipt = await fetch(`${service.address}/api/v1/workflows/${workflowId}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(await receipt.json()).toMatchObject({
      polling_url: expect.stringContaining(`${service.address}/api/v1/`),
    });
  });

  test('a host of another machine is reported', async () => {
    await expect(start({ HOST: '192.0.2.1' })).rejects.toThrow('not an address of this machine');
  });
});

describe('health and stop', () => {
  test('ready while the database responds, not ready when it is gone', async () => {
    const service = await start();
    expect(await get(service, '/readyz')).toMatchObject({ status: 200 });
    expect(await get(service, '/healthz')).toMatchObject({ status: 200 });
    await database.db.query('ALTER TABLE schema_migrations RENAME TO moved_away');
    expect(await get(service, '/readyz')).toMatchObject({ status: 503, body: { code: 'not_ready' } });
    expect(await get(service, '/healthz')).toMatchObject({ status: 200 });
    await database.db.query('ALTER TABLE moved_away RENAME TO schema_migrations');
  });

  test('not ready while the disk is full, ready when there is space', async () => {
    const service = await start();
    await database.db.query(
      `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON write_probes EXECUTE FUNCTION full_disk()`,
    );
    expect(await get(service, '/readyz')).toMatchObject({
      status: 503,
      body: { code: 'not_ready', detail: expect.stringContaining('its disk is full') },
    });
    await database.db.query('DROP FUNCTION full_disk CASCADE');
    await expect.poll(() => get(service, '/readyz')).toMatchObject({ status: 200 });
  });

  test('not ready while the database is read-only', async () => {
    const service = await start();
    const [here] = await database.db.query<{ name: string }>('SELECT current_database() AS name');
    const observer = createDatabase(database.superuserUrl, { applicationName: 'observer', lanes: 1 });
    const setReadOnly = async (value: 'on' | 'off') => {
      await observer.query(`ALTER DATABASE ${here?.name} SET default_transaction_read_only = ${value}`);
      await observer.query(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'millrace'",
      );
    };
    await setReadOnly('on');
    await expect
      .poll(() => get(service, '/readyz'))
      .toMatchObject({
        status: 503,
        body: { detail: expect.stringContaining('read-only') },
      });
    await setReadOnly('off');
    await expect.poll(() => get(service, '/readyz')).toMatchObject({ status: 200 });
    await observer.close();
  });

  test('after a stop nothing is connected to the database any more', async () => {
    const service = await start();
    await service.stop();
    await service.stop();
    await expect(fetch(`${service.address}/healthz`)).rejects.toThrow('fetch failed');
    await expect
      .poll(() =>
        database.db.query(
          `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
        ),
      )
      .toEqual([]);
  });

  test('what was started is stopped if a later part fails', async () => {
    const port = await occupyPort();
    await expect(start({ PORT: String(port) })).rejects.toThrow('in use by another program');
    await expect
      .poll(() => database.db.query('SELECT FROM workers WHERE lease_expires_at > now()'))
      .toEqual([]);
  });
});

describe('roles', () => {
  test('a separate worker has no address and creates no first key', async () => {
    const worker = await start({}, { api: false, worker: true });
    expect(worker).toMatchObject({ address: null, port: null, firstStart: null });
    expect(await database.db.query('SELECT count(*) FROM organisations')).toEqual([{ count: 0 }]);
  });

  test('a separate API hands its work to a worker elsewhere', async () => {
    const api = await start({}, { api: true, worker: false });
    await start({}, { api: false, worker: true });
    const { apiKey = null, workflowId = 0 } = api.firstStart ?? {};
    const response = await fetch(`${api.address}/api/v1/workflows/${workflowId}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
    });
    const { execution_id: id } = (await response.json()) as { execution_id: number };
    expect(await get(api, `/api/v1/executions/${id}?wait=30`, apiKey)).toMatchObject({
      body: { status: 'completed' },
    });
  });

  test('each process serves its own metrics, if it is told where, with the token it is told', async () => {
    const env = { MILLRACE_METRICS_PORT: '0', MILLRACE_METRICS_TOKEN: 'a-token-for-prometheus' };
    const api = await start(env, { api: true, worker: false });
    const worker = await start(env, { api: false, worker: true });
    const silentOne = await start({}, { api: false, worker: true });
    expect(silentOne.metricsUrl).toBeNull();
    const read = async ({ metricsUrl }: Service): Promise<string> => {
      expect((await fetch(metricsUrl ?? '')).status).toBe(401);
      const headers = { authorization: 'Bearer a-token-for-prometheus' };
      return (await fetch(metricsUrl ?? '', { headers })).text();
    };
    const [ofApi, ofWorker] = [await read(api), await read(worker)];
    expect([ofApi, ofWorker].map((page) => page.includes('millrace_workers '))).toEqual([true, true]);
    expect([ofApi, ofWorker].map((page) => page.includes('millrace_shedding 0'))).toEqual([true, false]);
    expect([ofApi, ofWorker].map((page) => page.includes('millrace_worker_slots 200'))).toEqual([
      false,
      true,
    ]);
  });

  test('metrics on a port that is taken keep the service from starting', async () => {
    const port = await occupyPort();
    await expect(start({ MILLRACE_METRICS_PORT: String(port) })).rejects.toThrow(
      `choose another port: MILLRACE_METRICS_PORT=${port + 1}`,
    );
  });

  test('a single role with the embedded PostgreSQL is refused', async () => {
    const config = { ...configOf({}), databaseUrl: null };
    await expect(startService({ config, roles: { api: true, worker: false }, log })).rejects.toThrow(
      'DATABASE_URL=',
    );
  });

  test('a wrong password is reported at once', async () => {
    const url = new URL(database.url);
    url.password = 'wrong';
    await expect(start({ DATABASE_URL: url.href })).rejects.toThrow('password authentication failed');
  });
});
