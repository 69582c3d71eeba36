import { nextFires } from '@millrace/triggers';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { until } from '../../../cli/test/faults/support/until.ts';
import { createScheduleWorld, cron, type ScheduleWorld, scheduledFlow } from './schedules-world.ts';

let world: ScheduleWorld;
beforeAll(async () => {
  world = await createScheduleWorld();
});
afterAll(() => world.stop());
afterEach(async () => {
  vi.restoreAllMocks();
  // What a test leaves behind must not be due in the next one, whose clock may differ.
  await world.service.database.db.query('DELETE FROM schedules');
});

const iso = (ms: number) => new Date(ms).toISOString();

async function runAt(at: string, scheduler = world.scheduler()): Promise<number | null> {
  world.nowMs = Date.parse(at);
  return scheduler.runDue();
}

describe('each fire once', () => {
  test('with four schedulers, over every minute of a night on which clocks go back', async () => {
    const zone = { timezone: 'Europe/Berlin' };
    const from = '2026-10-24T22:00:00.000Z';
    const ids = await Promise.all([
      world.createAt(cron('*/5 * * * *', zone), from),
      world.createAt(cron('30 2 * * *', zone), from),
      world.createAt({ schedule: { type: 'every', every: 7, unit: 'minutes' }, ...zone }, from),
    ]);
    const schedulers = Array.from({ length: 4 }, () => world.scheduler());
    for (let minute = 0; minute <= 240; minute += 1) {
      world.nowMs = Date.parse(from) + minute * 60_000;
      await Promise.all(schedulers.map((scheduler) => scheduler.runDue()));
    }
    const expected = [48, 1, 35];
    for (const [index, id] of ids.entries()) {
      const times = (await world.inputs(id)).map((input) => input.scheduled_at);
      expect(times).toHaveLength(expected[index] ?? 0);
      expect(new Set(times).size).toBe(times.length);
      expect(times).toEqual([...times].sort());
      const fires = await world.fires(id);
      expect(fires.map((fire) => fire.fire_time.toISOString())).toEqual(times);
      expect(fires.map((fire) => fire.fire_number)).toEqual(times.map((_, at) => at + 1));
    }
  });

  test("by the database's clock, whatever the host's clock says", async () => {
    vi.spyOn(Date, 'now').mockImplementation(() => 3_600_000);
    const id = await world.create({
      schedule: { type: 'every', every: 1, unit: 'seconds' },
      timezone: 'UTC',
    });
    const schedulers = Array.from({ length: 4 }, () => world.scheduler('of the database'));
    for (const scheduler of schedulers) await scheduler.start();
    await until('five fires', async () => (await world.fires(id)).length >= 5);
    await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
    const fires = await world.fires(id);
    const times = fires.map((fire) => fire.fire_time.getTime());
    expect(times).toEqual(times.map((_, index) => (times[0] ?? 0) + index * 1_000));
    const executions = await world.service.database.db.query<{ trigger_type: string }>(
      'SELECT trigger_type FROM executions WHERE workflow_id = $1',
      [id],
    );
    expect(executions).toHaveLength(fires.length);
    expect(new Set(executions.map((row) => row.trigger_type))).toEqual(new Set(['schedule']));
  });

  test('a waiting scheduler notices a saved schedule', async () => {
    const scheduler = world.scheduler();
    world.nowMs = Date.parse('2040-01-01T00:00:00Z');
    await scheduler.start();
    // By the test's clock it has been due for years, so it fires as soon as the scheduler runs.
    const id = await world.create(cron('0 0 1 1 *', { missed: 'run_once' }));
    await until('the fire', async () => (await world.fires(id)).length > 0);
    await scheduler.stop();
    expect((await world.fires(id)).map((fire) => fire.outcome)).toEqual(['started']);
  });

  test('a recorded fire is never started again, even if the definition comes back to it', async () => {
    const id = await world.createAt(cron('0 9 * * *'), '2026-01-01T00:00:00Z');
    await runAt('2026-01-01T09:00:00Z');
    await world.service.database.db.query(
      "UPDATE schedules SET next_fire_time = '2026-01-01T09:00:00Z', next_fire_at = '2026-01-01T09:00:00Z' WHERE workflow_id = $1",
      [id],
    );
    await runAt('2026-01-01T09:00:10Z');
    expect(await world.inputs(id)).toHaveLength(1);
    expect(await world.nextFire(id)).toBe('2026-01-02T09:00:00.000Z');
  });

  test('the input of an execution', async () => {
    const config = cron('0 9 * * *', { timezone: 'America/New_York', input: { report: [1] } });
    const id = await world.createAt(config, '2026-07-01T00:00:00Z');
    await runAt('2026-07-01T13:00:00.250Z');
    expect(await world.inputs(id)).toEqual([
      {
        scheduled_at: '2026-07-01T13:00:00.000Z',
        timezone: 'America/New_York',
        fire_number: 1,
        missed: false,
        input: { report: [1] },
      },
    ]);
    const { data } = (await world.service.api('GET', `/executions?workflow_id=${id}`, { key: world.key }))
      .json;
    expect(data[0]).toMatchObject({
      status: 'queued',
      trigger_type: 'schedule',
      created_at: '2026-07-01T13:00:00.250Z',
      workflow_version: 1,
    });
  });

  test('not before its time, plus jitter', async () => {
    const id = await world.createAt(cron('0 9 * * *'), '2026-01-01T00:00:00Z');
    expect(await runAt('2026-01-01T08:59:59.999Z')).toBe(1);
    expect(await world.inputs(id)).toEqual([]);
    await world.change(id, { flow_data: scheduledFlow(cron('0 9 * * *', { jitter_s: 600 })) });
    const { db } = world.service.database;
    const [row] = await db.query<{ time: Date; at: Date }>(
      'SELECT next_fire_time AS time, next_fire_at AS at FROM schedules WHERE workflow_id = $1',
      [id],
    );
    const delayMs = (row?.at.getTime() ?? 0) - (row?.time.getTime() ?? 0);
    expect(iso(row?.time.getTime() ?? 0)).toBe('2026-01-01T09:00:00.000Z');
    expect(delayMs).toBeGreaterThan(0);
    expect(delayMs).toBeLessThanOrEqual(600_000);
    await runAt(iso(Date.parse('2026-01-01T09:00:00Z') + delayMs - 1));
    expect(await world.inputs(id)).toEqual([]);
    await runAt(iso(Date.parse('2026-01-01T09:00:00Z') + delayMs));
    expect(await world.inputs(id)).toMatchObject([
      { scheduled_at: '2026-01-01T09:00:00.000Z', missed: false },
    ]);
  });

  test("a schedule that can't fire doesn't keep others from firing", async () => {
    const broken = await world.createAt(cron('0 9 * * *'), '2026-01-01T00:00:00Z');
    const sound = await world.createAt(cron('1 9 * * *'), '2026-01-01T00:00:00Z');
    const { db } = world.service.database;
    const [{ definition } = { definition: '' }] = await db.query<{ definition: string }>(
      `UPDATE schedules SET definition = '{}' WHERE workflow_id = $1 RETURNING (SELECT definition FROM schedules WHERE workflow_id = $1)`,
      [broken],
    );
    await runAt('2026-01-01T09:01:00Z');
    expect(await world.inputs(sound)).toHaveLength(1);
    expect(await world.inputs(broken)).toEqual([]);
    await db.query('UPDATE schedules SET definition = $2 WHERE workflow_id = $1', [broken, definition]);
    await runAt('2026-01-01T09:02:00Z');
    expect(await world.inputs(broken)).toMatchObject([{ scheduled_at: '2026-01-01T09:00:00.000Z' }]);
  });
});

