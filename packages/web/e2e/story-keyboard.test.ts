import { createAccount, PASSWORD } from '@millrace/testing/accounts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { boxOf } from './support/canvas.ts';
import { chooseNode, editorOf, type KeyboardHand, keyboardOf, templateField } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

test('signing in, building, saving, running, cancelling and rerunning, by keyboard', async () => {
  const person = await createAccount(world.service, 'editor');
  const opened = await world.openPage();
  const { page } = opened;
  const hand = keyboardOf(page);
  const editor = editorOf(page);
  await page.goto(`${world.url}/sign-in`);
  await hand.write(page.getByRole('textbox', { name: 'E-mail address' }), person.email);
  await hand.write(page.getByLabel('Password', { exact: true }), PASSWORD);
  await hand.press('Enter');
  await hand.enter(page.getByRole('button', { name: 'New workflow' }));
  await hand.write(page.getByRole('dialog').getByRole('textbox', { name: 'Name' }), 'Greeting');
  await hand.press('Enter');
  await page.waitForURL(/\/workflows\/\d+$/);

  await buildOnThePicture(page, hand);
  await buildInTheList(page, hand);
  await hand.press('ControlOrMeta+s');
  await editor.state.getByText('Saved (v2)').waitFor();

  // Runs at once, without input as long as there is none.
  await hand.press('ControlOrMeta+Enter');
  const row = (title: string) => editor.list.getByRole('row').filter({ has: page.getByText(title).first() });
  await row('Delay').getByText('Waiting').waitFor();
  await hand.enter(editor.bottom.getByRole('button', { name: 'Cancel' }));
  await row('Delay').getByText('Cancelled').waitFor();
  await hand.write(editor.bottom.getByRole('textbox', { name: 'Input' }), '{"name": "Grace"}');
  await hand.enter(editor.bottom.getByRole('button', { name: 'Run', exact: true }));
  await row('Delay').getByText('Waiting').waitFor();
  await row('Set values').getByText('Succeeded').first().waitFor();
  await hand.enter(editor.bottom.getByRole('button', { name: 'Cancel' }));
  await row('Delay').getByText('Cancelled').waitFor();

  await hand.enter(editor.list.getByRole('button', { name: 'Delay', exact: true }));
  await hand.write(editor.panel.getByRole('textbox', { name: 'Milliseconds' }), '5');
  await hand.press('ControlOrMeta+s');
  await editor.state.getByText('Saved (v3)').waitFor();
  // With the same input again.
  await hand.press('ControlOrMeta+Enter');
  await editor.bottom.getByText('Completed').waitFor();
  const link = editor.bottom.getByRole('link', { name: /^Execution \d+$/ });
  const first = ((await link.textContent()) ?? '').replace(/\D/g, '');
  await hand.enter(link);
  await page.waitForURL(new RegExp(`/executions/${first}$`));

  await hand.enter(page.getByRole('button', { name: 'Rerun' }));
  await hand.choose(page.getByRole('menuitem', { name: /From the start/ }));
  await page.getByRole('link', { name: `#${first}` }).waitFor();
  await page.locator('[data-status="completed"]').waitFor();
  const executions = await world.service.database.db.query<{ status: string; input: string }>(
    'SELECT status, input FROM executions ORDER BY id',
  );
  expect(executions.map(({ status }) => status)).toEqual([
    'cancelled',
    'cancelled',
    'completed',
    'completed',
  ]);
  expect(executions.map((each) => JSON.parse(each.input))).toEqual([{}, ...Array(3).fill({ name: 'Grace' })]);
  expectNoComplaints(opened);
});

/** Adds a node after the trigger, moves it, undoes that, and fills in its form. */
async function buildOnThePicture(page: Page, hand: KeyboardHand): Promise<void> {
  const editor = editorOf(page);
  await hand.enter(editor.canvas.getByRole('button', { name: /^By hand or through the API/ }));
  await hand.enter(editor.node('manual'));
  await hand.press('/');
  await chooseNode(page, 'set values');
  await editor.edge('manual', 'set').waitFor();

  await hand.reach(editor.node('set'), 'Shift+Tab');
  const before = await boxOf(editor.node('set'));
  await hand.press('ArrowDown');
  await expect.poll(async () => (await editor.node('set').boundingBox())?.y).toBeGreaterThan(before.y);
  await hand.press('ControlOrMeta+z');
  await expect.poll(() => editor.node('set').boundingBox()).toEqual(before);
  await hand.press('Delete');
  await expect.poll(() => editor.node('set').count()).toBe(0);
  await hand.press('ControlOrMeta+z');
  await editor.edge('manual', 'set').waitFor();

  await hand.enter(editor.node('set'));
  await hand.enter(editor.panel.getByRole('button', { name: 'Add to Values' }));
  await hand.write(editor.panel.getByRole('textbox', { name: 'Name in Values' }), 'text');
  await hand.press('Tab');
  await hand.write(templateField(editor.panel, 'Value of text'), 'Hello {{trigger.data.name}}');
}

/** Adds a node that waits for an hour, connected to the previous one. */
async function buildInTheList(page: Page, hand: KeyboardHand): Promise<void> {
  const editor = editorOf(page);
  await hand.enter(editor.canvas.getByRole('button', { name: 'Show as a list' }));
  await hand.enter(editor.canvas.getByRole('button', { name: 'Add node' }));
  await chooseNode(page, 'delay');
  // It was added after the selected node; disconnect it and reconnect it by name.
  await hand.enter(editor.list.getByRole('button', { name: 'Remove the connection to Delay' }));
  await hand.enter(editor.list.getByRole('button', { name: 'Actions for Set values' }));
  await hand.choose(page.getByRole('menuitem', { name: 'Connect to…' }));
  await hand.write(page.getByRole('combobox', { name: 'To' }), 'delay');
  await page.getByRole('option', { name: /\(delay\)$/ }).waitFor();
  await hand.press('ArrowDown', 'Enter');
  await hand.enter(page.getByRole('dialog').getByRole('button', { name: 'Connect' }));
  await editor.list.getByRole('button', { name: 'Remove the connection to Delay' }).waitFor();
  await hand.write(editor.panel.getByRole('textbox', { name: 'Milliseconds' }), '3600000');
}
