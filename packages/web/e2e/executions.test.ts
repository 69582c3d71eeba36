import { readFile } from 'node:fs/promises';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExecutionsWorld, openExecutionsWorld } from './executions-world.ts';
import { expectAccessible } from './support/accessible.ts';
import { expectNoComplaints } from './support/browser-service.ts';
import { boxOf } from './support/canvas.ts';
import { copyWith } from './support/clipboard.ts';

let world: ExecutionsWorld;
let editor: TestPerson;
let viewer: TestPerson;
/** One ended execution of each kind. */
let orders: number;
let broken: number;
beforeAll(async () => {
  world = await openExecutionsWorld();
  editor = await createPerson(world.service, 'editor');
  viewer = await createPerson(world.service, 'viewer', { organisationId: editor.organisationId });
  orders = await world.ran(editor, 'orders');
  broken = await world.ran(editor, 'broken');
});
afterAll(() => world.stop());

const row = (page: Page, id: number) => page.locator(`[data-execution="${id}"]`);

describe('the list', () => {
  test('changes live, announces new executions, and opens nothing by itself', async () => {
    const opened = await world.openFor(editor, 'executions');
    const { page } = opened;
    await row(page, orders).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('2 executions', { exact: true }).waitFor();
    const { y: top } = await boxOf(row(page, orders));
    const waiting = await world.execute(editor, await world.createWorkflow(editor, 'asking'));
    const fresh = page.getByRole('button', { name: /1 new execution/ });
    await fresh.waitFor();
    // Nothing has moved, and the count is that of what is shown.
    expect((await boxOf(row(page, orders))).y).toBe(top);
    await page.getByText('2 executions', { exact: true }).waitFor();
    await fresh.click();
    await page.getByText('3 executions', { exact: true }).waitFor();
    await row(page, waiting).getByText('Waiting').waitFor();
    await editor.call('POST /orgs/:org/executions/:execution/cancel', {
      params: { org: editor.organisationId, execution: waiting },
    });
    await row(page, waiting).getByText('Cancelled').waitFor();
    await expectAccessible(page, 'main');
    expectNoComplaints(opened);
  });

  test('filters are in the address and narrow the list', async () => {
    const { page } = await world.openFor(editor, 'executions');
    await row(page, broken).waitFor();
    await page.getByRole('textbox', { name: 'Search by name' }).fill('stock');
    await page.waitForURL(/text=stock/);
    await expect.poll(() => row(page, orders).count()).toBe(0);
    await page.reload();
    await row(page, broken).waitFor();
    expect(await row(page, orders).count()).toBe(0);
    await page.getByRole('combobox', { name: 'Search in' }).click();
    await page.getByRole('option', { name: 'Error text' }).click();
    await page.getByText('No matching executions').waitFor();
    await page.getByRole('textbox', { name: 'Search by error' }).fill('127.0.0.1');
    await row(page, broken).waitFor();
    await page.getByText('1 execution', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save these filters…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Stock is away');
    await page.getByRole('checkbox', { name: 'Share with the organisation' }).check();
    await page.getByRole('button', { name: 'Save view' }).click();
    const view = page.getByRole('button', { name: 'Stock is away' });
    await view.waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await row(page, orders).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: /^Stock is away/ }).click();
    await view.waitFor();
    await expect.poll(() => row(page, orders).count()).toBe(0);
    await view.click();
    await page.getByRole('menuitem', { name: 'Delete Stock is away…' }).click();
    await page.getByRole('button', { name: 'Delete view' }).click();
    await page.getByRole('button', { name: 'Views' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await row(page, orders).waitFor();
    await world.service.database.db.query(
      `INSERT INTO workflow_runs (workflow_id, hour, organisation_id, completed, failed, durations)
       SELECT workflow_id, date_trunc('hour', now()), organisation_id, 3, 1, '{4}' FROM executions WHERE id = $1`,
      [orders],
    );
    const { data } = await editor.call('GET /orgs/:org/executions/:execution', {
      params: { org: editor.organisationId, execution: orders },
    });
    await page.goto(`${page.url().split('?')[0]}?workflow=${data.execution.workflow_id}`);
    const charts = page.getByRole('region', { name: 'Runs over time' });
    await charts.getByRole('img', { name: '3 completed, 1 failed' }).waitFor();
    await charts.getByText('Table', { exact: true }).click();
    await charts.getByRole('row', { name: /3 1 / }).waitFor();
    await expectAccessible(page, 'main');
    await page.goto(`${page.url().split('?')[0]}?status=queued`);
    await page.getByText('No matching executions').waitFor();
  });

  test('an administrator sees which key started one, from where, and what else it has started', async () => {
    const { organisationId } = editor;
    const admin = await createPerson(world.service, 'org_admin', { organisationId });
    const key = await world.service.createKey({ organisationId });
    const workflow = await world.createWorkflow(editor, 'orders');
    const body = { input_data: { order: 1 } };
    const { json } = await world.service.api('POST', `/workflows/${workflow}/execute`, { key, body });
    const opened = await world.openFor(admin, `executions/${json.execution_id}`);
    const { page } = opened;
    await page.getByRole('link', { name: 'from 127.0.0.1' }).waitFor();
    await page.getByRole('link', { name: `(…${key.text.slice(-4)})`, exact: false }).click();
    await page.waitForURL(new RegExp(`executions\\?key=${key.id}$`));
    await row(page, json.execution_id).waitFor();
    expect(await row(page, orders).count()).toBe(0);
    await page.getByRole('textbox', { name: 'IP address' }).fill('192.0.2.');
    await page.getByText('No matching executions').waitFor();
    await page.getByRole('textbox', { name: 'IP address' }).fill('127.');
    await row(page, json.execution_id).waitFor();
    // Executions started with this key are shown, those with another aren't.
    await page.getByText('Live', { exact: true }).waitFor();
    const other = await world.execute(editor, workflow);
    await world.service.api('POST', `/workflows/${workflow}/execute`, { key, body });
    await page.getByRole('button', { name: /1 new execution/ }).click();
    await expect.poll(() => page.locator('[data-execution]').count()).toBe(2);
    expect(await row(page, other).count()).toBe(0);
    await expectAccessible(page, 'main');
    expectNoComplaints(opened);
  });

  test('by keyboard: arrows move, the space bar selects, Enter opens', async () => {
    const { page } = await world.openFor(editor, 'executions?text=of');
    await row(page, broken).locator('a[data-row-link]').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.getByText('2 selected').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`executions/${orders}$`));
  });

  test('several are rerun, and refusals are listed one by one', async () => {
    const inactive = await world.createWorkflow(editor, 'broken');
    const refused = await world.execute(editor, inactive);
    await world.finished(editor, refused);
    const key = await world.service.createKey({ organisationId: editor.organisationId });
    await world.service.api('PUT', `/workflows/${inactive}`, { key, body: { status: 'active' } });
    await world.service.api('PUT', `/workflows/${inactive}`, { key, body: { status: 'inactive' } });
    const { page } = await world.openFor(editor, 'executions?status=failed');
    await row(page, refused).getByRole('checkbox').check();
    await row(page, broken).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Rerun (2)' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rerun' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 done').waitFor();
    await dialog.getByText('1 failed').waitFor();
    await dialog.getByText(/1 × .*Inactive workflows cannot be started/).waitFor();
    await dialog.getByRole('link', { name: `#${refused}` }).waitFor();
  });

  test('a viewer can look, and nothing else', async () => {
    const opened = await world.openFor(viewer, 'executions');
    await row(opened.page, orders).waitFor();
    expect(await opened.page.getByRole('checkbox').count()).toBe(0);
    await opened.page.goto(`${world.url}/o/${viewer.organisationId}/executions/${broken}`);
    await opened.page.getByText('What to do:').waitFor();
    expect(await opened.page.getByRole('button', { name: 'Rerun' }).count()).toBe(0);
    expectNoComplaints(opened);
  });
});

