import type { Queryable } from '@millrace/database/database';
import { holdLocks } from '@millrace/testing/hold-locks';
import { expect, it } from 'vitest';
import type { Flow } from './support/client.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();

it('SIGKILL of workers between the fetch and the start: every item starts one execution, and none is missing', async () => {
  const { db, receiver } = world();
  const ids: number[] = [];
  let beforeResponse = async (): Promise<void> => undefined;
  receiver.on('/items', async () => {
    await beforeResponse();
    const headers = { 'content-type': 'application/json' };
    return { status: 200, headers, body: JSON.stringify(ids.map((id) => ({ id }))) };
  });
  const client = world().client(await world().api());
  const workflow = await client.createWorkflow('polls', polling(receiver.url('/items')));
  expect((await client.put(`/workflows/${workflow}`, { status: 'active' })).status).toBe(200);
  // As if the lease of a dead worker had ended.
  const pollAgain = () =>
    db.query(
      `UPDATE polls SET next_poll_at = now(), leased_until = NULL WHERE workflow_id = $1
       RETURNING pg_notify('millrace_schedules', '')`,
      [workflow],
    );
  let worker = await world().worker();
  await until('the first poll', async () => (await read(db, workflow)).isPrimed);

  for (const batch of [[1, 2, 3], [4], [5, 6]]) {
    ids.push(...batch);
    const [asked, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    beforeResponse = () => {
      asked.resolve();
      return locked.promise;
    };
    await pollAgain();
    await asked.promise;
    await holdLocks(db, async (tx) => {
      // The poll can fetch, but not store what it found: exactly there it is killed.
      await tx.query('SELECT FROM polls WHERE workflow_id = $1 FOR SHARE', [workflow]);
      locked.resolve();
      await until('a poll that waits to store', () => isWaiting(db));
      await worker.end('SIGKILL');
    });
    beforeResponse = async () => undefined;
    worker = await world().worker();
    await pollAgain();
    await until('the new items', async () => (await read(db, workflow)).started >= ids.length);
  }
  // Once more without anything new.
  const { polls } = await read(db, workflow);
  await pollAgain();
  await until('another poll', async () => (await read(db, workflow)).polls > polls);

  const rows = await db.query<{ id: string }>(
    `SELECT input->>'id' AS id FROM executions WHERE workflow_id = $1 ORDER BY id`,
    [workflow],
  );
  expect(rows.map(({ id }) => Number(id))).toEqual(ids);
  expect((await client.archive(workflow)).status).toBe(200);
});

const polling = (url: string): Flow => ({
  nodes: [
    { id: 'start', type: 'trigger.poll', data: { config: { url, interval_s: 30, existing: 'start' } } },
    { id: 'set', type: 'core.set', data: { config: { values: { id: '{{trigger.data.id}}' } } } },
  ],
  edges: [{ source: 'start', target: 'set' }],
});

async function read(db: Queryable, workflow: number) {
  const [row] = await db.query<{ isPrimed: boolean; started: number; polls: number }>(
    `SELECT is_primed AS "isPrimed", started, claim AS polls FROM polls WHERE workflow_id = $1
       AND leased_until IS NULL`,
    [workflow],
  );
  if (row === undefined) throw new Error('a poll is running');
  return row;
}

/** Whether some statement waits for the lock on a poll's row. */
async function isWaiting(db: Queryable): Promise<boolean> {
  const rows = await db.query(
    `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'SELECT FROM polls%FOR UPDATE'`,
  );
  return rows.length > 0;
}
