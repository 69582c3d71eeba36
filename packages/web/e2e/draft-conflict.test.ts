import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { chooseNode, createWorkflow, editorOf, greetingFlow } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

/** Two editors of one organisation with a shared workflow. */
async function openTwo(): Promise<{ ada: TestPerson; grace: TestPerson; path: string; id: number }> {
  const ada = await createPerson(world.service, 'editor');
  const grace = await createPerson(world.service, 'editor', { organisationId: ada.organisationId });
  for (const [{ userId }, name] of [
    [ada, 'Ada'],
    [grace, 'Grace'],
  ] as const) {
    await world.service.database.db.query('UPDATE users SET name = $2 WHERE id = $1', [userId, name]);
  }
  const id = await createWorkflow(ada, 'Greeting', greetingFlow('Hello'));
  return { ada, grace, id, path: `workflows/${id}` };
}

/** Renames the node in this person's draft. */
async function rename(page: Page, label: string): Promise<void> {
  const editor = editorOf(page);
  await editor.node('greet').click();
  await editor.panel.getByRole('textbox', { name: 'Node name' }).fill(label);
  await editor.state.getByText(/^Saved as draft/).waitFor();
}

const save = (page: Page) => editorOf(page).bar.getByRole('button', { name: 'Save', exact: true }).click();

/** The node's label in each version, oldest first. */
async function labelsOf({ organisationId: org, call }: TestPerson, id: number): Promise<string[]> {
  const { data } = await call('GET /orgs/:org/workflows/:id/versions', { params: { org, id } });
  const labels: string[] = [];
  for (const { version } of data.items.toReversed()) {
    const { data: detail } = await call('GET /orgs/:org/workflows/:id/versions/:version', {
      params: { org, id, version },
    });
    const { nodes } = detail.flow_data as unknown as ReturnType<typeof greetingFlow>;
    labels.push(nodes.find((node) => node.id === 'greet')?.data?.label ?? '');
  }
  return labels;
}

test('the second to save sees the differences, can postpone, and overwrites only by decision', async () => {
  const { ada, grace, path, id } = await openTwo();
  const hers = await world.openFor(ada, path);
  const mine = await world.openFor(grace, path);
  await rename(mine.page, 'Greet kindly');
  await rename(hers.page, 'Greet loudly');
  await save(hers.page);
  await editorOf(hers.page).state.getByText('Saved (v2)').waitFor();

  const { page } = mine;
  await save(page);
  const dialog = page.getByRole('dialog', { name: 'Someone else saved this workflow' });
  await dialog.getByText('Ada saved version 2 after you started editing.').waitFor();
  const changes = dialog.getByRole('list', { name: 'Changes' });
  await changes.getByText('Greet loudly → Greet kindly').waitFor();
  await dialog.getByText('JSON', { exact: true }).click();
  await dialog.locator('.cm-changedLine').getByText('Greet loudly').waitFor();
  await dialog.locator('.cm-changedLine').getByText('Greet kindly').waitFor();
  expect(await labelsOf(ada, id)).toEqual(['Greet', 'Greet loudly']);

  // Nothing is decided yet, and closing loses nothing.
  await dialog.getByRole('button', { name: 'Decide later' }).click();
  await editorOf(page).node('greet').getByText('Greet kindly').waitFor();
  await page.reload();
  await editorOf(page).node('greet').getByText('Greet kindly').waitFor();
  await page.getByText('Ada saved version 2 after you opened this workflow.').waitFor();
  await page.getByRole('button', { name: 'Compare' }).click();
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
  await editorOf(page).state.getByText('Saved (v3)').waitFor();
  expect(await labelsOf(ada, id)).toEqual(['Greet', 'Greet loudly', 'Greet kindly']);

  // The other person is notified, and her changes are kept.
  await hers.page.reload();
  await editorOf(hers.page).node('greet').getByText('Greet kindly').waitFor();
  expectNoComplaints(hers);
  expectNoComplaints(mine);
});

test('taking the other version can be undone', async () => {
  const { ada, grace, path, id } = await openTwo();
  const mine = await world.openFor(grace, path);
  const { page } = mine;
  const editor = editorOf(page);
  await rename(page, 'Greet kindly');
  const hers = await world.openFor(ada, path);
  await rename(hers.page, 'Greet loudly');
  await save(hers.page);
  await editorOf(hers.page).state.getByText('Saved (v2)').waitFor();
  await save(page);
  const dialog = page.getByRole('dialog', { name: 'Someone else saved this workflow' });
  await dialog.getByRole('button', { name: 'Use theirs' }).click();
  await editor.node('greet').getByText('Greet loudly').waitFor();
  await expect.poll(() => dialog.count()).toBe(0);
  await editor.bar.getByRole('button', { name: 'Undo' }).click();
  await editor.node('greet').getByText('Greet kindly').waitFor();
  await editor.state.getByText(/^Saved as draft/).waitFor();
  expect(await labelsOf(ada, id)).toEqual(['Greet', 'Greet loudly']);
  expectNoComplaints(mine);
});

