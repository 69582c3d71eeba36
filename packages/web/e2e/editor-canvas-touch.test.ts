import type { Flow } from '@millrace/engine';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { canvasNode, draftOf, eventually, handleOf, middleOf, openFlow } from './support/canvas.ts';
import { closeByEscape } from './support/focused.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

const FLOW: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 40 } },
    { id: 'check', type: 'core.if', position: { x: 260, y: 200 } },
    { id: 'end', type: 'core.set', position: { x: 560, y: 260 } },
  ],
  edges: [{ id: 'b', source: 'check', sourceHandle: 'true', target: 'end' }],
};

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The editor on a touch screen without a mouse. */
async function open(flow: Flow = FLOW) {
  const opened = await openFlow(world, flow, { isTouched: true, width: 1280, height: 800 });
  return { ...opened, finger: await fingerOn(opened.page, opened.context) };
}

async function fingerOn(page: Page, context: BrowserContext) {
  const session = await context.newCDPSession(page);
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: readonly Point[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: [...touchPoints] });
  return {
    down: (...at: Point[]) => send('touchStart', at),
    move: (...at: Point[]) => send('touchMove', at),
    up: () => send('touchEnd', []),
    async tap(at: Point) {
      await send('touchStart', [at]);
      await send('touchEnd', []);
    },
    async drag(from: Point, to: Point) {
      await send('touchStart', [from]);
      for (let step = 1; step <= 10; step++) {
        const part = step / 10;
        await send('touchMove', [{ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }]);
      }
      await send('touchEnd', []);
    },
  };
}

const gripOf = (page: Page, id: string) => middleOf(canvasNode(page, id).locator('.flow-node-title'));

const edges = (flow: Flow) =>
  flow.edges.map(({ source, sourceHandle, target }) => `${source}.${sourceHandle ?? 'out'}>${target}`).sort();

