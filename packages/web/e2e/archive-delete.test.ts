import { createPerson } from '@millrace/testing/admin';
import type { TestKey } from '@millrace/testing/service';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { createWorkflow, editorOf, greetingFlow } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

const NAME = 'Greeting & more';

async function act(page: Page, action: string): Promise<void> {
  await page.getByRole('button', { name: `More for ${NAME}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

/** The public API's responses for the workflow and for starting it. */
async function statusesOf(key: TestKey, id: number): Promise<readonly (number | string)[]> {
  const read = await world.service.api('GET', `/workflows/${id}`, { key });
  const start = await world.service.api('POST', `/workflows/${id}/execute`, { key, body: {} });
  return [read.status, read.json.code ?? read.json.status, start.status, start.json.code ?? 'started'];
}

test('an archived workflow is kept; it can be restored, or deleted permanently with everything it had', async () => {
  const opened = await world.openAs('org_admin', 'workflows');
  const { page, person } = opened;
  const { organisationId: org } = person;
  const id = await createWorkflow(person, NAME, greetingFlow('Hello'));
  const key = await world.service.createKey({ organisationId: org });
  const list = `${world.url}/o/${org}/workflows`;
  await page.goto(list);
  await act(page, 'Archive');
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
  await page.getByText(`${NAME} was archived.`).waitFor();
  expect(await statusesOf(key, id)).toEqual([200, 'archived', 409, 'workflow_archived']);

  // Still readable by its address, but not editable or runnable.
  await page.goto(`${list}/${id}`);
  await page.getByText('This workflow is archived').waitFor();
  const editor = editorOf(page);
  await editor.node('greet').waitFor();
  for (const name of ['Save', 'Run', 'Add node']) {
    expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
  }
  await page.goto(`${list}?status=archived`);
  await act(page, 'Restore');
  await page.getByText(`${NAME} was restored. It's inactive.`).waitFor();
  expect(await statusesOf(key, id)).toEqual([200, 'inactive', 409, 'workflow_inactive']);

  await page.goto(`${list}/${id}`);
  await editor.bar.getByRole('button', { name: 'Status: Inactive. Change it' }).click();
  await page.getByRole('menuitem', { name: 'Activate' }).click();
  await editor.bar.getByRole('button', { name: 'Status: Active. Change it' }).waitFor();
  expect(await statusesOf(key, id)).toEqual([200, 'active', 202, 'started']);
  await expect
    .poll(() => world.service.database.db.query("SELECT id FROM executions WHERE status <> 'completed'"), {
      timeout: 120_000,
    })
    .toEqual([]);

  await page.goto(list);
  await act(page, 'Archive');
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
  await page.getByText(`${NAME} was archived.`).waitFor();
  await page.goto(`${list}?status=archived`);
  await act(page, 'Delete permanently');
  const dialog = page.getByRole('dialog', { name: `Delete ${NAME} permanently?` });
  const last = dialog.getByRole('button', { name: 'Delete permanently' });
  await dialog.getByRole('textbox').fill('Greeting');
  expect(await last.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill(NAME);
  await last.click();
  await page.getByText(`${NAME} was deleted.`).waitFor();
  await page.getByRole('heading', { name: 'No matching workflows' }).waitFor();
  expect(await statusesOf(key, id)).toEqual([404, 'not_found', 404, 'not_found']);
  await page.goto(`${world.url}/o/${org}/executions`);
  await page.getByRole('heading', { name: 'No executions yet' }).waitFor();
  await page.goto(`${list}/${id}`);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  expectNoComplaints(opened);
});

test("an editor archives and restores, and can't delete", async () => {
  const editor = await createPerson(world.service, 'editor');
  await createWorkflow(editor, NAME, greetingFlow('Hello'));
  const opened = await world.openFor(editor, 'workflows');
  const { page } = opened;
  await act(page, 'Archive');
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
  await page.getByText(`${NAME} was archived.`).waitFor();
  await page.goto(`${world.url}/o/${editor.organisationId}/workflows?status=archived`);
  await page.getByRole('button', { name: `More for ${NAME}` }).click();
  await page.getByRole('menuitem', { name: 'Restore' }).waitFor();
  expect(await page.getByRole('menuitem', { name: 'Delete permanently' }).count()).toBe(0);
  expectNoComplaints(opened);
});
