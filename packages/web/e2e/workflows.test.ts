import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileChooser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { createWorkflow, greetingFlow } from './support/editor.ts';
import { focused } from './support/focused.ts';

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

/** Of 20 MiB, on disk: the browser reads it from there, where its content would take Playwright many seconds to pass on. */
async function hugeFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-import-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'huge.json');
  await writeFile(path, Buffer.alloc(4 * 5 * 1024 * 1024 + 1, ' '));
  return path;
}

describe('the list of workflows', () => {
  test('empty: a viewer sees what a workflow is, an editor is led to the templates', async () => {
    const viewer = await world.openAs('viewer', 'workflows');
    await viewer.page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
    expect(await viewer.page.getByRole('button', { name: 'New workflow' }).count()).toBe(0);
    expect(await viewer.page.getByRole('link', { name: 'Start from a template' }).count()).toBe(0);
    const editor = await world.openAs('editor', 'workflows');
    await editor.page.getByRole('link', { name: 'Start from a template' }).click();
    await editor.page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    expectNoComplaints(viewer);
    expectNoComplaints(editor);
  });

  test('imported, run, duplicated, archived, restored and permanently deleted', async () => {
    const opened = await world.openAs('org_admin', 'workflows');
    const { page } = opened;
    await page.getByRole('button', { name: 'More ways to create a workflow' }).click();
    await page.getByRole('menuitem', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import' });
    await dialog.getByRole('textbox', { name: 'Or paste JSON here' }).fill('{"name": "Greeter"');
    await dialog.getByText("This isn't valid JSON").waitFor();
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
    await row.getByRole('group', { name: '1 run, 0 failed' }).waitFor();
    // Again with the same input, taken from that execution.
    await row.getByRole('button', { name: 'Run Greeter' }).click();
    await run.getByRole('combobox', { name: 'Use the input of a past execution' }).click();
    await page.getByRole('option').first().click();
    await expect.poll(() => run.getByRole('textbox', { name: 'Input' }).textContent()).toContain('"Ada"');
    const sent = page.waitForRequest((request) => request.url().endsWith('/run'));
    await run.getByRole('button', { name: 'Run', exact: true }).click();
    expect((await sent).postDataJSON()).toMatchObject({ input_of: expect.any(Number) });
    await page.waitForURL(/\/executions\/\d+$/);
    await page.goto(`${world.url}/o/${opened.person.organisationId}/workflows`);
    await row.getByRole('group', { name: /Last 2 runs/ }).waitFor();
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
    await page.getByRole('menuitem', { name: 'Delete permanently' }).click();
    const deletion = page.getByRole('dialog');
    expect(await deletion.getByRole('button', { name: 'Delete permanently' }).isDisabled()).toBe(true);
    await deletion.getByRole('textbox').fill('Second greeter');
    await deletion.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByRole('heading', { name: 'No matching workflows' }).waitFor();
    expectNoComplaints(opened);
  });

  test('a file is dropped or chosen, and its content shown before it is imported', async () => {
    const opened = await world.openAs('editor', 'workflows');
    const { page } = opened;
    await page.getByRole('button', { name: 'More ways to create a workflow' }).click();
    await page.getByRole('menuitem', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import' });
    const send = dialog.getByRole('button', { name: 'Import' });
    const field = dialog.getByRole('textbox', { name: 'Or paste JSON here' });
    await field.waitFor();
    const chooseFrom = async (files: Parameters<FileChooser['setFiles']>[0]) => {
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        dialog.getByRole('button', { name: 'Choose files' }).click(),
      ]);
      await chooser.setFiles(files);
    };
    const choose = (name: string, content: string | Buffer) =>
      chooseFrom({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
    await choose('picture.json', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0xff]));
    await dialog.getByText("This isn't a text file.").waitFor();
    await chooseFrom(await hugeFile());
    await dialog.getByText("It's larger than the 5 MiB that the service accepts").waitFor();
    // U+FFFD from an earlier decoding error is valid text.
    await choose('lost.json', JSON.stringify({ ...FLOW, settings: { vars: { name: 'M\uFFFDller' } } }));
    await dialog.getByText('No problems found.').waitFor();
    const torn = { ...FLOW, edges: [{ source: 'start', target: 'nobody' }] };
    await page.route('**/flow-checks', (route) => route.abort());
    await choose('torn.json', JSON.stringify(torn));
    await dialog.getByText("Couldn't reach the service").waitFor();
    await page.unroute('**/flow-checks');
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText("This can't be imported").waitFor();
    await dialog.getByText('/flow_data/edges/0/target').waitFor();
    expect(await send.isDisabled()).toBe(true);

    // Dispatched as the browser does on drop.
    const text = JSON.stringify({ ...FLOW, nodes: [...FLOW.nodes, { id: 'call', type: 'http.request' }] });
    const carried = await page.evaluateHandle((content) => {
      const data = new DataTransfer();
      data.items.add(new File([content], 'Greeting at night.json', { type: 'application/json' }));
      return data;
    }, text);
    await field.dispatchEvent('dragover', { dataTransfer: carried });
    await field.dispatchEvent('drop', { dataTransfer: carried });
    await dialog.getByText('You can import it. To activate it, first fix:').waitFor();
    await dialog.getByText('/flow_data/nodes/2/data/config/url').waitFor();
    expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Greeting at night');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Greeting by day');
    await send.click();
    await page.waitForURL(/\/workflows\/\d+$/);
    await page.getByRole('button', { name: 'Greeting by day', exact: true }).waitFor();
    expectNoComplaints(opened);
  });

  test("several files, of n8n too, say what becomes of them first; the size limit is the service's, not counting white space", async () => {
    const opened = await world.openAs('editor', 'workflows');
    const { page, person } = opened;
    await page.route('**/api/admin/limits', (route) => route.fulfill({ json: { flow_body_bytes: 100_000 } }));
    await page.getByRole('button', { name: 'More ways to create a workflow' }).click();
    await page.getByRole('menuitem', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import' });
    const choose = async (files: { readonly [name: string]: string }) => {
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        dialog.getByRole('button', { name: 'Choose files' }).click(),
      ]);
      const mimeType = 'application/json';
      const given = Object.entries(files).map(([name, text]) => ({
        name,
        mimeType,
        buffer: Buffer.from(text),
      }));
      await chooser.setFiles(given);
    };
    const send = dialog.getByRole('button', { name: 'Import' });
    const large = JSON.stringify({ ...FLOW, settings: { vars: { text: 'x'.repeat(100_000) } } });
    await choose({ 'flow.json': large });
    await dialog.getByText("It's larger than the 0.1 MiB that the service accepts").waitFor();
    expect(await send.isDisabled()).toBe(true);
    await choose({ 'flow.json': JSON.stringify(FLOW) + '\n'.repeat(100_000) });
    await dialog.getByText('No problems found.').waitFor();
    await expect.poll(() => send.isDisabled()).toBe(false);

    const node = (name: string, type: string) => ({
      ...{ name, type: `n8n-nodes-base.${type}`, typeVersion: 1, position: [0, 0], parameters: {} },
    });
    const toPicture = [[{ node: 'Picture', type: 'main', index: 0 }]];
    const original = {
      nodes: [node('Hook', 'webhook'), node('Daily', 'cron'), node('Picture', 'editImage')],
      connections: { Hook: { main: toPicture }, Daily: { main: toPicture } },
    };
    await choose({
      'Ours.json': JSON.stringify([{ flow_data: FLOW }, { name: 'Second', flow_data: FLOW }]),
      'Theirs.json': JSON.stringify(original),
      'large.json': large,
    });
    await dialog.getByText('1 dropped').waitFor();
    const told = dialog.getByRole('list', { name: 'How the nodes are converted' });
    await told.getByText('Picture').waitFor();
    await dialog.getByText("It's larger than the 0.1 MiB that the service accepts").waitFor();
    const listNames = async () => {
      const { data } = await person.call('GET /orgs/:org/workflows', {
        params: { org: person.organisationId },
      });
      return data.items.map(({ name }) => name).toSorted();
    };
    expect(await listNames()).toEqual([]);
    // One is refused, and can be imported again; the others are there.
    await page.route('**/api/admin/orgs/*/workflows', async (route) => {
      const isRefused = route.request().postDataJSON()?.name === 'Second';
      return isRefused ? route.abort() : route.continue();
    });
    await dialog.getByRole('button', { name: 'Import 3 workflows' }).click();
    await dialog.getByRole('alert').getByText("Couldn't reach the service", { exact: false }).waitFor();
    expect(await dialog.getByText('Imported', { exact: true }).count()).toBe(2);
    await page.unroute('**/api/admin/orgs/*/workflows');
    await dialog.getByRole('button', { name: 'Import 1 workflow' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await listNames()).toEqual(['Ours', 'Second', 'Theirs']);
    await page.getByRole('link', { name: 'Second' }).waitFor();
  });

  test('name, description and tags are changed; a tag leads to all that have it', async () => {
    const opened = await world.openAs('editor', 'workflows');
    const { page, person } = opened;
    await createWorkflow(person, 'Other', greetingFlow('x'));
    const id = await createWorkflow(person, 'Greeting', greetingFlow('x'));
    await page.reload();
    await page.getByRole('button', { name: 'More for Greeting' }).click();
    await page.getByRole('menuitem', { name: 'Name, description, tags' }).click();
    const dialog = page.getByRole('dialog', { name: 'Name, description, tags' });
    await focused(dialog.getByRole('textbox', { name: 'Name' }));
    await dialog.getByRole('textbox', { name: 'Description' }).fill('Says hello');
    await dialog.getByRole('combobox', { name: 'Tags' }).fill('挨拶');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Says hello/ }).waitFor();
    await page.getByRole('link', { name: 'Workflows with the tag 挨拶' }).click();
    await page.waitForURL(/tag=/);
    await expect.poll(() => page.getByRole('link', { name: 'Other' }).count()).toBe(0);
    const { data } = await person.call('GET /orgs/:org/workflows/:id', {
      params: { org: person.organisationId, id },
    });
    expect(data).toMatchObject({ description: 'Says hello', tags: ['挨拶'], version: 1 });

    // Someone else saved first: nothing is overwritten, and their version is shown.
    await page.getByRole('button', { name: 'More for Greeting' }).click();
    await page.getByRole('menuitem', { name: 'Name, description, tags' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Mine');
    await person.call('PUT /orgs/:org/workflows/:id', {
      params: { org: person.organisationId, id },
      body: { updated_at: data.updated_at, name: 'Theirs' },
    });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Theirs' }).waitFor();
    expectNoComplaints(opened);
  });

  test('are sorted into folders, marked as favourites, and changed several at once', async () => {
    const opened = await world.openAs('editor', 'workflows');
    const { page, person } = opened;
    for (const name of ['Invoices', 'Payments', 'Reports']) {
      await createWorkflow(person, name, greetingFlow('x'));
    }
    await page.reload();
    const places = page.getByRole('main').getByRole('combobox', { name: 'Folder' });
    const open = async (name: string) => {
      await places.click();
      await page.getByRole('option', { name }).click();
    };
    await page.getByRole('button', { name: 'New folder' }).click();
    const dialog = page.getByRole('dialog', { name: 'New folder' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Finance');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'This folder is empty' }).waitFor();
    await page.waitForURL(/folder=\d+/);
    await page.getByRole('button', { name: 'Create a workflow here' }).click();
    const made = page.getByRole('dialog', { name: 'New workflow' });
    await made.getByRole('textbox', { name: 'Name' }).fill('Refunds');
    await made.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/workflows\/\d+$/);
    await page.goBack();
    await page.getByRole('link', { name: 'Refunds' }).waitFor();

    await open('All workflows');
    await page.getByRole('checkbox', { name: 'Select Invoices' }).check();
    await page.getByRole('checkbox', { name: 'Select Payments' }).check();
    const bar = page.getByRole('toolbar', { name: 'Selected workflows' });
    await bar.getByText('2 selected').waitFor();
    await bar.getByRole('button', { name: 'Move to folder' }).click();
    const move = page.getByRole('dialog', { name: 'Move 2 workflows' });
    await move.getByRole('combobox', { name: 'Folder' }).click();
    await page.getByRole('option', { name: 'Finance' }).click();
    await move.getByRole('button', { name: 'Move' }).click();
    await page.getByText('2 workflows moved.').waitFor();
    await open('Finance');
    await expect.poll(() => page.getByRole('link', { name: 'Reports' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Payments' }).waitFor();

    await page.getByRole('button', { name: 'Favourite: Payments', pressed: false }).click();
    await page.getByRole('button', { name: 'Favourite: Payments', pressed: true }).waitFor();
    await open('Favourites');
    await expect.poll(() => page.getByRole('link', { name: 'Invoices' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Payments' }).waitFor();

    await open('All workflows');
    await page.getByRole('combobox', { name: 'Sort by' }).click();
    await page.getByRole('option', { name: 'Name' }).click();
    await page.waitForURL(/sort=name/);
    const names = () => page.getByRole('row').locator('a[title]').allTextContents();
    await expect.poll(names).toEqual(['Invoices', 'Payments', 'Refunds', 'Reports']);
    await page.getByRole('checkbox', { name: 'Select Reports' }).check();
    await bar.getByRole('button', { name: 'Select all 4 shown' }).click();
    await bar.getByRole('button', { name: 'Archive' }).click();
    await page
      .getByRole('dialog', { name: 'Archive 4 workflows?' })
      .getByRole('button', { name: 'Archive' })
      .click();
    await page.getByText('4 workflows archived.').waitFor();
    await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
    // Beside the list, where there is room.
    await page.setViewportSize({ width: 1500, height: 800 });
    const folders = page.getByRole('navigation', { name: 'Folders' });
    await folders.getByRole('link', { name: 'Finance' }).click();
    await page.getByRole('heading', { name: 'This folder is empty' }).waitFor();
    await folders.getByRole('button', { name: 'More for folder Finance' }).click();
    await page.getByRole('menuitem', { name: 'Delete folder' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete folder' }).click();
    await page.getByText('Folder Finance was deleted.').waitFor();
    await expect.poll(() => folders.getByRole('link', { name: 'Finance' }).count()).toBe(0);
    expectNoComplaints(opened);
  });

  test('the strip of the last runs is one stop of the keyboard, and each bar leads to its execution', async () => {
    const opened = await world.openAs('editor', 'workflows');
    const { page, person } = opened;
    const id = await createWorkflow(person, 'Greeting', greetingFlow('x'));
    const params = { org: person.organisationId, id };
    const runs: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { data } = await person.call('POST /orgs/:org/workflows/:id/run', { params, body: {} });
      runs.push(data.execution_id);
    }
    await page.reload();
    const strip = page.getByRole('group', { name: /Last 3 runs/ });
    await strip.waitFor();
    await expect.poll(() => strip.locator('a[tabindex="0"]').count()).toBe(1);
    await strip.locator('a[tabindex="0"]').focus();
    await page.getByRole('tooltip', { name: new RegExp(`^#${runs[2]} · `) }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('tooltip', { name: new RegExp(`^#${runs[1]} · `) }).waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/executions/${runs[0]}$`));
    expectNoComplaints(opened);
  });

  test('a template is found, becomes a draft in one click, or asks for what it needs', async () => {
    const opened = await world.openAs('editor', 'templates?search=nothing-has-this');
    const { page, person } = opened;
    await page.getByRole('button', { name: 'Show all templates' }).click();
    const cards = page.getByRole('article');
    // They come once the address has changed.
    await cards.first().waitFor();
    const all = await cards.count();
    await page.getByRole('button', { name: 'Approvals' }).click();
    await page.waitForURL(/category=approvals/);
    await expect.poll(() => cards.count(), { timeout: 60_000 }).toBeLessThan(all);
    await page.getByRole('button', { name: 'All' }).click();
    await page.getByRole('textbox', { name: 'Search templates' }).fill('payment webhook');
    const card = page.getByRole('article', { name: 'Order paid' });
    await expect.poll(() => cards.count(), { timeout: 60_000 }).toBeLessThan(all);
    await card.getByText(/^Uses: .*SQL/).waitFor();
    await card.getByRole('button', { name: 'Use Order paid' }).click();
    await page.waitForURL(/\/workflows\/\d+$/);
    // Nothing is asked before; what is missing is a problem of the draft.
    await page.getByRole('tab', { name: '4 problems' }).waitFor();

    await page.goto(`${world.url}/o/${person.organisationId}/templates`);
    await page.getByRole('button', { name: 'Details of Order paid' }).click();
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

  test('search and filters are in the address', async () => {
    const opened = await world.openAs('editor', 'workflows?search=zebra');
    const { page } = opened;
    expect(await page.getByRole('textbox', { name: 'Search workflows' }).inputValue()).toBe('zebra');
    await page.getByRole('heading', { name: 'No matching workflows' }).waitFor();
    await page.getByRole('textbox', { name: 'Search workflows' }).fill('');
    await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('textbox', { name: 'Search workflows' }).fill('lion');
    await page.waitForURL(/search=lion/);
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Search workflows' }).inputValue()).toBe('');
    expectNoComplaints(opened);
  });
});
