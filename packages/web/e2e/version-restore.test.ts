import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { createWorkflow, editorOf, greetingFlow } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

test('a version is saved with a message, compared, pinned and restored as the latest', async () => {
  const opened = await world.openAs('editor', 'workflows');
  const { page, person } = opened;
  const { organisationId } = person;
  const editor = editorOf(page);
  const id = await createWorkflow(person, 'Greeting', greetingFlow('Hello'));
  await page.goto(`${world.url}/o/${organisationId}/workflows/${id}`);
  await editor.node('greet').click();
  await editor.panel.getByRole('textbox', { name: 'Node name' }).fill('Shout');
  await editor.bar.getByRole('button', { name: 'Save with a message' }).click();
  await page.getByRole('textbox', { name: 'What changed?' }).fill('It shouts from now on');
  await page.keyboard.press('Enter');
  await editor.state.getByText('Saved (v2)').waitFor();

  await editor.bar.getByRole('link', { name: /Version history$/ }).click();
  const history = page.getByRole('region', { name: 'Version history' });
  const all = history.getByRole('list', { name: 'All versions' });
  const pinned = history.getByRole('list', { name: /^Pinned/ });
  const version = (number: number) =>
    all.getByRole('listitem').filter({ has: page.getByText(`Version ${number}`, { exact: true }) });
  await version(2).getByText('It shouts from now on').waitFor();
  await version(2).getByText('Test editor').waitFor();
  await version(2).getByText('current').waitFor();
  const changes = history.getByRole('list', { name: 'Changes' });
  await changes.getByText('Node name: Greet → Shout').waitFor();
  await history.getByText('JSON', { exact: true }).click();
  await history.locator('.cm-changedLine').getByText('Shout').waitFor();
  await version(1)
    .getByRole('button', { name: /^Pin version 1\b/ })
    .click();
  await pinned.getByRole('button', { name: /^Unpin version 1\b/ }).waitFor();

  await version(1)
    .getByRole('button', { name: /^Version 1/ })
    .click();
  await history.getByRole('button', { name: 'Restore' }).click();
  const question = page.getByRole('dialog', { name: 'Restore version 1?' });
  await question.getByRole('button', { name: 'Restore' }).click();
  await editor.state.getByText('Saved (v3)').waitFor();
  await editor.node('greet').getByText('Greet', { exact: true }).waitFor();

  const key = await world.service.createKey({ organisationId });
  const { json } = await world.service.api('GET', `/workflows/${id}`, { key });
  expect([json.version, json.flow_data]).toEqual([3, greetingFlow('Hello')]);

  // The history is unchanged, and describes the new version.
  await page.reload();
  await editor.bar.getByRole('link', { name: /Version history$/ }).click();
  await version(3).getByText('Restores version 1').waitFor();
  await version(2).getByText('It shouts from now on').waitFor();
  await version(1)
    .getByRole('button', { name: /^Unpin version 1\b/ })
    .waitFor();
  expectNoComplaints(opened);
});

test('a version has its own address: it is viewed there, compared, and restored', async () => {
  const opened = await world.openAs('editor', 'workflows');
  const { page, person } = opened;
  const { organisationId: org, call } = person;
  const editor = editorOf(page);
  const id = await createWorkflow(person, 'Greeting', greetingFlow('Hello'));
  const params = { org, id };
  await call('POST /orgs/:org/workflows/:id/versions', {
    params,
    body: { flow_data: greetingFlow('Goodbye') as never, base_version: 1, message: 'It is late' },
  });
  const at = (version: number) => `${world.url}/o/${org}/workflows/${id}?version=${version}`;

  // Read-only, with all of its content.
  await page.goto(at(1));
  await page.getByText("You're viewing version 1, saved by Test editor.").waitFor();
  await editor.node('greet').click();
  await editor.panel.getByText('Hello').waitFor();
  expect(await editor.panel.getByRole('textbox', { name: 'Node name' }).isEditable()).toBe(false);
  for (const name of ['Save', 'Run', 'Add node']) {
    expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
  }
  await editor.bar.getByRole('button', { name: 'Compare with version 2' }).click();
  const changes = page.getByRole('dialog').getByRole('list', { name: 'Changes' });
  await changes.getByText('Hello → Goodbye').waitFor();
  await page.keyboard.press('Escape');

  // The saved version opens in the editor, unless there is a draft.
  await page.goto(at(2));
  await editor.bar.getByRole('button', { name: 'Save', exact: true }).waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe('');
  await editor.node('greet').click();
  await editor.panel.getByRole('textbox', { name: 'Node name' }).fill('Draft of it');
  await editor.state.getByText(/^Saved as draft/).waitFor();
  await page.goto(at(2));
  await page.getByText('This is the saved version 2, without the changes in your draft.').waitFor();
  await editor.node('greet').getByText('Greet', { exact: true }).waitFor();
  await editor.bar.getByRole('link', { name: 'Go to my draft' }).click();
  await editor.node('greet').getByText('Draft of it').waitFor();

  // Opened and restored from the history: the draft is replaced, as announced.
  await editor.bar.getByRole('link', { name: /Version history$/ }).click();
  await page.getByRole('button', { name: /^Version 1/ }).click();
  await page.getByRole('link', { name: 'View version 1' }).click();
  await page.waitForURL(/version=1$/);
  await editor.bar.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await editor.state.getByText('Saved (v3)').waitFor();
  await editor.node('greet').getByText('Greet', { exact: true }).waitFor();
  const { data } = await call('GET /orgs/:org/workflows/:id', { params });
  expect([data.version, data.flow_data, data.has_draft]).toEqual([3, greetingFlow('Hello'), false]);

  await page.goto(at(99));
  await page.getByRole('heading', { name: "Version 99 doesn't exist" }).waitFor();
  expectNoComplaints(opened);
});