describe('fires that were missed', () => {
  /** Hourly; nothing ran from 9:00:30 until 13:30. */
  async function afterOutage(missed: string, at = '2026-01-01T13:30:00Z'): Promise<number> {
    const id = await world.createAt(cron('0 * * * *', { missed }), '2026-01-01T08:30:00Z');
    await runAt('2026-01-01T09:00:30Z');
    await runAt(at);
    return id;
  }
  const hours = async (id: number) =>
    (await world.inputs(id)).map(({ scheduled_at: at, missed }) => [at.slice(11, 16), missed]);

  test('skip: they are recorded and not started', async () => {
    const id = await afterOutage('skip');
    expect(await hours(id)).toEqual([['09:00', false]]);
    expect((await world.fires(id)).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['started', null],
      ...Array.from({ length: 4 }, () => ['skipped', 'missed']),
    ]);
    expect(await world.nextFire(id)).toBe('2026-01-01T14:00:00.000Z');
  });

  test('run_once: the last one represents all', async () => {
    const id = await afterOutage('run_once');
    expect(await hours(id)).toEqual([
      ['09:00', false],
      ['13:00', true],
    ]);
  });

  test('run_once: so does a fire that is on time', async () => {
    const id = await afterOutage('run_once', '2026-01-01T13:00:20Z');
    expect(await hours(id)).toEqual([
      ['09:00', false],
      ['13:00', false],
    ]);
  });

  test('run_all: each of them, in order', async () => {
    const id = await afterOutage('run_all');
    expect(await hours(id)).toEqual([
      ['09:00', false],
      ['10:00', true],
      ['11:00', true],
      ['12:00', true],
      ['13:00', true],
    ]);
  });

  test('up to 24 hours back, whatever the policy; the schedule continues', async () => {
    const all = await afterOutage('run_all', '2026-01-04T13:30:00Z');
    const times = (await world.inputs(all)).slice(1).map((input) => input.scheduled_at);
    expect(times).toEqual(
      nextFires(
        { schedule: { type: 'cron', cron: '0 * * * *' }, timezone: 'UTC' },
        Date.parse('2026-01-03T13:30:00Z'),
        24,
      ).map(iso),
    );
    expect(await world.nextFire(all)).toBe('2026-01-04T14:00:00.000Z');
    const weekly = await world.createAt(cron('0 9 * * 1', { missed: 'run_once' }), '2026-01-01T00:00:00Z');
    await runAt('2026-01-07T09:00:00Z');
    expect(await world.inputs(weekly)).toEqual([]);
    expect(await world.nextFire(weekly)).toBe('2026-01-12T09:00:00.000Z');
  });

  test('at most a thousand, the latest ones', async () => {
    const every = {
      schedule: { type: 'every', every: 5, unit: 'seconds' },
      timezone: 'UTC',
      missed: 'run_all',
    };
    const id = await world.createAt(every, '2026-01-01T00:00:00Z');
    await runAt('2026-01-01T20:00:00Z');
    const inputs = await world.inputs(id);
    expect(inputs.length).toBeGreaterThan(500);
    expect(inputs.length).toBeLessThanOrEqual(1_000);
    expect(inputs.at(-1)).toMatchObject({ scheduled_at: '2026-01-01T20:00:00.000Z' });
    expect(await world.nextFire(id)).toBe('2026-01-01T20:00:05.000Z');
  });
});

