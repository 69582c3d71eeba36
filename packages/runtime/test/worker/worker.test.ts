import { queryRow } from '@millrace/database/query-row';
import { failure, type NodeContext, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { holdLocks } from '@millrace/testing/hold-locks';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { chainOf, flowOf } from './flows.ts';
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
  // Each test begins without workers, and without executions that its own could run.
  await shared.database.db.query('TRUNCATE executions, workers CASCADE');
});

async function useOwnService(overrides: WorkingOverrides): Promise<void> {
  const own = await startWorkingService({ withWorker: false, ...overrides });
  onTestFinished(() => own.stop());
  service = own;
}

interface Row {
  readonly status: string;
  readonly worker_id: string | null;
  readonly claim: number;
  readonly crashed_attempts: number;
}

async function rowOf(id: number): Promise<Row> {
  return await queryRow<Row>(service.database.db, 'SELECT * FROM executions WHERE id = $1', [id]);
}

/** Simulates a vanished worker: its leases have expired. */
async function expireLeases(): Promise<void> {
  await service.database.db.query("UPDATE workers SET lease_expires_at = now() - interval '1 second'");
}

/** A node that runs until it is released or aborted; counts how often it was started. */
function holdNode(name: string) {
  const gate = { starts: 0, contexts: [] as NodeContext[], release: Promise.withResolvers<void>() };
  service.behaviours.set(name, async (context) => {
    gate.starts += 1;
    gate.contexts.push(context);
    const aborted = new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
    await Promise.race([gate.release.promise, aborted]);
    return success({ run: gate.starts });
  });
  return gate;
}

const HOUR_MS = 3_600_000;

/** A worker that doesn't notice its lease has expired: its heartbeats are too rare. */
const DEAF = { leaseMs: 2 * HOUR_MS, heartbeatMs: HOUR_MS / 2, pollMs: HOUR_MS };

