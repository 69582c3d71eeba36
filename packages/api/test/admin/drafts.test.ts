import type { Draft, WorkflowDetail } from '@millrace/admin-api';
import type { JsonObject } from '@millrace/engine';
import type { TestPerson } from '@millrace/testing/admin';
import { WEBHOOK_FLOW } from '@millrace/testing/flows';
import type { TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkflow, flowWith, pathTo, startWithEditors } from './workflows-world.ts';

let service: TestService;
let ada: TestPerson;
let grace: TestPerson;
beforeAll(async () => {
  ({ service, ada, grace } = await startWithEditors());
});
afterAll(() => service.stop());

function put(person: TestPerson, workflow: WorkflowDetail, flow: JsonObject, revision: number, base = 1) {
  return person.call('PUT /orgs/:org/workflows/:id/draft', {
    params: pathTo(person, workflow),
    body: { flow_data: flow, base_version: base, revision },
  });
}

async function draftOf(person: TestPerson, workflow: WorkflowDetail): Promise<Draft | null> {
  const { data } = await person.call('GET /orgs/:org/workflows/:id/draft', {
    params: pathTo(person, workflow),
  });
  return data.draft;
}

/** The current draft reported by a conflict. */
function presentIn(json: unknown): Draft | null {
  return (json as { draft: Draft | null }).draft;
}

test('a draft is kept as sent, with its problems; each change raises its revision', async () => {
  const workflow = await createWorkflow(ada);
  expect(await draftOf(ada, workflow)).toBeNull();
  const first = await put(ada, workflow, flowWith('draft'), 0);
  expect([first.status, first.data.problems]).toEqual([200, []]);
  expect(first.data.handles).toEqual({ start: ['out'], set: ['out'] });
  const second = await put(ada, workflow, { nodes: [], edges: [], note: '\u00e9' }, first.data.revision);
  expect(second.data.revision).toBeGreaterThan(first.data.revision);
  expect(await draftOf(ada, workflow)).toMatchObject({
    flow_data: { nodes: [], edges: [], note: '\u00e9' },
    base_version: 1,
    revision: second.data.revision,
    problems: [{ code: 'no_trigger' }],
  });
  expect(
    (await ada.call('DELETE /orgs/:org/workflows/:id/draft', { params: pathTo(ada, workflow) })).status,
  ).toBe(204);
  expect(await draftOf(ada, workflow)).toBeNull();
});

test('even a broken structure is kept', async () => {
  const workflow = await createWorkflow(ada);
  const broken = {
    nodes: [
      { id: 'a', type: 'core.set' },
      { id: 'a', type: 'core.set' },
    ],
    edges: [],
  };
  const { status, data } = await put(ada, workflow, broken, 0);
  expect([status, data.structure_errors[0]?.code]).toEqual([200, 'duplicate_id']);
  expect((await draftOf(ada, workflow))?.flow_data).toEqual(broken);
});

test('drafts of two people are separate, and each learns of the other', async () => {
  const workflow = await createWorkflow(ada);
  const [mine, theirs] = await Promise.all([
    put(ada, workflow, flowWith('of ada'), 0),
    put(grace, workflow, flowWith('of grace'), 0),
  ]);
  expect([mine.status, theirs.status]).toEqual([200, 200]);
  expect((await draftOf(ada, workflow))?.flow_data).toEqual(flowWith('of ada'));
  expect((await draftOf(grace, workflow))?.flow_data).toEqual(flowWith('of grace'));
  const read = await ada.call('GET /orgs/:org/workflows/:id', { params: pathTo(ada, workflow) });
  expect([read.data.has_draft, read.data.other_drafts.map((draft) => draft.name)]).toEqual([
    true,
    ['Test editor'],
  ]);
  await grace.call('DELETE /orgs/:org/workflows/:id/draft', { params: pathTo(grace, workflow) });
  expect((await draftOf(ada, workflow))?.flow_data).toEqual(flowWith('of ada'));
});

