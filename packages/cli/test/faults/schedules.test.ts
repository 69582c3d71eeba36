import { expect, it } from 'vitest';
import { EVERY_SECOND, readFires, readScheduled } from './support/schedule.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();

it('SIGKILL of workers while a schedule fires: every fire starts one execution, and none is missing', async () => {
  const { db } = world();
  const client = world().client(await world().api());
  const workflow = await client.createWorkflow('every second', EVERY_SECOND);
  expect((await client.put(`/workflows/${workflow}`, { status: 'active' })).status).toBe(200);
  const countFires = async () => (await readFires(db, workflow)).length;
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
  expect((await client.archive(workflow)).status).toBe(200);

  const fires = await readFires(db, workflow);
  const first = fires[0]?.fireTime.getTime() ?? 0;
  expect(fires.map((fire) => fire.fireTime.getTime())).toEqual(
    fires.map((_, index) => first + index * 1_000),
  );
  expect(new Set(fires.map((fire) => fire.outcome))).toEqual(new Set(['started']));
  const executions = await readScheduled(db, workflow);
  expect(executions.map(({ at }) => at)).toEqual(fires.map((fire) => fire.fireTime.toISOString()));
  expect(executions.map(({ id }) => id)).toEqual(fires.map((fire) => fire.executionId));
});
