import type { WorkflowDetail } from '@millrace/admin-api';
import type { JsonObject } from '@millrace/engine';
import { prune } from '@millrace/service/retention/prune';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { UNFINISHED_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { auditOf, createWorkflow, endOf, flowWith, pathTo } from './workflows-world.ts';

let service: TestService;
let ada: TestPerson;
beforeAll(async () => {
  service = await startTestService();
  ada = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

/** The body of a run. */
type RunBody = Parameters<typeof ada.call<'POST /orgs/:org/workflows/:id/run'>>[1]['body'];

function run(workflow: { readonly id: number }, body: RunBody) {
  return ada.call('POST /orgs/:org/workflows/:id/run', { params: pathTo(ada, workflow), body });
}

async function ended(workflow: { readonly id: number }, body: RunBody) {
  const { status, data, text } = await run(workflow, body);
  expect(status, text).toBe(200);
  return { id: data.execution_id, ...(await endOf(service, ada, data.execution_id)) };
}

function set(id: string, values: JsonObject, more: JsonObject = {}): JsonObject {
  return { id, type: 'core.set', ...more, data: { config: { values } } };
}

/** start -> a -> b -> c, where c reads all of them. */
const CHAIN: JsonObject = {
  nodes: [
    { id: 'start', type: 'trigger.manual' },
    set('a', { said: 'real a' }),
    set('b', { said: 'real b' }),
    set('c', {
      of_a: '{{nodes.a.output.said}}',
      of_b: '{{nodes.b.output.said}}',
      of_start: '{{trigger.data.n}}',
    }),
    set('after', { never: true }),
  ],
  edges: ['start a', 'a b', 'b c', 'c after'].map((pair) => {
    const [source = '', target = ''] = pair.split(' ');
    return { source, target };
  }),
};

describe('running by hand', () => {
  test('the saved version, with input and test mode', async () => {
    const workflow = await createWorkflow(ada);
    const execution = await ended(workflow, { input: { n: 1 }, is_test_mode: true });
    expect(execution).toMatchObject({
      status: 'completed',
      workflow_version: 1,
      trigger_type: 'manual',
      is_test_mode: true,
      input_data: { n: 1 },
    });
    const entry = (await auditOf(service, workflow.id)).at(-1);
    expect(entry).toMatchObject({ action: 'execution.started', user_id: ada.userId, source_ip: '127.0.0.1' });
  });

  test('an earlier version, with the input of a past execution', async () => {
    const workflow = await createWorkflow(ada);
    const first = await ended(workflow, { input: { from: 'the first' } });
    await save(workflow, flowWith('second'));
    const again = await ended(workflow, { version: 1, input_of: first.id });
    expect(again).toMatchObject({ workflow_version: 1, input_data: { from: 'the first' } });
    expect(again.node_outputs.set?.output).toEqual({ text: 'first' });
    const missing = await run(workflow, { version: 3 });
    expect(missing.status).toBe(404);
  });

  test('an inactive workflow, but not an archived one', async () => {
    const workflow = await createWorkflow(ada);
    const params = pathTo(ada, workflow);
    const { updated_at } = workflow;
    await ada.call('PUT /orgs/:org/workflows/:id', { params, body: { updated_at, status: 'inactive' } });
    expect((await ended(workflow, {})).status).toBe('completed');
    await ada.call('POST /orgs/:org/workflows/:id/archive', { params });
    expect((await run(workflow, {})).json.code).toBe('workflow_archived');
  });
});

test('an input is checked between transactions: its refusal rolls nothing back', async () => {
  const workflow = await createWorkflow(ada);
  const flow_data = { ...CHAIN, settings: { input_schema: { required: ['n'] } } };
  const transactions: Promise<unknown>[] = [];
  const { db } = service.deps;
  const forOrganisation = db.forOrganisation.bind(db);
  const spy = vi.spyOn(db, 'forOrganisation').mockImplementation((id, work) => {
    const done = forOrganisation(id, work);
    transactions.push(done);
    return done;
  });
  onTestFinished(() => spy.mockRestore());
  const refused = await run(workflow, { flow_data, input: {} });
  expect([refused.status, refused.json.errors?.[0]?.pointer]).toEqual([422, '/input/n']);
  const ends = await Promise.allSettled(transactions);
  expect(ends.map(({ status }) => status)).toEqual(ends.map(() => 'fulfilled'));
  expect(ends.length).toBeGreaterThan(0);
});

describe('a trial of an unsaved draft', () => {
  test('runs the draft and leaves the saved versions unchanged', async () => {
    const workflow = await createWorkflow(ada);
    const execution = await ended(workflow, { flow_data: flowWith('draft') });
    expect(execution).toMatchObject({ status: 'completed', workflow_version: 0, trigger_type: 'manual' });
    expect(execution.node_outputs.set?.output).toEqual({ text: 'draft' });
    const key = await service.createKey({ organisationId: ada.organisationId });
    const publicly = await service.api('GET', `/workflows/${workflow.id}`, { key });
    expect([publicly.json.version, publicly.json.flow_data]).toEqual([1, flowWith('first')]);
    const versions = await service.api('GET', `/workflows/${workflow.id}/versions`, { key });
    expect(versions.json.data.map((item) => item.version)).toEqual([1]);
    const history = await ada.call('GET /orgs/:org/workflows/:id/versions', {
      params: pathTo(ada, workflow),
    });
    expect(history.data.items).toHaveLength(1);
    const list = await ada.call('GET /orgs/:org/workflows', { params: { org: ada.organisationId } });
    expect(list.data.items.find((item) => item.id === workflow.id)?.last_run).toMatchObject({
      id: execution.id,
      is_trial: true,
    });
  });

  test('an unchanged draft runs as the saved version', async () => {
    const workflow = await createWorkflow(ada);
    expect(await ended(workflow, { flow_data: flowWith('first') })).toMatchObject({ workflow_version: 1 });
  });

  test('never shares its number with another, also after it was pruned with its execution', async () => {
    const workflow = await createWorkflow(ada);
    const { db } = service.database;
    const first = await ended(workflow, { flow_data: flowWith('one') });
    const trials = () =>
      db.query<{ version: number }>(
        'SELECT version FROM workflow_versions WHERE workflow_id = $1 AND version < 0 ORDER BY version DESC',
        [workflow.id],
      );
    const [before] = await trials();
    const { retention } = service.deps.config;
    await prune(db, retention);
    expect(await trials()).toEqual([before]);
    await db.query('DELETE FROM executions WHERE id = $1', [first.id]);
    expect((await prune(db, retention)).trials).toBeGreaterThan(0);
    expect(await trials()).toEqual([]);
    const second = await ended(workflow, { flow_data: flowWith('two') });
    expect(second.node_outputs.set?.output).toEqual({ text: 'two' });
    const [after] = await trials();
    expect(after?.version).toBeLessThan(before?.version ?? 0);
  });

  test('is rerun as it was: from the start, with different input, and from the failed node', async () => {
    const draft: JsonObject = {
      nodes: [
        { id: 'start', type: 'trigger.manual' },
        set('before', { said: 'of the draft' }),
        {
          id: 'check',
          type: 'core.fail',
          data: { config: { code: 'not_yet', message: 'for {{trigger.data.n}}' } },
        },
      ],
      edges: [
        { source: 'start', target: 'before' },
        { source: 'before', target: 'check' },
      ],
    };
    const workflow = await createWorkflow(ada);
    const first = await ended(workflow, { flow_data: draft, input: { n: 1 }, is_test_mode: true });
    expect(first).toMatchObject({ status: 'failed', workflow_version: 0 });
    const rerun = async (body: { from: 'start' | 'failed_node'; input_data?: JsonObject }) => {
      const params = { org: ada.organisationId, execution: first.id };
      const answer = await ada.call('POST /orgs/:org/executions/:execution/rerun', { params, body });
      expect(answer.status, answer.text).toBe(200);
      return endOf(service, ada, answer.data.execution_id);
    };
    // Neither later saves nor later drafts have an effect.
    await save(workflow, flowWith('second'));
    const same = await rerun({ from: 'start' });
    const other = await rerun({ from: 'start', input_data: { n: 2 } });
    const onward = await rerun({ from: 'failed_node' });
    for (const again of [same, other, onward]) {
      expect(again).toMatchObject({ status: 'failed', workflow_version: 0, is_test_mode: true });
      expect(again.node_outputs.before?.output).toEqual({ said: 'of the draft' });
    }
    const messages = [same, other, onward].map(({ error }) => error?.message);
    expect(messages).toEqual(['for 1', 'for 2', 'for 1']);
    // What is kept for the original is kept for its reruns.
    const { db } = service.database;
    await db.query('DELETE FROM executions WHERE id = $1', [first.id]);
    await prune(db, service.deps.config.retention);
    const trials = await db.query('SELECT FROM workflow_versions WHERE workflow_id = $1 AND version < 0', [
      workflow.id,
    ]);
    expect(trials).toHaveLength(1);
  });

  test('its failure starts no error workflow', async () => {
    const handler = await createWorkflow(ada);
    const failing = {
      nodes: [
        { id: 'start', type: 'trigger.manual' },
        { id: 'no', type: 'core.fail', data: { config: { message: 'no' } } },
      ],
      edges: [{ source: 'start', target: 'no' }],
      settings: { error_workflow_id: handler.id },
    };
    const workflow = await createWorkflow(ada);
    expect((await ended(workflow, { flow_data: failing })).status).toBe('failed');
    const rows = await service.database.db.query(
      'SELECT kind FROM execution_follow_ups WHERE organisation_id = $1',
      [ada.organisationId],
    );
    expect(rows).toEqual([]);
  });

  test("422 for what can't run; nothing is stored", async () => {
    const workflow = await createWorkflow(ada);
    const answers = [
      await run(workflow, { flow_data: UNFINISHED_FLOW }),
      await run(workflow, { flow_data: { nodes: [] } }),
      await run(workflow, { flow_data: flowWith('x'), version: 1 }),
      await run(workflow, { input: 1, input_of: 1 }),
      await run(workflow, { input_of: 1 }),
      await run(workflow, { pinned_outputs: {} }),
      await run(workflow, {
        flow_data: { ...flowWith('x'), settings: { input_schema: { required: ['n'] } } },
      }),
    ];
    expect(answers.map((answer) => [answer.status, answer.json.errors[0]?.pointer])).toEqual([
      [422, '/flow_data/nodes'],
      [422, '/flow_data/edges'],
      [422, '/version'],
      [422, '/input_of'],
      [422, '/input_of'],
      [422, '/pinned_outputs'],
      [422, '/input/n'],
    ]);
    const rows = await service.database.db.query('SELECT id FROM executions WHERE workflow_id = $1', [
      workflow.id,
    ]);
    expect(rows).toEqual([]);
  });
});

describe('a single node', () => {
  test("uses pinned outputs; nodes before and after it don't run, and a rerun does the same", async () => {
    const workflow = await createWorkflow(ada);
    const execution = await ended(workflow, {
      flow_data: CHAIN,
      only_node: 'c',
      input: { n: 7 },
      pinned_outputs: { a: { said: '{{trigger.data.n}}' }, b: { said: 'pinned b' } },
    });
    expect(execution).toMatchObject({ status: 'completed', workflow_version: 0 });
    // Pinned output is data: a template in it isn't rendered.
    expect(execution.node_outputs.c?.output).toEqual({
      of_a: '{{trigger.data.n}}',
      of_b: 'pinned b',
      of_start: 7,
    });
    expect(Object.keys(execution.node_outputs)).toEqual(expect.arrayContaining(['start', 'a', 'b', 'c']));
    expect(execution.node_outputs.after).toBeUndefined();
    const key = await service.createKey({ organisationId: ada.organisationId });
    const again = await service.api('POST', `/executions/${execution.id}/rerun`, {
      key,
      body: { from: 'start' },
    });
    const repeated = await endOf(service, ada, again.json.execution_id);
    expect(repeated.node_outputs.c?.output).toEqual(execution.node_outputs.c?.output);
  });

  test('takes unpinned outputs from an execution', async () => {
    const workflow = await createWorkflow(ada, CHAIN);
    const full = await ended(workflow, {});
    const execution = await ended(workflow, {
      only_node: 'c',
      outputs_of: full.id,
      pinned_outputs: { b: { said: 'pinned b' } },
    });
    expect(execution.node_outputs.c?.output).toMatchObject({ of_a: 'real a', of_b: 'pinned b' });
    const other = await createWorkflow(ada);
    const elsewhere = await run(other, { only_node: 'set', outputs_of: full.id });
    expect([elsewhere.status, elsewhere.json.errors[0]?.pointer]).toEqual([422, '/outputs_of']);
  });

  test('reports what is missing', async () => {
    const workflow = await createWorkflow(ada, CHAIN);
    const answer = await run(workflow, { only_node: 'c', pinned_outputs: { b: {} } });
    expect([answer.status, answer.json.errors.map((error) => error.pointer)]).toEqual([
      422,
      ['/pinned_outputs/a'],
    ]);
  });

  test('a branch without pins counts as not taken, unless no other is left', async () => {
    const flow: JsonObject = {
      nodes: [
        { id: 'start', type: 'trigger.manual' },
        set('left', {}),
        set('right', {}),
        { id: 'join', type: 'core.merge', data: { config: { mode: 'combine' } } },
      ],
      edges: [
        { source: 'start', target: 'left' },
        { source: 'start', target: 'right' },
        { source: 'left', target: 'join' },
        { source: 'right', target: 'join' },
      ],
    };
    const workflow = await createWorkflow(ada, flow);
    const one = await ended(workflow, { only_node: 'join', pinned_outputs: { left: { l: 1 } } });
    expect([one.node_outputs.right, JSON.stringify(one.node_outputs.join?.output)]).toEqual([
      undefined,
      expect.stringContaining('"l":1'),
    ]);
    expect((await ended(workflow, { only_node: 'join' })).node_outputs.join?.status).toBe('success');
  });

  test('a loop runs with everything inside it, including a node that no edge leads to yet', async () => {
    const flow: JsonObject = {
      nodes: [
        { id: 'start', type: 'trigger.webhook' },
        { id: 'loop', type: 'core.for_each', data: { config: { items: '{{nodes.list.output.of}}' } } },
        set('body', { doubled: '{{item}}{{item}}' }, { parentId: 'loop' }),
        set('list', { of: ['x'] }),
        set('loose', { said: '{{trigger.data.n}}' }),
      ],
      edges: [
        { source: 'start', target: 'list' },
        { source: 'list', target: 'loop' },
      ],
    };
    const workflow = await createWorkflow(ada, flow);
    const loop = await ended(workflow, { only_node: 'loop', pinned_outputs: { list: { of: ['a', 'b'] } } });
    expect(loop.status).toBe('completed');
    expect(loop.node_outputs.body?.output).toEqual({ doubled: 'bb' });
    expect(
      (await ended(workflow, { only_node: 'loose', input: { n: 5 } })).node_outputs.loose?.output,
    ).toEqual({ said: 5 });
  });

  test.each([
    ['no such', 'service.trial_no_node', {}],
    ['start', 'service.trial_of_trigger', {}],
    ['body', 'service.trial_in_loop', { loop: '"loop"' }],
  ])('422: %s', async (only_node, key, params) => {
    const flow: JsonObject = {
      nodes: [
        { id: 'start', type: 'trigger.manual' },
        { id: 'loop', type: 'core.for_each', data: { config: { items: [1] } } },
        set('body', {}, { parentId: 'loop' }),
      ],
      edges: [{ source: 'start', target: 'loop' }],
    };
    const answer = await run(await createWorkflow(ada), { flow_data: flow, only_node });
    expect([answer.status, answer.json.errors[0]]).toEqual([422, expect.objectContaining({ key, params })]);
  });
});

test('inputs to choose from: the sample, and those of the last executions', async () => {
  const workflow = await createWorkflow(ada);
  const params = pathTo(ada, workflow);
  await ada.call('PUT /orgs/:org/workflows/:id/sample', { params, body: { data: { s: 1 } } });
  await ended(workflow, { input: { n: 1 } });
  await ended(workflow, { input: { n: 'x'.repeat(70_000) } });
  const { data } = await ada.call('GET /orgs/:org/workflows/:id/inputs', { params });
  expect(data.sample).toMatchObject({ data: { s: 1 }, source: 'manual', headers: null });
  expect(data.executions.map((each) => each.input)).toEqual([undefined, { n: 1 }]);
  expect(data.executions[0]?.input_bytes).toBeGreaterThan(70_000);
});

function save(workflow: WorkflowDetail, flow: JsonObject) {
  return ada.call('POST /orgs/:org/workflows/:id/versions', {
    params: pathTo(ada, workflow),
    body: { flow_data: flow, base_version: workflow.version },
  });
}
