import type { Flow } from '@millrace/engine';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPerson, type TestPerson } from '../../server/test/support/admin.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { canvasNode, draftOf, eventually, keptDraft, saveFlow } from './support/canvas.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

const FLOW: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
    {
      id: 'set',
      type: 'core.set',
      position: { x: 260, y: 0 },
      data: { label: 'First', config: { values: {} } },
    },
  ],
  edges: [{ id: 'a', source: 'start', target: 'set' }],
};

async function openFlow(person: TestPerson, id: number) {
  const opened = await world.openFor(person, `workflows/${id}`);
  await canvasNode(opened.page, 'start').waitFor();
  return opened;
}

async function addNode(page: Page, search: string): Promise<void> {
  await page.keyboard.press('/');
  await page.getByRole('dialog', { name: 'Add node' }).waitFor();
  await page.keyboard.type(search);
  await page.keyboard.press('Enter');
}

const ids = (flow: Flow) => flow.nodes.map(({ id }) => id);

describe('drafts', () => {
  test('a change is kept by itself, is only mine, and is there again', async () => {
    const person = await createPerson(world.service, 'editor');
    const other = await createPerson(world.service, 'editor', { organisationId: person.organisationId });
    const id = await saveFlow(person, FLOW);
    const mine = await openFlow(person, id);
    await addNode(mine.page, 'code');
    await keptDraft(mine.page);
    await mine.page.reload();
    await canvasNode(mine.page, 'code').waitFor();
    await mine.page.getByText('Saved as draft').waitFor();
    const theirs = await openFlow(other, id);
    expect(await theirs.page.locator('.react-flow__node').count()).toBe(2);
    await theirs.page.getByText('has changes of this workflow that are not saved yet').waitFor();
    expectNoComplaints(mine);
  });

  test('what was changed in the moment before the page was left is not lost', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await saveFlow(person, FLOW);
    const opened = await openFlow(person, id);
    await addNode(opened.page, 'code');
    await canvasNode(opened.page, 'code').waitFor();
    await opened.page.goto(`${world.url}/docs`);
    await eventually(async () => ids(await draftOf({ person, id }))).toEqual(['start', 'set', 'code']);
  });

  test('what could not be sent at all is in the browser, and is kept when the page is opened again', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await saveFlow(person, FLOW);
    const { page, context } = await openFlow(person, id);
    await context.route('**/draft', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await addNode(page, 'code');
    await page.getByText('Draft not saved').waitFor();
    page.on('dialog', (dialog) => void dialog.accept());
    await page.goto(`${world.url}/docs`);
    await context.unroute('**/draft');
    await page.goto(`${world.url}/o/${person.organisationId}/workflows/${id}`);
    await canvasNode(page, 'code').waitFor();
    await eventually(async () => ids(await draftOf({ person, id }))).toEqual(['start', 'set', 'code']);
  });

  test('two tabs of one person: the later one is asked, nothing is overwritten', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await saveFlow(person, FLOW);
    const [first, second] = [await openFlow(person, id), await openFlow(person, id)];
    await addNode(first.page, 'code');
    await keptDraft(first.page);
    await addNode(second.page, 'delay');
    const dialog = second.page.getByRole('dialog', { name: 'Your draft was changed elsewhere' });
    await dialog.waitFor();
    expect(ids(await draftOf({ person, id }))).toEqual(['start', 'set', 'code']);
    await dialog.getByRole('button', { name: 'Take the other one' }).click();
    await canvasNode(second.page, 'code').waitFor();
    expect(await canvasNode(second.page, 'delay').count()).toBe(0);
  });
});

