import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExecutionsWorld, flowOf, openExecutionsWorld } from './executions-world.ts';
import { expectNoComplaints } from './support/browser-service.ts';
import { boxOf } from './support/canvas.ts';

let world: ExecutionsWorld;
let editor: TestPerson;
beforeAll(async () => {
  world = await openExecutionsWorld();
  editor = await createPerson(world.service, 'editor');
});
afterAll(() => world.stop());

const node = (id: string, type: string, config: object, parentId?: string) => ({
  ...{ id, type, position: { x: 200, y: 80 }, data: { config } },
  ...(parentId === undefined ? {} : { parentId }),
});

/** Starts a workflow with these nodes. @returns the execution's id */
async function start(nodes: readonly object[], edges: readonly string[]): Promise<number> {
  const body = { name: 'Details', flow_data: flowOf(nodes, edges) };
  const key = await world.service.createKey({ organisationId: editor.organisationId });
  const { json } = await world.service.api('POST', '/workflows', { key, body });
  return world.execute(editor, json.id);
}

const input = (page: Page) => page.getByRole('tree', { name: 'Input', exact: true });
const ofLoop = (page: Page) => page.getByRole('tree', { name: 'Item and index' });
const output = (page: Page) => page.getByRole('tree', { name: 'Output' });
const showInput = (page: Page) => page.getByRole('complementary').getByText('Input', { exact: true }).click();

test('a run inside loops shows its input, with item and index', async () => {
  const id = await start(
    [
      node('rows', 'core.for_each', { items: [['a'], ['b', 'c']] }),
      node('first', 'core.set', { values: { first: '{{item.0}}' } }, 'rows'),
      node('cells', 'core.for_each', { items: '{{item}}' }, 'rows'),
      node('pause', 'core.delay', { duration_ms: '{{index}}' }, 'cells'),
      node(
        'send',
        'http.request',
        { url: 'http://127.0.0.1:1/{{nodes.first.output.first}}/{{item}}' },
        'cells',
      ),
    ],
    ['start>rows', 'first>cells', 'pause>send'],
  );
  await world.finished(editor, id);
  const opened = await world.openFor(editor, `executions/${id}?node=pause&iteration=0,0`);
  const { page } = opened;
  await page.getByRole('button', { name: /^Iteration 1\.1/, pressed: true }).waitFor();
  await showInput(page);
  await input(page).getByText('duration_ms').waitFor();
  await ofLoop(page).getByText('"a"').waitFor();
  // It failed, so its input is shown first.
  await page.goto(`${world.url}/o/${editor.organisationId}/executions/${id}?node=send`);
  await input(page).getByText('"http://127.0.0.1:1/a/a"').waitFor();
  await expect
    .poll(() => ofLoop(page).getByRole('treeitem').allTextContents())
    .toEqual(['{ 2 fields }', 'index: 0', 'item: "a"']);
  expectNoComplaints(opened);
});

test('says what an execution waits for, and which one replaced it', async () => {
  const settings = { debounce: { seconds: 3_600 } };
  const body = { name: 'Held', flow_data: flowOf([node('note', 'core.set', {})], ['start>note'], settings) };
  const key = await world.service.createKey({ organisationId: editor.organisationId });
  const { json } = await world.service.api('POST', '/workflows', { key, body });
  const execute = async () => {
    const answer = await world.service.api('POST', `/workflows/${json.id}/execute`, { key, body: {} });
    return Number(answer.json.execution_id);
  };
  const [replaced, waiting] = [await execute(), await execute()];
  const opened = await world.openFor(editor, `executions/${replaced}`);
  const { page } = opened;
  await page.getByText(`Execution ${waiting} started later with the same key`).waitFor();
  await page.getByRole('link', { name: `#${waiting}`, exact: true }).click();
  await page.getByText('For newer starts').waitFor();
  await page.getByText('probably until').waitFor();
  expectNoComplaints(opened);
});