describe('one execution', () => {
  test("shows graph, timeline, and a node's output with search, copy and download", async () => {
    const opened = await world.openFor(editor, `executions/${orders}`);
    const { page } = opened;
    await page.locator('.react-flow__node').first().waitFor();
    // The picture is too small for it.
    expect(await page.getByRole('button', { name: 'Minimap' }).count()).toBe(0);
    await page.getByRole('button', { name: /^Sum, Succeeded/ }).click();
    await page.waitForURL(/node=sum/);
    const tree = page.getByRole('tree', { name: 'Output' });
    await tree.getByText('total').waitFor();
    await page.getByText('summing up').waitFor();
    await page.getByRole('textbox', { name: 'Search' }).fill('item 2999');
    await page.getByText('1 of 1').waitFor();
    await tree.getByText('"item 2999"').waitFor();
    // Three thousand items are expanded by now; only visible ones are rendered.
    expect(await tree.getByRole('treeitem').count()).toBeLessThan(100);
    const copied = await copyWith(page.getByRole('button', { name: 'Copy as JSON' }));
    expect(JSON.parse(copied)).toMatchObject({ result: { total: 42 } });
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const file = await readFile(await (await download).path(), 'utf8');
    expect(JSON.parse(file)).toEqual(JSON.parse(copied));
    await expectAccessible(page, 'main');
    expectNoComplaints(opened);
  });

  test('the iterations of a loop are filtered, and one is opened', async () => {
    const { page } = await world.openFor(editor, `executions/${orders}?node=pause`);
    await page.getByText('Failed only').click();
    await page.getByRole('button', { name: /^Iteration 2/ }).click();
    await page.waitForURL(/iteration=/);
    await page
      .getByText(/duration_ms/)
      .first()
      .waitFor();
  });

  test('the timeline is a table, too', async () => {
    const { page } = await world.openFor(editor, `executions/${broken}`);
    await page.getByText('Table', { exact: true }).click();
    const table = page.getByRole('table', { name: /When each node ran/ });
    await table.getByText('Run, attempt 2').waitFor();
    await table.getByText('Wait before retry').waitFor();
  });

  test('is rerun from the failed node, and with different valid input', async () => {
    const { page } = await world.openFor(editor, `executions/${broken}`);
    await page.getByRole('button', { name: 'Rerun' }).click();
    await page.getByRole('menuitem', { name: /From the failed node/ }).click();
    await expect.poll(() => page.url()).not.toMatch(new RegExp(`executions/${broken}$`));
    await page.getByRole('link', { name: `#${broken}` }).waitFor();

    await page.goto(`${world.url}/o/${editor.organisationId}/executions/${orders}`);
    await page.getByRole('button', { name: 'Rerun' }).click();
    await page.getByRole('menuitem', { name: /^With different input/ }).click();
    const input = page.getByRole('textbox', { name: 'Input as JSON' });
    await input.fill('{"order": "many"}');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('alert').getByText('input_data.order').waitFor();
    // Beyond double precision.
    await input.fill('{"order": 9007199254740993}');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect.poll(() => page.url()).not.toMatch(new RegExp(`executions/${orders}$`));
    await page.getByText('9007199254740993').first().waitFor();
  });

  test('stays on the page when a dialog of it cannot be loaded', async () => {
    const { page } = await world.openFor(editor, `executions/${orders}`);
    await page.route(/rerun-dialog/, (route) => route.abort());
    await page.getByRole('button', { name: 'Rerun' }).click();
    await page.getByRole('menuitem', { name: /^With different input/ }).click();
    await page.getByText(/^Couldn't load this part/).waitFor();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  });

  test('one that failed says what and why at once, and shows the node', async () => {
    const opened = await world.openFor(editor, `executions/${broken}`);
    const { page } = opened;
    await page.getByRole('region', { name: 'Failed' }).getByText('Ask the stock').waitFor();
    await page.getByRole('heading', { name: 'Ask the stock' }).waitFor();
    await page.getByRole('button', { name: /^Ask the stock, Failed/, pressed: true }).waitFor();
    await page.getByRole('tree', { name: 'Input' }).getByText('"http://127.0.0.1:1/stock"').waitFor();
    await page.getByRole('button', { name: 'Execution input' }).click();
    await page.getByRole('tree', { name: 'Input' }).getByText('17').waitFor();
    expectNoComplaints(opened);
  });

  test('the timeline is zoomed and moved, by buttons and by keys', async () => {
    const { page } = await world.openFor(editor, `executions/${orders}`);
    const bars = (node: string) => page.locator(`[data-lane="${node}"] [data-tooltip]`);
    await bars('sum').waitFor();
    // Every iteration is drawn: the loop's three, within its frame.
    await expect.poll(() => bars('each').count()).toBe(4);
    await bars('sum').hover();
    await page.getByText(/^Run, attempt 1/).waitFor();
    await page.getByRole('button', { name: 'Zoom in on the timeline' }).click();
    await page.getByRole('button', { name: 'Later' }).click();
    // What ended earlier is out of view.
    await expect.poll(() => bars('start').count()).toBe(0);
    await page.getByRole('button', { name: /^Manual start, / }).focus();
    await page.keyboard.press('0');
    await bars('start').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/node=prepare/);
  });

  test('is cancelled while a node runs, and the page ends as the execution does', async () => {
    const id = await world.execute(editor, await world.createWorkflow(editor, 'sleeping'));
    const opened = await world.openFor(editor, `executions/${id}?node=nap`);
    const { page } = opened;
    const node = page.locator('.react-flow__node').filter({ hasText: 'Nap' });
    await page.getByText(/Until a set time · at node Nap · resumes/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel execution' }).click();
    await page.locator('[data-status="cancelled"]').waitFor();
    await page.getByRole('button', { name: /^Nap, Cancelled/ }).waitFor();
    await node.getByText('Cancelled').waitFor({ state: 'attached' });
    await page.getByRole('complementary').getByText('Cancelled').waitFor();
    await page.getByRole('button', { name: 'Rerun' }).waitFor();
    expect(await page.getByText('Until a set time').count()).toBe(0);
    expectNoComplaints(opened);
  });

  test('says what it waits for, and is decided on the same page', async () => {
    const id = await world.execute(editor, await world.createWorkflow(editor, 'asking'), { order: 4712 });
    const looking = await world.openFor(viewer, `executions/${id}`);
    await looking.page.getByText('Refund order 4712?').waitFor();
    expect(await looking.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    const { page } = await world.openFor(editor, `executions/${id}`);
    const waits = page.getByRole('region', { name: 'Waiting' });
    await waits.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await page.locator('[data-status="completed"]').waitFor();
    expect(await waits.count()).toBe(0);
    // Viewers see it too.
    await looking.page.locator('[data-status="completed"]').waitFor();
  });

  test('is compared with another, output by output', async () => {
    const workflow = await world.createWorkflow(editor, 'orders');
    const a = await world.execute(editor, workflow, { order: 1 });
    const b = await world.execute(editor, workflow, { order: 2 });
    await world.finished(editor, a);
    await world.finished(editor, b);
    const opened = await world.openFor(editor, `executions/${a}`);
    const { page } = opened;
    await page.getByRole('link', { name: /^Compare/ }).click();
    await page.getByRole('button', { name: `#${b}` }).click();
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('Input').getByText('differs').waitFor();
    await row('Sum').getByText('same').waitFor();
    await row('Prepare the order').getByRole('button', { name: 'Show differences' }).click();
    await page.locator('.cm-changedLine').first().waitFor();
    await page.getByRole('switch', { name: 'Only nodes that differ' }).check();
    await expect.poll(() => row('Sum').count()).toBe(0);
    await expectAccessible(page, 'main');
    expectNoComplaints(opened);
  });

  test('in test mode it shows what would have been sent', async () => {
    const id = await world.ran(editor, 'sending');
    const { page } = await world.openFor(editor, `executions/${id}?node=send`);
    await page.getByRole('heading', { name: 'What it would have sent' }).waitFor();
    await page.getByText('"https://example.com/orders"').first().waitFor();
  });

  test("one that doesn't exist says so", async () => {
    const { page } = await world.openFor(editor, 'executions/99999999');
    await page.getByText('Execution not found').waitFor();
  });
});

test('an approval is decided in the admin area, by editors only', async () => {
  const id = await world.execute(editor, await world.createWorkflow(editor, 'asking'), { order: 4711 });
  const looking = await world.openFor(viewer, 'approvals');
  await looking.page.getByText('Refund order 4711?').waitFor();
  expect(await looking.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  const opened = await world.openFor(editor, 'approvals');
  const { page } = opened;
  const question = page.getByRole('listitem').filter({ hasText: 'Refund order 4711?' });
  await question.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('textbox', { name: /Comment/ }).fill('Seen the picture');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await expect.poll(() => page.getByText('Refund order 4711?').count()).toBe(0);
  await world.finished(editor, id);
  await page.getByText('Decided', { exact: true }).click();
  await page.getByText('Seen the picture').waitFor();
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Seen the picture' })
    .getByText(`by ${editor.email}`)
    .waitFor();
  await expectAccessible(page, 'main');
  expectNoComplaints(opened);
});
