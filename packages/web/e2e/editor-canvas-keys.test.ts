import type { Flow } from '@millrace/engine';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { boxOf, canvasNode, draftOf, eventually, openFlow as openIn } from './support/canvas.ts';
import { chooseNode, templateField } from './support/editor.ts';
import { closeByEscape, deselectByEscape, focused } from './support/focused.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

const FLOW: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
    { id: 'each', type: 'core.for_each', position: { x: 260, y: 0 }, data: { config: { items: [1] } } },
    { id: 'set', type: 'core.set', position: { x: 600, y: 0 } },
  ],
  edges: [{ id: 'a', source: 'start', target: 'each' }],
};

const openFlow = (flow: Flow) => openIn(world, flow);

const edges = (flow: Flow) => flow.edges.map(({ source, target }) => `${source}>${target}`).sort();

const hasFocus = (page: Page, wanted: string): Promise<boolean> =>
  page.evaluate((selector) => document.activeElement?.matches(selector) === true, wanted);

/** Presses Tab until the wanted element has the focus. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let presses = 0; presses < 80 && !(await hasFocus(page, wanted)); presses += 1) {
    await page.keyboard.press('Tab');
  }
  expect(await hasFocus(page, wanted), `${wanted} is reached by Tab`).toBe(true);
}

/** Selects an item of the open menu with the arrow keys. */
async function chooseItem(page: Page, name: string): Promise<void> {
  const item = page.getByRole('menuitem', { name });
  await focused(page.getByRole('menu').filter({ has: item }));
  const isThere = () => item.evaluate((element) => element === document.activeElement);
  for (let presses = 0; presses < 20 && !(await isThere()); presses += 1)
    await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
}

