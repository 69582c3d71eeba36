import { success } from '@millrace/engine';
import { createStarter, type Starter } from '@millrace/service/executions/accept';
import { logRates, readReleases } from '@millrace/testing/rate-log';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { NO_EXECUTOR } from '../../src/executor.ts';
import { pruneStartRates } from '../../src/held-start-statements.ts';
import { flowOf } from './flows.ts';
import { startWorkingService, type WorkingOverrides, type WorkingService } from './service-with-worker.ts';

let shared: WorkingService;
/** The shared one, unless the test uses its own. */
let service: WorkingService;
beforeAll(async () => {
  // One key makes the requests of all tests.
  shared = await startWorkingService({ withWorker: false, limits: { requestsPerMinutePerKey: 0 } });
});
afterAll(() => shared.stop());
beforeEach(() => {
  service = shared;
});
afterEach(async () => {
  await shared.stopWorkers();
  shared.behaviours.clear();
  // What a test left in a queue would become due in the next one.
  await shared.database.db.query('TRUNCATE executions, start_rates, start_debounces CASCADE');
});

async function useOwnService(overrides: WorkingOverrides = {}): Promise<void> {
  const own = await startWorkingService({ withWorker: false, ...overrides });
  onTestFinished(() => own.stop());
  service = own;
}

function workflow(settings: object): Promise<number> {
  return service.createWorkflow(
    flowOf([['work', 'test.effect', { config: { do: 'note' } }]], ['start>work'], settings),
  );
}

/** Ids in the order in which the node of their executions ran. */
function noted(): number[] {
  const order: number[] = [];
  service.behaviours.set('note', ({ execution }) => {
    order.push(execution.id);
    return success({});
  });
  return order;
}

/** Starts executions as another process would: its batches are its own. */
function anotherProcess(): (workflowId: number, input: object) => Promise<number> {
  const { db, plans, config } = service.deps;
  const starter: Starter = createStarter({
    db,
    config,
    executor: NO_EXECUTOR,
  });
  const { organisationId } = service.key;
  return async (workflowId, input) => {
    const { workflow: found, executionId, now } = await starter.lookUp(organisationId, workflowId, null);
    if (found === null) throw new Error('there is no such workflow');
    const compiled = await plans.get(workflowId, found.version);
    const order = {
      executionId,
      acceptedAt: now,
      workflow: found,
      version: found.version,
      triggerType: 'api',
      compiled,
    };
    await starter.start({ ...order, input: input as never });
    return executionId;
  };
}

interface Row {
  readonly id: number;
  readonly status: string;
  readonly held_until: Date | null;
  readonly cancel_code: string | null;
  readonly cancelled_for: number | null;
}

async function rowsOf(workflowId: number): Promise<Row[]> {
  return service.database.db.query<Row>(
    'SELECT id, status, held_until, cancel_code, cancelled_for FROM executions WHERE workflow_id = $1 ORDER BY id',
    [workflowId],
  );
}

/** Makes everything that is held due now. */
async function makeDue(): Promise<void> {
  const { db } = service.database;
  await db.query(`UPDATE start_rates SET due_at = 'epoch'`);
  await db.query(`UPDATE start_debounces SET due_at = 'epoch'`);
}

test('starts of two processes and a batch get consecutive moments; three workers release them in order, none too early', async () => {
  // It adds a trigger to the database.
  await useOwnService();
  const { db } = service.database;
  await logRates(db);
  const order = noted();
  // Slow enough that all but the first of each customer are held, however long the starts take.
  const workflowId = await workflow({
    rate: { limit: 1, per_seconds: 3_600, key: '{{trigger.data.customer}}' },
  });
  const another = anotherProcess();
  const starts: Promise<number>[] = [];
  for (let n = 0; n < 40; n++) {
    const input = { customer: n % 2 };
    starts.push(n % 4 < 2 ? service.execute(workflowId, input) : another(workflowId, input));
  }
  const ids = await Promise.all(starts);
  const before = await rowsOf(workflowId);
  expect(before.map(({ id }) => id)).toEqual(ids.toSorted((a, b) => a - b));
  expect(new Set(before.map(({ status }) => status))).toEqual(new Set(['queued']));
  const queues = await db.query('SELECT execution_id FROM held_starts');
  expect(queues.length).toBe(38);
  // From here on, one every 50 milliseconds.
  await db.query(`UPDATE start_rates SET due_at = now(), interval_us = 50000`);

  for (let n = 0; n < 3; n++) await service.startWorker({ concurrency: 20 });
  for (const id of ids) expect((await service.finished(id)).status).toBe('completed');
  expect(order.toSorted((a, b) => a - b)).toEqual(ids.toSorted((a, b) => a - b));

  const releases = await readReleases(db);
  expect(releases.reduce((sum, { released }) => sum + released, 0)).toBe(queues.length);
  for (const { was_due, released, intervals } of releases) {
    expect(was_due).toBe(true);
    expect(intervals).toBeGreaterThanOrEqual(released);
  }
  const left = await service.database.db.query('SELECT FROM start_rates WHERE waiting > 0');
  expect(left).toEqual([]);
});

