import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DatabaseUnavailableError, isStatementTimeout } from '@millrace/database/errors';
import { createDatabase } from '@millrace/database/pool';
import {
  DEBIAN_BINARIES,
  type DebianPooler,
  type DebianServer,
  startDebianServer,
  startPooler,
  startStandby,
} from '@millrace/testing/debian';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/settings/config.ts';
import type { Service } from '../../src/start/service.ts';
import { startService } from '../../src/start/start-service.ts';
import { NEVER_SHEDS } from '../never-sheds.ts';

const run = promisify(execFile);

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(
  url: string,
  environment: NodeJS.ProcessEnv = {},
  roles = { api: true, worker: true },
): Promise<Service> {
  const config = loadConfig({
    ...NEVER_SHEDS,
    DATABASE_URL: url,
    PORT: '0',
    MILLRACE_SHUTDOWN_GRACE_MS: '500',
    ...environment,
  });
  const service = await startService({
    config,
    roles,
    log: pino({ level: 'silent' }),
  });
  undo.push(() => service.stop());
  return service;
}

async function server(): Promise<DebianServer> {
  const started = await startDebianServer();
  undo.push(() => started.stop());
  return started;
}

async function pooler(of: DebianServer, mode: Parameters<typeof startPooler>[1]): Promise<DebianPooler> {
  const started = await startPooler(of, mode);
  undo.push(() => started.stop());
  return started;
}

/** Runs the sample workflow; returns its status, or the error that the start was refused with. */
async function runSample(service: Service, key: string | null, workflowId: number): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ input_data: { name: 'Ada' } });
  const url = `${service.address}/api/v1/workflows/${workflowId}/execute`;
  const started = await fetch(url, { method: 'POST', headers, body });
  const receipt = (await started.json()) as { execution_id: number; code?: string };
  if (started.status !== 202) return receipt.code ?? String(started.status);
  const read = await fetch(`${service.address}/api/v1/executions/${receipt.execution_id}?wait=30`, {
    headers,
  });
  return ((await read.json()) as { status: string }).status;
}

async function countAll(url: string): Promise<Record<string, number>> {
  const db = createDatabase(url, { lanes: 1 });
  const tables = await db.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await db.query<{ count: number }>(`SELECT count(*) FROM ${name}`);
    counts[name] = row?.count ?? -1;
  }
  await db.close();
  return counts;
}

