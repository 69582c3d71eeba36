import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { boxOf, canvasNode, draftOf, eventually, openFlow } from './support/canvas.ts';
import { chooseNode } from './support/editor.ts';
import { focused } from './support/focused.ts';

/** Operations of connectors, which the editor loads when the palette opens or a flow has one. */
let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

const START = { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } };

test('an operation is found in the palette, and added with its form', async () => {
  const opened = await openFlow(world, { nodes: [START], edges: [] });
  const { page } = opened;
  await canvasNode(page, 'start').waitFor();
  await page.keyboard.press('/');
  await page.getByRole('group', { name: 'Google Sheets', exact: true }).waitFor();
  await chooseNode(page, 'append rows');
  const node = page.getByText('Google Sheets: Append rows').first();
  await node.waitFor();
  await page.getByText('Spreadsheet ID').first().waitFor();
  await eventually(async () => (await draftOf(opened)).nodes.map(({ type }) => type)).toEqual([
    'trigger.manual',
    'connector.google_sheets.append_rows',
  ]);
  expectNoComplaints(opened);
});

test('Enter waits for operations that are still loading, and chooses what fits best then', async () => {
  const held = Promise.withResolvers<void>();
  const opened = await openFlow(
    world,
    { nodes: [START], edges: [] },
    {
      prepare: (page) =>
        page.route(/\/connectors$/, async (route) => {
          await held.promise;
          await route.continue();
        }),
    },
  );
  const { page } = opened;
  await canvasNode(page, 'start').waitFor();
  await page.keyboard.press('/');
  const palette = page.locator('.flow-palette');
  await palette.getByRole('option').first().waitFor();
  await focused(palette.getByRole('combobox'));
  await page.keyboard.type('google sheets append rows');
  await page.keyboard.press('Enter');
  await palette.getByRole('status', { name: 'Loading' }).waitFor();
  // A call by HTTP is offered only where nothing else fits.
  expect(await palette.getByRole('option').count()).toBe(0);
  held.resolve();
  await palette.waitFor({ state: 'detached' });
  await eventually(async () => (await draftOf(opened)).nodes.map(({ type }) => type)).toEqual([
    'trigger.manual',
    'connector.google_sheets.append_rows',
  ]);
  expectNoComplaints(opened);
});

test('a flow that has one shows its title in the language of the reader, and is started by a service instead', async () => {
  const flow = {
    nodes: [
      START,
      { id: 'tell', type: 'connector.slack.send_message', position: { x: 300, y: 0 }, data: { config: {} } },
    ],
    edges: [{ id: 'a', source: 'start', target: 'tell' }],
  };
  const opened = await openFlow(world, flow, { language: 'ja' });
  const { page } = opened;
  await page.getByText('Slack: メッセージを送信').first().waitFor();
  expect(await canvasNode(page, 'tell').textContent()).toContain('Slack: メッセージを送信');

  const started = async () => {
    const { nodes, edges } = await draftOf(opened);
    return [nodes[0]?.id, nodes[0]?.type, edges];
  };
  await canvasNode(page, 'start').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'サービスで開始…' }).click();
  await page.getByRole('group', { name: 'Gmail', exact: true }).waitFor();
  const offered = await page
    .locator('.flow-palette [data-type]')
    .evaluateAll((options) => options.map((option) => option.getAttribute('data-type') ?? ''));
  expect(offered.filter((type) => !type.startsWith('trigger.') || type === 'trigger.manual')).toEqual([]);
  await chooseNode(page, 'gmail new message');
  await eventually(started).toEqual(['start', 'trigger.gmail.new_message', flow.edges]);

  // From its panel, which is open now; wide, it makes room.
  const panel = page.locator('.editor-side');
  await panel.getByRole('button', { name: '開始方法を変更' }).waitFor();
  await page.keyboard.press('F2');
  await panel.getByRole('button', { name: '開始方法を変更' }).click();
  await page.getByRole('menuitem', { name: 'サービスで開始…' }).click();
  await page.locator('.flow-palette [data-type="trigger.stripe.new_payment"]').click();
  await eventually(started).toEqual(['start', 'trigger.stripe.new_payment', flow.edges]);
  expectNoComplaints(opened);
});

test('the list of problems calls settings as their forms do, although no form was opened', async () => {
  const nodes = [
    START,
    { id: 'tell', type: 'connector.slack.send_message', position: { x: 300, y: 0 }, data: { config: {} } },
    { id: 'ask', type: 'http.request', position: { x: 600, y: 0 }, data: { config: {} } },
  ];
  const edges = [
    { id: 'a', source: 'start', target: 'tell' },
    { id: 'b', source: 'tell', target: 'ask' },
  ];
  const { page } = await openFlow(world, { nodes, edges });
  await canvasNode(page, 'tell').waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const list = page.getByRole('list', { name: 'Problems' });
  for (const name of ['Channel', 'Credential', 'URL'])
    await list.getByText(`"${name}" is required`).waitFor();
});

test('a trigger of a service is found by searching, shows its polling, and is none of the usual starts', async () => {
  const opened = await openFlow(world, { nodes: [], edges: [] });
  const { page } = opened;
  await page.getByText('Poll a URL').waitFor();
  await page.keyboard.press('/');
  await page.getByRole('group', { name: 'Gmail', exact: true }).waitFor();
  await chooseNode(page, 'gmail new message');
  await page.getByLabel('Interval').waitFor();
  await eventually(async () => (await draftOf(opened)).nodes.map(({ type }) => type)).toEqual([
    'trigger.gmail.new_message',
  ]);
  expectNoComplaints(opened);
});

test('the menu of a trigger fits into a low window, and its last line is reached by scrolling', async () => {
  const opened = await openFlow(world, { nodes: [START], edges: [] }, { height: 480 });
  const { page } = opened;
  await canvasNode(page, 'start').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Start with a service…' }).waitFor();
  const { y, height } = await boxOf(page.getByRole('menu'));
  expect([y >= 0, y + height <= 480]).toEqual([true, true]);
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await eventually(async () => (await draftOf(opened)).nodes).toEqual([]);
  expectNoComplaints(opened);
});
