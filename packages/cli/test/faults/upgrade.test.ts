import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate, pendingMigrations, releasedMigrations } from '@millrace/database/migrate';
import type { PgDatabase } from '@millrace/database/pool';
import { verifyAuditLog } from '@millrace/identity/audit/verify';
import { holdLocks } from '@millrace/testing/hold-locks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Client, chain, post, set } from './support/client.ts';
import { KEPT_VERSIONS, LAST_RELEASE, loadVersion, unpackLastRelease } from './support/earlier-version.ts';
import { allFinished, finished, readExecution, readExecutions } from './support/ledger.ts';
import { Load } from './support/load.ts';
import { LONG_LEASE, type ServiceProcess } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();
const RELEASED = fileURLToPath(new URL('../../../database/src/migrations', import.meta.url));

/** Additions that a later version might make to the current schema. */
const NEXT_STEP = `
  ALTER TABLE executions ADD COLUMN note text, ADD COLUMN rank integer NOT NULL DEFAULT 0;
  ALTER TABLE workflows ADD COLUMN note text;
  ALTER TABLE api_keys ADD COLUMN note text;
  ALTER TABLE idempotency_records ADD COLUMN note text;
  ALTER TABLE workers ADD COLUMN note text;
  CREATE INDEX executions_by_rank ON executions (rank);
  CREATE TABLE later_things (id bigint PRIMARY KEY)`;

it('running processes continue while a later version migrates, and no older one starts after that', async () => {
  const old = await (await world().spawn('start')).ready();
  const worker = await world().worker();
  const client = world().client(old);
  const workflow = await client.createWorkflow(
    'upgrade',
    chain(set('shape', { marker: '{{trigger.data.marker}}' })),
  );
  const load = new Load(client, workflow, 4);
  await until('starts before', () => load.accepted >= 40);

  const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-'));
  await cp(RELEASED, folder, { recursive: true });
  const next = (await readdir(folder)).filter((file) => file.endsWith('.sql')).length + 1;
  await writeFile(join(folder, `${String(next).padStart(4, '0')}_later.sql`), NEXT_STEP);
  expect((await migrate(world().db, folder)).map(({ name }) => name)).toEqual(['later']);
  await rm(folder, { recursive: true });

  const accepted = load.accepted;
  await until('starts afterwards', () => load.accepted >= accepted + 40);
  const starts = await load.stop();
  for (const { answer } of starts)
    if (answer.kind === 'refused') expect(answer).toMatchObject({ status: 503 });
  const rows = await allFinished(world().db, workflow);
  expect(rows.filter(({ status }) => status !== 'completed')).toEqual([]);
  expect(rows.length).toBeGreaterThanOrEqual(load.accepted);
  expect(old.isRunning && worker.isRunning).toBe(true);

  const late = await world().spawn('start');
  expect((await late.ended()).code).toBe(1);
  expect(late.output).toContain('used by a newer one');
});

/** The test's own connection to another database of the cluster. */
function connect(url: string): PgDatabase {
  const db = world().cluster.connect(url);
  onTestFinished(() => db.close());
  return db;
}

/** What `--json` prints once it is ready. */
async function announced(service: ServiceProcess): Promise<{ first_api_key: string }> {
  await service.ready();
  return await until('its announcement', () => {
    const line = service.output.split('\n').find((text) => text.startsWith('{"address"'));
    return line === undefined ? null : (JSON.parse(line) as { first_api_key: string });
  });
}

