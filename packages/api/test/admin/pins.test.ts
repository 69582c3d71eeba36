import type { WorkflowDetail } from '@millrace/admin-api';
import type { JsonObject } from '@millrace/engine';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorkflow, flowWith, pathTo, startWithEditors } from './workflows-world.ts';

let service: TestService;
let ada: TestPerson;
let grace: TestPerson;
beforeAll(async () => {
  ({ service, ada, grace } = await startWithEditors());
});
afterAll(() => service.stop());

function pin(person: TestPerson, workflow: WorkflowDetail, node_id: string, output: JsonObject | null) {
  return person.call('PUT /orgs/:org/workflows/:id/pins', {
    params: pathTo(person, workflow),
    body: { node_id, output },
  });
}

async function pinsOf(person: TestPerson, workflow: WorkflowDetail) {
  const { data } = await person.call('GET /orgs/:org/workflows/:id/pins', {
    params: pathTo(person, workflow),
  });
  return Object.fromEntries(data.items.map(({ node_id: id, output }) => [id, output]));
}

test('pins are kept by node for the person who pinned, changed, and removed', async () => {
  const workflow = await createWorkflow(ada);
  await pin(ada, workflow, 'set', { said: 'first' });
  await pin(ada, workflow, 'set', { said: '{{trigger.data}}', exact: [1, null] });
  await pin(ada, workflow, 'a/b?', {});
  await pin(grace, workflow, 'set', { said: 'hers' });
  expect(await pinsOf(ada, workflow)).toEqual({
    set: { said: '{{trigger.data}}', exact: [1, null] },
    'a/b?': {},
  });
  expect(await pinsOf(grace, workflow)).toEqual({ set: { said: 'hers' } });
  expect((await pin(ada, workflow, 'set', null)).status).toBe(204);
  expect((await pin(ada, workflow, 'nothing', null)).status).toBe(204);
  expect(await pinsOf(ada, workflow)).toEqual({ 'a/b?': {} });
});

test("they outlive the draft, and the public API doesn't know them", async () => {
  const workflow = await createWorkflow(ada);
  await pin(ada, workflow, 'set', { said: 'canary-of-a-pin' });
  const saved = await ada.call('POST /orgs/:org/workflows/:id/versions', {
    params: pathTo(ada, workflow),
    body: { flow_data: flowWith('second'), base_version: 1 },
  });
  expect(saved.status).toBe(200);
  expect(await pinsOf(ada, workflow)).toEqual({ set: { said: 'canary-of-a-pin' } });
  const key = await service.createKey({ organisationId: ada.organisationId });
  for (const path of ['', '/versions', '/versions/2']) {
    const { status, text } = await service.api('GET', `/workflows/${workflow.id}${path}`, { key });
    expect([status, text.includes('canary-of-a-pin')]).toEqual([200, false]);
  }
});

test('their size and number are limited', async () => {
  const workflow = await createWorkflow(ada);
  const fits = { text: 'x'.repeat(262_144 - '{"text":""}'.length) };
  expect((await pin(ada, workflow, 'large', fits)).status).toBe(204);
  const refused = await pin(ada, workflow, 'larger', { text: `${fits.text}x` });
  expect([refused.status, refused.json.errors.map(({ pointer }) => pointer)]).toEqual([422, ['/output']]);
  for (let index = 0; index < 100; index += 1) await pin(ada, workflow, `n${index}`, {});
  const names = Object.keys(await pinsOf(ada, workflow));
  expect([names.length, names.includes('large'), names.includes('n99')]).toEqual([100, false, true]);
});

test.each([
  ['an empty id', { node_id: '', output: {} }],
  ['U+0000 in the id', { node_id: 'a\u0000b', output: {} }],
  ['a list', { node_id: 'set', output: [] }],
])('422: %s', async (_what, body) => {
  const workflow = await createWorkflow(ada);
  const { status } = await ada.call('PUT /orgs/:org/workflows/:id/pins', {
    params: pathTo(ada, workflow),
    body: body as never,
  });
  expect(status).toBe(422);
});

test('403 for viewers, 404 for another organisation', async () => {
  const workflow = await createWorkflow(ada);
  const viewer = await createPerson(service, 'viewer', { organisationId: ada.organisationId });
  const refused = await pin(viewer, workflow, 'set', {});
  expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_role']);
  const stranger = await createPerson(service, 'editor');
  expect((await pin(stranger, workflow, 'set', {})).status).toBe(404);
  expect(
    (await stranger.call('GET /orgs/:org/workflows/:id/pins', { params: pathTo(stranger, workflow) })).status,
  ).toBe(404);
});