describe('by touch', () => {
  test('nodes are connected by dragging, or by tapping a handle and a node', async () => {
    const opened = await open();
    const { page, finger } = opened;
    await finger.drag(
      await middleOf(handleOf(page, 'start', 'source')),
      await middleOf(handleOf(page, 'check', 'target')),
    );
    await eventually(async () => edges(await draftOf(opened))).toEqual(['check.true>end', 'start.out>check']);
    await finger.tap(await middleOf(page.locator('[data-nodeid="check"][data-handleid="false"]')));
    await page.locator('.react-flow__handle.clickconnecting').waitFor();
    await finger.tap(await gripOf(page, 'end'));
    await eventually(async () => edges(await draftOf(opened))).toEqual([
      'check.false>end',
      'check.true>end',
      'start.out>check',
    ]);
    // An invalid connection is reported.
    await finger.tap(await middleOf(handleOf(page, 'end', 'source')));
    await page.locator('.react-flow__handle.clickconnecting').waitFor();
    await finger.tap(await middleOf(handleOf(page, 'check', 'target')));
    await page.getByText('That would create a cycle').first().waitFor();
    expect(await page.getByRole('complementary', { name: 'Node' }).count()).toBe(0);
    expectNoComplaints(opened);
  });

  test('the end of a connection is dragged to another handle', async () => {
    const opened = await open();
    const { page, finger } = opened;
    await finger.drag(
      await middleOf(page.locator('.react-flow__edgeupdater-source')),
      await middleOf(page.locator('[data-nodeid="check"][data-handleid="false"]')),
    );
    await eventually(async () => edges(await draftOf(opened))).toEqual(['check.false>end']);
    await finger.drag(
      await middleOf(page.locator('.react-flow__edgeupdater-source')),
      await middleOf(handleOf(page, 'start', 'source')),
    );
    await eventually(async () => edges(await draftOf(opened))).toEqual(['start.out>end']);
    expectNoComplaints(opened);
  });

  test('a long press opens the menu of what is under it, and moves nothing', async () => {
    const opened = await open();
    const { page, finger } = opened;
    const grip = await gripOf(page, 'check');
    await finger.down(grip);
    await page.getByRole('menu', { name: 'Node actions' }).waitFor();
    await finger.move({ x: grip.x + 60, y: grip.y + 60 });
    await finger.up();
    await page.getByRole('menuitem', { name: 'Delete' }).tap();
    await eventually(async () => (await draftOf(opened)).nodes.map(({ id }) => id)).toEqual(['start', 'end']);
    const pane = await middleOf(page.locator('.react-flow__pane'));
    await finger.down({ x: pane.x, y: pane.y - 200 });
    await page.getByRole('menuitem', { name: 'Add node' }).waitFor();
    await finger.up();
    await expect.poll(() => page.getByRole('menuitem', { name: 'Add node' }).isVisible()).toBe(true);
    expectNoComplaints(opened);
  });

  test('a node is moved, and the canvas is panned and zoomed', async () => {
    const opened = await open();
    const { page, finger } = opened;
    const placeOf = async () => (await draftOf(opened)).nodes.find(({ id }) => id === 'end')?.position;
    const grip = await gripOf(page, 'end');
    await finger.drag(grip, { x: grip.x + 40, y: grip.y + 80 });
    await eventually(placeOf).not.toEqual({ x: 560, y: 260 });
    const viewport = page.locator('.react-flow__viewport');
    const transform = () => viewport.evaluate((element) => new DOMMatrix(element.style.transform).toJSON());
    const before = await transform();
    const pane = await middleOf(page.locator('.react-flow__pane'));
    const free = { x: pane.x, y: pane.y - 240 };
    await finger.drag(free, { x: free.x + 60, y: free.y + 40 });
    await eventually(async () => (await transform()).e).toBeGreaterThan(before.e + 20);
    await finger.down({ x: free.x - 20, y: free.y }, { x: free.x + 20, y: free.y });
    await finger.move({ x: free.x - 30, y: free.y }, { x: free.x + 30, y: free.y });
    await finger.move({ x: free.x - 40, y: free.y }, { x: free.x + 40, y: free.y });
    await finger.up();
    await eventually(async () => (await transform()).a).toBeGreaterThan(before.a);
    expectNoComplaints(opened);
  });

  test('several are selected, by taps and with a box', async () => {
    const opened = await open();
    const { page, finger } = opened;
    const selected = () => page.locator('.react-flow__node.selected').count();
    await page.getByRole('button', { name: 'Select multiple' }).tap();
    await finger.tap(await gripOf(page, 'start'));
    await finger.tap(await gripOf(page, 'end'));
    await eventually(selected).toBe(2);
    await finger.tap(await gripOf(page, 'end'));
    await eventually(selected).toBe(1);
    const [first, last] = [await gripOf(page, 'check'), await gripOf(page, 'end')];
    await finger.drag({ x: first.x - 120, y: first.y - 60 }, { x: last.x + 60, y: last.y + 90 });
    await eventually(selected).toBe(2);
    await finger.down(await middleOf(page.locator('.react-flow__nodesselection-rect')));
    await page.getByRole('menuitem', { name: 'Arrange in a row' }).waitFor();
    await finger.up();
    await closeByEscape(page.getByRole('menu'));
    await page.getByRole('button', { name: 'Select multiple' }).tap();
    await finger.tap(await gripOf(page, 'start'));
    await page.getByRole('complementary', { name: 'Node' }).waitFor();
    await eventually(selected).toBe(1);
    expectNoComplaints(opened);
  });

  test('every target is at least 24 pixels large', async () => {
    const opened = await open();
    const { page, finger } = opened;
    await finger.tap(await middleOf(page.locator('.react-flow__edge-path').first()));
    await page.locator('[data-tool="remove"]').waitFor();
    const small = await page.evaluate((parts) => {
      const hits = (element: Element, x: number, y: number) =>
        document.elementFromPoint(x, y)?.closest(parts) === element;
      return [...document.querySelectorAll(parts)]
        .filter((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          const [middleX, middleY] = [x + width / 2, y + height / 2];
          const reach = (dx: number, dy: number) => {
            let count = 0;
            while (hits(element, middleX + count * dx, middleY + count * dy)) count += 0.5;
            return count;
          };
          return reach(1, 0) + reach(-1, 0) < 24 || reach(0, 1) + reach(0, -1) < 24;
        })
        .map((element) => element.outerHTML);
    }, '.react-flow__handle, .react-flow__edgeupdater, [data-tool], .flow-toolbar button');
    expect(small).toEqual([]);
    expectNoComplaints(opened);
  });
});