describe('saving', () => {
  test('somebody else has saved: both are shown, and mine is saved only when I say so', async () => {
    const person = await createPerson(world.service, 'editor');
    const other = await createPerson(world.service, 'editor', { organisationId: person.organisationId });
    const id = await saveFlow(person, FLOW);
    const [mine, theirs] = [await openFlow(person, id), await openFlow(other, id)];
    await addNode(theirs.page, 'delay');
    await theirs.page.keyboard.press('Control+s');
    await theirs.page.getByText('Saved (v2)').waitFor();
    await addNode(mine.page, 'code');
    await canvasNode(mine.page, 'code').waitFor();
    await mine.page.keyboard.press('Control+s');
    const dialog = mine.page.getByRole('dialog', { name: 'Somebody else has saved this workflow' });
    const changes = dialog.getByRole('list', { name: 'What has changed' });
    await changes.getByText('Removed').first().waitFor();
    await changes.getByText('Added').first().waitFor();
    await dialog.getByText('JSON', { exact: true }).click();
    await dialog.locator('.cm-changedLine').first().waitFor();
    const params = { org: person.organisationId, id };
    const before = await person.call('GET /orgs/:org/workflows/:id', { params });
    expect(before.data.version).toBe(2);
    await dialog.getByRole('button', { name: 'Save mine over it' }).click();
    await mine.page.getByText('Saved (v3)').waitFor();
    const after = await person.call('GET /orgs/:org/workflows/:id', { params });
    expect(ids(after.data.flow_data as unknown as Flow)).toEqual(['start', 'set', 'code']);
    expectNoComplaints(mine);
  });

  test('with a message, into a history that shows what changed and goes back', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await saveFlow(person, FLOW);
    const opened = await openFlow(person, id);
    const { page } = opened;
    await addNode(page, 'code');
    await page.getByRole('button', { name: 'Save with a message' }).click();
    await page.getByRole('textbox', { name: 'What has changed?' }).fill('Computes the price');
    await page.keyboard.press('Enter');
    await page.getByText('Saved (v2)').waitFor();
    await page.getByRole('button', { name: 'Version history' }).click();
    const dialog = page.getByRole('dialog', { name: 'Version history' });
    await dialog.getByText('Computes the price').waitFor();
    await dialog.getByRole('list', { name: 'What has changed' }).getByText('Code').first().waitFor();
    await dialog.getByRole('button', { name: 'Pin version 1, so that it is kept' }).click();
    await dialog.getByRole('button', { name: 'Unpin version 1' }).waitFor();
    await dialog.getByRole('button', { name: /^Version 1/ }).click();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page
      .getByRole('dialog', { name: 'Restore version 1?' })
      .getByRole('button', { name: 'Restore' })
      .click();
    await page.getByText('Saved (v3)').waitFor();
    await canvasNode(page, 'code').waitFor({ state: 'detached' });
    const params = { org: person.organisationId, id };
    const { data } = await person.call('GET /orgs/:org/workflows/:id', { params });
    expect(data.flow_data).toEqual(FLOW);
    expect(data.has_draft).toBe(false);
    expectNoComplaints(opened);
  });

  test('changes are discarded when I say so', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await saveFlow(person, FLOW);
    const opened = await openFlow(person, id);
    const { page } = opened;
    await addNode(page, 'code');
    await keptDraft(page);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Discard my changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard my changes' }).click();
    await page.getByText('Saved (v1)').waitFor();
    await canvasNode(page, 'code').waitFor({ state: 'detached' });
    const { data } = await person.call('GET /orgs/:org/workflows/:id/draft', {
      params: { org: person.organisationId, id },
    });
    expect(data.draft).toBeNull();
    expectNoComplaints(opened);
  });

  test('a number that a browser cannot hold comes back as it was', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await saveFlow(person, FLOW);
    const url = `${world.url}/api/admin/orgs/${person.organisationId}/workflows/${id}`;
    const headers = {
      cookie: person.cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    };
    const flow = JSON.stringify({ ...FLOW, settings: { vars: { id: 'BIG' } } }).replace(
      '"BIG"',
      '9007199254740993',
    );
    const made = await fetch(`${url}/versions`, {
      method: 'POST',
      headers,
      body: `{"base_version":1,"flow_data":${flow}}`,
    });
    expect(made.status).toBe(200);
    const opened = await openFlow(person, id);
    await addNode(opened.page, 'code');
    await opened.page.keyboard.press('Control+s');
    await opened.page.getByText('Saved (v3)').waitFor();
    const text = await (await fetch(url, { headers })).text();
    expect(text).toContain('9007199254740993');
    expectNoComplaints(opened);
  });
});
