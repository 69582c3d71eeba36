import type { VersionDetail, WorkflowDetail } from '@millrace/admin-api';
import type { JsonObject } from '@millrace/engine';
import type { TestPerson } from '@millrace/testing/admin';
import { UNFINISHED_FLOW } from '@millrace/testing/flows';
import type { TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditOf, createWorkflow, flowWith, pathTo, startWithEditors } from './workflows-world.ts';

let service: TestService;
let ada: TestPerson;
let grace: TestPerson;
beforeAll(async () => {
  ({ service, ada, grace } = await startWithEditors());
});
afterAll(() => service.stop());

function save(
  person: TestPerson,
  workflow: WorkflowDetail,
  flow: JsonObject,
  base: number,
  message?: string,
) {
  return person.call('POST /orgs/:org/workflows/:id/versions', {
    params: pathTo(person, workflow),
    body: { flow_data: flow, base_version: base, ...(message === undefined ? {} : { message }) },
  });
}

async function historyOf(person: TestPerson, workflow: WorkflowDetail) {
  const { data } = await person.call('GET /orgs/:org/workflows/:id/versions', {
    params: pathTo(person, workflow),
  });
  return data.items;
}

describe('saving', () => {
  test('creates a version with author and message, and ends only my draft', async () => {
    const workflow = await createWorkflow(ada);
    for (const person of [ada, grace]) {
      await person.call('PUT /orgs/:org/workflows/:id/draft', {
        params: pathTo(person, workflow),
        body: { flow_data: flowWith('draft'), base_version: 1, revision: 0 },
      });
    }
    const { status, data } = await save(ada, workflow, flowWith('second'), 1, '  Says second  ');
    expect(status).toBe(200);
    expect(data).toMatchObject({ version: 2, flow_data: flowWith('second'), has_draft: false });
    expect(data.other_drafts).toHaveLength(1);
    expect(data.saved).toMatchObject({
      version: 2,
      message: 'Says second',
      author: { kind: 'user', name: 'Test editor', is_me: true },
      is_current: true,
      pinned: false,
    });
    const key = await service.createKey({ organisationId: ada.organisationId });
    const publicly = await service.api('GET', `/workflows/${workflow.id}`, { key });
    expect([publicly.json.version, publicly.json.flow_data]).toEqual([2, flowWith('second')]);
    const entry = (await auditOf(service, workflow.id)).at(-1);
    expect(entry).toMatchObject({ action: 'workflow.saved', user_id: ada.userId });
    expect(JSON.parse(entry?.details ?? '')).toEqual({ workflow_id: workflow.id, version: 2 });
  });

  test('saving the unchanged flow creates no version', async () => {
    const workflow = await createWorkflow(ada);
    const { data } = await save(ada, workflow, flowWith('first'), 1);
    expect([data.version, data.updated_at]).toEqual([1, workflow.updated_at]);
    expect(await historyOf(ada, workflow)).toHaveLength(1);
  });

  test('of two at once, one creates version 2, and the other gets a conflict', async () => {
    const workflow = await createWorkflow(ada);
    const answers = await Promise.all([
      save(ada, workflow, flowWith('of ada'), 1),
      save(grace, workflow, flowWith('of grace'), 1),
    ]);
    const won = answers.find((answer) => answer.status === 200);
    const lost = answers.find((answer) => answer.status === 409);
    const version = lost?.json.version as unknown as VersionDetail;
    expect(lost?.json.code).toBe('version_conflict');
    expect(version).toMatchObject({ version: 2, flow_data: won?.data.flow_data, is_current: true });
    expect(version.author).toEqual({ kind: 'user', name: 'Test editor', is_me: false });
    expect((await historyOf(ada, workflow)).map((item) => item.version)).toEqual([2, 1]);
  });

  test('saving over a change by the public API is a conflict, too, and can be repeated on top', async () => {
    const key = await service.createKey({ organisationId: ada.organisationId });
    const workflow = await createWorkflow(ada);
    await service.api('PUT', `/workflows/${workflow.id}`, { key, body: { flow_data: flowWith('by key') } });
    const refused = await save(ada, workflow, flowWith('mine'), 1);
    const { version } = refused.json as unknown as { version: VersionDetail };
    expect([refused.status, version.author]).toEqual([409, { kind: 'api_key', name: 'test', is_me: false }]);
    expect((await save(ada, workflow, flowWith('mine'), 2)).data.version).toBe(3);
  });

  test('422 for structure, and for problems of an active workflow; 409 for an archived one', async () => {
    const workflow = await createWorkflow(ada);
    const broken = await save(ada, workflow, { nodes: [] }, 1);
    expect([broken.status, broken.json.errors[0]?.pointer]).toEqual([422, '/flow_data/edges']);
    const params = pathTo(ada, workflow);
    await ada.call('PUT /orgs/:org/workflows/:id', {
      params,
      body: { updated_at: workflow.updated_at, status: 'active' },
    });
    const unfinished = await save(ada, workflow, UNFINISHED_FLOW, 1);
    expect([unfinished.status, unfinished.json.errors[0]?.code]).toEqual([422, 'no_trigger']);
    await ada.call('POST /orgs/:org/workflows/:id/archive', { params });
    expect((await save(ada, workflow, flowWith('x'), 1)).json.code).toBe('workflow_archived');
  });
});