describe('409 draft_conflict', () => {
  test('of concurrent changes to one revision, one is kept', async () => {
    const workflow = await createWorkflow(ada);
    const { data } = await put(ada, workflow, flowWith('0'), 0);
    const answers = await Promise.all(
      ['1', '2', '3', '4'].map((text) => put(ada, workflow, flowWith(text), data.revision)),
    );
    const kept = answers.filter((answer) => answer.status === 200);
    const refused = answers.filter((answer) => answer.status === 409);
    expect([kept.length, refused.length]).toEqual([1, 3]);
    for (const { json } of refused) {
      expect(json.code).toBe('draft_conflict');
      expect(presentIn(json)?.revision).toBe(kept[0]?.data.revision);
    }
    expect((await draftOf(ada, workflow))?.revision).toBe(kept[0]?.data.revision);
  });

  test('when two tabs start a draft, one is kept and the other gets a conflict', async () => {
    const workflow = await createWorkflow(ada);
    const answers = await Promise.all([
      put(ada, workflow, flowWith('1'), 0),
      put(ada, workflow, flowWith('2'), 0),
    ]);
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200, 409]));
  });

  test('a new draft is not mistaken for the previous one', async () => {
    const workflow = await createWorkflow(ada);
    const { data: old } = await put(ada, workflow, flowWith('old'), 0);
    await ada.call('DELETE /orgs/:org/workflows/:id/draft', { params: pathTo(ada, workflow) });
    const gone = await put(ada, workflow, flowWith('late'), old.revision);
    expect([gone.status, presentIn(gone.json)]).toEqual([409, null]);
    await put(ada, workflow, flowWith('new'), 0);
    const late = await put(ada, workflow, flowWith('late'), old.revision);
    expect([late.status, presentIn(late.json)?.flow_data]).toEqual([409, flowWith('new')]);
  });

  test("saving from a tab that hasn't seen the draft doesn't discard it", async () => {
    const workflow = await createWorkflow(ada);
    const { data: draft } = await put(ada, workflow, flowWith('elsewhere'), 0);
    const save = (revision: number) =>
      ada.call('POST /orgs/:org/workflows/:id/versions', {
        params: pathTo(ada, workflow),
        body: { flow_data: flowWith('here'), base_version: 1, draft_revision: revision },
      });
    const early = await save(0);
    expect([early.status, early.json.code]).toEqual([409, 'draft_conflict']);
    expect(presentIn(early.json)?.flow_data).toEqual(flowWith('elsewhere'));
    expect((await draftOf(ada, workflow))?.revision).toBe(draft.revision);
    expect((await save(draft.revision)).data.version).toBe(2);
    expect(await draftOf(ada, workflow)).toBeNull();
  });
});

test('409 for an archived workflow, 422 for a base that was never saved', async () => {
  const workflow = await createWorkflow(ada);
  const future = await put(ada, workflow, flowWith('x'), 0, 2);
  expect([future.status, future.json.errors[0]?.pointer]).toEqual([422, '/base_version']);
  await ada.call('POST /orgs/:org/workflows/:id/archive', { params: pathTo(ada, workflow) });
  expect((await put(ada, workflow, flowWith('x'), 0)).json.code).toBe('workflow_archived');
});

test('neither the public API nor a start ever sees a draft', async () => {
  const key = await service.createKey({ organisationId: ada.organisationId });
  const workflow = await createWorkflow(ada);
  await put(ada, workflow, flowWith('secret draft'), 0);
  const answers = [
    await service.api('GET', `/workflows/${workflow.id}`, { key }),
    await service.api('GET', `/workflows/${workflow.id}/versions`, { key }),
    await service.api('GET', '/workflows', { key }),
    await service.api('POST', `/workflows/${workflow.id}/execute`, { key, body: {} }),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 202]);
  for (const { text } of answers) expect(text).not.toContain('secret draft');
  const rows = await service.database.db.query(
    'SELECT workflow_version FROM executions WHERE workflow_id = $1',
    [workflow.id],
  );
  expect(rows).toEqual([{ workflow_version: 1 }]);
});

test("no trigger runs a draft, and a trigger that only a draft has doesn't exist", async () => {
  const hooked = await createWorkflow(ada, WEBHOOK_FLOW);
  const { data: hook } = await ada.call('GET /orgs/:org/workflows/:id/webhook', {
    params: pathTo(ada, hooked),
  });
  const fires = {
    nodes: [
      {
        id: 'start',
        type: 'trigger.schedule',
        data: { config: { schedule: { type: 'cron', cron: '* * * * *' }, timezone: 'UTC' } },
      },
    ],
    edges: [],
  };
  await put(ada, hooked, fires, 0);
  const manual = await createWorkflow(ada);
  const { data: none } = await ada.call('GET /orgs/:org/workflows/:id/webhook', {
    params: pathTo(ada, manual),
  });
  await put(ada, manual, WEBHOOK_FLOW, 0);
  const call = (hash: string) => service.api('POST', `/webhooks/${hash}`, { body: {} });
  expect([(await call(hook.hash)).status, (await call(none.hash)).status]).toEqual([202, 404]);
  const { db } = service.database;
  expect(
    await db.query('SELECT workflow_version FROM executions WHERE workflow_id = $1', [hooked.id]),
  ).toEqual([{ workflow_version: 1 }]);
  expect(await db.query('SELECT * FROM schedules WHERE workflow_id = $1', [hooked.id])).toEqual([]);
});