describe('take-over', () => {
  test('ended nodes are kept, running ones are run again, and the late worker changes nothing', async () => {
    let firstRuns = 0;
    service.behaviours.set('first', () => {
      firstRuns += 1;
      return success({ run: firstRuns });
    });
    const second = holdNode('second');
    await service.startWorker(DEAF);
    const id = await service.execute(await service.createWorkflow(chainOf('first', 'second')));
    await expect.poll(() => second.starts).toBe(1);
    await expireLeases();
    await service.startWorker();
    await expect.poll(() => second.starts).toBe(2);
    expect(await rowOf(id)).toMatchObject({ status: 'running', claim: 2, crashed_attempts: 1 });
    const keys = second.contexts.map((context) => context.idempotencyKey);
    expect(keys[0]).toBe(keys[1]);
    second.release.resolve();
    const detail = await service.finished(id);
    expect(detail).toMatchObject({
      status: 'completed',
      node_outputs: { first: { output: { run: 1 } }, second: { attempts: 2 } },
    });
    expect(firstRuns).toBe(1);
    const { db } = service.database;
    const running = await db.query('SELECT FROM executions WHERE status = $1', ['running']);
    expect(running).toEqual([]);
    expect(await service.read(id)).toEqual(detail);
  });

  test('an execution that crashes its third worker fails, and others are not affected', async () => {
    const { takeOvers } = service.meters;
    const poison = holdNode('poison');
    const workflowId = await service.createWorkflow(chainOf('poison'));
    const id = await service.execute(workflowId);
    for (let crash = 1; crash <= 3; crash++) {
      await service.startWorker(DEAF);
      await expect.poll(() => poison.starts).toBe(crash);
      await expireLeases();
    }
    const other = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
    await service.startWorker();
    const detail = await service.finished(id);
    expect(detail).toMatchObject({
      status: 'failed',
      error: { code: 'worker_crashed', node_id: null },
      node_outputs: { poison: { status: 'cancelled', attempts: 3 } },
    });
    expect((await service.finished(other)).status).toBe('completed');
    expect(poison.starts).toBe(3);
    expect(service.meters.takeOvers - takeOvers).toBe(3);
    expect(service.meters.failed.entries()).toContainEqual(['worker_crashed', 1]);
    poison.release.resolve();
  });

  test('an idle worker finds an execution that is leased to it, although the reply that said so was lost', async () => {
    const id = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
    await holdLocks(service.database.db, async (tx) => {
      // Nobody claims it while it is locked.
      await tx.query('SELECT FROM executions WHERE id = $1 FOR UPDATE', [id]);
      await service.startWorker({ pollMs: 3_600_000, heartbeatMs: 100 });
      await tx.query(
        `UPDATE executions SET status = 'running', started_at = now(), claim = 1, worker_id = (SELECT id FROM workers)
         WHERE id = $1`,
        [id],
      );
    });
    expect((await service.finished(id)).status).toBe('completed');
    expect(await rowOf(id)).toMatchObject({ claim: 2, crashed_attempts: 0 });
  });

  test('a worker that lost its lease drops everything and continues under a new one', async () => {
    const held = holdNode('held');
    await service.startWorker({ pollMs: 50, heartbeatMs: 100 });
    const id = await service.execute(await service.createWorkflow(chainOf('held')));
    await expect.poll(() => held.starts).toBe(1);
    const before = await rowOf(id);
    const { leaseLosses } = service.meters;
    await expireLeases();
    await expect.poll(() => held.starts).toBe(2);
    expect(held.contexts[0]?.signal.aborted).toBe(true);
    const after = await rowOf(id);
    expect(after.worker_id).not.toBe(before.worker_id);
    expect(service.meters.leaseLosses).toBeGreaterThan(leaseLosses);
    held.release.resolve();
    expect((await service.finished(id)).status).toBe('completed');
  });

  test('a registration whose reply takes longer than the lease counts no crash', async () => {
    onTestFinished(() => void vi.restoreAllMocks());
    // It was held up: what computes for half of the time since its last heartbeat would be to blame.
    vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 });
    const held = holdNode('held');
    await service.startWorker({ leaseMs: 1_000, pollMs: 50, heartbeatMs: 100 });
    const id = await service.execute(await service.createWorkflow(chainOf('held')));
    await expect.poll(() => held.starts).toBeGreaterThan(0);
    const { db } = service.deps;
    const query = db.query.bind(db);
    const registrations = vi.spyOn(db, 'query').mockImplementation(async (text, ...rest) => {
      const rows = await query(text, ...rest);
      if (!text.includes('INSERT INTO workers')) return rows as never;
      registrations.mockRestore();
      const valid = 'SELECT FROM workers WHERE lease_expires_at > clock_timestamp()';
      await expect.poll(() => query(valid)).toEqual([]);
      return rows as never;
    });
    const { starts } = held;
    await expireLeases();
    await expect.poll(() => held.starts).toBeGreaterThan(starts);
    expect(await rowOf(id)).toMatchObject({ status: 'running', crashed_attempts: 0 });
    held.release.resolve();
    expect((await service.finished(id)).status).toBe('completed');
  });

  test('executions leased to a worker without its knowledge are found at its next heartbeat', async () => {
    const worker = await service.startWorker({ pollMs: 3_600_000, heartbeatMs: 100 });
    const { db } = service.database;
    const id = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
    await service.finished(id);
    // The insert was stored with a lease, and its reply was lost.
    const [row] = await db.query<{ id: number }>(
      `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input, started_at, worker_id, claim)
       SELECT e.organisation_id, workflow_id, 1, 'running', 'api', 'lost', false, '{}', now(), w.id, 1
       FROM executions e, workers w WHERE e.id = $1 RETURNING id`,
      [id],
    );
    expect((await service.finished(row?.id ?? 0)).status).toBe('completed');
    expect(worker.runningIds()).toEqual([]);
  });
});

