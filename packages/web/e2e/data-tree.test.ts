import type { JsonObject } from '@millrace/engine';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { createWorkflow, editorOf, templateField } from './support/editor.ts';
import { focused } from './support/focused.ts';

/** Data dragged onto fields that hold no text. */
let world: BrowserService;
let person: TestPerson;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());
beforeEach(async () => {
  person = await createPerson(world.service, 'editor');
});

const node = (id: string, type: string, x: number, config: JsonObject) => ({
  ...{ id, type, position: { x, y: 0 } },
  data: { label: `The ${id}`, config },
});

/** Opens the last node of start -> call -> it. */
async function openAfterCall(type: string, config: JsonObject) {
  const nodes = [
    node('start', 'trigger.manual', 0, {}),
    node('call', 'http.request', 260, { method: 'GET', url: 'https://api.example.com' }),
    node('last', type, 520, config),
  ];
  const edges = [
    { id: 'a', source: 'start', target: 'call' },
    { id: 'b', source: 'call', target: 'last' },
  ];
  const id = await createWorkflow(person, 'Dropping', { nodes, edges });
  // Data and fields are in sight: nothing is scrolled while something is dragged.
  const opened = await world.openFor(person, `workflows/${id}`, { height: 1800 });
  const { panel } = editorOf(opened.page);
  await opened.page.getByText('The last', { exact: true }).first().click();
  const setting = async (name: string) => {
    const params = { org: person.organisationId, id };
    const { data } = await person.call('GET /orgs/:org/workflows/:id/draft', { params });
    const kept = data.draft?.flow_data.nodes as unknown as readonly { id: string; data: JsonObject }[];
    return (kept?.find((each) => each.id === 'last')?.data.config as JsonObject | undefined)?.[name];
  };
  const leaf = (name: string) => panel.getByTitle(`Insert nodes.call.output.${name}`, { exact: true });
  return { opened, panel, leaf, setting };
}

test('a switch becomes a template when data is dropped on it, and a switch again', async () => {
  const { opened, panel, leaf, setting } = await openAfterCall('sql.query', { read_only: false });
  const isOn = panel.getByRole('switch', { name: 'Read-only' });
  await leaf('status').dragTo(isOn);
  await expect.poll(() => setting('read_only')).toBe('{{nodes.call.output.status}}');
  const template = templateField(panel, 'Read-only, as a template');
  await expect.poll(() => template.textContent()).toBe('{{nodes.call.output.status}}');
  await panel.getByRole('button', { name: 'Template for Read-only' }).click();
  await isOn.waitFor();
  // What it was before, not what a template would be as a switch.
  expect(await isOn.isChecked()).toBe(false);
  await expect.poll(() => setting('read_only')).toBe(false);
  expectNoComplaints(opened);
});

test.each([
  ['empty', null],
  ['filled in', '2026-11-20T09:30:00Z'],
])('a point in time that is %s becomes a template when data is dropped on it', async (_what, until) => {
  const { opened, panel, leaf, setting } = await openAfterCall('core.delay', until === null ? {} : { until });
  await leaf('body_type').dragTo(panel.getByLabel('Until', { exact: true }));
  await expect.poll(() => setting('until')).toBe('{{nodes.call.output.body_type}}');
  // What is typed or inserted next goes into the template.
  const template = templateField(panel, 'Until, as a template');
  await expect.poll(() => template.textContent()).toBe('{{nodes.call.output.body_type}}');
  await focused(template);
  await opened.page.keyboard.type('!');
  await expect.poll(() => setting('until')).toBe('{{nodes.call.output.body_type}}!');
  expectNoComplaints(opened);
});