describe('the history', () => {
  test('is paged, shows restored and pinned versions, and each version with its content', async () => {
    const workflow = await createWorkflow(ada);
    await save(ada, workflow, flowWith('second'), 1);
    await save(grace, workflow, UNFINISHED_FLOW, 2);
    const params = pathTo(ada, workflow);
    const restored = await ada.call('POST /orgs/:org/workflows/:id/versions/:version/restore', {
      params: { ...params, version: 1 },
      body: { base_version: 3 },
    });
    expect(restored.data).toMatchObject({ version: 4, flow_data: flowWith('first') });
    const pinned = await grace.call('PUT /orgs/:org/workflows/:id/versions/:version/pin', {
      params: { ...params, version: 2 },
      body: { pinned: true },
    });
    expect(pinned.data).toMatchObject({ version: 2, pinned: true });
    const page = await ada.call('GET /orgs/:org/workflows/:id/versions', { params, query: { limit: 3 } });
    expect(
      page.data.items.map((item) => [item.version, item.restored_from, item.pinned, item.is_current]),
    ).toEqual([
      [4, 1, false, true],
      [3, null, false, false],
      [2, null, true, false],
    ]);
    const cursor = page.data.next_cursor ?? '';
    const rest = await ada.call('GET /orgs/:org/workflows/:id/versions', { params, query: { cursor } });
    expect(rest.data.items.map((item) => item.version)).toEqual([1]);
    const marked = await ada.call('GET /orgs/:org/workflows/:id/versions', {
      params,
      query: { pinned: true },
    });
    expect(marked.data.items.map((item) => item.version)).toEqual([2]);
    const one = await ada.call('GET /orgs/:org/workflows/:id/versions/:version', {
      params: { ...params, version: 3 },
    });
    expect(one.data).toMatchObject({
      flow_data: UNFINISHED_FLOW,
      problems: [{ code: 'no_trigger' }],
      handles: {},
    });
    expect((await auditOf(service, workflow.id)).map((entry) => entry.action)).toEqual([
      'workflow.created',
      'workflow.saved',
      'workflow.saved',
      'workflow.version_restored',
      'workflow.version_pinned',
    ]);
  });

  test('restoring is refused if someone has saved since, and can discard my draft', async () => {
    const workflow = await createWorkflow(ada);
    await save(grace, workflow, flowWith('second'), 1);
    const params = { ...pathTo(ada, workflow), version: 1 };
    await ada.call('PUT /orgs/:org/workflows/:id/draft', {
      params: pathTo(ada, workflow),
      body: { flow_data: flowWith('draft'), base_version: 1, revision: 0 },
    });
    const restore = (base_version: number, discards_draft: boolean) =>
      ada.call('POST /orgs/:org/workflows/:id/versions/:version/restore', {
        params,
        body: { base_version, discards_draft },
      });
    expect((await restore(1, true)).json.code).toBe('version_conflict');
    expect((await restore(2, false)).data.has_draft).toBe(true);
    expect((await restore(3, true)).data.has_draft).toBe(false);
  });

  test.each(['0', '-1', '99', '2147483648', 'x'])('404: version %s', async (version) => {
    const workflow = await createWorkflow(ada);
    const answer = await ada.call('GET /orgs/:org/workflows/:id/versions/:version', {
      params: { ...pathTo(ada, workflow), version },
    });
    expect(answer.status).toBe(404);
  });
});
