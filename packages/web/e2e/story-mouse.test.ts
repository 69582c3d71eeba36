import { makeSetupToken } from '@millrace/identity/setup/setup';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { editorOf, type MouseHand, mouseOf, templateField } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

const PASSWORD = 'difference engine';

test('from the setup link to a workflow built, saved, run, cancelled and rerun, by mouse', async () => {
  const opened = await world.openPage();
  const { page } = opened;
  const hand = mouseOf(page);
  await setUpAndSignIn(page, hand);

  await hand.click(page.getByRole('button', { name: 'New workflow' }));
  const dialog = page.getByRole('dialog', { name: 'New workflow' });
  await hand.write(dialog.getByRole('textbox', { name: 'Name' }), 'Greeting');
  await hand.click(dialog.getByRole('button', { name: 'Create' }));
  await page.waitForURL(/\/workflows\/\d+$/);

  await build(page, hand);
  const editor = editorOf(page);
  await hand.click(editor.bar.getByRole('button', { name: 'Save', exact: true }));
  await editor.state.getByText('Saved (v2)').waitFor();

  // It waits for an hour: its progress shows while it runs.
  await hand.click(editor.bottom.getByRole('tab', { name: 'Run', exact: true }));
  await hand.write(editor.bottom.getByRole('textbox', { name: 'Input' }), '{"name": "Ada"}');
  await hand.click(editor.bottom.getByRole('button', { name: 'Run', exact: true }));
  await editor.node('delay').getByText('Waiting').waitFor();
  await editor.node('set').getByText('Succeeded').waitFor();
  const results = editor.bottom.getByRole('table', { name: 'Node results' });
  await hand.click(results.getByRole('button', { name: 'Set values' }));
  await editor.bottom.getByText('"Hello Ada"').waitFor();
  await hand.click(editor.bottom.getByRole('button', { name: 'Cancel' }));
  await editor.bottom.getByText('Cancelled').first().waitFor();
  await editor.node('delay').getByText('Cancelled').waitFor();

  // From now on it waits only briefly.
  await hand.click(editor.node('delay'));
  await hand.write(editor.panel.getByRole('textbox', { name: 'Milliseconds' }), '5');
  await hand.click(editor.bar.getByRole('button', { name: 'Save', exact: true }));
  await editor.state.getByText('Saved (v3)').waitFor();
  // With the same input again.
  await hand.click(editor.bar.getByRole('button', { name: 'Run', exact: true }));
  await editor.bottom.getByText('Completed').waitFor();

  const link = editor.bottom.getByRole('link', { name: /^Execution \d+$/ });
  const first = ((await link.textContent()) ?? '').replace(/\D/g, '');
  await hand.click(link);
  await page.waitForURL(new RegExp(`/executions/${first}$`));
  await page.locator('[data-status="completed"]').waitFor();
  await hand.click(page.getByRole('button', { name: 'Rerun' }));
  await hand.click(page.getByRole('menuitem', { name: /From the start/ }));
  await expect.poll(() => page.url()).not.toMatch(new RegExp(`/executions/${first}$`));
  await page.getByRole('link', { name: `#${first}` }).waitFor();
  await page.locator('[data-status="completed"]').waitFor();
  const executions = await world.service.database.db.query<{ status: string; input: string }>(
    'SELECT status, input FROM executions ORDER BY id',
  );
  expect(executions.map(({ status }) => status)).toEqual(['cancelled', 'completed', 'completed']);
  expect(executions.map(({ input }) => JSON.parse(input))).toEqual(Array(3).fill({ name: 'Ada' }));
  expectNoComplaints(opened);
});

/** Creates the first account with the link from the log, signs out, and signs in with the password. */
async function setUpAndSignIn(page: Page, hand: MouseHand): Promise<void> {
  const token = (await makeSetupToken(world.service.database.db)) ?? '';
  await page.goto(`${world.url}/setup#token=${token}`);
  await hand.write(page.getByRole('textbox', { name: 'Your name' }), 'Ada Lovelace');
  await hand.write(page.getByRole('textbox', { name: 'E-mail address' }), 'ada@example.com');
  await hand.write(page.getByLabel('New password'), PASSWORD);
  await hand.click(page.getByRole('button', { name: 'Create account' }));
  await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
  await hand.click(page.getByRole('button', { name: /^Account menu/ }));
  await hand.click(page.getByRole('menuitem', { name: 'Sign out' }));
  await hand.write(page.getByRole('textbox', { name: 'E-mail address' }), 'ada@example.com');
  await hand.write(page.getByLabel('Password', { exact: true }), PASSWORD);
  await hand.click(page.getByRole('button', { name: 'Sign in', exact: true }));
  await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
}

/** A greeting, then a delay of one hour. */
async function build(page: Page, hand: MouseHand): Promise<void> {
  const editor = editorOf(page);
  await hand.click(editor.canvas.getByRole('button', { name: /^By hand or through the API/ }));
  await editor.node('manual').waitFor();
  await hand.click(editor.panel.getByRole('button', { name: 'Close panel' }));
  for (const [title, id, at] of [
    ['Set values', 'set', { x: 700, y: 140 }],
    ['Delay', 'delay', { x: 700, y: 280 }],
  ] as const) {
    await hand.click(editor.canvas.getByRole('button', { name: 'Add node' }));
    const palette = page.getByRole('dialog', { name: 'Add node' });
    await hand.write(palette.getByRole('combobox'), title);
    await hand.dragOnto(
      palette.getByRole('option', { name: new RegExp(`^${title}\\b`) }).first(),
      editor.canvas,
      at,
    );
    await editor.node(id).waitFor();
    await expect.poll(() => palette.count()).toBe(0);
  }
  await hand.drag(editor.source('manual'), editor.target('set'));
  await editor.edge('manual', 'set').waitFor();
  await hand.drag(editor.source('set'), editor.node('delay'));
  await editor.edge('set', 'delay').waitFor();

  await hand.click(editor.node('set'));
  await hand.click(editor.panel.getByRole('button', { name: 'Add to Values' }));
  await hand.write(editor.panel.getByRole('textbox', { name: 'Name in Values' }), 'text');
  await hand.write(templateField(editor.panel, 'Value of field_1'), 'Hello {{trigger.data.name}}');
  await templateField(editor.panel, 'Value of text').waitFor();
  await hand.click(editor.node('delay'));
  await hand.write(editor.panel.getByRole('textbox', { name: 'Milliseconds' }), '3600000');
  await hand.click(editor.panel.getByRole('button', { name: 'Close panel' }));
  await editor.state.getByText(/^Saved as draft/).waitFor();
}
