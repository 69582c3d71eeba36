import { message } from '@millrace/messages';
import type { Diagnosis, Finding } from '@millrace/operations/doctor/finding';
import { takeSample } from '@millrace/service/system/sampler';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { insertExecution, insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';

let service: TestService;
let root: TestPerson;
let workflow: WorkflowIds;
let diagnosis: Diagnosis = { checks: [], findings: [] };
beforeAll(async () => {
  const examine = async () => diagnosis;
  service = await startTestService({ runsWorker: false, deps: { examine } });
  root = await createPerson(service, 'system_admin');
  workflow = await insertWorkflow(service.database.db, 'system');
});
afterAll(() => service.stop());

const state = async () => (await root.call('GET /system')).data;
const samples = async (hours?: number) =>
  (await root.call('GET /system/samples', { query: hours === undefined ? {} : { hours } })).data.items;

/** @param silence seconds since its last heartbeat; if it was stopped after that, its lease was cut short */
async function insertWorker(silence: number, wasStopped = false): Promise<string> {
  const leaseMs = wasStopped ? 1_000 : service.deps.config.worker.leaseMs;
  const [row] = await service.database.db.query<{ id: string }>(
    `INSERT INTO workers (id, host, pid, heartbeat_at, lease_expires_at)
     SELECT gen_random_uuid(), '<script>alert(1)</script>', 42, h, h + $2::integer * interval '1 millisecond'
     FROM (SELECT now() - $1::integer * interval '1 second') AS beat (h) RETURNING id`,
    [silence, leaseMs],
  );
  return row?.id ?? '';
}

test('reports queue, versions, workers and health', async () => {
  const before = await state();
  expect(before).toMatchObject({
    node_version: process.versions.node,
    queue: { queued: 0, running: 0, waiting: 0, oldest_queued_at: null },
    workers: [],
  });
  expect(before.schema_version).toBeGreaterThanOrEqual(12);
  expect(before.database.bytes).toBeGreaterThan(1_000_000);
  const healthOf = async () =>
    Object.fromEntries((await state()).health.map(({ check, state }) => [check, state]));
  expect(await healthOf()).toEqual({ database: 'ok', workers: 'failed', queue: 'ok', samples: 'warning' });

  const id = await insertExecution(service.database.db, workflow);
  await service.database.db.query(
    "UPDATE executions SET created_at = now() - interval '2 minutes' WHERE id = $1",
    [id],
  );
  const stopped = await insertWorker(60, true);
  const dead = await insertWorker(60);
  expect(await healthOf()).toMatchObject({ workers: 'failed', queue: 'warning' });
  const alive = await insertWorker(0);
  await service.database.db.query("UPDATE executions SET status = 'running', worker_id = $2 WHERE id = $1", [
    id,
    alive,
  ]);
  await takeSample(service.database.db);
  expect(await healthOf()).toEqual({ database: 'ok', workers: 'warning', queue: 'ok', samples: 'ok' });
  const after = await state();
  expect(after.queue).toMatchObject({ queued: 0, running: 1 });
  expect(after.workers).toEqual([
    expect.objectContaining({ id: alive, state: 'alive', running: 1, pid: 42 }),
    expect.objectContaining({ id: dead, state: 'silent', running: 0 }),
    expect.objectContaining({ id: stopped, state: 'stopped', running: 0 }),
  ]);
  await service.database.db.query('DELETE FROM workers WHERE id = $1', [dead]);
  expect(await healthOf()).toMatchObject({ workers: 'ok' });
});

test('a service that has just started has no sample yet, which is not a problem', async () => {
  const { db } = service.database;
  await db.query('DELETE FROM service_samples');
  await db.query('DELETE FROM workers');
  const samplesCheck = async () => (await state()).health.find(({ check }) => check === 'samples')?.state;
  const id = await insertWorker(0);
  expect(await samplesCheck()).toBe('ok');
  await db.query("UPDATE workers SET started_at = now() - interval '10 minutes' WHERE id = $1", [id]);
  expect(await samplesCheck()).toBe('warning');
});

test('compares the database with the first sample of the last 24 hours', async () => {
  const { db } = service.database;
  await db.query('DELETE FROM service_samples');
  expect((await state()).database.earlier).toBeNull();
  await db.query(
    `INSERT INTO service_samples (minute, queued, running, waiting, workers, last_execution_id, sampled_at, database_bytes)
     SELECT date_trunc('minute', now()) - h * interval '1 hour', 0, 0, 0, 1, 0, now() - h * interval '1 hour', 1000 * h
     FROM unnest(ARRAY[30, 20, 2]) AS h`,
  );
  expect((await state()).database.earlier?.bytes).toBe(20_000);
});

test('a minute has one sample, whichever process takes it', async () => {
  const { db } = service.database;
  await db.query('DELETE FROM service_samples');
  const taken = await Promise.all([1, 2, 3, 4].map(() => takeSample(db)));
  expect(taken.filter(Boolean).length).toBeLessThanOrEqual(2);
  const rows = await db.query<{ minute: Date }>('SELECT minute FROM service_samples');
  expect(new Set(rows.map(({ minute }) => minute.getTime())).size).toBe(rows.length);
  expect(rows.length).toBeLessThanOrEqual(2);
});

test('rates are what was started and failed since the previous sample', async () => {
  const { db } = service.database;
  await db.query('DELETE FROM service_samples');
  await takeSample(db);
  // As if that had been two minutes ago.
  await db.query(
    "UPDATE service_samples SET minute = minute - interval '2 minutes', sampled_at = sampled_at - interval '2 minutes'",
  );
  const ids = [];
  for (let count = 0; count < 4; count += 1) ids.push(await insertExecution(db, workflow));
  await db.query(
    `UPDATE executions SET status = 'failed', completed_at = now(), error = '{}' WHERE id = ANY ($1::bigint[])`,
    [ids.slice(0, 2)],
  );
  await takeSample(db);
  const [first, second] = await samples();
  expect(first).toMatchObject({ started_per_minute: null, failed_per_minute: null });
  expect(second?.started_per_minute).toBeCloseTo(2, 0);
  expect(second?.failed_per_minute).toBeCloseTo(1, 0);
});

test('samples older than seven days are deleted; long spans are thinned out, with averaged rates', async () => {
  const { db } = service.database;
  await db.query('DELETE FROM service_samples');
  await db.query(
    `INSERT INTO service_samples (minute, queued, running, waiting, workers, last_execution_id, started, failed, seconds,
       sampled_at, database_bytes)
     SELECT m, 1, 2, 3, 1, 0, 30, 6, 60, m, 1000
     FROM generate_series(date_trunc('minute', now()) - interval '8 days', now() - interval '1 minute',
       interval '1 minute') AS m`,
  );
  await takeSample(db);
  const [row] = await db.query<{ days: number }>(
    `SELECT extract(epoch FROM now() - min(minute))::double precision / 86400 AS days FROM service_samples`,
  );
  expect(row?.days).toBeLessThanOrEqual(7);
  const week = await samples(168);
  expect(week.length).toBeLessThanOrEqual(721);
  expect(week.length).toBeGreaterThan(600);
  expect(week.map(({ at }) => at)).toEqual(week.map(({ at }) => at).toSorted());
  expect(week[10]).toMatchObject({ started_per_minute: 30, failed_per_minute: 6, queued: 1 });
  expect((await samples(1)).length).toBeLessThanOrEqual(61);
});

test('is for system administrators only', async () => {
  const admin = await createPerson(service, 'org_admin');
  for (const name of ['GET /system', 'GET /system/samples'] as const) {
    expect((await admin.call(name)).status).toBe(403);
  }
});

test('the diagnosis has each finding in English, and as what the page renders in other languages', async () => {
  expect((await root.call('GET /system/diagnosis')).data).toEqual({ checks: [], findings: [] });
  const params = { path: '/data', gigabytes: 0.4 };
  const finding: Finding = {
    check: 'disk',
    level: 'error',
    what: message('doctor.disk_full', { path: '/data', gigabytes: 0.4 }),
    why: message('doctor.disk_full_why'),
    fix: message('doctor.disk_full_fix'),
  };
  diagnosis = { checks: ['disk', 'clock'], findings: [finding] };
  const { data } = await root.call('GET /system/diagnosis');
  expect(data.checks).toEqual(['disk', 'clock']);
  expect(data.findings).toMatchObject([
    {
      check: 'disk',
      level: 'error',
      what: { message: 'The disk of /data has 0.4 GB left.', key: 'doctor.disk_full', params },
      why: { key: 'doctor.disk_full_why' },
      fix: { key: 'doctor.disk_full_fix' },
    },
  ]);
});