describe('by keyboard only', () => {
  test('a workflow is built on the canvas, undone, redone and saved', async () => {
    const opened = await openFlow({ nodes: [], edges: [] });
    const { page } = opened;
    for (const [key, search] of [
      ['/', 'manual'],
      ['Control+/', 'if'],
      // The field of the condition has the focus, where a slash is text.
      ['Control+/', 'set values'],
    ] as const) {
      await page.keyboard.press(key);
      await chooseNode(page, search);
    }
    await canvasNode(page, 'set').waitFor();
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await eventually(() => page.locator('.react-flow__node').count()).toBe(1);
    await page.keyboard.press('Control+Shift+z');
    await page.keyboard.press('Control+Shift+z');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved (v2)').waitFor();
    expect(edges(await draftOf(opened))).toEqual(['if>set', 'manual>if']);
    expectNoComplaints(opened);
  });

  /** A flow to which a node was added whose URL has to be filled in; its panel appears when it is released. */
  async function openWithPanelHeld() {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const prepare = (page: Page) =>
      page.route(/\/assets\/node-panel-/, async (route) => {
        await held;
        await route.continue();
      });
    const opened = await openIn(world, FLOW, { prepare });
    await opened.page.getByRole('button', { name: 'Add node' }).press('Enter');
    await chooseNode(opened.page, 'http');
    return { ...opened, release };
  }

  test('typing into the palette goes on when the panel of the node added before appears', async () => {
    const { release, ...opened } = await openWithPanelHeld();
    const { page } = opened;
    await page.keyboard.press('Control+/');
    const search = page.locator('.flow-palette input');
    await focused(search);
    await page.keyboard.type('set ');
    release();
    await page.getByRole('textbox', { name: 'URL' }).waitFor();
    await page.keyboard.type('values');
    expect(await search.inputValue()).toBe('set values');
    expectNoComplaints(opened);
  });

  test('the panel of a new node takes the focus from what opened the palette, however late it appears', async () => {
    const { release, ...opened } = await openWithPanelHeld();
    release();
    await focused(templateField(opened.page.locator('.editor-side'), 'URL'));
    expectNoComplaints(opened);
  });

  test('a button reached meanwhile keeps the focus when the panel of a new node appears', async () => {
    const { release, ...opened } = await openWithPanelHeld();
    const { page } = opened;
    await tabTo(page, '[aria-label="Show as a list"]');
    release();
    await templateField(page.locator('.editor-side'), 'URL').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Nodes of this workflow' }).waitFor();
    expectNoComplaints(opened);
  });

  test('a node is reached by Tab, opened, moved and removed', async () => {
    const opened = await openFlow(FLOW);
    const { page } = opened;
    await canvasNode(page, 'set').waitFor();
    await tabTo(page, '.react-flow__node[data-id="set"]');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Node' }).waitFor();
    await deselectByEscape(canvasNode(page, 'set'));
    await tabTo(page, '.react-flow__node[data-id="set"]');
    await page.keyboard.press('Space');
    await page.keyboard.press('Shift+ArrowDown');
    await eventually(
      async () => (await draftOf(opened)).nodes.find(({ id }) => id === 'set')?.position?.y,
    ).toBeGreaterThan(0);
    await page.keyboard.press('Delete');
    await eventually(() => page.locator('.react-flow__node').count()).toBe(2);
    expectNoComplaints(opened);
  });

  test("nodes in a loop can't be moved out of its frame", async () => {
    const inner = { id: 'inner', type: 'core.set', parentId: 'each', position: { x: 32, y: 52 } };
    const opened = await openFlow({ ...FLOW, nodes: [...FLOW.nodes, inner] });
    const { page } = opened;
    const placeOf = async () => (await draftOf(opened)).nodes.find(({ id }) => id === 'inner')?.position;
    await tabTo(page, '.react-flow__node[data-id="inner"]');
    await page.keyboard.press('Space');
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft']) {
      await page.keyboard.press(`Shift+${key}`);
    }
    await eventually(placeOf).toEqual({ x: 12, y: 44 });
    expectNoComplaints(opened);
  });

  test('nodes pasted with the pointer in a loop are in the loop, except a trigger', async () => {
    const opened = await openFlow(FLOW);
    const { page } = opened;
    const parents = async () =>
      (await draftOf(opened)).nodes.map(({ id, parentId }) => `${id} in ${parentId ?? 'nothing'}`);
    const copy = async (id: string) => {
      await canvasNode(page, id).focus();
      await page.keyboard.press('Space');
      await page.keyboard.press('Control+c');
      const frame = await boxOf(canvasNode(page, 'each'));
      await page.mouse.move(frame.x + 60, frame.y + 90);
      await page.keyboard.press('Control+v');
      await canvasNode(page, `${id}_2`).waitFor();
    };
    await copy('set');
    await copy('start');
    await eventually(parents).toEqual([
      'start in nothing',
      'each in nothing',
      'set in nothing',
      'set_2 in each',
      'start_2 in nothing',
    ]);
    expectNoComplaints(opened);
  });

  test('an edge is reached by Tab, and a node inserted into it', async () => {
    const opened = await openFlow(FLOW);
    const { page } = opened;
    await canvasNode(page, 'set').waitFor();
    await tabTo(page, '.react-flow__edge[data-id="edge:a"]');
    await page.keyboard.press('Enter');
    await page.keyboard.press('/');
    await chooseNode(page, 'code');
    await eventually(async () => edges(await draftOf(opened))).toEqual(['code>each', 'start>code']);
    expectNoComplaints(opened);
  });

  test('the list offers what the canvas does: add, connect, move into a loop, delete, open', async () => {
    const opened = await openFlow(FLOW);
    const { page } = opened;
    await page.getByRole('button', { name: 'Show as a list' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Nodes of this workflow' }).waitFor();

    await page.getByRole('button', { name: 'Actions for For each' }).focus();
    await page.keyboard.press('Enter');
    await chooseItem(page, 'Connect to…');
    const target = page.getByRole('combobox', { name: 'To' });
    await target.waitFor();
    await target.focus();
    await page.keyboard.type('set');
    await page.getByRole('option', { name: 'Set values (set)' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const connect = page.getByRole('button', { name: 'Connect', exact: true });
    await eventually(() => connect.isEnabled()).toBe(true);
    await connect.focus();
    await page.keyboard.press('Enter');
    await eventually(async () => edges(await draftOf(opened))).toEqual(['each>set', 'start>each']);

    await page.getByRole('button', { name: 'Actions for Set values' }).focus();
    await page.keyboard.press('Enter');
    await chooseItem(page, 'Move into For each');
    await page.getByText('A connection was removed').first().waitFor();
    await eventually(async () => (await draftOf(opened)).nodes.find(({ id }) => id === 'set')?.parentId).toBe(
      'each',
    );

    await page.getByRole('button', { name: 'Actions for Set values' }).focus();
    await page.keyboard.press('Enter');
    await chooseItem(page, 'Add a node after this one');
    await chooseNode(page, 'delay');
    await eventually(
      async () => (await draftOf(opened)).nodes.find(({ id }) => id === 'delay')?.parentId,
    ).toBe('each');

    await page.getByRole('button', { name: 'Actions for For each' }).focus();
    await page.keyboard.press('Enter');
    await chooseItem(page, 'Delete');
    await eventually(async () => (await draftOf(opened)).nodes.map(({ id }) => id)).toEqual(['start']);
    await page.getByRole('button', { name: 'Manual start', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Node' }).waitFor();
    expectNoComplaints(opened);
  });

  test('the keyboard map opens with a question mark; in a field, keys are typed', async () => {
    const opened = await openFlow(FLOW);
    const { page } = opened;
    await canvasNode(page, 'set').waitFor();
    await page.keyboard.press('?');
    await closeByEscape(page.getByRole('dialog', { name: 'Keyboard shortcuts' }));
    await canvasNode(page, 'set').click();
    const label = page.getByRole('textbox', { name: 'Node name' });
    await label.fill('a/b?l');
    await label.press('Backspace');
    expect(await label.inputValue()).toBe('a/b?');
    await expect.poll(() => page.locator('.react-flow__node').count()).toBe(3);
    expectNoComplaints(opened);
  });
});
