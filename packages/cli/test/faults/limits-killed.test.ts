import { logRates, readReleases } from '@millrace/testing/rate-log';
import { expect, it } from 'vitest';
import { chain, post } from './support/client.ts';
import { allFinished, readExecutions } from './support/ledger.ts';
import { LONG_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();

const LIMIT = 3;
const COUNT = 12;

/** The outside world: knows which executions have called and have no response yet. */
function open() {
  const { receiver } = world();
  const answers = new Map<number, () => void>();
  const calls: number[] = [];
  let most = 0;
  receiver.on('/limited', async ({ body }) => {
    const id = Number((body as { execution: number }).execution);
    calls.push(id);
    await new Promise<void>((resolve) => {
      // A repeated call replaces the one whose caller is dead.
      answers.set(id, resolve);
      most = Math.max(most, answers.size);
    });
    return 200;
  });
  return {
    answers,
    calls,
    most: () => most,
    answerOldest() {
      const [id, answer] = [...answers].toSorted(([a], [b]) => a - b)[0] ?? [];
      if (id === undefined) throw new Error('nobody waits for an answer');
      answers.delete(id);
      answer?.();
    },
  };
}

it('max_concurrency is never exceeded on three processes, one of which is killed, and no execution is lost', async () => {
  const { db, receiver } = world();
  const outside = open();
  const client = world().client(await world().api());
  const flow = { ...chain(post('work', receiver.url('/limited'))), settings: { max_concurrency: LIMIT } };
  const workflow = await client.createWorkflow('limited', flow);
  const ids: number[] = [];
  for (let n = 0; n < COUNT; n++) ids.push(await client.accept(workflow, 'm'));
  const workers = await Promise.all(Array.from({ length: 3 }, () => world().worker(LONG_LEASE)));
  await until('all places to be taken', () => outside.answers.size === LIMIT);
  const held = (await readExecutions(db, workflow)).filter((row) => row.status === 'running');
  expect(held.map(({ id }) => id)).toEqual(ids.slice(0, LIMIT));
  const leases = await Promise.all(workers.map((worker) => world().leaseOf(worker)));
  const victim = workers[leases.indexOf(held[0]?.worker_id ?? null)];
  if (victim === undefined) throw new Error('no worker holds the oldest');
  const lost = held.filter((row) => row.worker_id === held[0]?.worker_id).map((row) => row.id);
  await world().killForGood(victim);
  await until('the killed ones to be run again', () => {
    return lost.every((id) => outside.calls.filter((call) => call === id).length === 2);
  });
  for (let left = COUNT; left > 0; left--) {
    await until('the free places to be taken', () => outside.answers.size === Math.min(LIMIT, left));
    outside.answerOldest();
  }
  const ended = await allFinished(db, workflow);
  expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
  expect(outside.most()).toBe(LIMIT);
  const firsts = [...new Set(outside.calls)];
  // Those that get their slots together may call in any order.
  for (const [rank, id] of ids.entries()) expect(Math.abs(firsts.indexOf(id) - rank)).toBeLessThan(LIMIT);
});

it('a limit by key is never exceeded on three processes, one of which is killed; each key keeps its order, and none waits for another', async () => {
  const { db, receiver } = world();
  const answers = new Map<number, () => void>();
  const calls: number[] = [];
  receiver.on('/keyed', async ({ body }) => {
    const id = Number((body as { execution: number }).execution);
    calls.push(id);
    await new Promise<void>((resolve) => answers.set(id, resolve));
    return 200;
  });
  const client = world().client(await world().api());
  const concurrency = { key: '{{trigger.data.marker}}', limit: 2 };
  const flow = { ...chain(post('work', receiver.url('/keyed'))), settings: { concurrency } };
  const workflow = await client.createWorkflow('limited by key', flow);
  const markers = ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b'];
  const ids: number[] = [];
  for (const marker of markers) ids.push(await client.accept(workflow, marker));
  const keyOf = (id: number): string | undefined => markers[ids.indexOf(id)];
  const openOf = (key: string): number[] => [...answers.keys()].filter((id) => keyOf(id) === key);
  const workers = await Promise.all(Array.from({ length: 3 }, () => world().worker(LONG_LEASE)));
  await until('all places of both keys to be taken', () => answers.size === 4);
  const held = (await readExecutions(db, workflow)).filter((row) => row.status === 'running');
  expect(held.map(({ id }) => id)).toEqual([...ids.slice(0, 2), ...ids.slice(5, 7)]);
  const leases = await Promise.all(workers.map((worker) => world().leaseOf(worker)));
  const victim = workers[leases.indexOf(held[0]?.worker_id ?? null)];
  if (victim === undefined) throw new Error('no worker holds the oldest');
  const lost = held.filter((row) => row.worker_id === held[0]?.worker_id).map((row) => row.id);
  await world().killForGood(victim);
  await until('the killed ones to be run again', () => {
    return lost.every((id) => calls.filter((call) => call === id).length === 2);
  });
  for (const key of ['b', 'a']) {
    const count = markers.filter((marker) => marker === key).length;
    for (let left = count; left > 0; left--) {
      await until('the free places to be taken', () => openOf(key).length === Math.min(2, left));
      const [id = 0] = openOf(key).toSorted((a, b) => a - b);
      answers.get(id)?.();
      answers.delete(id);
    }
  }
  const ended = await allFinished(db, workflow);
  expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
  for (const key of ['a', 'b']) {
    const firsts = [...new Set(calls)].filter((id) => keyOf(id) === key);
    const inOrder = ids.filter((id) => keyOf(id) === key);
    for (const [rank, id] of inOrder.entries()) expect(Math.abs(firsts.indexOf(id) - rank)).toBeLessThan(2);
  }
});

it('a newer start cancels one whose worker was killed, and runs', async () => {
  const { db, receiver } = world();
  const calls: number[] = [];
  const abandoned = Promise.withResolvers<void>();
  receiver.on('/newest', async ({ body }) => {
    calls.push(Number((body as { execution: number }).execution));
    if (calls.length === 1) await abandoned.promise;
    return 200;
  });
  const client = world().client(await world().api());
  const concurrency = { limit: 1, on_limit: 'cancel_running' };
  const flow = { ...chain(post('work', receiver.url('/newest'))), settings: { concurrency } };
  const workflow = await client.createWorkflow('newest', flow);
  const victim = await world().worker(LONG_LEASE);
  const older = await client.accept(workflow, 'm');
  await until('the older one to run', () => calls.length === 1);
  await world().killForGood(victim);
  const newer = await client.accept(workflow, 'm');
  await world().worker(LONG_LEASE);
  const ended = await allFinished(db, workflow);
  expect(ended.map(({ id, status }) => [id, status])).toEqual([
    [older, 'cancelled'],
    [newer, 'completed'],
  ]);
  expect(calls).toEqual([older, newer]);
  abandoned.resolve();
});

it('a rate holds on three processes, all of which are killed halfway: nothing is released early, lost or out of order', async () => {
  const { db, receiver } = world();
  const calls: number[] = [];
  receiver.on('/rated', ({ body }) => {
    calls.push(Number((body as { execution: number }).execution));
    return 200;
  });
  await logRates(db);
  const client = world().client(await world().api());
  const flow = {
    ...chain(post('work', receiver.url('/rated'))),
    settings: { rate: { limit: 4, per_seconds: 2 } },
  };
  const workflow = await client.createWorkflow('rated', flow);
  const ids: number[] = [];
  for (let n = 0; n < COUNT; n++) ids.push(await client.accept(workflow, 'm'));
  const workers = await Promise.all(Array.from({ length: 3 }, () => world().worker()));
  await until('some to be called', () => new Set(calls).size >= COUNT / 3);
  await Promise.all(workers.map((worker) => world().killForGood(worker)));
  // In the order of their claims: a worker that is held up may call after others that were released later.
  const claimed = await db.query<{ id: number }>(
    'SELECT id FROM executions WHERE workflow_id = $1 AND started_at IS NOT NULL ORDER BY started_at, id',
    [workflow],
  );
  for (const [rank, { id }] of claimed.entries()) {
    expect(Math.abs(ids.indexOf(id) - rank)).toBeLessThan(LIMIT);
  }
  // What is due by now must not be released all at once.
  await db.query("UPDATE start_rates SET due_at = due_at - interval '1 minute'");
  await db.query('TRUNCATE rate_log');
  await world().worker(LONG_LEASE);
  await world().worker(LONG_LEASE);
  const ended = await allFinished(db, workflow);
  expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
  expect([...new Set(calls)].toSorted((a, b) => a - b)).toEqual(ids);
  const releases = await readReleases(db);
  expect(releases.length).toBeGreaterThan(0);
  for (const { was_due, released, intervals } of releases) {
    expect(was_due).toBe(true);
    expect(released).toBe(1);
    expect(intervals).toBeGreaterThanOrEqual(1);
  }
});