describe('stop', () => {
  test('lets executions end within the grace period; nothing new is claimed', async () => {
    const held = holdNode('held');
    const worker = await service.startWorker({ shutdownGraceMs: 30_000 });
    const workflowId = await service.createWorkflow(chainOf('held'));
    const id = await service.execute(workflowId);
    await expect.poll(() => held.starts).toBe(1);
    const stopped = worker.stop();
    const later = await service.execute(workflowId);
    held.release.resolve();
    await stopped;
    expect((await service.read(id)).status).toBe('completed');
    expect((await service.read(later)).status).toBe('queued');
  });

  test('hands back the rest without using an attempt', async () => {
    const held = holdNode('held');
    const worker = await service.startWorker({ shutdownGraceMs: 50 });
    const id = await service.execute(await service.createWorkflow(chainOf('done', 'held')));
    await expect.poll(() => held.starts).toBe(1);
    await worker.stop();
    expect(held.contexts[0]?.signal.aborted).toBe(true);
    expect(await rowOf(id)).toMatchObject({ status: 'queued', worker_id: null, crashed_attempts: 0 });
    held.release.resolve();
    await service.startWorker();
    const detail = await service.finished(id);
    expect(detail).toMatchObject({ status: 'completed', node_outputs: { done: { status: 'success' } } });
    expect(await rowOf(id)).toMatchObject({ crashed_attempts: 0 });
  });

  test('hands back what a claim brings that was under way, before its lease ends', async () => {
    const id = await service.execute(await service.createWorkflow(chainOf('done')));
    const { db } = service.database;
    const claimed = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const atRetirement: object[] = [];
    const slow: typeof db = {
      ...db,
      async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
        if (text.startsWith('UPDATE workers SET lease_expires_at = least'))
          atRetirement.push(await rowOf(id));
        const rows = await db.query<Row>(text, values, name);
        if (name === 'claim_executions' && rows.length > 0) {
          claimed.resolve();
          await answer.promise;
        }
        return rows;
      },
    };
    const worker = await service.startWorker({}, { db: slow });
    await claimed.promise;
    const stopped = worker.stop();
    answer.resolve();
    await stopped;
    expect(atRetirement).toMatchObject([{ status: 'queued', worker_id: null, crashed_attempts: 0 }]);
  });

  test('twice is the same as once, and releases the lease', async () => {
    const worker = await service.startWorker();
    await Promise.all([worker.stop(), worker.stop()]);
    const rows = await service.database.db.query('SELECT FROM workers WHERE lease_expires_at > now()');
    expect(rows).toEqual([]);
  });
});

