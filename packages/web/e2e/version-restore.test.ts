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
  await editor.panel.getByRole('textbox', { name: 'Name of the node' }).fill('Shout');
  await editor.bar.getByRole('button', { name: 'Save with a message' }).click();
  await page.getByRole('textbox', { name: 'What has changed?' }).fill('It shouts from now on');
  await page.keyboard.press('Enter');
  await editor.state.getByText('Saved (v2)').waitFor();

  await editor.bar.getByRole('button', { name: 'Version history' }).click();
  const history = page.getByRole('dialog', { name: 'Version history' });
  const version = (number: number) =>
    history.getByRole('listitem').filter({ has: page.getByText(`Version ${number}`, { exact: true }) });
  await version(2).getByText('It shouts from now on').waitFor();
  await version(2).getByText('Test editor').waitFor();
  await version(2).getByText('saved now').waitFor();
  const changes = history.getByRole('list', { name: 'What has changed' });
  await changes.getByText('Shout').waitFor();
  await history.getByText('JSON', { exact: true }).click();
  await history.locator('.cm-changedLine').getByText('Shout').waitFor();
  await version(1).getByRole('button', { name: 'Pin version 1' }).click();
  await version(1).getByRole('button', { name: 'Unpin version 1' }).waitFor();

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

  // The history stays as it was, and tells what the new version is.
  await page.reload();
  await editor.bar.getByRole('button', { name: 'Version history' }).click();
  await version(3).getByText('Restores version 1').waitFor();
  await version(2).getByText('It shouts from now on').waitFor();
  await version(1).getByRole('button', { name: 'Unpin version 1' }).waitFor();
  expectNoComplaints(opened);
});
