import type { JsonObject } from '@millrace/engine';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createScheduleWorld, cron, type ScheduleWorld } from './schedules-world.ts';

let world: ScheduleWorld;
beforeAll(async () => {
  world = await createScheduleWorld();
});
afterAll(() => world.stop());
afterEach(async () => {
  await world.service.database.db.query('DELETE FROM schedules');
});

type Schedules = { readonly [nodeId: string]: JsonObject };

/** A workflow with a manual trigger and schedules; each one says in its input which it is. */
const flowOf = (schedules: Schedules) => ({
  nodes: [
    { id: 'manual', type: 'trigger.manual', data: {} },
    ...Object.entries(schedules).map(([id, config]) => ({
      id,
      type: 'trigger.schedule',
      data: { config: { ...config, input: { of: id } } },
    })),
  ],
  edges: [],
});

async function create(schedules: Schedules): Promise<number> {
  const body = { name: 'by clocks', flow_data: flowOf(schedules), status: 'active' };
  const answer = await world.service.api('POST', '/workflows', { key: world.key, body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json.id;
}

/** Fires at the time that is next. */
async function fireNext(id: number): Promise<string> {
  const at = await world.nextFire(id);
  if (at === null) throw new Error('nothing is next');
  world.nowMs = Date.parse(at);
  await world.scheduler().runDue();
  return at;
}

/** Which schedules have started executions, in order, and at which triggers. */
async function started(id: number) {
  const { db } = world.service.database;
  const rows = await db.query<{ id: number }>(
    'SELECT id FROM executions WHERE workflow_id = $1 ORDER BY id',
    [id],
  );
  const found = [];
  for (const row of rows) {
    const { json } = await world.service.api('GET', `/executions/${row.id}`, { key: world.key });
    const { input, fire_number: number } = json.input_data as { input: { of: string }; fire_number: number };
    expect(json.trigger_type).toBe('schedule');
    expect(Object.keys(json.node_outputs as object)).toEqual([input.of]);
    found.push(`${input.of} ${number}`);
  }
  return found;
}

const outcomes = async (id: number) =>
  (await world.fires(id)).map(({ outcome, reason }) => reason ?? outcome);

describe('several schedules of a workflow', () => {
  test('each fires at its own times, and at the same moment each once, whoever fires', async () => {
    const id = await create({ hourly: cron('0 * * * *'), half: cron('0,30 * * * *') });
    world.nowMs = Date.parse((await world.nextFire(id)) ?? '');
    const from = world.nowMs;
    const schedulers = Array.from({ length: 3 }, () => world.scheduler());
    for (let minute = 0; minute < 120; minute += 10) {
      world.nowMs = from + minute * 60_000;
      await Promise.all(schedulers.map((scheduler) => scheduler.runDue()));
    }
    const all = await started(id);
    const [hourly, half] = ['hourly', 'half'].map((name) => all.filter((each) => each.startsWith(name)));
    expect(hourly).toEqual(['hourly 1', 'hourly 2']);
    expect(half).toEqual(['half 1', 'half 2', 'half 3', 'half 4']);
    expect((await world.fires(id)).map(({ fire_number: number }) => number)).toHaveLength(6);
  });

  test('an overlap of one is not an overlap of the other', async () => {
    const id = await create({
      a: cron('0 * * * *', { overlap: 'skip' }),
      b: cron('0 * * * *', { overlap: 'queue' }),
      c: cron('0 * * * *'),
    });
    await fireNext(id);
    await fireNext(id);
    expect(await outcomes(id)).toEqual(['started', 'started', 'started', 'overlap', 'queued', 'started']);
    expect(await started(id)).toEqual(['a 1', 'b 1', 'c 1', 'c 2']);
    const [, ofB] = await world.fires(id);
    await world.end(ofB?.execution_id ?? 0);
    await world.scheduler().runDue();
    expect(await started(id)).toEqual(['a 1', 'b 1', 'c 1', 'c 2', 'b 2']);
  });

  test('one that is alone fires beside a manual trigger', async () => {
    const id = await create({ a: cron('0 * * * *') });
    await fireNext(id);
    expect(await started(id)).toEqual(['a 1']);
  });

  test('adding and removing one leaves the others as they are', async () => {
    const id = await create({ a: cron('0 * * * *', { overlap: 'queue' }) });
    await fireNext(id);
    const next = await world.nextFire(id);
    const both = { a: cron('0 * * * *', { overlap: 'queue' }), b: cron('0 * * * *', { overlap: 'queue' }) };
    await world.change(id, { flow_data: flowOf(both) });
    expect(await world.nextFire(id)).not.toBe(null);
    // What a started is still running.
    world.nowMs = Date.parse(next ?? '');
    await world.scheduler().runDue();
    world.nowMs += 3_600_000;
    await world.scheduler().runDue();
    const seen = await world.fires(id);
    expect(seen.filter(({ outcome }) => outcome === 'queued').length).toBeGreaterThanOrEqual(2);
    await world.change(id, { flow_data: flowOf({ a: both.a }) });
    const left = await world.fires(id);
    expect(left.filter(({ reason }) => reason === 'inactive')).toHaveLength(
      seen.filter(({ outcome }) => outcome === 'queued').length -
        left.filter(({ outcome }) => outcome === 'queued').length,
    );
    const [first] = left;
    await world.end(first?.execution_id ?? 0);
    await world.scheduler().runDue();
    const of = (await started(id)).filter((each) => each.startsWith('a'));
    expect(of.slice(0, 2)).toEqual(['a 1', 'a 2']);
    expect((await world.fires(id)).some(({ outcome }) => outcome === 'queued')).toBe(true);
  });

  test('stopped and active again, none has missed anything', async () => {
    const id = await create({ a: cron('0 * * * *'), b: cron('0 * * * *', { missed: 'run_all' }) });
    const at = await world.nextFire(id);
    await world.change(id, { status: 'inactive' });
    expect(await world.nextFire(id)).toBe(null);
    world.nowMs = Date.parse(at ?? '') + 7_200_000;
    await world.scheduler().runDue();
    expect(await started(id)).toEqual([]);
    await world.change(id, { status: 'active' });
    expect(await world.nextFire(id)).toBe(at);
  });
});
