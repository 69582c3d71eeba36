import type { Body, WorkflowDetail } from '@millrace/admin-api';
import type { JsonObject } from '@millrace/engine';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkflow, endOf, pathTo } from './workflows-world.ts';

/** From a failed execution to its fix in the editor, and on from the failed node. */
let service: TestService;
let ada: TestPerson;
beforeAll(async () => {
  service = await startTestService();
  ada = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

const set = (id: string, values: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ id, type: 'core.set', ...more },
  data: { config: { values } },
});
const fail = (message: string): JsonObject => ({
  id: 'check',
  type: 'core.fail',
  data: { config: { message } },
});

/** start -> list -> loop (of item) -> check -> after, and start -> side. */
function flowWith(
  check: JsonObject,
  more: { readonly list?: JsonObject; readonly side?: JsonObject | null } = {},
): JsonObject {
  const { list = { of: [1, 2], key: 'k: ***' }, side = { said: '{{trigger.data.n}}' } } = more;
  return {
    nodes: [
      { id: 'start', type: 'trigger.manual' },
      set('list', list),
      { id: 'loop', type: 'core.for_each', data: { config: { items: '{{nodes.list.output.of}}' } } },
      set('item', { it: '{{item}}' }, { parentId: 'loop' }),
      check,
      set('after', { done: '{{nodes.loop.output.items}}' }),
      ...(side === null ? [] : [set('side', side)]),
    ],
    edges: [
      'start list',
      'list loop',
      'loop check',
      'check after',
      ...(side === null ? [] : ['start side']),
    ].map((pair) => {
      const [source = '', target = ''] = pair.split(' ');
      return { source, target };
    }),
  };
}

const FIXED = set('check', { fixed: true });

async function run(workflow: { readonly id: number }, body: Body<'POST /orgs/:org/workflows/:id/run'>) {
  const answer = await ada.call('POST /orgs/:org/workflows/:id/run', { params: pathTo(ada, workflow), body });
  expect(answer.status, answer.text).toBe(200);
  return { ...(await endOf(service, ada, answer.data.execution_id)), id: answer.data.execution_id };
}

async function failedOnce() {
  const workflow = await createWorkflow(ada, flowWith(fail('no')));
  const { id, status } = await run(workflow, { input: { n: 7 } });
  expect(status).toBe('failed');
  return { workflow, id };
}

function save(workflow: WorkflowDetail, flow: JsonObject) {
  const body = { flow_data: flow, base_version: workflow.version };
  return ada.call('POST /orgs/:org/workflows/:id/versions', { params: pathTo(ada, workflow), body });
}

const of = (execution: number, person = ada) => ({ params: { org: person.organisationId, execution } });
const DEBUG = 'GET /orgs/:org/executions/:execution/debug';
const PIN = 'PUT /orgs/:org/executions/:execution/pins';
const RERUN = 'POST /orgs/:org/executions/:execution/rerun';
const debugOf = async (id: number) => (await ada.call(DEBUG, of(id))).data;

async function pinsOf(workflow: WorkflowDetail) {
  const { data } = await ada.call('GET /orgs/:org/workflows/:id/pins', { params: pathTo(ada, workflow) });
  return Object.fromEntries(data.items.map(({ node_id: id, output }) => [id, output]));
}