/** Posts to an address that a process gave out, whatever its host was. */
async function postTo(service: ServiceProcess, address: string, body: object): Promise<number> {
  const response = await fetch(`${service.url}${new URL(address).pathname}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

it('processes of the last release and of this one work on the same executions', async () => {
  const { receiver, cluster } = world();
  const url = await cluster.addDatabase('rolling');
  const secretKey = randomBytes(32).toString('base64');
  const environment = { ...LONG_LEASE, DATABASE_URL: url, MILLRACE_SECRET_KEY: secretKey };
  const release = unpackLastRelease();
  const old = await world().spawn('start --json', environment, release);
  const { first_api_key: key } = await announced(old);
  const oldClient = new Client(old.url, key);
  const effect = await oldClient.createWorkflow(
    'effect',
    chain(set('shape', { marker: '{{trigger.data.marker}}' }), post('send', receiver.url('/effect'))),
  );
  const wait = await oldClient.createWorkflow(
    'wait',
    chain({
      id: 'wait',
      type: 'wait.callback',
      config: { request: { url: receiver.url('/wait'), body: { callback_url: '{{args.callback_url}}' } } },
    }),
  );
  const db = connect(url);
  const callbackOf = async (requests: number): Promise<string> => {
    const arrived = await receiver.arrival('/wait', requests);
    return (arrived.at(-1)?.body as { callback_url: string } | undefined)?.callback_url ?? '';
  };
  const parked = (id: number) =>
    until(`execution ${id} to be parked`, async () => {
      return (await readExecution(db, id)).status === 'waiting_async';
    });

  const oldLoad = new Load(oldClient, effect, 2);
  const byOld = await oldClient.accept(wait, 'parked by the last release', 'its-key');
  await parked(byOld);
  const callbackByOld = await callbackOf(1);
  await until('starts before', () => oldLoad.accepted >= 20);

  const fresh = await (await world().spawn('start', environment)).ready();
  const freshClient = new Client(fresh.url, key);
  const freshLoad = new Load(freshClient, effect, 2);
  const byFresh = await freshClient.accept(wait, 'parked by this version');
  await parked(byFresh);
  const callbackByFresh = await callbackOf(2);
  // Each gets what the other waits for, and repeats what the other has acknowledged.
  expect(await postTo(fresh, callbackByOld, { from: 'new' })).toBe(200);
  expect(await postTo(old, callbackByFresh, { from: 'old' })).toBe(200);
  const replay = await freshClient.startPatiently(wait, 'parked by the last release', 'its-key');
  expect(replay.answer).toMatchObject({ kind: 'accepted', executionId: byOld, isReplay: true });
  const before = { old: oldLoad.accepted, fresh: freshLoad.accepted };
  await until('starts by both', () => {
    return oldLoad.accepted >= before.old + 20 && freshLoad.accepted >= before.fresh + 20;
  });

  const starts = await oldLoad.stop();
  expect(await old.end('SIGTERM')).toEqual({ code: 0, signal: null });
  const late = await world().spawn('start', environment, release);
  expect((await late.ended()).code).toBe(1);
  const alone = freshLoad.accepted;
  await until('starts without the last release', () => freshLoad.accepted >= alone + 20);
  starts.push(...(await freshLoad.stop()));

  const rows = await allFinished(db, effect);
  expect(rows.filter(({ status }) => status !== 'completed')).toEqual([]);
  const markers = new Set(rows.map(({ marker }) => marker));
  expect(markers.size).toBe(rows.length);
  for (const { marker, answer } of starts) {
    if (answer.kind === 'accepted') expect(markers).toContain(marker);
    if (answer.kind === 'refused') expect(answer).toMatchObject({ status: 503 });
  }
  for (const id of [byOld, byFresh]) expect(await finished(db, id)).toMatchObject({ status: 'completed' });
});

describe.each(KEPT_VERSIONS)('the data of %s', (version) => {
  it('is migrated, and everything that was under way continues', async () => {
    const kept = await loadVersion(world(), version, `data of ${version}`);
    const db = connect(kept.url);
    const read = () =>
      db.query<{ id: number; workflow_id: number; status: string; completed_at: Date | null }>(
        'SELECT id, workflow_id, status, completed_at FROM executions ORDER BY id',
      );
    const before = await read();
    const recorded = await db.query<{ id: number }>('SELECT id FROM audit_log');
    const isKept = { MILLRACE_RETENTION_DAYS: '36500', MILLRACE_AUDIT_RETENTION_DAYS: '36500' };
    const environment = { DATABASE_URL: kept.url, MILLRACE_SECRET_KEY: kept.secretKey, ...isKept };
    const service = await (await world().spawn('start', environment)).ready();
    const client = new Client(service.url, kept.apiKey);
    for (const address of kept.callbacks) expect(await postTo(service, address, { ok: true })).toBe(200);

    const approvals = await db.query<{ id: number }>("SELECT id FROM workflows WHERE name = 'approval'");
    const after = await until('everything that waits for nobody to end', async () => {
      const rows = await read();
      const isOver = (row: (typeof rows)[number]) =>
        row.completed_at !== null || approvals.some(({ id }) => id === row.workflow_id);
      return rows.every(isOver) ? rows : null;
    });
    for (const row of before) {
      const now = after.find(({ id }) => id === row.id);
      if (row.completed_at !== null) expect(now).toEqual(row);
      else if (now?.completed_at !== null) expect(now).toMatchObject({ status: 'completed' });
    }
    const [first] = before;
    const execution = await client.get<Detail>(`/executions/${first?.id}`);
    expect(execution.node_outputs.greet?.output).toMatchObject({ text: 'Hello Ada', number: 12345 });

    const started = await client.accept(kept.greet, 'new');
    expect(await finished(db, started)).toMatchObject({ status: 'completed' });
    const hooks = await readHooks(db);
    expect(await postTo(service, kept.hookUrl, { hello: 'again' })).toBe(202);
    await until('the execution of the webhook', async () => (await readHooks(db)) === hooks + 1);
    if ((await db.query('SELECT FROM users')).length > 0) {
      const signIn = await fetch(`${service.url}/api/admin/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ email: kept.email, password: kept.password }),
      });
      expect(signIn.status).toBe(204);
    }

    // Entries from before there were chains are sealed like new ones. The time for which one may still change is over for them.
    const old = await db.query<{ id: number; organisation_id: number }>(
      'SELECT id, organisation_id FROM audit_log WHERE id = ANY ($1::bigint[]) AND organisation_id IS NOT NULL',
      [recorded.map(({ id }) => id)],
    );
    await until('the seals of all entries from before', async () => {
      const [row] = await db.query<{ sealed: number }>(
        'SELECT count(*)::int AS sealed FROM audit_seals WHERE entry_id = ANY ($1::bigint[])',
        [old.map(({ id }) => id)],
      );
      return row?.sealed === old.length;
    });
    for (const organisationId of new Set(old.map(({ organisation_id }) => organisation_id))) {
      const verification = await verifyAuditLog(db, organisationId);
      expect(verification?.problems).toEqual([]);
      expect(verification?.entries).toBeGreaterThanOrEqual(1);
    }
  });
});

