import { expect, it } from 'vitest';
import type { Flow } from './support/client.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();

/** Fires every second, so that a few seconds are enough. */
const FLOW: Flow = {
  nodes: [
    {
      id: 'start',
      type: 'trigger.schedule',
      data: {
        config: {
          schedule: { type: 'every', every: 1, unit: 'seconds' },
          timezone: 'UTC',
          missed: 'run_all',
        },
      },
    },
    { id: 'set', type: 'core.set', data: { config: { values: { at: '{{trigger.data.scheduled_at}}' } } } },
  ],
  edges: [{ source: 'start', target: 'set' }],
};

it('SIGKILL of workers while a schedule fires: every fire starts one execution, and none is missing', async () => {
  const { db } = world();
  const client = world().client(await world().api());
  const workflow = await client.createWorkflow('every second', FLOW);
  const activated = await fetch(`${client.url}/api/v1/workflows/${workflow}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${world().apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ status: 'active' }),
  });
  expect(activated.status).toBe(200);
  const countFires = async () => {
    const [row] = await db.query<{ count: number }>(
      'SELECT count(*) AS count FROM schedule_fires WHERE workflow_id = $1',
      [workflow],
    );
    return row?.count ?? 0;
  };
  const moreFires = async () => {
    const before = await countFires();
    await until('more fires', async () => (await countFires()) >= before + 2);
  };

  const victims = await Promise.all([world().worker(), world().worker(), world().worker()]);
  for (const victim of victims) {
    await moreFires();
    await victim.end('SIGKILL');
  }
  // With no worker left there is a gap, which the next worker catches up on, however long it is.
  await Promise.all([world().worker(), world().worker()]);
  await moreFires();
  const response = await fetch(`${client.url}/api/v1/workflows/${workflow}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${world().apiKey}` },
  });
  expect(response.status).toBe(200);

  const fires = await db.query<{ fire_time: Date; outcome: string; execution_id: number | null }>(
    'SELECT fire_time, outcome, execution_id FROM schedule_fires WHERE workflow_id = $1 ORDER BY fire_time',
    [workflow],
  );
  const first = fires[0]?.fire_time.getTime() ?? 0;
  expect(fires.map((fire) => fire.fire_time.getTime())).toEqual(
    fires.map((_, index) => first + index * 1_000),
  );
  expect(new Set(fires.map((fire) => fire.outcome))).toEqual(new Set(['started']));
  const executions = await db.query<{ id: number; at: string }>(
    `SELECT id, input->>'scheduled_at' AS at FROM executions WHERE workflow_id = $1 ORDER BY id`,
    [workflow],
  );
  expect(executions.map(({ at }) => at)).toEqual(fires.map((fire) => fire.fire_time.toISOString()));
  expect(executions.map(({ id }) => id)).toEqual(fires.map((fire) => fire.execution_id));
});