describe('pinning the outputs of an execution', () => {
  test('all that succeeded and fits, instead of what was pinned; the rest is named with the reason', async () => {
    const { workflow, id } = await failedOnce();
    const params = pathTo(ada, workflow);
    for (const node_id of ['side', 'former']) {
      const body = { node_id, output: { by: 'hand' } };
      await ada.call('PUT /orgs/:org/workflows/:id/pins', { params, body });
    }
    const data = await debugOf(id);
    expect(data).toMatchObject({ workflow_id: workflow.id, status: 'failed', masked: ['list'] });
    expect(data.pinned.toSorted()).toEqual(['list', 'loop', 'side']);
    expect(data.left_out).toEqual([{ node_id: 'item', reason: 'in_loop' }]);
    expect(data.replaces).toEqual(['former', 'side']);
    expect((await ada.call(PIN, of(id))).status).toBe(204);
    expect(await pinsOf(workflow)).toMatchObject({
      list: { of: [1, 2] },
      loop: { items: [{ it: 1 }, { it: 2 }] },
      side: { said: 7 },
    });
    expect((await debugOf(id)).replaces).toEqual([]);
  });

  test('what the draft no longer has, or is too large, is left out', async () => {
    const large = { of: [], text: 'x'.repeat(262_144) };
    const workflow = await createWorkflow(ada, flowWith(fail('no'), { list: large }));
    const { id } = await run(workflow, {});
    const draft = flowWith(FIXED, { side: null });
    const body = { flow_data: draft, base_version: 1, revision: 0 };
    await ada.call('PUT /orgs/:org/workflows/:id/draft', { params: pathTo(ada, workflow), body });
    const { left_out: leftOut, pinned } = await debugOf(id);
    expect(leftOut).toContainEqual({ node_id: 'list', reason: 'too_large' });
    expect(leftOut).toContainEqual({ node_id: 'side', reason: 'deleted' });
    expect(pinned).toEqual(['loop']);
  });

  test('of more than 100 outputs, the last ones are pinned', async () => {
    const ids = Array.from({ length: 102 }, (_, at) => `n${at}`);
    const workflow = await createWorkflow(ada, {
      nodes: [{ id: 'start', type: 'trigger.manual' }, ...ids.map((id) => set(id, {}))],
      edges: ids.map((id, at) => ({ source: ids[at - 1] ?? 'start', target: id })),
    });
    const { id } = await run(workflow, {});
    const { pinned, left_out: leftOut, rerun } = await debugOf(id);
    expect([pinned.length, leftOut.map(({ reason }) => reason), rerun]).toEqual([
      100,
      ['over_limit', 'over_limit'],
      null,
    ]);
    expect((await ada.call(PIN, of(id))).status).toBe(204);
    expect(Object.keys(await pinsOf(workflow))).toHaveLength(100);
  });

  test('while it waits, what has ended so far is pinned', async () => {
    const wait = {
      id: 'check',
      type: 'core.delay',
      data: { config: { duration: { amount: 1, unit: 'days' } } },
    };
    const workflow = await createWorkflow(ada, flowWith(wait));
    const started = await ada.call('POST /orgs/:org/workflows/:id/run', {
      params: pathTo(ada, workflow),
      body: {},
    });
    const id = started.data.execution_id;
    await expect.poll(async () => (await debugOf(id)).status).toBe('waiting_async');
    const { pinned, rerun } = await debugOf(id);
    expect([pinned.toSorted(), rerun]).toEqual([['list', 'loop', 'side'], null]);
    expect((await ada.call(PIN, of(id))).status).toBe(204);
    expect(Object.keys(await pinsOf(workflow)).toSorted()).toEqual(['list', 'loop', 'side']);
  });

  test('403 for viewers, 404 for other organisations and executions that have been deleted', async () => {
    const { id } = await failedOnce();
    const viewer = await createPerson(service, 'viewer', { organisationId: ada.organisationId });
    const stranger = await createPerson(service, 'editor');
    for (const name of [DEBUG, PIN] as const) {
      expect((await viewer.call(name, of(id))).json.code).toBe('insufficient_role');
      expect((await stranger.call(name, of(id, stranger))).status).toBe(404);
    }
    await service.database.db.query('DELETE FROM executions WHERE id = $1', [id]);
    for (const name of [DEBUG, PIN] as const) expect((await ada.call(name, of(id))).status).toBe(404);
  });
});