test('what became due while no worker ran is released one by one, in the order of the starts', async () => {
  const order = noted();
  const workflowId = await workflow({ rate: { limit: 1, per_seconds: 3_600 } });
  const ids: number[] = [];
  for (let n = 0; n < 4; n++) ids.push(await service.execute(workflowId));
  const { db } = service.database;
  await db.query(`UPDATE start_rates SET due_at = now() - interval '10 hours'`);
  await service.startWorker();
  await expect.poll(() => order).toEqual(ids.slice(0, 2));
  expect(
    (await rowsOf(workflowId)).filter(({ held_until }) => held_until !== null).map(({ id }) => id),
  ).toEqual(ids.slice(2));
  const [rate] = await db.query<{ is_later: boolean; waiting: number }>(
    `SELECT due_at > now() + interval '59 minutes' AS is_later, waiting FROM start_rates`,
  );
  expect(rate).toEqual({ is_later: true, waiting: 2 });
});

test('what is released under a limit or a decision about its key is claimed at once, not by the next poll', async () => {
  noted();
  const rate = { limit: 1, per_seconds: 1 };
  const limited = await workflow({ rate, max_concurrency: 1 });
  const decided = await workflow({ rate, concurrency: { limit: 5, on_limit: 'skip' } });
  const ids: number[] = [];
  for (const id of [limited, limited, decided, decided]) ids.push(await service.execute(id));
  await service.startWorker({ pollMs: 600_000, leaseMs: 900_000, heartbeatMs: 300_000 });
  for (const id of ids) expect((await service.finished(id)).status).toBe('completed');
});

test('a cancelled execution takes no moment of the rate', async () => {
  const order = noted();
  const workflowId = await workflow({ rate: { limit: 1, per_seconds: 3_600 } });
  const ids: number[] = [];
  for (let n = 0; n < 4; n++) ids.push(await service.execute(workflowId));
  for (const id of ids.slice(1, 3)) {
    const answer = await service.api('POST', `/executions/${id}/cancel`, { key: service.key });
    expect(answer.status).toBe(200);
  }
  expect(await service.read(ids[3] ?? 0)).toMatchObject({ hold: { reason: 'rate' } });
  await makeDue();
  await service.startWorker();
  await expect.poll(() => order).toEqual([ids[0], ids[3]]);
  // Nothing waits and nothing was started for long: the row says as much as none.
  await makeDue();
  await service.database.db.transaction((tx) => pruneStartRates(tx, 10));
  expect(await service.database.db.query('SELECT FROM start_rates')).toEqual([]);
});

test('a start that would wait for too long is refused with the time after which it would not, and stores nothing', async () => {
  await useOwnService({ limits: { maxRateWaitMs: 9_000_000 } });
  const workflowId = await workflow({
    rate: { limit: 1, per_seconds: 3_600, key: '{{trigger.data.customer}}' },
  });
  const execute = (customer: number, idempotencyKey: string) =>
    service.api('POST', `/workflows/${workflowId}/execute`, {
      key: service.key,
      body: { input_data: { customer } },
      headers: { 'idempotency-key': idempotencyKey },
    });
  const answers = [];
  for (let n = 0; n < 5; n++) answers.push(await execute(1, `first-${n}`));
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429, 429]);
  const refused = answers[3];
  expect(refused?.json.code).toBe('rate_queue_full');
  const seconds = Number(refused?.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(1_200);
  expect(seconds).toBeLessThanOrEqual(1_801);
  expect((await rowsOf(workflowId)).length).toBe(3);
  // A repeat of an accepted one gets its receipt, another key has its own rate.
  expect((await execute(1, 'first-2')).text).toBe(answers[2]?.text);
  expect((await execute(2, 'second')).status).toBe(202);
  // Nothing of a batch is stored if one of its starts is refused.
  const batch = await service.api('POST', `/workflows/${workflowId}/executions/batch`, {
    key: service.key,
    body: { items: [{ input_data: { customer: 3 } }, { input_data: { customer: 1 } }] },
  });
  expect(batch.text).toContain('rate_queue_full');
  expect((await rowsOf(workflowId)).length).toBe(4);
  // The refused key was not used up.
  await service.database.db.query("UPDATE start_rates SET due_at = due_at - interval '40 minutes'");
  expect((await execute(1, 'first-3')).status).toBe(202);
});

