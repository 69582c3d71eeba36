import { failure, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
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

const get = (path: string) => service.api('GET', path, { key: service.key });

describe('200: node outputs', () => {
  test('success, failed, skipped, cancelled and attempts are told apart', async () => {
    let tries = 0;
    service.behaviours.set('flaky', () => {
      tries += 1;
      return tries < 3
        ? failure('busy', verbatim('try later'), { retryable: true })
        : success({ tries }, { consumedAiTokens: 5 });
    });
    service.behaviours.set('broken', () => failure('refused', verbatim('the other side refused')));
    const flow = flowOf(
      [
        ['flaky', 'test.effect', { config: { do: 'flaky' }, retry: { max_attempts: 3, backoff_ms: 1 } }],
        ['choice', 'core.if', { config: { conditions: [{ left: 1, operator: 'equals', right: 2 }] } }],
        ['yes', 'test.effect', { config: {} }],
        ['broken', 'test.effect', { config: { do: 'broken' } }],
      ],
      ['start>flaky', 'flaky>choice', 'choice:true>yes', 'choice:false>broken'],
    );
    const id = await service.createWorkflow(flow, { status: 'draft' });
    const { json } = await get(`/workflows/${id}`);
    expect(json.problems).toEqual([]);
    const detail = await service.finished(await service.execute(id));
    expect(detail).toMatchObject({
      status: 'failed',
      consumed_ai_tokens: 5,
      error: { code: 'refused', message: 'the other side refused', node_id: 'broken' },
      node_outputs: {
        flaky: { status: 'success', output: { tries: 3 }, attempts: 3, consumed_ai_tokens: 5 },
        yes: { status: 'skipped', output: {}, started_at: null },
        broken: {
          status: 'failed',
          output: {},
          error: { code: 'refused', message: 'the other side refused' },
        },
      },
    });
    expect(detail.node_outputs.choice).not.toHaveProperty('attempts');
    expect(detail.node_outputs.choice).not.toHaveProperty('error');
    expect(detail.duration_ms).toBe(
      Date.parse(detail.completed_at ?? '') - Date.parse(detail.started_at ?? ''),
    );
    const list = await get('/executions?limit=1');
    expect(list.json.data[0]).toMatchObject({ id: detail.id, consumed_ai_tokens: 5, error: detail.error });
  });

  test('while a node runs it is shown running, and times are null until known', async () => {
    const running = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    service.behaviours.set('held', async () => {
      running.resolve();
      await release.promise;
      return success({ ok: true });
    });
    const id = await service.execute(await service.createWorkflow(chainOf('held', 'after')));
    await running.promise;
    const detail = await service.read(id);
    expect(detail).toMatchObject({ status: 'running', completed_at: null, duration_ms: null });
    expect(detail.node_outputs.held).toMatchObject({ status: 'running', output: {}, completed_at: null });
    expect(detail.node_outputs).not.toHaveProperty('after');
    release.resolve();
    expect((await service.finished(id)).node_outputs.after).toMatchObject({ status: 'success' });
  });

  test('node ids such as __proto__ and 7 are members like any other', async () => {
    const flow = flowOf(
      [
        ['__proto__', 'test.effect', { config: {} }],
        ['7', 'test.effect', { config: {} }],
      ],
      ['start>__proto__', '__proto__>7'],
    );
    const id = await service.execute(await service.createWorkflow(flow));
    await service.finished(id);
    const { text } = await get(`/executions/${id}`);
    expect(text).toContain('"__proto__":{"status":"success","output":{"done":"__proto__"}');
    expect(text).toContain('"7":{"status":"success"');
  });
});

describe('200: long poll', () => {
  test('responds when the execution ends, long before the timeout', async () => {
    const release = Promise.withResolvers<void>();
    service.behaviours.set('soon', async () => {
      await release.promise;
      return success({});
    });
    const id = await service.execute(await service.createWorkflow(chainOf('soon')));
    const polled = get(`/executions/${id}?wait=60`);
    let isAnswered = false;
    void polled.then(() => {
      isAnswered = true;
    });
    await expect.poll(async () => (await service.read(id)).node_outputs.soon?.status).toBe('running');
    expect(isAnswered).toBe(false);
    release.resolve();
    expect((await polled).json.status).toBe('completed');
  });

  test('responds with the current state after the timeout', async () => {
    const release = Promise.withResolvers<void>();
    service.behaviours.set('late', async () => {
      await release.promise;
      return success({});
    });
    const id = await service.execute(await service.createWorkflow(chainOf('late')));
    expect((await get(`/executions/${id}?wait=1`)).json.status).toBe('running');
    release.resolve();
    await service.finished(id);
  });

  test('an ended execution is returned at once; wait has bounds', async () => {
    const id = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
    await service.finished(id);
    expect((await get(`/executions/${id}?wait=60`)).json.status).toBe('completed');
    for (const wait of ['0', '61', '1.5', 'x', '']) {
      const { status, json } = await get(`/executions/${id}?wait=${wait}`);
      expect([wait, status, json.errors[0]?.pointer]).toEqual([wait, 422, '/wait']);
    }
  });

  test('another process that ends it wakes the poll', async () => {
    const apart = await startWorkingService({ withWorker: false });
    try {
      const id = await apart.execute(await apart.createWorkflow(RUNNABLE_FLOW));
      expect((await apart.read(id)).status).toBe('queued');
      const polled = apart.finished(id);
      await apart.startWorker();
      const detail = await polled;
      expect(detail.status).toBe('completed');
      expect(Date.parse(detail.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(detail.created_at));
    } finally {
      await apart.stop();
    }
  });
});

describe('404', () => {
  test("another organisation's execution, an unknown one and an invalid id get the same response", async () => {
    const id = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
    const stranger = await service.createKey();
    const shape = ({ request_id, instance, ...rest }: { [name: string]: unknown }) => rest;
    const unknown = await get('/executions/999999999');
    expect(unknown.status).toBe(404);
    for (const path of ['', '?wait=1', '/events']) {
      const foreign = await service.api('GET', `/executions/${id}${path}`, { key: stranger });
      expect(foreign.status).toBe(404);
      expect(shape({ ...foreign.json })).toEqual(shape({ ...unknown.json }));
    }
    for (const path of ['cancel', 'rerun']) {
      const body = path === 'rerun' ? { from: 'start' } : {};
      const foreign = await service.api('POST', `/executions/${id}/${path}`, { key: stranger, body });
      expect(foreign.status).toBe(404);
      expect(shape({ ...foreign.json })).toEqual(shape({ ...unknown.json }));
    }
    for (const odd of ['0', '-1', '1e3', '01', '0x10', '9007199254740993', '9223372036854775808']) {
      expect([odd, (await get(`/executions/${odd}`)).status]).toEqual([odd, 404]);
    }
  });
});
