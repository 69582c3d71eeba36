import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

const FLOW = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    {
      id: 'greet',
      type: 'core.set',
      position: { x: 280, y: 0 },
      data: { config: { values: { text: 'Hello {{trigger.data.name}}' } } },
    },
  ],
  edges: [{ id: 'e', source: 'start', target: 'greet' }],
};

describe('the list of workflows', () => {
  test('nothing yet: a viewer is told what a workflow is, an editor is led to the templates', async () => {
    const viewer = await world.openAs('viewer', 'workflows');
    await viewer.page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
    expect(await viewer.page.getByRole('button', { name: 'New workflow' }).count()).toBe(0);
    expect(await viewer.page.getByRole('link', { name: 'Begin with a template' }).count()).toBe(0);
    const editor = await world.openAs('editor', 'workflows');
    await editor.page.getByRole('link', { name: 'Begin with a template' }).click();
    await editor.page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    expectNoComplaints(viewer);
    expectNoComplaints(editor);
  });

  test('imported, run, duplicated, archived, restored and deleted for good', async () => {
    const opened = await world.openAs('org_admin', 'workflows');
    const { page } = opened;
    await page.getByRole('button', { name: 'More ways to make one' }).click();
    await page.getByRole('menuitem', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import' });
    await dialog.getByRole('textbox', { name: 'Or paste JSON here' }).fill('{"name": "Greeter"');
    await dialog.getByText('This is no workflow').waitFor();
    await dialog
      .getByRole('textbox', { name: 'Or paste JSON here' })
      .fill(JSON.stringify({ name: 'Greeter', flow_data: FLOW, tags: ['hello'] }));
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.waitForURL(/\/workflows\/\d+$/);

    await page.goto(`${world.url}/o/${opened.person.organisationId}/workflows`);
    const row = page.getByRole('row', { name: /Greeter/ });
    await row.getByText('Never').waitFor();
    await row.getByRole('button', { name: 'Run Greeter' }).click();
    const run = page.getByRole('dialog', { name: 'Run Greeter' });
    await run.getByRole('textbox', { name: 'Input' }).fill('{"name": "Ada"}');
    await run.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/executions\/\d+$/);
    const [execution] = await world.service.database.db.query<{ input: string; trigger_type: string }>(
      'SELECT input, trigger_type FROM executions WHERE organisation_id = $1',
      [opened.person.organisationId],
    );
    expect([JSON.parse(execution?.input ?? ''), execution?.trigger_type]).toEqual([
      { name: 'Ada' },
      'manual',
    ]);

    await page.goto(`${world.url}/o/${opened.person.organisationId}/workflows`);
    await row.getByRole('group', { name: /Last 1 runs/ }).waitFor();
    await row.getByRole('button', { name: 'More for Greeter' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Second greeter');
    await page.getByRole('dialog').getByRole('button', { name: 'Duplicate' }).click();
    await page.waitForURL(/\/workflows\/\d+$/);

    await page.goto(`${world.url}/o/${opened.person.organisationId}/workflows`);
    const second = page.getByRole('row', { name: /Second greeter/ });
    await second.getByRole('button', { name: 'More for Second greeter' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await expect.poll(() => second.count()).toBe(0);

    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Archived', exact: true }).click();
    await page.waitForURL(/status=archived/);
    await second.getByRole('button', { name: 'More for Second greeter' }).click();
    await page.getByRole('menuitem', { name: 'Delete for good' }).click();
    const deletion = page.getByRole('dialog');
    expect(await deletion.getByRole('button', { name: 'Delete for good' }).isDisabled()).toBe(true);
    await deletion.getByRole('textbox').fill('Second greeter');
    await deletion.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
    expectNoComplaints(opened);
  });

  test('a template asks for what it needs and is there, with the workflow it brings along', async () => {
    const opened = await world.openAs('editor', 'templates');
    const { page } = opened;
    await page.getByRole('button', { name: 'Use Order paid', exact: false }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Orders');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/\/workflows\/\d+$/);
    await page.goto(`${world.url}/o/${opened.person.organisationId}/workflows`);
    await page
      .getByRole('row', { name: /Orders/ })
      .getByText('Webhook')
      .waitFor();
    expectNoComplaints(opened);
  });

  test('search and filters stand in the address', async () => {
    const opened = await world.openAs('editor', 'workflows?search=zebra');
    const { page } = opened;
    expect(await page.getByRole('textbox', { name: 'Search workflows' }).inputValue()).toBe('zebra');
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
    await page.getByRole('textbox', { name: 'Search workflows' }).fill('');
    await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    expectNoComplaints(opened);
  });
});