interface Detail {
  readonly node_outputs: { readonly [id: string]: { readonly output: unknown } };
}

async function readHooks(db: PgDatabase): Promise<number> {
  const [hook] = await db.query<{ id: number }>("SELECT id FROM workflows WHERE name = 'hook'");
  return (await readExecutions(db, hook?.id ?? 0)).filter(({ status }) => status === 'completed').length;
}

it('a migration that is killed half-way goes on at the next start', async () => {
  const { url, secretKey } = await loadVersion(world(), LAST_RELEASE.version, 'killed');
  const db = connect(url);
  const environment = { DATABASE_URL: url, MILLRACE_SECRET_KEY: secretKey };
  await holdLocks(db, async (tx) => {
    // Migration 33 has changed other tables when it comes to this one.
    await tx.query('LOCK TABLE data_usage');
    const [session] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const victim = await world().spawn('start', environment);
    await until('the migration that waits for the table', async () => {
      const waiting = 'SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))';
      return (await db.query(waiting, [session?.pid])).length > 0;
    });
    await victim.end('SIGKILL');
  });
  const pending = (await pendingMigrations(db)).map(({ version }) => version);
  expect(pending[0]).toBe(33);
  expect(pending).toHaveLength((await releasedMigrations()).length - 32);
  await (await world().spawn('start', environment)).ready();
  expect(await pendingMigrations(db)).toEqual([]);
});