describe('waits', () => {
  const PARKING = { inlineWaitMs: 0 };

  /** The execution began an hour earlier, and what it waits for is due. */
  async function hourPasses(id: number): Promise<void> {
    const { db } = service.database;
    await db.query(
      `UPDATE execution_checkpoints SET records = regexp_replace(records::text, '"wakeAtMs":\\d+', '"wakeAtMs":0', 'g')::json
       WHERE execution_id = $1`,
      [id],
    );
    await db.query(
      `UPDATE executions SET wake_at = now(), created_at = created_at - interval '1 hour',
         started_at = started_at - interval '1 hour' WHERE id = $1`,
      [id],
    );
  }

  test('a parked delay belongs to no worker and survives a restart', async () => {
    const worker = await service.startWorker(PARKING);
    const flow = flowOf(
      [
        ['wait', 'core.delay', { config: { duration_ms: HOUR_MS } }],
        ['after', 'test.effect', { config: {} }],
      ],
      ['start>wait', 'wait>after'],
    );
    const id = await service.execute(await service.createWorkflow(flow));
    await expect.poll(async () => (await rowOf(id)).status).toBe('waiting_async');
    expect(await rowOf(id)).toMatchObject({ worker_id: null });
    expect((await service.read(id)).node_outputs.wait).toMatchObject({
      status: 'waiting',
      completed_at: null,
    });
    await worker.stop();
    await service.startWorker(PARKING);
    await hourPasses(id);
    const detail = await service.finished(id);
    expect(detail).toMatchObject({ status: 'completed', node_outputs: { wait: { status: 'success' } } });
    expect(detail.duration_ms).toBeGreaterThanOrEqual(HOUR_MS);
    expect(detail.node_outputs.wait).not.toHaveProperty('attempts');
  });

  test('attempts are counted across restarts of the worker', async () => {
    let runs = 0;
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    service.behaviours.set('flaky', async () => {
      const end = ends[runs];
      runs += 1;
      const run = runs;
      await end?.promise;
      return failure('busy', verbatim(`run ${run}`), { retryable: true });
    });
    const retry = { max_attempts: 3, backoff_ms: 400, max_backoff_ms: 400 };
    const flow = flowOf([['flaky', 'test.effect', { config: { do: 'flaky' }, retry }]], ['start>flaky']);
    const workflowId = await service.createWorkflow(flow);
    // However slow the machine is, an attempt that was made is recorded before the worker has stopped.
    const patient = { ...PARKING, shutdownGraceMs: 60_000 };
    let worker = await service.startWorker(patient);
    const id = await service.execute(workflowId);
    for (const [index, end] of ends.entries()) {
      await expect.poll(() => runs).toBe(index + 1);
      // The attempt ends while the worker stops, so that this one doesn't begin the next.
      const stopped = worker.stop();
      end.resolve();
      await stopped;
      worker = await service.startWorker(patient);
    }
    const detail = await service.finished(id);
    expect(detail).toMatchObject({
      status: 'failed',
      error: { code: 'busy', message: 'run 3', node_id: 'flaky' },
    });
    expect(detail.node_outputs.flaky).toMatchObject({ attempts: 3 });
    expect(runs).toBe(3);
  });
});

describe('runs', () => {
  test('branches run at the same time', async () => {
    const arrived = new Map<string, PromiseWithResolvers<void>>(
      ['left', 'right'].map((name) => [name, Promise.withResolvers<void>()]),
    );
    for (const name of arrived.keys()) {
      service.behaviours.set(name, async () => {
        arrived.get(name)?.resolve();
        await Promise.all([...arrived.values()].map((one) => one.promise));
        return success({});
      });
    }
    const node = (id: string) => [id, 'test.effect', { config: { do: id } }] as const;
    await service.startWorker();
    const flow = flowOf([node('left'), node('right')], ['start>left', 'start>right']);
    expect((await service.finished(await service.execute(await service.createWorkflow(flow)))).status).toBe(
      'completed',
    );
  });

  test("an edit or archiving doesn't affect a running execution", async () => {
    const held = holdNode('held');
    await service.startWorker();
    const workflowId = await service.createWorkflow(chainOf('held', 'after'));
    const id = await service.execute(workflowId);
    await expect.poll(() => held.starts).toBe(1);
    const body = { flow_data: RUNNABLE_FLOW };
    await service.api('PUT', `/workflows/${workflowId}`, { key: service.key, body });
    await service.api('DELETE', `/workflows/${workflowId}`, { key: service.key });
    held.release.resolve();
    expect(await service.finished(id)).toMatchObject({
      status: 'completed',
      workflow_version: 1,
      node_outputs: { after: { status: 'success' } },
    });
  });

  test('no more run at once than the worker has slots; all get their turn, oldest first', async () => {
    let now = 0;
    let most = 0;
    const order: number[] = [];
    service.behaviours.set('counted', async (context) => {
      order.push(context.execution.id);
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return success({});
    });
    const workflowId = await service.createWorkflow(chainOf('counted'));
    const ids: number[] = [];
    for (let count = 0; count < 12; count++) ids.push(await service.execute(workflowId));
    await service.startWorker({ concurrency: 3 });
    for (const id of ids) expect((await service.finished(id)).status).toBe('completed');
    expect(most).toBeLessThanOrEqual(3);
    expect(order.toSorted((a, b) => a - b)).toEqual(ids);
    expect(order.slice(0, 3).toSorted((a, b) => a - b)).toEqual(ids.slice(0, 3));
  });

  test('an exception in a node, pure or not, is the failure node_error without retry', async () => {
    for (const type of ['test.effect', 'test.pure']) {
      let runs = 0;
      service.behaviours.set('throws', () => {
        runs += 1;
        throw new TypeError('x is not a function');
      });
      await service.startWorker();
      const data = { config: { do: 'throws' }, retry: { max_attempts: 5, backoff_ms: 1 } };
      const detail = await service.finished(
        await service.execute(await service.createWorkflow(flowOf([['odd', type, data]], ['start>odd']))),
      );
      expect(detail).toMatchObject({ status: 'failed', error: { code: 'node_error', node_id: 'odd' } });
      expect(detail.error?.message).toContain('x is not a function');
      expect(runs).toBe(1);
    }
  });

  test('logs identify execution and node and contain no data', async () => {
    await service.startWorker();
    service.behaviours.set('secretive', () => failure('refused', verbatim('no')));
    const id = await service.execute(await service.createWorkflow(chainOf('secretive')), {
      canary: 'c4n4ry',
    });
    await service.finished(id);
    const lines = service.logs
      .filter((line) => line.includes(`"execution_id":${id}`))
      .map((line) => JSON.parse(line))
      // Those of the requests that started and read it come in any order, and a busy machine may hold the main thread.
      .filter(({ msg }) => msg !== 'request' && msg !== 'main thread held by an execution');
    expect(lines.map((line) => line.msg)).toEqual(['node started', 'node ended', 'execution failed']);
    expect(lines[0]).toMatchObject({ node_id: 'secretive', attempt: 1 });
    expect(service.logs.filter((line) => line.includes('c4n4ry'))).toEqual([]);
  });
});