describe('rerun from the failed node with the saved version', () => {
  test('keeps what succeeded and is the same, and says so before', async () => {
    const { workflow, id } = await failedOnce();
    await save(workflow, flowWith(FIXED));
    const { rerun } = await debugOf(id);
    expect([rerun?.kept.toSorted(), rerun?.again]).toEqual([['list', 'loop', 'side'], []]);
    const { data } = await ada.call(RERUN, { ...of(id), body: { from: 'failed_node', version: 'saved' } });
    const again = await endOf(service, ada, data.execution_id);
    expect(again).toMatchObject({ status: 'completed', workflow_version: 2, input_data: { n: 7 } });
    expect(again.node_outputs.after?.output).toEqual({ done: [{ it: 1 }, { it: 2 }] });
    const { data: detail } = await ada.call('GET /orgs/:org/executions/:execution', of(data.execution_id));
    expect(detail.execution.rerun_of).toBe(id);
    const taken = detail.nodes.filter((node) => node.is_taken_over).map((node) => node.node_id);
    expect(taken.toSorted()).toEqual(['item', 'list', 'loop', 'side', 'start']);
    const [entry] = await service.database.db.query<{ details: string }>(
      "SELECT details FROM audit_log WHERE action = 'execution.rerun' AND details->>'rerun_of' = $1",
      [String(id)],
    );
    expect(JSON.parse(entry?.details ?? '{}')).toMatchObject({ from: 'failed_node', version: 2 });
  });

  test('a node that has changed since runs again, with all that depends on it', async () => {
    const { workflow, id } = await failedOnce();
    await save(workflow, flowWith(FIXED, { list: { of: [3] } }));
    const { rerun } = await debugOf(id);
    expect([rerun?.kept, rerun?.again.toSorted()]).toEqual([['side'], ['list', 'loop']]);
    const { data } = await ada.call(RERUN, { ...of(id), body: { from: 'failed_node', version: 'saved' } });
    const again = await endOf(service, ada, data.execution_id);
    expect(again.node_outputs.after?.output).toEqual({ done: [{ it: 3 }] });
  });

  test('of an execution that could not start, everything runs', async () => {
    const workflow = await createWorkflow(ada, flowWith({ id: 'check', type: 'no.such' }));
    const key = await service.createKey({ organisationId: ada.organisationId });
    const started = await service.api('POST', `/workflows/${workflow.id}/execute`, { key, body: {} });
    const id = Number(started.json.execution_id);
    expect((await endOf(service, ada, id)).error?.code).toBe('invalid_workflow');
    expect((await ada.call(RERUN, { ...of(id), body: { from: 'failed_node' } })).json.code).toBe(
      'no_failed_node',
    );
    await save(workflow, flowWith(FIXED));
    const { data } = await ada.call(RERUN, { ...of(id), body: { from: 'failed_node', version: 'saved' } });
    expect((await endOf(service, ada, data.execution_id)).status).toBe('completed');
  });

  test('422 from the start, which always runs the saved version', async () => {
    const { id } = await failedOnce();
    const { json } = await ada.call(RERUN, { ...of(id), body: { from: 'start', version: 'saved' } });
    expect(json.errors.map(({ pointer }) => pointer)).toEqual(['/version']);
  });
});

describe('running from a node', () => {
  test('the draft, with the input and the outputs of an execution', async () => {
    const { workflow, id } = await failedOnce();
    const again = await run(workflow, { flow_data: flowWith(FIXED), from_node: 'loop', outputs_of: id });
    expect(again).toMatchObject({ status: 'completed', workflow_version: 0, input_data: { n: 7 } });
    const { data } = await ada.call('GET /orgs/:org/executions/:execution', of(again.id));
    expect(data.execution.rerun_of).toBe(id);
    const taken = data.nodes.filter((node) => node.is_taken_over).map((node) => node.node_id);
    expect(taken.toSorted()).toEqual(['list', 'side', 'start']);
  });

  test('what ran in test mode stays in it', async () => {
    const { workflow } = await failedOnce();
    const { id } = await run(workflow, { is_test_mode: true });
    const again = await run(workflow, { from_node: 'check', outputs_of: id, is_test_mode: false });
    expect(again.is_test_mode).toBe(true);
  });

  test.each([
    ['a node in a loop', { from_node: 'item' }, '/from_node'],
    ['no such node', { from_node: 'nothing' }, '/from_node'],
    ['an input', { from_node: 'check', input: {} }, '/input'],
    ['one node alone', { from_node: 'check', only_node: 'check' }, '/from_node'],
  ])('422: %s', async (_what, body, pointer) => {
    const { workflow, id } = await failedOnce();
    const params = pathTo(ada, workflow);
    const { status, json } = await ada.call('POST /orgs/:org/workflows/:id/run', {
      params,
      body: { outputs_of: id, ...body },
    });
    expect([status, json.errors.map((error) => error.pointer)]).toEqual([422, [pointer]]);
  });

  test('422 without an execution, or with that of another workflow', async () => {
    const { workflow } = await failedOnce();
    const other = await failedOnce();
    for (const [body, pointer] of [
      [{ from_node: 'check' }, '/from_node'],
      [{ from_node: 'check', outputs_of: other.id }, '/outputs_of'],
    ] as const) {
      const { json } = await ada.call('POST /orgs/:org/workflows/:id/run', {
        params: pathTo(ada, workflow),
        body,
      });
      expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
    }
  });

  test('an older input can be listed with the last ones', async () => {
    const { workflow, id } = await failedOnce();
    const other = await failedOnce();
    const inputs = async (execution: number) => {
      const call = { params: pathTo(ada, workflow), query: { with: execution } };
      const { data } = await ada.call('GET /orgs/:org/workflows/:id/inputs', call);
      return data.executions.map((each) => each.execution_id);
    };
    for (let count = 0; count < 21; count += 1) {
      await ada.call('POST /orgs/:org/workflows/:id/run', { params: pathTo(ada, workflow), body: {} });
    }
    expect((await inputs(id)).at(-1)).toBe(id);
    expect(await inputs(other.id)).not.toContain(other.id);
    expect(await inputs(other.id)).toHaveLength(20);
  });
});
