import { failure, type NodeContext, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { chainOf, flowOf, type TestNode } from './flows.ts';
import {
  type ExecutionBody,
  startWorkingService,
  type WorkingOverrides,
  type WorkingService,
} from './service-with-worker.ts';

let shared: WorkingService;
/** The shared one, unless the test uses its own. */
let service: WorkingService;
beforeAll(async () => {
  // One key makes the requests of all tests.
  shared = await startWorkingService({ limits: { requestsPerMinutePerKey: 0 } });
});
afterAll(() => shared.stop());
beforeEach(() => {
  service = shared;
  service.behaviours.clear();
});

/** For a test that reads all there is, or leaves something running. */
async function useOwnService(overrides: WorkingOverrides = {}): Promise<void> {
  const own = await startWorkingService(overrides);
  onTestFinished(() => own.stop());
  service = own;
}

const call = (id: string, workflowId: number, more: object = {}): TestNode => [
  id,
  'flow.call',
  { config: { workflow_id: workflowId, ...more } },
];

/** A one-node workflow that does what the test specifies. */
function effectWorkflow(behaviour: string, fields: object = {}): Promise<number> {
  const flow = flowOf([['work', 'test.effect', { config: { do: behaviour } }]], ['start>work']);
  return service.createWorkflow(flow, fields);
}

async function callerOf(node: TestNode, fields: object = {}): Promise<number> {
  return service.createWorkflow(flowOf([node], [`start>${node[0]}`]), fields);
}

/** A node that runs until it is aborted; reports when it started and when it was aborted. */
function stay(name: string) {
  const started = Promise.withResolvers<NodeContext>();
  const aborted = Promise.withResolvers<void>();
  service.behaviours.set(name, (context) => {
    started.resolve(context);
    return new Promise((resolve) => {
      context.signal.addEventListener('abort', () => {
        aborted.resolve();
        resolve(failure('aborted', verbatim('aborted')));
      });
    });
  });
  return { started: started.promise, aborted: aborted.promise };
}

async function childrenOf(parentId: number): Promise<{ id: number; status: string }[]> {
  return service.database.db.query(
    'SELECT id, status FROM executions WHERE parent_execution_id = $1 ORDER BY id',
    [parentId],
  );
}

function idIn(detail: ExecutionBody, node: string): number {
  return Number(detail.node_outputs[node]?.output.execution_id);
}

/** Token counts in responses: the execution's, and one of its nodes'. */
async function tokensOf(executionId: number, node: string): Promise<[number, number | undefined]> {
  const { consumed_ai_tokens: all, node_outputs: nodes } = await service.read(executionId);
  return [all, nodes[node]?.consumed_ai_tokens];
}

describe('AI tokens', () => {
  test('of children and their children count for the execution and the calling node, in lists too', async () => {
    await useOwnService();
    service.behaviours.set('ask', () => success({}, { consumedAiTokens: 40 }));
    service.behaviours.set('think', () => success({}, { consumedAiTokens: 2 }));
    const grandchild = await effectWorkflow('ask');
    const flow = flowOf(
      [call('inner', grandchild), ['think', 'test.effect', { config: { do: 'think' } }]],
      ['start>inner', 'start>think'],
    );
    const child = await service.createWorkflow(flow);
    const id = await service.execute(await callerOf(call('outer', child)));
    const detail = await service.finished(id);
    expect(detail.consumed_ai_tokens).toBe(42);
    expect(detail.node_outputs.outer?.consumed_ai_tokens).toBe(42);
    const childId = idIn(detail, 'outer');
    expect(await tokensOf(childId, 'inner')).toEqual([42, 40]);
    const { json } = await service.api('GET', '/executions', { key: service.key });
    const listed = json.data.map(({ id: each, consumed_ai_tokens: tokens }) => [each, tokens]);
    expect(listed).toEqual([
      [idIn(await service.read(childId), 'inner'), 40],
      [childId, 42],
      [id, 42],
    ]);
    // The execution's own consumption is stored separately, so that sums over executions count nothing twice.
    const rows = await service.database.db.query(
      'SELECT sum(consumed_ai_tokens)::integer AS sum FROM executions',
    );
    expect(rows).toEqual([{ sum: 42 }]);
  });

  test('of one that nobody waits for count once it has ended, even after its parent', async () => {
    const gate = Promise.withResolvers<void>();
    service.behaviours.set('slow', async () => {
      await gate.promise;
      return failure('broken', verbatim('it broke'), { consumedAiTokens: 30 });
    });
    const parent = await callerOf(call('call', await effectWorkflow('slow'), { wait: false }));
    const id = await service.execute(parent);
    const detail = await service.finished(id);
    expect(detail.consumed_ai_tokens).toBe(0);
    gate.resolve();
    await service.finished(idIn(detail, 'call'));
    expect(await tokensOf(id, 'call')).toEqual([30, 30]);
  });

  test('of one cancelled with the execution count as far as it got', async () => {
    service.behaviours.set('ask', () => success({}, { consumedAiTokens: 7 }));
    const work = stay('stay');
    const child = await service.createWorkflow(chainOf('ask', 'stay'));
    const id = await service.execute(await callerOf(call('call', child)));
    const { execution } = await work.started;
    await service.api('POST', `/executions/${id}/cancel`, { key: service.key });
    await service.finished(execution.id);
    expect(await tokensOf(id, 'call')).toEqual([7, 7]);
  });

  test('of children in a loop count for the loop, however its attempts ended', async () => {
    let runs = 0;
    service.behaviours.set('ask', () => {
      runs += 1;
      return runs === 2
        ? failure('broken', verbatim('it broke'), { consumedAiTokens: 5 })
        : success({}, { consumedAiTokens: 10 });
    });
    const node = call('call', await effectWorkflow('ask'));
    const flow = flowOf(
      [
        ['each', 'core.for_each', { config: { items: [1, 2] }, retry: { max_attempts: 2, backoff_ms: 1 } }],
        node,
      ],
      ['start>each'],
    ) as { nodes: { id: string; parentId?: string }[] };
    for (const node of flow.nodes) if (node.id === 'call') node.parentId = 'each';
    const detail = await service.finished(await service.execute(await service.createWorkflow(flow)));
    expect(detail).toMatchObject({
      ...{ status: 'completed', consumed_ai_tokens: 35 },
      node_outputs: { each: { consumed_ai_tokens: 35 }, call: { consumed_ai_tokens: 10 } },
    });
  });

  test('of a child count towards the budget', async () => {
    service.behaviours.set('ask', () => success({}, { consumedAiTokens: 40 }));
    const flow = flowOf([call('call', await effectWorkflow('ask'))], ['start>call'], { token_budget: 39 });
    const detail = await service.finished(await service.execute(await service.createWorkflow(flow)));
    expect(detail).toMatchObject({
      ...{ status: 'failed', error: { code: 'token_budget_exceeded', node_id: 'call' } },
      ...{ consumed_ai_tokens: 40, node_outputs: { call: { status: 'success', consumed_ai_tokens: 40 } } },
    });
    expect(detail.error?.message).toMatch(/consumed 40 AI tokens/);
  });

  test('are deleted with the execution, not with the child', async () => {
    await useOwnService();
    service.behaviours.set('ask', () => success({}, { consumedAiTokens: 40 }));
    const id = await service.execute(await callerOf(call('call', await effectWorkflow('ask'))));
    const childId = idIn(await service.finished(id), 'call');
    const { db } = service.database;
    await db.query('DELETE FROM executions WHERE id = $1', [childId]);
    expect(await tokensOf(id, 'call')).toEqual([40, 40]);
    await db.query('DELETE FROM executions WHERE id = $1', [id]);
    expect(await db.query('SELECT FROM execution_child_tokens')).toEqual([]);
  });
});

describe('a node that calls a workflow', () => {
  test('waits for its result, and both executions refer to each other', async () => {
    service.behaviours.set('double', ({ triggerData }) =>
      success({ doubled: (triggerData as { n: number }).n * 2 }),
    );
    const child = await effectWorkflow('double');
    const parent = await callerOf(call('call', child, { input: { n: '{{trigger.data.n}}' } }));
    const id = await service.execute(parent, { n: 21 });
    const detail = await service.finished(id);
    const childId = idIn(detail, 'call');
    expect(detail).toMatchObject({
      status: 'completed',
      parent: null,
      node_outputs: {
        call: { output: { execution_id: childId, status: 'completed', output: { doubled: 42 } } },
      },
    });
    expect(detail.children).toEqual([{ execution_id: childId, node_id: 'call', workflow_id: child }]);
    expect(await service.read(childId)).toMatchObject({
      status: 'completed',
      children: [],
      trigger_type: 'flow',
      input_data: { n: 21 },
      parent: { execution_id: id, node_id: 'call' },
    });
    const page = await service.api('GET', `/executions?workflow_id=${child}`, { key: service.key });
    expect(page.json.data).toMatchObject([{ id: childId, parent: { execution_id: id, node_id: 'call' } }]);
  });

  test('occupies no worker in the meantime, and shows what it waits for', async () => {
    await useOwnService();
    const work = stay('stay');
    const id = await service.execute(await callerOf(call('call', await effectWorkflow('stay'))));
    const childId = (await work.started).execution.id;
    await expect.poll(async () => (await service.read(id)).status).toBe('waiting_async');
    expect((await service.read(id)).node_outputs.call).toMatchObject({
      status: 'waiting',
      output: { execution_id: childId },
      waiting: { for: 'signal', until: null },
    });
    expect(service.worker.runningIds()).toEqual([childId]);
  });

  test("doesn't wait if configured so", async () => {
    await useOwnService();
    const work = stay('stay');
    const parent = await callerOf(call('call', await effectWorkflow('stay'), { wait: false }));
    const detail = await service.finished(await service.execute(parent));
    const childId = idIn(detail, 'call');
    expect(detail).toMatchObject({
      status: 'completed',
      node_outputs: { call: { output: { workflow_version: 1 } } },
    });
    await work.started;
    // Nothing waits for it, so it doesn't end with its parent.
    expect((await service.read(childId)).status).toBe('running');
  });

  test("fails with the child's failure, and starts another child when retried", async () => {
    let runs = 0;
    service.behaviours.set('second_time', () => {
      runs += 1;
      return runs === 1 ? failure('broken', verbatim('it broke')) : success({ run: runs });
    });
    const child = await effectWorkflow('second_time');
    const data = { config: { workflow_id: child }, retry: { max_attempts: 2, backoff_ms: 1 } };
    const parent = await service.createWorkflow(flowOf([['call', 'flow.call', data]], ['start>call']));
    const id = await service.execute(parent);
    expect((await service.finished(id)).node_outputs.call).toMatchObject({
      status: 'success',
      attempts: 2,
      output: { output: { run: 2 } },
    });
    const children = await childrenOf(id);
    expect(children).toMatchObject([{ status: 'failed' }, { status: 'completed' }]);
    const named = (await service.read(id)).children;
    expect(named.map((one) => one.execution_id)).toEqual(children.map((one) => one.id));
  });

  test('in a retried loop starts other children, and waits for them', async () => {
    let runs = 0;
    service.behaviours.set('third_time', () => {
      runs += 1;
      return runs < 3 ? failure('broken', verbatim('it broke'), { retryable: true }) : success({ run: runs });
    });
    const child = await effectWorkflow('third_time');
    const again = { max_attempts: 3, backoff_ms: 1 };
    const nodes = [
      { id: 'start', type: 'trigger.manual', data: {} },
      { id: 'each', type: 'core.for_each', data: { config: { items: ['a'] }, retry: again } },
      { id: 'call', type: 'flow.call', parentId: 'each', data: { config: { workflow_id: child } } },
    ];
    const flow = { nodes, edges: [{ id: 'e', source: 'start', target: 'each' }] };
    const id = await service.execute(await service.createWorkflow(flow));
    expect((await service.finished(id)).node_outputs.each).toMatchObject({
      attempts: 3,
      output: { items: [{ status: 'completed', output: { run: 3 } }] },
    });
    expect((await childrenOf(id)).map(({ status }) => status)).toEqual(['failed', 'failed', 'completed']);
  });

  test('fails permanently with the code and message of the child', async () => {
    service.behaviours.set('broken', () => failure('broken', verbatim('it broke')));
    const detail = await service.finished(
      await service.execute(await callerOf(call('call', await effectWorkflow('broken')))),
    );
    expect(detail.error).toMatchObject({ code: 'child_failed', node_id: 'call' });
    expect(detail.error?.message).toContain('it broke');
    expect(detail.node_outputs.call?.output).toMatchObject({
      status: 'failed',
      error: { code: 'broken', message: 'it broke', node_id: 'work' },
    });
  });

  test('starts its child in test mode if it is in test mode itself', async () => {
    service.behaviours.set('mode', ({ execution }) => success({ test: execution.isTestMode }));
    const parent = await callerOf(call('call', await effectWorkflow('mode')), { is_test_mode: true });
    const detail = await service.finished(await service.execute(parent));
    expect(detail.node_outputs.call?.output.output).toEqual({ test: true });
  });

  test('runs the version saved at the time of the call', async () => {
    const child = await service.createWorkflow(
      flowOf([['old', 'core.set', { config: { values: { v: 1 } } }]], ['start>old']),
    );
    const parent = await callerOf(call('call', child));
    const flow = flowOf([['new', 'core.set', { config: { values: { v: 2 } } }]], ['start>new']);
    await service.api('PUT', `/workflows/${child}`, { key: service.key, body: { flow_data: flow } });
    const detail = await service.finished(await service.execute(parent));
    expect(detail.node_outputs.call?.output.output).toEqual({ v: 2 });
    expect((await service.read(idIn(detail, 'call'))).workflow_version).toBe(2);
  });

  test.each([
    ['inactive', 'workflow_inactive'],
    ['archived', 'workflow_archived'],
  ])('refuses one that is %s', async (status, code) => {
    const child = await effectWorkflow('any');
    if (status === 'archived') await service.api('DELETE', `/workflows/${child}`, { key: service.key });
    else await service.api('PUT', `/workflows/${child}`, { key: service.key, body: { status } });
    const detail = await service.finished(await service.execute(await callerOf(call('call', child))));
    expect(detail.error).toMatchObject({ code, node_id: 'call' });
  });

  test("doesn't find workflows of another organisation", async () => {
    const key = await service.createKey();
    const flow = flowOf([], []);
    const other = await service.api('POST', '/workflows', { key, body: { name: 'x', flow_data: flow } });
    const detail = await service.finished(await service.execute(await callerOf(call('call', other.json.id))));
    expect(detail.error).toMatchObject({ code: 'workflow_not_found' });
  });

  test("refuses input that the workflow doesn't accept", async () => {
    const settings = { input_schema: { type: 'object', required: ['n'] } };
    const child = await service.createWorkflow(flowOf([], [], settings));
    const detail = await service.finished(await service.execute(await callerOf(call('call', child))));
    expect(detail.error).toMatchObject({ code: 'invalid_input' });
    expect(detail.error?.message).toContain('n');
  });

  test('that calls its own workflow ends at the tenth', async () => {
    await useOwnService();
    const id = await service.createWorkflow(flowOf([], []));
    const flow = flowOf([call('again', id)], ['start>again']);
    await service.api('PUT', `/workflows/${id}`, { key: service.key, body: { flow_data: flow } });
    const detail = await service.finished(await service.execute(id));
    expect(detail.error).toMatchObject({ code: 'child_failed' });
    const rows = await service.database.db.query<{ depth: number; code: string }>(
      "SELECT depth, error ->> 'code' AS code FROM executions ORDER BY id",
    );
    expect(rows).toHaveLength(11);
    expect(rows.at(-1)).toEqual({ depth: 10, code: 'recursion_limit' });
  });

  test('fails if the child takes too long, and the child ends with its parent', async () => {
    stay('stay');
    const child = await effectWorkflow('stay');
    const parent = await callerOf(call('call', child, { timeout_s: 1 }));
    const id = await service.execute(parent);
    expect((await service.finished(id)).error).toMatchObject({ code: 'child_timeout' });
    await expect.poll(async () => (await childrenOf(id))[0]?.status).toBe('cancelled');
  });
});

describe('the end of a parent', () => {
  test('by cancel: children and grandchildren are cancelled and their nodes aborted', async () => {
    const work = stay('stay');
    const middle = await callerOf(call('call', await effectWorkflow('stay')));
    const id = await service.execute(await callerOf(call('call', middle)));
    await work.started;
    const [child] = await childrenOf(id);
    const cancelled = await service.api('POST', `/executions/${id}/cancel`, { key: service.key });
    expect(cancelled.json.status).toBe('cancelled');
    // Its node has nothing to show any more, but what it started is known.
    expect((await service.read(id)).children).toMatchObject([{ execution_id: child?.id, node_id: 'call' }]);
    // The request cancels them, unless the worker has already begun to.
    await expect.poll(() => childrenOf(id)).toMatchObject([{ status: 'cancelled' }]);
    await expect.poll(() => childrenOf(child?.id ?? 0)).toMatchObject([{ status: 'cancelled' }]);
    await work.aborted;
  });

  test('by a failure elsewhere: the awaited child is cancelled', async () => {
    const work = stay('stay');
    const gate = Promise.withResolvers<void>();
    service.behaviours.set('fail', async () => {
      await gate.promise;
      return failure('broken', verbatim('it broke'));
    });
    const child = await effectWorkflow('stay');
    const flow = flowOf(
      [call('call', child), ['other', 'test.effect', { config: { do: 'fail' } }]],
      ['start>call', 'start>other'],
    );
    const id = await service.execute(await service.createWorkflow(flow));
    await work.started;
    gate.resolve();
    expect((await service.finished(id)).status).toBe('failed');
    await work.aborted;
    await expect.poll(async () => (await childrenOf(id))[0]?.status).toBe('cancelled');
  });

  test("of a child by cancel is the parent's failure child_cancelled", async () => {
    const work = stay('stay');
    const id = await service.execute(await callerOf(call('call', await effectWorkflow('stay'))));
    const childId = (await work.started).execution.id;
    await service.api('POST', `/executions/${childId}/cancel`, { key: service.key });
    expect((await service.finished(id)).error).toMatchObject({ code: 'child_cancelled' });
  });
});

describe('a node that waits in its worker for a child', () => {
  test('lends out its slot, so that one worker with one slot is enough', async () => {
    await useOwnService({ worker: { concurrency: 1 } });
    service.behaviours.set('add', ({ triggerData }) => success({ n: Number(triggerData) + 1 }));
    const child = await effectWorkflow('add');
    service.behaviours.set('both', async (context) => {
      const { workflows, signal } = context;
      const order = { workflowId: child, input: 1, waits: true };
      const first = await workflows.start({ ...order, callKey: 'first' });
      const again = await workflows.start({ ...order, callKey: 'first' });
      const result = await workflows.ended(first.executionId, signal);
      return success({ same: first.executionId === again.executionId, output: result.output });
    });
    const detail = await service.finished(await service.execute(await effectWorkflow('both')));
    expect(detail.node_outputs.work?.output).toEqual({ same: true, output: { n: 2 } });
  });
});
