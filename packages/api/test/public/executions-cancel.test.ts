import assert from 'node:assert/strict';
import { success } from '@millrace/engine';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainOf, flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';

let service: WorkingService;
beforeAll(async () => {
  service = await startWorkingService();
});
afterAll(() => service.stop());

const cancel = (id: number) => service.api('POST', `/executions/${id}/cancel`, { key: service.key });

describe('200', () => {
  test('aborts a running node and shows it as cancelled; nothing after it starts', async () => {
    const running = Promise.withResolvers<AbortSignal>();
    service.behaviours.set('long', async (context) => {
      running.resolve(context.signal);
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      return success({});
    });
    const id = await service.execute(await service.createWorkflow(chainOf('long', 'next')));
    const signal = await running.promise;
    const { status, json } = await cancel(id);
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, status: 'cancelled', node_outputs: { long: { status: 'cancelled' } } });
    expect(json).not.toHaveProperty('error');
    expect(signal.aborted).toBe(true);
    await expect.poll(() => service.worker.runningIds()).toEqual([]);
    const after = await service.read(id);
    expect(after).toEqual(json);
    expect(after.node_outputs).not.toHaveProperty('next');
  });

  test('again: the same response', async () => {
    const flow = flowOf([['wait', 'core.delay', { config: { duration_ms: 3_600_000 } }]], ['start>wait']);
    const id = await service.execute(await service.createWorkflow(flow));
    await expect.poll(async () => (await service.read(id)).status).toBe('waiting_async');
    const first = await cancel(id);
    expect(first.json).toMatchObject({
      status: 'cancelled',
      node_outputs: { wait: { status: 'cancelled' } },
    });
    expect((await cancel(id)).text).toBe(first.text);
  });

  test('a queued one never starts', async () => {
    const apart = await startWorkingService({ withWorker: false });
    try {
      const id = await apart.execute(await apart.createWorkflow(RUNNABLE_FLOW));
      const { json } = await apart.api('POST', `/executions/${id}/cancel`, { key: apart.key, body: {} });
      expect(json).toMatchObject({
        status: 'cancelled',
        started_at: null,
        duration_ms: null,
        node_outputs: {},
      });
      const other = await apart.execute(await apart.createWorkflow(RUNNABLE_FLOW));
      await apart.startWorker();
      await apart.finished(other);
      expect((await apart.read(id)).started_at).toBeNull();
    } finally {
      await apart.stop();
    }
  });

  test('reaches a worker in another process', async () => {
    const apart = await startWorkingService({ withWorker: false });
    try {
      const running = Promise.withResolvers<AbortSignal>();
      apart.behaviours.set('long', async (context) => {
        running.resolve(context.signal);
        await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        return success({});
      });
      await apart.startWorker();
      const id = await apart.execute(await apart.createWorkflow(chainOf('long')));
      const signal = await running.promise;
      await apart.api('POST', `/executions/${id}/cancel`, { key: apart.key });
      await expect.poll(() => signal.aborted).toBe(true);
    } finally {
      await apart.stop();
    }
  });
});

describe('409', () => {
  test('one that has ended in another way', async () => {
    const id = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
    await service.finished(id);
    const { status, json } = await cancel(id);
    expect([status, json.code]).toEqual([409, 'execution_final']);
    expect((await service.read(id)).status).toBe('completed');
  });
});

describe('422', () => {
  test('a body with members', async () => {
    const id = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
    const body = { reason: 'x' };
    expect((await service.api('POST', `/executions/${id}/cancel`, { key: service.key, body })).status).toBe(
      422,
    );
  });
});

test('403: executions:execute is needed', async () => {
  const key = await service.createKey({ scopes: ['executions:read'] });
  expect((await service.api('POST', '/executions/1/cancel', { key })).status).toBe(403);
});

test('a cancel racing the end leaves one final status, and no node starts after it', async () => {
  const started = new Map<number, number>();
  const cancelled = new Map<number, ReturnType<typeof cancelAfter>>();
  const cancelAfter = async (id: number, turns: number) => {
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    const answer = await cancel(id);
    return { answer, startedThen: started.get(id) ?? 0 };
  };
  // The first node sends the cancellation, so that it always meets a running execution. The input says how many turns
  // of the event loop later, and whether the node waits for the response: one that does is cancelled for certain.
  service.behaviours.set('first', async (context) => {
    const { turns, waits } = context.triggerData as { turns: number; waits: boolean };
    const cancellation = cancelAfter(context.execution.id, turns);
    cancelled.set(context.execution.id, cancellation);
    if (waits) await cancellation;
    return success({});
  });
  service.behaviours.set('second', (context) => {
    started.set(context.execution.id, (started.get(context.execution.id) ?? 0) + 1);
    return success({});
  });
  const workflowId = await service.createWorkflow(chainOf('first', 'second'));
  const seen = new Set<string>();
  for (let round = 0; round < 10; round++) {
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, turns) => service.execute(workflowId, { turns, waits: turns === 0 })),
    );
    for (const id of ids) {
      const detail = await service.finished(id);
      seen.add(detail.status);
      const cancellation = cancelled.get(id);
      assert.ok(cancellation);
      const { answer, startedThen } = await cancellation;
      expect(answer.status).toBe(detail.status === 'cancelled' ? 200 : 409);
      if (detail.status === 'cancelled') {
        expect(detail).toEqual(answer.json);
        expect(started.get(id) ?? 0).toBe(startedThen);
      } else {
        expect(detail.status).toBe('completed');
      }
      expect((await service.read(id)).completed_at).toBe(detail.completed_at);
    }
  }
  expect(seen).toContain('cancelled');
  const { db } = service.database;
  const late = await db.query(
    `SELECT c.execution_id FROM execution_chunks c JOIN executions e ON e.id = c.execution_id
     WHERE e.status = 'cancelled' AND c.created_at > e.completed_at + interval '1 millisecond'`,
  );
  expect(late).toEqual([]);
});
