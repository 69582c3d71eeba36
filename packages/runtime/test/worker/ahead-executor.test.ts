import { failure, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { afterEach, expect, test } from 'vitest';
import { AheadExecutor } from '../../src/ahead-executor.ts';
import type { Executor } from '../../src/executor.ts';
import { Meters } from '../../src/meters/meters.ts';
import { chainOf, flowOf } from './flows.ts';
import { sendSameStarts } from './same-starts.ts';
import { startWorkingService, type WorkingOverrides, type WorkingService } from './service-with-worker.ts';

/** However slow the machine is. */
const ROOMY = { nodes: 100, bytes: 65_536, ms: 60_000 };

let service: WorkingService;
let executor: AheadExecutor;
let meters: Meters;
afterEach(async () => {
  await executor.stop();
  await service.stop();
});

/** An API without a worker, as `millrace api`. */
async function start({ worker, ...overrides }: WorkingOverrides = {}): Promise<void> {
  const late: Executor = {
    reserve: () => executor.reserve(),
    isBusy: () => executor.isBusy(),
    runAhead: () => executor.runAhead(),
    completeAhead: (...given) => executor.completeAhead(...given),
    run: (execution) => executor.run(execution),
    release: (...given) => executor.release(...given),
  };
  service = await startWorkingService({
    ...overrides,
    withWorker: false,
    worker: { runAhead: ROOMY, ...worker },
    deps: { executor: late },
  });
  meters = new Meters();
  executor = new AheadExecutor({ ...service.deps, meters });
  await executor.start();
}

const storedOf = (id: number) =>
  service.database.db.query(
    `SELECT status, worker_id, coalesce(json_array_length(first_records), 0) AS records, claim
     FROM executions WHERE id = $1`,
    [id],
  );
const COMPLETED = { status: 'completed', worker_id: null, claim: 1 };
const QUEUED = { status: 'queued', worker_id: null, records: 0, claim: 0 };

const pure = (...ids: readonly string[]): object =>
  flowOf(
    ids.map((id) => [id, 'test.pure', { config: { do: id } }]),
    ids.map((id, index) => `${ids[index - 1] ?? 'start'}>${id}`),
  );

test('what has no effect is completed without a worker, and counted', async () => {
  await start();
  const changed: number[] = [];
  service.deps.notifier.onChanged((id) => changed.push(id));
  const id = await service.execute(await service.createWorkflow(pure('a', 'b')));
  expect(await storedOf(id)).toEqual([{ ...COMPLETED, records: 3 }]);
  expect(await service.read(id)).toMatchObject({
    status: 'completed',
    node_outputs: { b: { status: 'success' } },
  });
  await expect.poll(() => changed).toContain(id);
  expect(meters.runs.take()).toMatchObject([{ completed: 1, failed: 0 }]);
  expect(meters.nodes.size).toBeGreaterThan(0);
});

test('repeated with its Idempotency-Key it is stored once', async () => {
  await start();
  await sendSameStarts(service, await service.createWorkflow(pure('a')));
  expect(await service.database.db.query('SELECT status FROM executions')).toEqual([{ status: 'completed' }]);
  expect(meters.runs.take()).toMatchObject([{ completed: 1 }]);
});

test.each([
  ['a node with an effect', () => chainOf('call')],
  ['a failing node', () => pure('fails')],
  ['a node that takes its time', () => pure('a', 'slow')],
  ['a node that asks for a service later on', () => pure('codes')],
  ['many outputs that are large together', () => pure('half', 'half2', 'half3')],
  ['a node that asks for a service, whatever it makes of the refusal', () => pure('reaches')],
  ['a node that calls somebody', () => pure('calls')],
  ['a large output', () => pure('large', 'a')],
  ['a limit of concurrent executions', () => ({ ...pure('a'), settings: { max_concurrency: 1 } })],
])('%s is left to the workers as if nothing had been run', async (_name, flow) => {
  await start({ worker: { runAhead: { ...ROOMY, bytes: 1_024 } } });
  service.behaviours.set('fails', () => failure('broken', verbatim('it broke')));
  service.behaviours.set('slow', async () => success({}));
  service.behaviours.set('large', () => success({ text: 'x'.repeat(2_000) }));
  for (const id of ['half', 'half2', 'half3'])
    service.behaviours.set(id, () => success({ text: 'x'.repeat(500) }));
  service.behaviours.set('codes', async (context) => success({ there: typeof context.code }));
  service.behaviours.set('reaches', (context) => {
    try {
      return success({ there: typeof context.files });
    } catch {
      return success({ there: 'no' });
    }
  });
  service.behaviours.set('calls', (context) => {
    context.http.send({ method: 'GET', url: 'http://127.0.0.1:9/' } as never, context.signal).catch(() => {});
    return success({});
  });
  const id = await service.execute(await service.createWorkflow(flow()));
  expect(await storedOf(id)).toEqual([QUEUED]);
  expect(meters.runs.take()).toEqual([]);
  // Nor are its nodes, also not those that end after it was given up.
  await new Promise((resolve) => setImmediate(resolve));
  expect([...meters.nodes]).toEqual([]);
});

test('a large input leaves everything to the workers, which complete it', async () => {
  await start({ worker: { runAhead: { ...ROOMY, bytes: 1_024 }, pollMs: 20 } });
  const workflowId = await service.createWorkflow(pure('a'));
  const large = await service.execute(workflowId, { text: 'x'.repeat(2_000) });
  expect(await storedOf(large)).toEqual([QUEUED]);
  await service.startWorker();
  expect(await service.finished(large)).toMatchObject({ status: 'completed' });
});

test('a budget of no nodes switches it off', async () => {
  await start({ worker: { runAhead: { ...ROOMY, nodes: 0 } } });
  const id = await service.execute(await service.createWorkflow(pure('a')));
  expect(await storedOf(id)).toEqual([QUEUED]);
});

test('while too much waits to be stored, everything is left to the workers', async () => {
  await start();
  const workflowId = await service.createWorkflow(pure('a'));
  const compiled = await service.deps.plans.get(workflowId, 1);
  const narrow = new AheadExecutor(service.deps, 10);
  const complete = (executionId: number) =>
    narrow.completeAhead(
      {
        lease: { executionId, workerId: '', claim: 1 },
        organisationId: service.key.organisationId,
        workflowId,
        workflowVersion: 1,
        isTestMode: false,
        input: {},
        inputBytes: 2,
        startedAtMs: Date.now(),
        traceparent: null,
        deadlineAtMs: null,
        records: [],
        signals: [],
      },
      compiled,
      2,
    );
  expect(complete(1)).not.toBeNull();
  expect(complete(2)).toBeNull();
  narrow.release(1, null);
  expect(complete(3)).not.toBeNull();
});

test('what completes at once is taken although the queue is full', async () => {
  await start({ config: { admission: { queuedPerOrganisation: 1, queuedInService: 1_000 } } });
  const calling = await service.createWorkflow(chainOf('call'));
  const plain = await service.createWorkflow(pure('a'));
  await service.execute(calling);
  await expect(service.execute(calling)).rejects.toThrow('queue_full');
  const id = await service.execute(plain);
  expect(await storedOf(id)).toEqual([{ ...COMPLETED, records: 2 }]);
});
