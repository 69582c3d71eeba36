import { failure, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { WEBHOOK_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';
import { type Act, CANCEL, DETAIL, endedExecution, RERUN } from './ended-execution.ts';

const NODE = 'GET /orgs/:org/executions/:execution/nodes/:node';

let service: WorkingService;
let organisationId: number;
let editor: TestPerson;
let viewer: TestPerson;
let stranger: TestPerson;
beforeAll(async () => {
  service = await startWorkingService();
  organisationId = service.key.organisationId;
  editor = await createPerson(service as never, 'editor', { organisationId });
  viewer = await createPerson(service as never, 'viewer', { organisationId });
  stranger = await createPerson(service as never, 'org_admin');
});
afterAll(() => service.stop());

const of = (execution: number) => ({ params: { org: organisationId, execution } });

const ended = (...act: Act) => endedExecution(service, ...act);

describe('who started it', () => {
  const LIST = 'GET /orgs/:org/executions';
  const OFF = { origin: { api_key: null, source_ip: '127.0.0.1' } };

  test('the key and the address, for roles that may read the audit log; both are filters for them', async () => {
    const admin = await createPerson(service as never, 'org_admin', { organisationId });
    const { id: first, workflowId } = await ended(() => success({}));
    const other = await service.createKey({ organisationId });
    const answer = await service.api('POST', `/executions/${first}/rerun`, {
      key: other,
      body: { from: 'start' },
    });
    const again = answer.json.execution_id;
    await service.finished(again);
    for (const [id, key] of [
      [first, service.key],
      [again, other],
    ] as const) {
      const { data } = await admin.call(DETAIL, of(id));
      expect(data.origin).toEqual({
        api_key: { id: key.id, key_id: key.keyId, name: expect.any(String), last_four: key.text.slice(-4) },
        source_ip: '127.0.0.1',
      });
      for (const person of [viewer, editor])
        expect((await person.call(DETAIL, of(id))).data.origin).toBeNull();
    }
    const listed = async (query: object) => {
      const { data } = await admin.call(LIST, { params: { org: organisationId }, query });
      return data.items.map(({ id }) => id);
    };
    expect(await listed({ key: other.id })).toEqual([again]);
    expect(await listed({ key: other.id, ip: '127.0', workflow: workflowId })).toEqual([again]);
    expect(await listed({ workflow: workflowId, ip: '0.0.1' })).toEqual([again, first]);
    expect(await listed({ workflow: workflowId, ip: '192.0.2' })).toEqual([]);
    expect(await listed({ key: stranger.userId + 1_000_000 })).toEqual([]);
    for (const query of [{ key: other.id }, { ip: '127' }]) {
      const refused = await editor.call(LIST, { params: { org: organisationId }, query });
      expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_role']);
    }
  });

  test('for webhooks and people the address alone; for executions started by a node, neither', async () => {
    const admin = await createPerson(service as never, 'org_admin', { organisationId });
    const workflowId = await service.createWorkflow(WEBHOOK_FLOW);
    const info = await service.api('GET', `/workflows/${workflowId}/webhook-info`, { key: service.key });
    const called = await service.api('POST', `/webhooks/${String(info.json.hash)}`, { body: {} });
    const { execution_id: id } = called.json;
    await service.finished(id);
    expect((await admin.call(DETAIL, of(id))).data).toMatchObject(OFF);
    const rerun = await editor.call(RERUN, { ...of(id), body: { from: 'start' } });
    expect((await admin.call(DETAIL, of(rerun.data.execution_id))).data).toMatchObject(OFF);
    const run = await editor.call('POST /orgs/:org/workflows/:id/run', {
      params: { org: organisationId, id: workflowId },
      body: {},
    });
    expect((await admin.call(DETAIL, of(run.data.execution_id))).data).toMatchObject(OFF);
    const calls = flowOf([['call', 'flow.call', { config: { workflow_id: workflowId } }]], ['start>call']);
    const parent = await service.execute(await service.createWorkflow(calls));
    const [child] = (await service.finished(parent)).children;
    expect((await admin.call(DETAIL, of(child?.execution_id ?? 0))).data.origin).toEqual({
      api_key: null,
      source_ip: null,
    });
  });
});

describe('one execution', () => {
  test('shows attempts and the waits between them, with each failure', async () => {
    const { id } = await ended(
      ({ attempt }) =>
        attempt < 3
          ? failure('connection_failed', verbatim(`try ${attempt}`), { retryable: true })
          : success({ ok: true }),
      { retry: { max_attempts: 3, backoff_ms: 20 } },
    );
    const { data } = await viewer.call(DETAIL, of(id));
    expect(data.execution).toMatchObject({
      id,
      status: 'completed',
      workflow_name: 'sample',
      rerun_of: null,
    });
    expect(data.input_data).toEqual({ order: 17 });
    const node = data.nodes.find(({ node_id: nodeId }) => nodeId === 'act');
    expect(node).toMatchObject({ status: 'success', attempts: 3, loop_id: null, is_dry_run: false });
    expect(node?.spans.map(({ kind, attempt, error }) => [kind, attempt, error?.message])).toEqual([
      ['run', 1, 'try 1'],
      ['retry', 1, undefined],
      ['run', 2, 'try 2'],
      ['retry', 2, undefined],
      ['run', 3, undefined],
    ]);
    const times = node?.spans.flatMap((span) => [span.started_at, span.ended_at ?? '']) ?? [];
    expect(times).toEqual([...times].sort());
  });

  test('outputs are read node by node, with the log', async () => {
    const { id } = await ended(() =>
      success({ big: 'x'.repeat(1_000) }, { log: [{ level: 'info', text: 'did it' }] }),
    );
    const { data } = await viewer.call(DETAIL, of(id));
    expect(JSON.stringify(data)).not.toContain('xxx');
    expect(data.nodes.at(-1)).toMatchObject({ output_size: 1_010, log_lines: 1 });
    const run = await viewer.call(NODE, { params: { org: organisationId, execution: id, node: 'act' } });
    expect(run.data.output).toEqual({ big: 'x'.repeat(1_000) });
    expect(run.data.log).toEqual([{ level: 'info', text: 'did it' }]);
    const none = await viewer.call(NODE, { params: { org: organisationId, execution: id, node: 'nobody' } });
    expect(none.status).toBe(404);
  });

  test('iterations are paged through, filtered and read one by one', async () => {
    service.behaviours.set('odd', ({ iteration }) =>
      (iteration[0] ?? 0) % 2 === 1
        ? failure('no_stock', verbatim('none left'))
        : success({ at: iteration[0] ?? -1 }),
    );
    const flow = flowOf(
      [
        ['each', 'core.for_each', { config: { items: [1, 2, 3, 4, 5], on_item_error: 'collect' } }],
        ['inside', 'test.effect', { config: { do: 'odd' } }],
      ],
      ['start>each'],
    ) as { nodes: { id: string; parentId?: string }[] };
    for (const node of flow.nodes) if (node.id === 'inside') node.parentId = 'each';
    const id = await service.execute(await service.createWorkflow(flow));
    await service.finished(id);
    const params = { org: organisationId, execution: id, node: 'inside' };
    const page = await viewer.call(`${NODE}/iterations`, { params, query: { skip: 1, limit: 2 } });
    expect(page.data.total).toBe(5);
    expect(page.data.items.map(({ iteration, status }) => [iteration, status])).toEqual([
      [[1], 'failed'],
      [[2], 'success'],
    ]);
    const failed = await viewer.call(`${NODE}/iterations`, { params, query: { status: 'failed' } });
    expect(failed.data.items.map(({ iteration }) => iteration)).toEqual([[1], [3]]);
    const one = await viewer.call(NODE, { params, query: { iteration: '2' } });
    expect(one.data).toMatchObject({ iteration: [2], output: { at: 2 } });
    const loop = await viewer.call(`${NODE}/iterations`, { params: { ...params, node: 'each' } });
    expect(loop.data.items.map(({ status }) => status)).toEqual([
      'success',
      'failed',
      'success',
      'failed',
      'success',
    ]);
    const { data } = await viewer.call(DETAIL, of(id));
    const [inside, each] = ['inside', 'each'].map((name) => data.nodes.find((node) => node.node_id === name));
    expect(inside).toMatchObject({ loop_id: 'each', iterations: 5 });
    for (const node of [inside, each]) {
      expect(node?.iteration_spans.map(({ count, failed: bad }) => [count, bad])).toEqual([
        [1, 0],
        [1, 1],
        [1, 0],
        [1, 1],
        [1, 0],
      ]);
    }
  });

  test('a run whose end was not kept is omitted, not shown as cancelled', async () => {
    const flow = flowOf(
      [
        ['each', 'core.for_each', { config: { items: [1, -1, 3], on_item_error: 'collect' } }],
        ['note', 'core.code', { config: { code: 'return 1;' } }],
        ['pause', 'core.delay', { config: { duration_ms: '{{item}}' } }],
      ],
      ['start>each', 'note>pause'],
    ) as { nodes: { id: string; parentId?: string }[] };
    for (const node of flow.nodes) if (['note', 'pause'].includes(node.id)) node.parentId = 'each';
    const id = await service.execute(await service.createWorkflow(flow));
    await service.finished(id);
    const params = { org: organisationId, execution: id, node: 'note' };
    const { data } = await viewer.call(`${NODE}/iterations`, { params });
    expect(data.items.map(({ iteration, status }) => [iteration, status])).toEqual([
      [[0], 'success'],
      [[2], 'success'],
    ]);
  });

  test('has the workflow as it was, whatever happened to it since', async () => {
    const { id, workflowId } = await ended(() => success({}));
    const body = { flow_data: flowOf([['other', 'core.set', { config: { values: {} } }]], ['start>other']) };
    await service.api('PUT', `/workflows/${workflowId}`, { key: service.key, body });
    const { data } = await viewer.call('GET /orgs/:org/executions/:execution/flow', of(id));
    expect([data.version, data.current_version]).toEqual([1, 2]);
    expect(JSON.stringify(data.flow_data)).toContain('"act"');
  });

  test('two are compared node by node', async () => {
    let count = 0;
    const { id: a, workflowId } = await ended(() => success({ count: count++ }, { consumedAiTokens: 5 }));
    const b = await service.execute(workflowId, { order: 17 });
    await service.finished(b);
    const { data } = await viewer.call('GET /orgs/:org/executions/compare', {
      params: { org: organisationId },
      query: { a, b },
    });
    expect(data.nodes.map((node) => [node.node_id, node.is_same_output])).toEqual([
      ['start', true],
      ['first', true],
      ['act', false],
    ]);
    expect(data.nodes.at(-1)?.a?.consumed_ai_tokens).toBe(5);
    expect(data.is_same_input).toBe(true);
    const c = await service.execute(workflowId, { order: 18 });
    await service.finished(c);
    const other = await viewer.call('GET /orgs/:org/executions/compare', {
      params: { org: organisationId },
      query: { a, b: c },
    });
    expect(other.data.is_same_input).toBe(false);
  });

  test('shows what it waits for, until it has ended', async () => {
    const config = { title: 'Refund order {{trigger.data.order}}?', text: 'Arrived broken' };
    const flow = flowOf([['ask', 'wait.approval', { config }]], ['start>ask']);
    const id = await service.execute(await service.createWorkflow(flow), { order: 17 });
    const waits = async () => {
      const { data } = await viewer.call(DETAIL, of(id));
      return [
        ...data.approvals.map(({ title }) => title),
        ...data.callbacks.map(({ node_id: node }) => node),
      ];
    };
    await expect.poll(waits).toEqual(['Refund order 17?']);
    // Of three addresses, one was used and one is no longer open.
    await service.database.db.query(
      `INSERT INTO callbacks (organisation_id, execution_id, node_id, iteration, kind, token_hash, expires_at, used_at)
       SELECT $1, $2, name, '{}', 'callback', sha256(name::bytea), now() + lasts::interval, used::timestamptz
       FROM (VALUES ('open', '1 hour', NULL), ('used', '1 hour', '2026-01-01Z'), ('over', '-1 hour', NULL))
         AS made (name, lasts, used)`,
      [organisationId, id],
    );
    expect(await waits()).toEqual(['Refund order 17?', 'open']);
    await editor.call(CANCEL, of(id));
    expect(await waits()).toEqual([]);
  });

  test("of another organisation doesn't exist", async () => {
    const { id } = await ended(() => success({}));
    const params = { org: stranger.organisationId, execution: id };
    for (const answer of [
      await stranger.call(DETAIL, { params }),
      await stranger.call(`${DETAIL}/flow`, { params }),
      await stranger.call(`${DETAIL}/events`, { params }),
      await stranger.call(NODE, { params: { ...params, node: 'act' } }),
      await stranger.call('GET /orgs/:org/executions/compare', { params, query: { a: id, b: id } } as never),
      await stranger.call(CANCEL, { params }),
      await stranger.call(RERUN, { params, body: { from: 'start' } }),
      await stranger.call(DETAIL, of(id)),
    ]) {
      expect(answer.status).toBe(404);
    }
  });
});
