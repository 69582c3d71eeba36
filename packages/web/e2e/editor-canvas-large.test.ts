import type { Flow } from '@millrace/engine';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, openBrowserService, type TestPage } from './support/browser-service.ts';
import { boxOf, canvasNode, draftOf, eventually, middleOf, openFlow } from './support/canvas.ts';

const COLUMNS = 50;
const ROWS = 20;

/** 1,000 nodes in connected rows. */
const FLOW: Flow = {
  nodes: cells().map(({ x, y }) => ({
    id: idOf(x, y),
    type: x === 0 && y === 0 ? 'trigger.manual' : 'core.set',
    position: { x: 240 * x, y: 96 * y },
    data: {},
  })),
  edges: cells()
    .filter(({ x }) => x > 0)
    .map(({ x, y }) => ({ id: `e${x}_${y}`, source: idOf(x - 1, y), target: idOf(x, y) })),
};

function cells(): { readonly x: number; readonly y: number }[] {
  return Array.from({ length: COLUMNS * ROWS }, (_, at) => ({
    x: at % COLUMNS,
    y: Math.floor(at / COLUMNS),
  }));
}
function idOf(x: number, y: number): string {
  return `n${x}_${y}`;
}

const MIDDLE = idOf(25, 10);

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

/** Changes of the page by the element of the canvas they happen in. */
interface Changes {
  /** Ids of nodes that were changed, added or removed, or whose content was. */
  readonly nodes: readonly string[];
  /** Changed lines and boxes of the picture from far away. */
  readonly shapes: number;
  /** Changed boxes of the map. */
  readonly map: number;
}

/** Notes every change of the canvas until {@link readChanges}. */
async function watchChanges(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen = { nodes: new Set<string>(), shapes: new Set<Node>(), map: new Set<Node>() };
    const note = (target: Node) => {
      const element = target instanceof Element ? target : target.parentElement;
      const id = element?.closest('.react-flow__node')?.getAttribute('data-id');
      if (id != null) seen.nodes.add(id);
      if (element?.closest('.flow-far-edges, .flow-far-nodes') != null) seen.shapes.add(target);
      if (element?.closest('.flow-map-nodes path') != null) seen.map.add(target);
    };
    const observer = new MutationObserver((records) => {
      for (const { target, addedNodes, removedNodes } of records) {
        note(target);
        for (const child of [...addedNodes, ...removedNodes]) note(child);
      }
    });
    const canvas = document.querySelector('.react-flow');
    if (canvas === null) throw new Error('there is no canvas');
    observer.observe(canvas, { subtree: true, childList: true, attributes: true, characterData: true });
    Object.assign(window, { readCanvasChanges: () => seen });
  });
}

async function readChanges(page: Page): Promise<Changes> {
  return await page.evaluate(() => {
    const { nodes, shapes, map } = (
      window as unknown as {
        readCanvasChanges: () => { nodes: Set<string>; shapes: Set<Node>; map: Set<Node> };
      }
    ).readCanvasChanges();
    return { nodes: [...nodes], shapes: shapes.size, map: map.size };
  });
}

async function openLarge(): Promise<TestPage & Awaited<ReturnType<typeof openFlow>>> {
  const opened = await openFlow(world, FLOW);
  await opened.page.locator('.flow-far-nodes path').first().waitFor();
  return opened;
}

async function press(page: Page, from: { readonly x: number; readonly y: number }): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
}

/** What the canvas shows: its offset and zoom. */
const viewOf = (page: Page) =>
  page.locator('.react-flow__viewport').evaluate((element) => (element as HTMLElement).style.transform);

test('moving the picture of a thousand nodes changes none of them', async () => {
  const { page } = await openLarge();
  const node = await boxOf(canvasNode(page, MIDDLE));
  // Between two nodes.
  await press(page, { x: node.x - 4, y: node.y + node.height + 4 });
  await page.mouse.move(node.x + 6, node.y + 20);
  await watchChanges(page);
  const before = await viewOf(page);
  await page.mouse.move(node.x - 300, node.y + 120, { steps: 10 });
  await eventually(() => viewOf(page)).not.toBe(before);
  expect(await readChanges(page)).toEqual({ nodes: [], shapes: 0, map: 0 });
  await page.mouse.up();
});

test('dragging one of a thousand nodes changes it, its connections and nothing else', async () => {
  const { page, ...opened } = await openLarge();
  const from = await middleOf(canvasNode(page, MIDDLE));
  await press(page, from);
  // It is selected by that, and the canvas told that something is dragged.
  await page.mouse.move(from.x + 12, from.y + 4, { steps: 3 });
  await page.locator('.react-flow.is-pulled').waitFor();
  await watchChanges(page);
  await page.mouse.move(from.x + 60, from.y + 30, { steps: 10 });
  await eventually(async () => (await readChanges(page)).nodes).toEqual([MIDDLE]);
  const { shapes, map } = await readChanges(page);
  // Two connections, in one element or in two; a frame, an icon and a bar, together with those of 31 others.
  expect(shapes).toBeLessThanOrEqual(2 + 4);
  expect(map).toBe(1);
  await page.mouse.up();
  const placeOf = async () =>
    (await draftOf(opened)).nodes.find(({ id }) => id === MIDDLE)?.position ?? { x: 0, y: 0 };
  await eventually(async () => (await placeOf()).x).toBeGreaterThan(25 * 240 + 100);
});

test('nodes from far away are opened by a click and by keys', async () => {
  const { page } = await openLarge();
  const panel = page.getByRole('complementary', { name: 'Node' });
  const place = await middleOf(canvasNode(page, MIDDLE));
  await page.mouse.click(place.x, place.y);
  await panel.getByText(MIDDLE).first().waitFor();
  await page.locator('.flow-far-node.is-selected').waitFor({ state: 'attached' });
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await canvasNode(page, idOf(3, 3)).focus();
  await page.keyboard.press('Enter');
  await panel.getByText(idOf(3, 3)).first().waitFor();
});

test('pulling the map moves the canvas, and its wheel zooms', async () => {
  const { page } = await openLarge();
  const map = page.getByRole('img', { name: 'Minimap' });
  const middle = await middleOf(map);
  const before = await boxOf(canvasNode(page, MIDDLE));
  await press(page, middle);
  await page.mouse.move(middle.x + 10, middle.y, { steps: 4 });
  await page.mouse.up();
  const after = await boxOf(canvasNode(page, MIDDLE));
  expect(after.x).toBeLessThan(before.x - 20);
  expect(after.width).toBeCloseTo(before.width, 3);
  await page.mouse.wheel(0, -500);
  await eventually(async () => (await boxOf(canvasNode(page, MIDDLE))).width).toBeCloseTo(
    2 * before.width,
    1,
  );
});
