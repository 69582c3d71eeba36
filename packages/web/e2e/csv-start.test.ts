import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible } from './support/accessible.ts';
import {
  type BrowserService,
  expectNoComplaints,
  type OpenOptions,
  openBrowserService,
} from './support/browser-service.ts';
import { createWorkflow } from './support/editor.ts';

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
  settings: {
    input_schema: {
      type: 'object',
      properties: { name: { type: 'string', title: '名前' }, amount: { type: 'number' } },
      required: ['name'],
    },
  },
};

async function openDialog(options: OpenOptions = {}) {
  const opened = await world.openAs('editor', 'workflows', options);
  const { page, person } = opened;
  const id = await createWorkflow(person, 'Orders', FLOW);
  await page.goto(`${world.url}/o/${person.organisationId}/workflows`);
  await page.getByRole('button', { name: 'More for Orders' }).click();
  await page.getByRole('menuitem', { name: 'Start from CSV…' }).click();
  await page.getByRole('dialog').waitFor();
  return { ...opened, id };
}

async function inputsOf(id: number): Promise<unknown[]> {
  const rows = await world.service.database.db.query<{ input: string }>(
    'SELECT input FROM executions WHERE workflow_id = $1 ORDER BY id',
    [id],
  );
  return rows.map(({ input }) => JSON.parse(input));
}

test('a Shift_JIS file: columns found by title, refused rows explained and downloaded', async () => {
  const opened = await openDialog();
  const { page, id } = opened;
  // 名前,amount,memo / 日本,12.5,x / ,1,y / 東京,abc,z
  const hex =
    '96bc914f2c616d6f756e742c6d656d6f0d0a93fa967b2c31322e352c780d0a2c312c790d0a938c8b9e2c6162632c7a0d0a';
  const file = { name: 'orders.csv', mimeType: 'text/csv', buffer: Buffer.from(hex, 'hex') };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText('{"name":"日本","amount":12.5,"memo":"x"}').waitFor();
  await page.getByRole('combobox', { name: 'Input for column memo' }).click();
  await page.getByRole('option', { name: 'Ignore' }).click();
  await page.getByText('{"name":"日本","amount":12.5}', { exact: true }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Start executions' }).click();
  await page.getByText('Done. 1 started, 2 refused').waitFor();
  await page.getByText('Row 2: name: is required').waitFor();
  await page.getByText('Row 3: amount: must be a number').waitFor();
  await expectAccessible(page);
  expect(await inputsOf(id)).toEqual([{ name: '日本', amount: 12.5 }]);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download refused rows' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toBe(
    '\uFEFF名前,amount,memo,Reason\r\n,1,y,name: is required\r\n東京,abc,z,amount: must be a number\r\n',
  );
  await page
    .getByRole('dialog')
    .getByRole('link', { name: /^#\d+$/ })
    .click();
  await page.waitForURL(/\/executions\/\d+$/);
  expectNoComplaints(opened);
});

test('a large file can be stopped and continued, a lost response is asked for again, and each row starts once', async () => {
  const opened = await openDialog();
  const { page, id } = opened;
  const rows = Array.from({ length: 2_600 }, (_, n) => `n${n},${n}`);
  const file = {
    name: 'many.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['name,amount', ...rows].join('\n')),
  };
  await page.locator('input[type=file]').setInputFiles(file);
  let requests = 0;
  const held = Promise.withResolvers<void>();
  await page.route('**/import', async (route) => {
    requests += 1;
    // The service has started these rows, but the page doesn't learn of it.
    if (requests === 1) {
      await route.fetch();
      await route.fulfill({ status: 503, json: { code: 'overloaded', detail: 'Overloaded.' } });
      return;
    }
    if (requests === 3) await held.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Start executions' }).click();
  await page.getByText('500 started, 0 refused').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  held.resolve();
  await page.getByText('Stopped. 1,000 started, 0 refused').waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Done. 2,600 started, 0 refused').waitFor();
  const inputs = await inputsOf(id);
  expect(inputs).toHaveLength(2_600);
  expect(new Set(inputs.map((input) => JSON.stringify(input))).size).toBe(2_600);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('a required column that is missing is named, and a file that is no CSV says so', async () => {
  const { page } = await openDialog({ scheme: 'dark', width: 390, height: 844 });
  const choose = (name: string, text: string) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  await choose('other.csv', 'amount\n1\n');
  await page.getByText('No column for name').waitFor();
  await expectAccessible(page);
  await choose('header.csv', 'name\n');
  await page.getByText('This file has no rows below the header.').waitFor();
  expect(await page.getByRole('button', { name: 'Start executions' }).isDisabled()).toBe(true);
  await choose('quote.csv', `name\n"${'x'.repeat(5 * 1024 * 1024)}`);
  await page.getByText("Couldn't read this file").waitFor();
});