describe('overlap', () => {
  const started = async (id: number) =>
    (await world.fires(id)).flatMap((fire) => (fire.execution_id === null ? [] : [fire.execution_id]));

  test('allow: starts beside the earlier one', async () => {
    const id = await world.createAt(cron('* * * * *'), '2026-01-01T00:00:00Z');
    await runAt('2026-01-01T00:01:00Z');
    await runAt('2026-01-01T00:02:00Z');
    expect(await started(id)).toHaveLength(2);
  });

  test('skip: while the earlier one has not ended', async () => {
    const id = await world.createAt(cron('* * * * *', { overlap: 'skip' }), '2026-01-01T00:00:00Z');
    await runAt('2026-01-01T00:01:00Z');
    await runAt('2026-01-01T00:02:00Z');
    await runAt('2026-01-01T00:03:00Z');
    await world.end((await started(id))[0] ?? 0);
    await runAt('2026-01-01T00:04:00Z');
    expect((await world.fires(id)).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['started', null],
      ['skipped', 'overlap'],
      ['skipped', 'overlap'],
      ['started', null],
    ]);
    expect(await world.inputs(id)).toHaveLength(2);
  });

  test("skip: executions started by others don't count", async () => {
    const id = await world.createAt(cron('* * * * *', { overlap: 'skip' }), '2026-01-01T00:00:00Z');
    await world.service.api('POST', `/workflows/${id}/execute`, { key: world.key, body: {} });
    await runAt('2026-01-01T00:01:00Z');
    expect((await world.fires(id)).map((fire) => fire.outcome)).toEqual(['started']);
  });

  test('queue: each starts when the previous one has ended, in order, as soon as that is known', async () => {
    const scheduler = world.scheduler();
    const id = await world.createAt(cron('* * * * *', { overlap: 'queue' }), '2026-01-01T00:00:00Z');
    for (const minute of ['01', '02', '03']) await runAt(`2026-01-01T00:${minute}:00Z`, scheduler);
    expect((await world.fires(id)).map((fire) => fire.outcome)).toEqual(['started', 'queued', 'queued']);
    await scheduler.start();
    for (let count = 1; count <= 3; count += 1) {
      await until(`start ${count}`, async () => (await started(id)).length === count);
      await world.end((await started(id))[count - 1] ?? 0);
    }
    await scheduler.stop();
    expect((await world.inputs(id)).map((input) => input.scheduled_at)).toEqual([
      '2026-01-01T00:01:00.000Z',
      '2026-01-01T00:02:00.000Z',
      '2026-01-01T00:03:00.000Z',
    ]);
    expect((await world.inputs(id)).map((input) => input.fire_number)).toEqual([1, 2, 3]);
  });

  test('queue: four schedulers start one at a time', async () => {
    const id = await world.createAt(cron('* * * * *', { overlap: 'queue' }), '2026-01-01T00:00:00Z');
    const schedulers = Array.from({ length: 4 }, () => world.scheduler());
    for (const minute of ['01', '02', '03', '04', '05']) await runAt(`2026-01-01T00:${minute}:00Z`);
    for (let count = 1; count <= 5; count += 1) {
      await Promise.all(schedulers.map((scheduler) => scheduler.runDue()));
      const ids = await started(id);
      expect(ids).toHaveLength(count);
      await world.end(ids.at(-1) ?? 0);
    }
  });
});

