import { success } from '@millrace/engine';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { flowOf } from './flows.ts';
import { startWorkingService, type WorkingService } from './service-with-worker.ts';

let service: WorkingService;
beforeEach(async () => {
  service = await startWorkingService({ withWorker: false });
});
afterEach(() => service.stop());

/** A node that counts how many of it run at once, and ends when released. */
function counted(name: string) {
  const seen = { now: 0, most: 0, started: 0, order: [] as number[] };
  const waiting: (() => void)[] = [];
  service.behaviours.set(name, async ({ execution }) => {
    seen.order.push(execution.id);
    seen.now += 1;
    seen.started += 1;
    seen.most = Math.max(seen.most, seen.now);
    await new Promise<void>((resolve) => waiting.push(resolve));
    seen.now -= 1;
    return success({});
  });
  return { seen, letOne: () => waiting.shift()?.(), waiting };
}

async function limitedWorkflow(limit: number): Promise<number> {
  const flow = flowOf([['work', 'test.effect', { config: { do: 'count' } }]], ['start>work'], {
    max_concurrency: limit,
  });
  return service.createWorkflow(flow);
}

async function statuses(): Promise<Record<string, number>> {
  const rows = await service.database.db.query<{ status: string; count: number }>(
    'SELECT status, count(*) FROM executions WHERE max_concurrency IS NOT NULL GROUP BY status',
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

test('thirty executions on three workers: never more than four at once, all run, oldest first', async () => {
  const node = counted('count');
  const workflowId = await limitedWorkflow(4);
  const ids: number[] = [];
  for (let n = 0; n < 30; n++) ids.push(await service.execute(workflowId));
  for (let n = 0; n < 3; n++) await service.startWorker({ concurrency: 10 });
  for (let ended = 0; ended < 30; ended++) {
    await expect.poll(() => node.waiting.length).toBeGreaterThan(0);
    // Whenever there is work left, it gets the free slots.
    await expect.poll(() => node.seen.now).toBe(Math.min(4, 30 - ended));
    node.letOne();
  }
  for (const id of ids) expect((await service.finished(id)).status).toBe('completed');
  expect(node.seen).toMatchObject({ most: 4, started: 30 });
  // Those that get their slots together may start in any order.
  for (const [rank, id] of ids.entries()) {
    expect(Math.abs(node.seen.order.indexOf(id) - rank)).toBeLessThan(4);
  }
});

test('an organisation keeps to its share of the slots, and a change applies at once', async () => {
  const node = counted('count');
  const workflowId = await service.createWorkflow(
    flowOf([['work', 'test.effect', { config: { do: 'count' } }]], ['start>work']),
  );
  const { db } = service.database;
  const setCap = (percent: number) =>
    db.query(
      "WITH o AS (UPDATE organisations SET slot_cap_percent = $1) SELECT pg_notify('millrace_queue', 'shares')",
      [percent],
    );
  await setCap(25);
  await service.startWorker({ concurrency: 8, heartbeatMs: 3_600_000, leaseMs: 7_200_000 });
  const ids: number[] = [];
  for (let n = 0; n < 6; n++) ids.push(await service.execute(workflowId));
  await expect.poll(() => node.seen.now).toBe(2);
  const queued = await db.query("SELECT FROM executions WHERE status = 'queued'");
  expect(queued).toHaveLength(4);
  await setCap(50);
  await expect.poll(() => node.seen.now).toBe(4);
  for (let n = 0; n < 6; n++) {
    await expect.poll(() => node.waiting.length).toBeGreaterThan(0);
    node.letOne();
  }
  for (const each of ids) expect((await service.finished(each)).status).toBe('completed');
  expect(node.seen.most).toBe(4);
});

function workflowWith(concurrency: object): Promise<number> {
  const node = ['work', 'test.effect', { config: { do: 'count' } }] as const;
  return service.createWorkflow(flowOf([node], ['start>work'], { concurrency }));
}

test('executions with the same key wait for each other on three workers, in order; those with other keys do not', async () => {
  const node = counted('count');
  const workflowId = await workflowWith({ key: '{{trigger.data.customer}}', limit: 2 });
  const ids: number[] = [];
  for (let n = 0; n < 12; n++) ids.push(await service.execute(workflowId, { customer: n < 9 ? 'busy' : n }));
  for (let n = 0; n < 3; n++) await service.startWorker({ concurrency: 10 });
  // Two of nine with the key, and all three others.
  await expect.poll(() => node.seen.now).toBe(5);
  expect(node.seen.order.toSorted((a, b) => a - b)).toEqual([...ids.slice(0, 2), ...ids.slice(9)]);
  for (let ended = 0; ended < 12; ended++) {
    await expect.poll(() => node.waiting.length).toBeGreaterThan(0);
    node.letOne();
  }
  for (const id of ids) expect((await service.finished(id)).status).toBe('completed');
  expect(node.seen).toMatchObject({ most: 5, started: 12 });
  const busy = node.seen.order.filter((id) => ids.indexOf(id) < 9);
  for (const [rank, id] of ids.slice(0, 9).entries())
    expect(Math.abs(busy.indexOf(id) - rank)).toBeLessThan(2);
});

test('skip: accepted like any other start, and cancelled while one with its key runs, even if no slot is free', async () => {
  const node = counted('count');
  const workflowId = await workflowWith({ limit: 1, on_limit: 'skip' });
  await service.startWorker({ concurrency: 1 });
  const first = await service.execute(workflowId);
  await expect.poll(() => node.seen.now).toBe(1);
  const second = await service.execute(workflowId);
  expect((await service.finished(second)).status).toBe('cancelled');
  expect(await cancellationsOf([first, second])).toEqual([null, ['skipped_by_concurrency', first]]);
  node.letOne();
  expect((await service.finished(first)).status).toBe('completed');
  const third = await service.execute(workflowId);
  await expect.poll(() => node.seen.started).toBe(2);
  node.letOne();
  expect((await service.finished(third)).status).toBe('completed');
});

test('cancel_running: a newer start stops the one with its key, even if that holds the only slot', async () => {
  const begun: number[] = [];
  let letGo: () => void = () => {};
  service.behaviours.set('count', async ({ execution, signal }) => {
    begun.push(execution.id);
    await new Promise<void>((resolve) => {
      letGo = resolve;
      signal.addEventListener('abort', () => resolve());
    });
    return success({});
  });
  const workflowId = await workflowWith({
    key: '{{trigger.data.branch}}',
    limit: 1,
    on_limit: 'cancel_running',
  });
  await service.startWorker({ concurrency: 1 });
  const first = await service.execute(workflowId, { branch: 'main' });
  await expect.poll(() => begun).toEqual([first]);
  const second = await service.execute(workflowId, { branch: 'main' });
  await expect.poll(() => begun).toEqual([first, second]);
  expect((await service.finished(first)).status).toBe('cancelled');
  expect(await cancellationsOf([first, second])).toEqual([['cancelled_by_newer_execution', second], null]);
  letGo();
  expect((await service.finished(second)).status).toBe('completed');
});

/** What the API says about the end of executions: a code and the other execution. */
async function cancellationsOf(ids: readonly number[]): Promise<(readonly [string, number] | null)[]> {
  const bodies = await Promise.all(ids.map((id) => service.read(id)));
  return bodies.map(({ cancellation }) => {
    if (cancellation === undefined) return null;
    expect(cancellation.message).toContain(`${cancellation.execution_id}`);
    return [cancellation.code, cancellation.execution_id];
  });
}

test("executions over a limit don't delay others", async () => {
  const node = counted('count');
  const limited = await limitedWorkflow(1);
  for (let n = 0; n < 20; n++) await service.execute(limited);
  await service.startWorker({ concurrency: 2 });
  await expect.poll(() => node.seen.now).toBe(1);
  const free = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
  expect((await service.finished(free)).status).toBe('completed');
  expect(node.seen.started).toBe(1);
});

test('a waiting execution takes no slot, and needs one again when it wakes', async () => {
  const node = counted('count');
  const nodes = [
    ['wait', 'core.delay', { config: { until: '{{trigger.data.until}}' } }],
    ['work', 'test.effect', { config: { do: 'count' } }],
  ] as const;
  const flow = flowOf(nodes, ['start>wait', 'wait>work'], { max_concurrency: 1 });
  const workflowId = await service.createWorkflow(flow);
  const worker = { concurrency: 5, inlineWaitMs: 0 };
  await service.startWorker(worker);
  const far = { until: new Date(Date.now() + 3_600_000).toISOString() };
  const waiting = [await service.execute(workflowId, far), await service.execute(workflowId, far)];
  await expect.poll(statuses).toEqual({ waiting_async: 2 });
  const past = { until: new Date(0).toISOString() };
  const third = await service.execute(workflowId, past);
  await expect.poll(() => node.seen.now).toBe(1);
  const { db } = service.database;
  // Both are due; the engine checks the clock, so the time it waits for is moved too.
  await db.query(
    `UPDATE execution_checkpoints SET records = regexp_replace(records::text, '"wakeAtMs":\\d+', '"wakeAtMs":0', 'g')::json
     WHERE execution_id = ANY($1::bigint[])`,
    [waiting],
  );
  await db.query('UPDATE executions SET wake_at = now() WHERE id = ANY($1::bigint[])', [waiting]);
  await service.startWorker(worker);
  expect(await statuses()).toEqual({ running: 1, waiting_async: 2 });
  for (let n = 0; n < 3; n++) {
    await expect.poll(() => node.seen.now).toBe(1);
    node.letOne();
    await expect.poll(() => node.seen.started).toBe(Math.min(3, n + 2));
  }
  for (const id of [...waiting, third]) expect((await service.finished(id)).status).toBe('completed');
  expect(node.seen.most).toBe(1);
});