test('debounce: of many starts in two processes the last one runs, the others name the newer one', async () => {
  const order = noted();
  const workflowId = await workflow({ debounce: { seconds: 3_600, key: '{{trigger.data.customer}}' } });
  const another = anotherProcess();
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      n % 2 === 0 ? service.execute(workflowId, { customer: 1 }) : another(workflowId, { customer: 1 }),
    ),
  );
  const other = await service.execute(workflowId, { customer: 2 });
  const rows = await rowsOf(workflowId);
  const waiting = rows.filter(({ status }) => status === 'queued').map(({ id }) => id);
  expect(waiting.length).toBe(2);
  expect(waiting).toContain(other);
  const cancelled = rows.filter(({ status }) => status === 'cancelled');
  expect(cancelled.length).toBe(19);
  // Each was replaced by the one after it, so following them leads to the one that waits.
  const newer = new Map(cancelled.map((row) => [row.id, row.cancelled_for]));
  for (const { id, cancel_code } of cancelled) {
    expect(cancel_code).toBe('replaced_by_newer_start');
    let at: number | null = id;
    for (let steps = 0; at !== null && newer.has(at) && steps < 20; steps++) at = newer.get(at) ?? null;
    expect(at).toBe(waiting.find((id) => id !== other));
  }
  await service.startWorker();
  await makeDue();
  for (const id of waiting) expect((await service.finished(id)).status).toBe('completed');
  expect(order.toSorted((a, b) => a - b)).toEqual(waiting.toSorted((a, b) => a - b));
  expect(ids.length).toBe(20);
});

test('debounce: a repeat with an Idempotency-Key gets the first receipt and replaces nothing; max_seconds bounds the wait', async () => {
  const workflowId = await workflow({ debounce: { seconds: 600, max_seconds: 900 } });
  const execute = (idempotencyKey: string) =>
    service.api('POST', `/workflows/${workflowId}/execute`, {
      key: service.key,
      body: {},
      headers: { 'idempotency-key': idempotencyKey },
    });
  const first = await execute('one');
  const second = await execute('two');
  expect((await execute('one')).text).toBe(first.text);
  const id = Number(second.json.execution_id);
  expect((await rowsOf(workflowId)).map(({ status }) => status)).toEqual(['cancelled', 'queued']);
  const replaced = await service.finished(Number(first.json.execution_id));
  expect(replaced).toMatchObject({
    status: 'cancelled',
    started_at: null,
    cancellation: { code: 'replaced_by_newer_start', execution_id: id },
  });
  expect(await service.read(id)).toMatchObject({
    status: 'queued',
    hold: { reason: 'debounce', until: expect.any(String) },
  });
  const { db } = service.database;
  await db.query(`UPDATE start_debounces SET first_at = first_at - interval '800 seconds'`);
  await execute('three');
  const [row] = await db.query<{ is_bounded: boolean }>(
    `SELECT due_at <= first_at + interval '900 seconds' AND due_at > now() AS is_bounded FROM start_debounces`,
  );
  expect(row).toEqual({ is_bounded: true });
  expect((await service.finished(id)).status).toBe('cancelled');
});

test('with both, the start that is left joins the queue of the rate', async () => {
  const order = noted();
  const workflowId = await workflow({
    debounce: { seconds: 600, key: '{{trigger.data.customer}}' },
    rate: { limit: 1, per_seconds: 3_600 },
  });
  const ids = [
    await service.execute(workflowId, { customer: 1 }),
    await service.execute(workflowId, { customer: 2 }),
  ];
  await makeDue();
  await service.startWorker();
  await expect.poll(() => order.length).toBe(1);
  const rows = await rowsOf(workflowId);
  expect(rows.filter(({ held_until }) => held_until !== null).length).toBe(1);
  await makeDue();
  for (const id of ids) expect((await service.finished(id)).status).toBe('completed');
});

test('a child waits for its rate, and a replaced child is the result of the node that started it', async () => {
  const rated = await workflow({ rate: { limit: 1, per_seconds: 3_600 } });
  const debounced = await workflow({ debounce: { seconds: 600 } });
  noted();
  const parentOf = (workflowId: number) =>
    service.createWorkflow(
      flowOf([['call', 'flow.call', { config: { workflow_id: workflowId } }]], ['start>call']),
    );
  const [slow, replaced] = [await parentOf(rated), await parentOf(debounced)];
  await service.execute(rated);
  await service.startWorker();
  const parents = [await service.execute(slow), await service.execute(replaced)];
  await expect.poll(async () => (await rowsOf(rated)).length).toBe(2);
  await expect.poll(async () => (await rowsOf(debounced)).length).toBe(1);
  await service.execute(debounced);
  const ended = await service.finished(parents[1] ?? 0);
  expect(ended.status).toBe('failed');
  await makeDue();
  expect((await service.finished(parents[0] ?? 0)).status).toBe('completed');
});