describe('changes of the workflow', () => {
  test('drafts and inactive workflows have no next fire', async () => {
    expect(await world.nextFire(await world.create(cron('0 9 * * *'), 'draft'))).toBeNull();
    const id = await world.create(cron('0 9 * * *'));
    expect(await world.nextFire(id)).not.toBeNull();
    await world.change(id, { status: 'inactive' });
    expect(await world.nextFire(id)).toBeNull();
    await world.change(id, { status: 'active' });
    expect(await world.nextFire(id)).not.toBeNull();
    await world.service.api('DELETE', `/workflows/${id}`, { key: world.key });
    expect(await world.nextFire(id)).toBeNull();
  });

  test('time during which a workflow was inactive was not missed; queued fires are dropped', async () => {
    const id = await world.createAt(
      cron('* * * * *', { overlap: 'queue', missed: 'run_all' }),
      '2026-01-01T00:00:00Z',
    );
    await runAt('2026-01-01T00:01:00Z');
    await runAt('2026-01-01T00:02:00Z');
    await world.change(id, { status: 'inactive' });
    expect((await world.fires(id)).map((fire) => fire.reason ?? fire.outcome)).toEqual([
      'started',
      'inactive',
    ]);
    // Read before the change: the next minute may begin right after it.
    const [row] = await world.service.database.db.query<{ now: Date }>('SELECT now()');
    await world.change(id, { status: 'active' });
    const next = Date.parse((await world.nextFire(id)) ?? '');
    expect(next).toBeGreaterThan(row?.now.getTime() ?? Number.POSITIVE_INFINITY);
  });

  test('other changes keep the next fire, even an overdue one', async () => {
    const id = await world.createAt(cron('0 9 * * *'), '2026-01-01T00:00:00Z');
    await world.change(id, { name: 'renamed' });
    const flow = scheduledFlow(cron('0 9 * * *', { input: { a: 1 }, missed: 'skip' }));
    await world.change(id, { flow_data: flow });
    expect(await world.nextFire(id)).toBe('2026-01-01T09:00:00.000Z');
    await runAt('2026-01-01T09:00:00Z');
    expect(await world.inputs(id)).toMatchObject([{ input: { a: 1 } }]);
  });

  test('other times start from the change, also when an earlier version is restored', async () => {
    const id = await world.createAt(cron('0 9 * * *'), '2026-01-01T00:00:00Z');
    const [row] = await world.service.database.db.query<{ now: Date }>('SELECT now()');
    const now = row?.now.getTime() ?? 0;
    await world.change(id, { flow_data: scheduledFlow(cron('0 10 * * *')) });
    const next = (await world.nextFire(id)) ?? '';
    expect(next).toMatch(/T10:00:00\.000Z$/);
    expect(Date.parse(next)).toBeGreaterThan(now);
    await world.service.api('POST', `/workflows/${id}/versions/1/restore`, { key: world.key });
    expect(await world.nextFire(id)).toMatch(/T09:00:00\.000Z$/);
  });

  test('another trigger ends the schedule', async () => {
    const id = await world.create(cron('0 9 * * *'));
    const { nodes, edges } = scheduledFlow({});
    const manual = { edges, nodes: [{ id: 'start', type: 'trigger.manual', data: {} }, nodes[1]] };
    await world.change(id, { flow_data: manual });
    expect(await world.nextFire(id)).toBeNull();
    await world.change(id, { flow_data: scheduledFlow(cron('0 9 * * *')) });
    expect(await world.nextFire(id)).not.toBeNull();
  });

  test("an invalid schedule can't become active", async () => {
    const body = { name: 'x', status: 'active', flow_data: scheduledFlow(cron('0 25 * * *')) };
    const answer = await world.service.api('POST', '/workflows', { key: world.key, body });
    expect(answer.status).toBe(422);
    expect(answer.json.errors).toMatchObject([{ pointer: '/flow_data/nodes/0/data/config/schedule/cron' }]);
  });

  test('saved repeatedly while four schedulers fire: no fire twice, and the schedule continues', async () => {
    const id = await world.createAt(cron('* * * * *'), '2090-01-01T00:00:00Z');
    const schedulers = Array.from({ length: 4 }, () => world.scheduler());
    for (let minute = 1; minute <= 40; minute += 1) {
      world.nowMs = Date.parse('2090-01-01T00:00:00Z') + minute * 60_000;
      const input = { minute };
      await Promise.all([
        ...schedulers.map((scheduler) => scheduler.runDue()),
        world.change(id, { flow_data: scheduledFlow(cron('* * * * *', { input })) }),
      ]);
      await schedulers[0]?.runDue();
    }
    const times = (await world.inputs(id)).map((input) => input.scheduled_at);
    expect(times).toEqual(
      Array.from({ length: 40 }, (_, index) => iso(Date.parse('2090-01-01T00:01:00Z') + index * 60_000)),
    );
  });
});