test("executions accepted beyond this process's slots wait in the queue and get their turn", async () => {
  await useOwnService({ withWorker: true, worker: { concurrency: 2 } });
  let now = 0;
  let most = 0;
  service.behaviours.set('counted', async () => {
    now += 1;
    most = Math.max(most, now);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return success({});
  });
  const workflowId = await service.createWorkflow(chainOf('counted'));
  const ids = await Promise.all(Array.from({ length: 30 }, () => service.execute(workflowId)));
  for (const id of ids) expect((await service.finished(id)).status).toBe('completed');
  expect(most).toBeLessThanOrEqual(2);
});

test('an execution fails once its outputs together exceed the limit, also after a take-over', async () => {
  await useOwnService({ limits: { executionBytes: 9_800 } });
  const flow = chainOf('first', 'second', 'third');
  for (const name of ['first', 'third']) {
    service.behaviours.set(name, () => success({ text: 'x'.repeat(4_900) }));
  }
  const second = holdNode('second');
  const lost = await service.startWorker(DEAF);
  const id = await service.execute(await service.createWorkflow(flow));
  await expect.poll(() => second.starts).toBe(1);
  await expireLeases();
  await service.startWorker();
  await expect.poll(() => second.starts).toBe(2);
  second.release.resolve();
  const detail = await service.finished(id);
  expect(detail).toMatchObject({
    status: 'failed',
    error: { code: 'execution_too_large', node_id: 'third' },
    node_outputs: { first: { status: 'success' }, third: { status: 'failed', output: {} } },
  });
  expect(detail.error?.message).toMatch(
    /^The output of "third" has 4911 bytes, and 49\d\d bytes were recorded/,
  );
  await lost.stop();
});

test('an output over the limit fails the node', async () => {
  await useOwnService({ limits: { nodeOutputBytes: 1_000 } });
  service.behaviours.set('big', () => success({ text: 'x'.repeat(1_001) }));
  await service.startWorker();
  const detail = await service.finished(await service.execute(await service.createWorkflow(chainOf('big'))));
  expect(detail).toMatchObject({ status: 'failed', error: { code: 'output_too_large', node_id: 'big' } });
});