test('changes by one side only are merged from both; the rest is chosen', async () => {
  const { ada, grace, path, id } = await openTwo();
  const hers = await world.openFor(ada, path);
  const mine = await world.openFor(grace, path);
  const { page } = mine;
  const editor = editorOf(page);
  const addNode = async (of: Page, search: string) => {
    await editorOf(of).canvas.getByRole('button', { name: 'Add node' }).click();
    await chooseNode(of, search);
  };
  await rename(page, 'Greet kindly');
  await addNode(page, 'delay');
  await editor.node('delay').waitFor();
  await rename(hers.page, 'Greet loudly');
  await addNode(hers.page, 'code');
  await editorOf(hers.page).node('code').waitFor();
  await save(hers.page);
  await editorOf(hers.page).state.getByText('Saved (v2)').waitFor();

  await save(page);
  const dialog = page.getByRole('dialog', { name: 'Someone else saved this workflow' });
  const whose = (title: string) => dialog.getByRole('radiogroup', { name: `Which change to keep: ${title}` });
  const isChosen = (title: string, side: string) =>
    whose(title).getByRole('radio', { name: side }).isChecked();
  await whose('Greet kindly').waitFor();
  await dialog.getByText('changed by Ada · changed by you here').waitFor();
  await dialog.getByText('added by Ada').waitFor();
  expect(await isChosen('Greet kindly', 'Mine')).toBe(true);
  await whose('Greet kindly').getByText('Theirs').click();
  await dialog.getByRole('button', { name: 'Continue with selection' }).click();
  await editor.node('greet').getByText('Greet loudly').waitFor();
  await editor.node('delay').waitFor();
  await editor.node('code').waitFor();
  expect(await labelsOf(ada, id)).toEqual(['Greet', 'Greet loudly']);
  await editor.state.getByText(/^Saved as draft/).waitFor();
  await save(page);
  await editor.state.getByText('Saved (v3)').waitFor();
  const { data } = await ada.call('GET /orgs/:org/workflows/:id', {
    params: { org: ada.organisationId, id },
  });
  const { nodes } = data.flow_data as unknown as ReturnType<typeof greetingFlow>;
  expect(nodes.map((node) => node.id).toSorted()).toEqual(['code', 'delay', 'greet', 'start']);
  expectNoComplaints(mine);
});

test("two windows of one person don't overwrite each other either", async () => {
  const { ada, path } = await openTwo();
  const first = await world.openFor(ada, path);
  const second = await world.openFor(ada, path);
  await editorOf(second.page).node('greet').waitFor();
  await rename(first.page, 'Greet first');
  const editor = editorOf(second.page);
  await editor.node('greet').click();
  await editor.panel.getByRole('textbox', { name: 'Node name' }).fill('Greet second');
  const dialog = second.page.getByRole('dialog', { name: 'Your draft was changed elsewhere' });
  await dialog.getByRole('listitem').getByText('Greet first → Greet second').waitFor();
  await dialog.getByRole('button', { name: 'Use the other draft' }).click();
  await editor.node('greet').getByText('Greet first').waitFor();
  await editor.bar.getByRole('button', { name: 'Undo' }).click();
  await editor.node('greet').getByText('Greet second').waitFor();
  await editor.state.getByText(/^Saved as draft/).waitFor();
  await first.page.reload();
  await editorOf(first.page).node('greet').getByText('Greet second').waitFor();
  expectNoComplaints(first);
  expectNoComplaints(second);
});

test("a window that has not seen the other's draft doesn't discard it by saving", async () => {
  const { ada, path } = await openTwo();
  const first = await world.openFor(ada, path);
  const second = await world.openFor(ada, path);
  const { page } = second;
  const editor = editorOf(page);
  await editor.node('greet').waitFor();
  await rename(first.page, 'Greet first');
  await first.page.close();
  await editor.node('greet').click();
  await editor.panel.getByRole('textbox', { name: 'Node name' }).fill('Greet second');
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog', { name: 'Your draft was changed elsewhere' });
  await dialog.getByRole('button', { name: 'Use the other draft' }).click();
  await editor.node('greet').getByText('Greet first').waitFor();
  expectNoComplaints(second);
});
