import { createEgress, type Egress } from '@millrace/egress/egress';
import { success } from '@millrace/engine';
import { type Outside, openOutside } from '@millrace/testing/outside';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Worker } from '../../src/worker.ts';
import { flowOf } from './flows.ts';
import { startWorkingService, type WorkingService } from './service-with-worker.ts';

const LIMITS = { processCalls: 0, organisationCalls: 0, organisationRate: 0, maxPauseMs: 60_000 };
const PATIENCE = { timeout: 60_000 };
/** However busy the machine is, no lease ends; counts of workers are read often. */
const STEADY = { leaseMs: 600_000, heartbeatMs: 500 };

let service: WorkingService;
let outside: Outside;
beforeAll(async () => {
  service = await startWorkingService({ withWorker: false });
});
afterAll(() => service.stop());

const egresses: Egress[] = [];
const workers: Worker[] = [];
beforeEach(async () => {
  outside = await openOutside();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await Promise.all(egresses.splice(0).map((egress) => egress.close()));
  await outside.close();
});

/** A worker with limits of its own, as in another process. */
async function startWorker(
  limits: Partial<typeof LIMITS>,
  config: { inlineWaitMs: number; concurrency: number },
) {
  const egress = createEgress(['127.0.0.1'], async () => null, { ...LIMITS, ...limits });
  egresses.push(egress);
  const counts: number[] = [];
  const onWorkersCounted = (count: number): void => {
    counts.push(count);
    egress.hosts.setProcesses(count);
  };
  const worker = await service.startWorker({ ...STEADY, ...config }, { http: egress.http, onWorkersCounted });
  workers.push(worker);
  return { egress, counts };
}

/** A host that responds when it is told to, and knows how many wait. */
function slowHost() {
  const seen = { now: 0, most: 0 };
  const waiting: (() => void)[] = [];
  let isOpen = false;
  outside.on('POST /slow', async () => {
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
    seen.now -= 1;
    return {};
  });
  return {
    seen,
    held: () => waiting.length,
    letOne: () => waiting.shift()?.(),
    letAll() {
      isOpen = true;
      for (const go of waiting.splice(0)) go();
    },
  };
}

const callTo = (url: string): Promise<number> =>
  service.createWorkflow(
    flowOf(
      [['call', 'http.request', { config: { method: 'POST', url, timeout_ms: 300_000 } }]],
      ['start>call'],
    ),
  );

function quickWorkflow(): Promise<number> {
  service.behaviours.set('quick', () => success({ quick: true }));
  return service.createWorkflow(flowOf([['q', 'test.effect', { config: { do: 'quick' } }]], ['start>q']));
}

interface Shown {
  readonly status: string;
  readonly attempts?: number;
  readonly waiting?: { readonly for: string; readonly host?: string; readonly until: string | null };
}

test('calls that would wait for long are parked, and all are made once', async () => {
  const host = slowHost();
  const { egress } = await startWorker({ organisationCalls: 2 }, { inlineWaitMs: 300, concurrency: 4 });
  const workflowId = await callTo(`${outside.url}/slow`);
  const ids: number[] = [];
  for (let n = 0; n < 6; n += 1) ids.push(await service.execute(workflowId));
  await outside.arrival('POST /slow', 2);
  const readWaits = async () => {
    const bodies = await Promise.all(ids.map((id) => service.read(id)));
    return bodies.flatMap(({ node_outputs: nodes }) => {
      const call = nodes.call as Shown | undefined;
      return call?.waiting === undefined ? [] : [{ status: call.status, ...call.waiting }];
    });
  };
  let waits: Awaited<ReturnType<typeof readWaits>> = [];
  const findWaits = async () => {
    waits = await readWaits();
    return waits.length;
  };
  await expect.poll(findWaits, PATIENCE).toBeGreaterThan(0);
  for (const each of waits) {
    expect(each).toEqual({
      ...{ status: 'waiting', for: 'host', host: new URL(outside.url).host },
      until: expect.any(String),
    });
  }
  expect(egress.hosts.state).toMatchObject({ calls: 2 });
  host.letAll();
  for (const id of ids) {
    const ended = await service.finished(id);
    expect([ended.status, ended.node_outputs.call?.attempts]).toEqual(['completed', undefined]);
  }
  const keys = outside.to('POST /slow').map(({ headers }) => headers['idempotency-key']);
  expect([keys.length, new Set(keys).size]).toEqual([6, 6]);
  expect(host.seen.most).toBe(2);
  expect(egress.hosts.state).toMatchObject({ calls: 0, waiting: 0 });
});

test('two processes share the limits of an organisation, and calls that wait for their turn take no slot', async () => {
  const host = slowHost();
  const config = { inlineWaitMs: 600_000, concurrency: 4 };
  const processes = [
    await startWorker({ organisationCalls: 4 }, config),
    await startWorker({ organisationCalls: 4 }, config),
  ];
  await expect.poll(() => processes.map(({ counts }) => counts.at(-1)), PATIENCE).toEqual([2, 2]);
  const workflowId = await callTo(`${outside.url}/slow`);
  const ids: number[] = [];
  for (let n = 0; n < 8; n += 1) ids.push(await service.execute(workflowId));
  await outside.arrival('POST /slow', 4);
  // With a slot for each of them, there would be none left for the organisation.
  await expect
    .poll(() => processes.reduce((sum, { egress }) => sum + egress.hosts.state.waiting, 0), PATIENCE)
    .toBe(4);
  expect((await service.finished(await service.execute(await quickWorkflow()))).status).toBe('completed');
  for (let n = 0; n < 12; n += 1) ids.push(await service.execute(workflowId));
  for (let done = 0; done < 20; done += 1) {
    await outside.arrival('POST /slow', done + 1);
    await expect.poll(host.held, PATIENCE).toBeGreaterThan(0);
    host.letOne();
  }
  for (const id of ids) expect((await service.finished(id)).status).toBe('completed');
  expect(host.seen.most).toBe(4);
  expect(outside.to('POST /slow').length).toBe(20);
});

test('a host that asks for a pause is left alone by the other executions, too', async () => {
  outside.on('POST /busy', { status: 429, headers: { 'retry-after': '3600' } });
  const { egress } = await startWorker({}, { inlineWaitMs: 0, concurrency: 10 });
  const workflowId = await callTo(`${outside.url}/busy`);
  const first = await service.finished(await service.execute(workflowId));
  expect([first.status, first.error?.code]).toEqual(['failed', 'http_status']);
  const others = [await service.execute(workflowId), await service.execute(workflowId)];
  const waitsFor = async (id: number) =>
    ((await service.read(id)).node_outputs.call as Shown | undefined)?.waiting?.for;
  for (const id of others) await expect.poll(() => waitsFor(id), PATIENCE).toBe('host');
  expect(outside.to('POST /busy').length).toBe(1);
  expect(egress.hosts.state).toMatchObject({ pauses: 1, putOff: 2, waiting: 0 });
});