test('says what is not kept of a loop', async () => {
  const id = await start(
    [
      node('each', 'core.for_each', { items: [10, 20], result: '{{nodes.note.output}}' }),
      node('note', 'core.set', { values: { double: '{{item}}' } }, 'each'),
    ],
    ['start>each'],
  );
  await world.finished(editor, id);
  const { page } = await world.openFor(editor, `executions/${id}?node=note`);
  await page.getByText('Only the last run is kept').waitFor();
  await showInput(page);
  await input(page).getByText('20').waitFor();
  await page.goto(`${world.url}/o/${editor.organisationId}/executions/${id}?node=note&iteration=0`);
  await page.getByText("This run wasn't kept").waitFor();
  await page.getByRole('button', { name: 'See the output of For each' }).click();
  await page.getByText('Nothing in this loop affects other systems').waitFor();
  await showInput(page);
  // What is rendered after each iteration had no value when the loop started.
  await input(page).getByText('"{{nodes.note.output}}"').waitFor();
});

const ODD = `return {
  'first name': 1, '': 2, 'a\\u202eb': 3,
  text: 'x'.repeat(150_000) + 'needle',
  lists: Array.from({ length: 10_100 }, (_, n) => [n]),
};`;

test('an output of any size and shape can be explored', async () => {
  const id = await start([node('make', 'core.code', { code: ODD, input: {} })], ['start>make']);
  await world.finished(editor, id);
  const opened = await world.openFor(editor, `executions/${id}?node=make`);
  const { page } = opened;
  const line = (text: string) => output(page).getByRole('treeitem').filter({ hasText: text });
  await line('"": 2').waitFor();
  await line('"a\\u{202e}b": 3').waitFor();
  await line('Show the first 100,000 of 150,006 characters').waitFor();
  // A path with such a name is written in a form that templates can parse.
  await output(page).focus();
  for (let times = 0; times < 2; times++) await page.keyboard.press('ArrowDown');
  await line('first name').getByRole('button', { name: 'Copy path' }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toBe('{{nodes.make.output.result["first name"]}}');
  const search = page.getByRole('textbox', { name: 'Search' });
  await search.fill('NEEDLE');
  await output(page).locator('mark', { hasText: 'needle' }).waitFor();
  await search.fill('1');
  await page.getByText('1 of the first 1,000').waitFor();
  await search.fill('');
  await page.getByRole('button', { name: 'Expand all' }).click();
  await page.getByText('Only the first 10,000 lists and objects were expanded').waitFor();
  // Starts at the top, not at the end.
  await output(page).focus();
  await page.keyboard.press('Home');
  await line('0: [ 1 item ]').and(output(page).locator('[aria-expanded="true"]')).first().waitFor();
  expectNoComplaints(opened);
});

test('collapsed parts of an output stay collapsed while the execution continues', async () => {
  const id = await start(
    [
      node('make', 'core.code', { code: 'return { a: 1, b: 2 };', input: {} }),
      node('nap', 'core.delay', { duration_ms: 3_600_000 }),
    ],
    ['start>make', 'make>nap'],
  );
  const { page } = await world.openFor(editor, `executions/${id}?node=make`);
  await page.getByRole('region', { name: 'Waiting' }).waitFor();
  await output(page).getByRole('button', { name: 'Collapse result' }).click();
  await output(page).getByRole('button', { name: 'Expand result' }).waitFor();
  await editor.call('POST /orgs/:org/executions/:execution/cancel', {
    params: { org: editor.organisationId, execution: id },
  });
  await page.getByRole('button', { name: /^Delay, Cancelled/ }).waitFor();
  await output(page).getByRole('button', { name: 'Expand result' }).waitFor();
});

test('in a narrow window two executions are compared without scrolling sideways', async () => {
  const set = [node('note', 'core.set', { values: { to: '{{trigger.data.to}}' } })];
  const id = await start(set, ['start>note']);
  await world.finished(editor, id);
  const { page } = await world.openFor(editor, `executions/compare?a=${id}&b=${id}`, {
    width: 390,
    height: 844,
  });
  const rows = page.getByRole('main').getByRole('listitem');
  await expect.poll(() => rows.count()).toBe(3);
  // Both statuses and the verdict of the last row are within the window.
  for (const part of [rows.last().getByText('Succeeded').last(), rows.last().getByText('same')]) {
    const { x, width } = await boxOf(part);
    expect(x >= 0 && x + width <= 390).toBe(true);
  }
});