/** The commands under a heading of the documentation, verbatim. */
async function documented(heading: string): Promise<string> {
  const text = await readFile(new URL('../../../../docs/operations.md', import.meta.url), 'utf8');
  const section = text.split(/^#{2,3} /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const block = /^```sh\n([\s\S]*?)^```/m.exec(section)?.[1];
  if (block === undefined) throw new Error(`docs/operations.md has no commands under "${heading}"`);
  return block;
}

const NEEDED = 'apt-get install postgresql-15 pgbouncer; skipped where they are not installed';

describe.runIf(DEBIAN_BINARIES !== null)(`Debian's PostgreSQL and pgbouncer (${NEEDED})`, () => {
  beforeAll(() => {
    process.env.PATH = `${DEBIAN_BINARIES}:${process.env.PATH}`;
  });

  test('works through a stock pgbouncer in session mode, with a database that formats dates differently', async () => {
    const database = await server();
    await database.execute("ALTER DATABASE millrace SET DateStyle = 'German, DMY'");
    await database.execute("ALTER DATABASE millrace SET TimeZone = 'Asia/Tokyo'");
    const { url } = await pooler(database, 'session');
    const service = await start(url);
    const { apiKey = null, workflowId = 0 } = service.firstStart ?? {};
    expect(await runSample(service, apiKey, workflowId)).toBe('completed');
    const [row] = await service.db.query<{ near: boolean; created_at: Date }>(
      "SELECT created_at, created_at > now() - interval '5 minutes' AS near FROM executions",
    );
    expect(row?.near).toBe(true);
    expect(Math.abs(Date.now() - (row?.created_at.getTime() ?? 0))).toBeLessThan(300_000);
  });

  test.each(['transaction', 'statement'] as const)(
    'refuses pgbouncer in %s mode at start, unless it is configured',
    async (mode) => {
      const database = await server();
      const { url } = await pooler(database, mode);
      await expect(start(url)).rejects.toThrow('Set MILLRACE_DATABASE_POOLING=transaction');
      expect(await countAll(database.urlOf('millrace'))).toEqual({});
    },
  );

  test('works through pgbouncer in transaction mode once the role has the settings it asks for', async () => {
    const database = await server();
    await database.execute("ALTER ROLE millrace SET DateStyle = 'German, DMY'");
    await database.execute("ALTER ROLE millrace SET TimeZone = 'Asia/Tokyo'");
    const unready = await pooler(database, 'transaction');
    const environment = { MILLRACE_DATABASE_POOLING: 'transaction', MILLRACE_POLL_MS: '200' };
    const refusal = await start(unready.url, environment).then(
      () => '',
      (error: Error) => error.message,
    );
    const statements = refusal.match(/ALTER ROLE [^;]+/g) ?? [];
    expect(statements.map((statement) => statement.split(' ')[4])).toEqual([
      '"DateStyle"',
      '"TimeZone"',
      'statement_timeout',
      'idle_in_transaction_session_timeout',
    ]);
    for (const statement of statements) await database.execute(statement);

    const { url } = await pooler(database, 'transaction');
    const [api, worker] = await Promise.all([
      start(url, environment, { api: true, worker: false }),
      start(url, environment, { api: false, worker: true }),
    ]);
    const { apiKey = null, workflowId = 0 } = api.firstStart ?? worker.firstStart ?? {};
    expect(await runSample(api, apiKey, workflowId)).toBe('completed');
    // A session's lock would stay in the pooler; the second start finds nothing to migrate, and no lock.
    const again = await start(url, environment);
    expect(await runSample(again, apiKey, workflowId)).toBe('completed');
    const locks = "SELECT FROM pg_locks WHERE locktype = 'advisory'";
    expect(await api.db.query(locks)).toEqual([]);
    expect(
      await api.db.forOrganisation(999_999, (tx) => tx.query('SELECT FROM executions')),
      'organisations are isolated',
    ).toEqual([]);
  });

  test('the documented commands back up and restore everything, as the documented role', async () => {
    const database = await server();
    const service = await start(database.urlOf('millrace'));
    const { apiKey = null, workflowId = 0 } = service.firstStart ?? {};
    expect(await runSample(service, apiKey, workflowId)).toBe('completed');
    await service.stop();
    const before = await countAll(database.urlOf('millrace'));
    expect(before).toMatchObject({ organisations: 1, executions: 1, api_keys: 1 });
    await database.execute('CREATE DATABASE restored OWNER millrace');
    const folder = await mkdtemp(join(tmpdir(), 'mr-backup-'));
    undo.push(() => rm(folder, { recursive: true }));
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: database.urlOf('millrace'),
      RESTORED_URL: database.urlOf('restored'),
    };
    await run('sh', ['-eu', '-c', await documented('Backup of a PostgreSQL of your own')], {
      cwd: folder,
      env,
    });
    await run('sh', ['-eu', '-c', await documented('Restore into an empty database')], { cwd: folder, env });
    expect(await countAll(database.urlOf('restored'))).toEqual(before);
    const restored = await start(database.urlOf('restored'));
    expect(restored.firstStart).toBeNull();
    expect(await runSample(restored, apiKey, workflowId)).toBe('completed');
    // Organisations are isolated as before.
    const seen = await restored.db.forOrganisation(999_999, (tx) => tx.query('SELECT FROM executions'));
    expect(seen).toEqual([]);
  });

  test('a commit that no standby has confirmed is not reported as stored, whatever the time limit of statements', async () => {
    const primary = await server();
    await primary.execute('CREATE TABLE kept (n integer)');
    await primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    await primary.execute('SELECT pg_reload_conf()');
    const db = createDatabase(primary.superuserUrl, { lanes: 1, statementTimeoutMs: 500 });
    undo.push(() => db.close());
    const insert = (n: number) => db.query('INSERT INTO kept VALUES ($1)', [n]);
    let stored = 0;
    // Its processes learn one after the other that they have to wait.
    let problem: unknown = null;
    while (problem === null) {
      try {
        await insert(stored + 1);
        stored += 1;
      } catch (error) {
        // A busy machine may need so long for a statement that has nobody to wait for. Nothing of it is stored.
        if (!isStatementTimeout(error)) problem = error;
      }
    }
    expect(problem).toBeInstanceOf(DatabaseUnavailableError);
    const observer = createDatabase(primary.superuserUrl, { lanes: 1 });
    undo.push(() => observer.close());
    const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    expect(await observer.query(waiting)).toEqual([{ count: 1 }]);
    expect(await observer.query('SELECT count(*) FROM kept')).toEqual([{ count: stored }]);
    await observer.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
  });

  test('on failover to the standby, dead and read-only servers are skipped, and the service continues', async () => {
    const first = await server();
    const second = await startStandby(first);
    undo.push(() => second.stop());
    const address = `127.0.0.1:${second.port},127.0.0.1:${first.port}`;
    const service = await start(
      `postgresql://millrace:secret@${address}/millrace?target_session_attrs=read-write`,
    );
    const { apiKey = null, workflowId = 0 } = service.firstStart ?? {};
    expect(await runSample(service, apiKey, workflowId)).toBe('completed');
    const wal = createDatabase(first.superuserUrl, { lanes: 1 });
    await expect
      .poll(() =>
        wal.query(
          'SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) AS behind FROM pg_stat_replication',
        ),
      )
      .toEqual([{ behind: '0' }]);
    await wal.close();
    await first.kill();
    await expect.poll(async () => (await fetch(`${service.address}/readyz`)).status).toBe(503);
    await second.execute('SELECT pg_promote()');
    await expect.poll(async () => (await fetch(`${service.address}/readyz`)).status).toBe(200);
    expect(await runSample(service, apiKey, workflowId)).toBe('completed');
    expect(await service.db.query('SELECT count(*) FROM executions')).toEqual([{ count: 2 }]);
  });
});
