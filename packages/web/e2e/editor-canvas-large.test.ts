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
  /** Those of them that were while the canvas was being moved, and not when it rested between two steps of a slow hand. */
  readonly whileMoved: readonly string[];
  /** Changed lines and boxes of the picture from far away. */
  readonly shapes: number;
  /** Changed boxes of the map. */
  readonly map: number;
  /** Begun by a style that changed: each would be drawn once more. */
  readonly transitions: number;
}

/** The changes of a pan. */
const NONE = { whileMoved: [], shapes: 0, map: 0, transitions: 0 } as const;

/** Notes every change of the canvas until {@link readChanges}. */
async function watchChanges(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen = {
      nodes: new Set<string>(),
      whileMoved: new Set<string>(),
      shapes: new Set<Node>(),
      map: new Set<Node>(),
      transitions: 0,
    };
    /** Milliseconds; shorter than the canvas takes to count as at rest. */
    const REST = 150;
    let movedAt = Number.NEGATIVE_INFINITY;
    const note = (target: Node) => {
      const element = target instanceof Element ? target : target.parentElement;
      const id = element?.closest('.react-flow__node')?.getAttribute('data-id');
      if (id != null) {
        seen.nodes.add(id);
        if (performance.now() - movedAt < REST) seen.whileMoved.add(id);
      }
      if (element?.closest('.flow-far-edges, .flow-far-nodes') != null) seen.shapes.add(target);
      if (element?.closest('.flow-map-nodes path') != null) seen.map.add(target);
    };
    const view = document.querySelector('.react-flow__viewport');
    const observer = new MutationObserver((records) => {
      if (records.some(({ target }) => target === view)) movedAt = performance.now();
      for (const { target, addedNodes, removedNodes } of records) {
        note(target);
        for (const child of [...addedNodes, ...removedNodes]) note(child);
      }
    });
    const canvas = document.querySelector('.react-flow');
    if (canvas === null) throw new Error('there is no canvas');
    canvas.addEventListener('transitionrun', () => {
      seen.transitions += 1;
    });
    observer.observe(canvas, { subtree: true, childList: true, attributes: true, characterData: true });
    Object.assign(window, { readCanvasChanges: () => seen });
  });
}

async function readChanges(page: Page): Promise<Changes> {
  return await page.evaluate(() => {
    const { nodes, whileMoved, shapes, map, transitions } = (
      window as unknown as {
        readCanvasChanges: () => {
          nodes: Set<string>;
          whileMoved: Set<string>;
          shapes: Set<Node>;
          map: Set<Node>;
          transitions: number;
        };
      }
    ).readCanvasChanges();
    return {
      nodes: [...nodes],
      whileMoved: [...whileMoved],
      shapes: shapes.size,
      map: map.size,
      transitions,
    };
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

/** That the lines of what is dragged end at both sides of the node's box, to a pixel. */
async function expectLinesToTouch(page: Page, id: string): Promise<void> {
  const ends = await page.locator('.flow-lifted .react-flow__edge-path').evaluateAll((paths) =>
    paths.map((each) => {
      const path = each as SVGPathElement;
      const [matrix, length] = [path.getScreenCTM(), path.getTotalLength()];
      const at = (place: number) => path.getPointAtLength(place).matrixTransform(matrix ?? undefined);
      return { start: at(0).x, end: at(length).x, startY: at(0).y, endY: at(length).y };
    }),
  );
  const { x, y, width, height } = await boxOf(canvasNode(page, id));
  expect(ends).toHaveLength(2);
  const [into, out] = ends.toSorted((a, b) => a.start - b.start);
  for (const [line, side] of [
    [into?.end, x],
    [out?.start, x + width],
  ] as const) {
    // A handle is half outside.
    expect(Math.abs((line ?? 0) - side)).toBeLessThan(8);
  }
  for (const middle of [into?.endY, out?.startY]) {
    expect(Math.abs((middle ?? 0) - y - height / 2)).toBeLessThan(2);
  }
}

/** Zooms in at the middle of the canvas until names are readable. */
async function zoomIn(page: Page): Promise<void> {
  const middle = await middleOf(page.getByTestId('canvas'));
  await page.mouse.move(middle.x, middle.y);
  await eventually(async () => {
    await page.mouse.wheel(0, -240);
    return await page.locator('.react-flow.is-tiny, .flow-far-nodes').count();
  }).toBe(0);
  await page.mouse.wheel(0, -480);
  await page.locator('.react-flow__edge').first().waitFor({ state: 'attached' });
}

/** A node near the middle of the canvas. */
async function nearMiddle(page: Page): Promise<string> {
  const middle = await middleOf(page.getByTestId('canvas'));
  return await page.locator('.react-flow__node').evaluateAll((nodes, { x, y }) => {
    const farOf = (node: Element) => {
      const box = node.getBoundingClientRect();
      return Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y);
    };
    const [nearest] = nodes.toSorted((a, b) => farOf(a) - farOf(b));
    return nearest?.getAttribute('data-id') ?? '';
  }, middle);
}

/** Where the map's part that isn't dimmed is on the screen: the second part of its path. */
function placeOfHole(path: Element): {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
} {
  const [, , width = '0', height = '0'] =
    /M.*?z(M0,0)h([\d.]+)v([\d.]+)/.exec(path.getAttribute('d') ?? '') ?? [];
  const { x, y } = path.closest('svg')?.getBoundingClientRect() ?? { x: 0, y: 0 };
  return { x, y, width: Number(width), height: Number(height) };
}

/** What the canvas shows: its offset and zoom. */
const viewOf = (page: Page) =>
  page.locator('.react-flow__viewport').evaluate((element) => (element as HTMLElement).style.transform);

/** Nodes that are rendered although they are further from what is seen than `pixels`, and those that aren't although they are nearer. */
async function strayNodes(page: Page, pixels: number): Promise<{ missing: string[]; beyond: string[] }> {
  const rendered = new Set(
    await page
      .locator('.react-flow__node')
      .evaluateAll((nodes) => nodes.map((node) => node.getAttribute('data-id') ?? '')),
  );
  const [x = 0, y = 0, zoom = 1] = (await viewOf(page)).match(/-?[\d.]+/g)?.map(Number) ?? [];
  const { width, height } = await boxOf(page.getByTestId('canvas'));
  /** How many pixels a node is outside of what is seen. */
  const distanceOf = (column: number, row: number) => {
    const [left, top] = [240 * column * zoom + x, 96 * row * zoom + y];
    return Math.max(-(left + 184 * zoom), left - width, -(top + 52 * zoom), top - height);
  };
  const nodes = cells().map((cell) => ({ id: idOf(cell.x, cell.y), distance: distanceOf(cell.x, cell.y) }));
  const idsOf = (list: typeof nodes) => list.map(({ id }) => id);
  return {
    missing: idsOf(nodes.filter(({ id, distance }) => distance < pixels - 1 && !rendered.has(id))),
    beyond: idsOf(nodes.filter(({ id, distance }) => distance > pixels + 1 && rendered.has(id))),
  };
}

/** Waits until what is around the seen part is rendered, and nothing else. */
async function atRest(page: Page): Promise<void> {
  await eventually(() => strayNodes(page, 256)).toEqual({ missing: [], beyond: [] });
}

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
  expect(await readChanges(page)).toEqual({ ...NONE, nodes: [] });
  await page.mouse.up();
});

test('dragging one of a thousand nodes changes it and nothing else until it is dropped', async () => {
  const { page, ...opened } = await openLarge();
  const from = await middleOf(canvasNode(page, MIDDLE));
  await press(page, from);
  // It is selected by that, and the canvas told that something is dragged.
  await page.mouse.move(from.x + 12, from.y + 4, { steps: 3 });
  await page.locator('.react-flow.is-pulled').waitFor();
  await watchChanges(page);
  await page.mouse.move(from.x + 60, from.y + 30, { steps: 10 });
  await eventually(async () => (await readChanges(page)).nodes).toEqual([MIDDLE]);
  const { shapes, map, transitions } = await readChanges(page);
  expect({ shapes, map, transitions }).toEqual({ shapes: 0, map: 0, transitions: 0 });
  // What is dragged is drawn apart: a frame, an icon and a bar, and two connections that end at it.
  expect(await page.locator('.flow-lifted-node path').count()).toBe(3);
  await expectLinesToTouch(page, MIDDLE);
  await page.mouse.up();
  await page.locator('.flow-lifted').waitFor({ state: 'detached' });
  await eventually(async () => (await readChanges(page)).map).toBe(1);
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

test('the map shows what is seen, and only moves that while a large flow is panned near', async () => {
  const { page } = await openLarge();
  await zoomIn(page);
  const map = await boxOf(page.locator('.flow-map-nodes'));
  const seen = page.locator('.flow-map-mask path');
  const drawn = await seen.getAttribute('d');
  const placeOf = () => seen.evaluate(placeOfHole);
  const before = await placeOf();
  const canvas = await boxOf(page.getByTestId('canvas'));
  expect(before.width / before.height).toBeCloseTo(canvas.width / canvas.height, 1);
  // The middle of the flow is in the middle of the canvas.
  expect(Math.abs(before.x + before.width / 2 - map.x - map.width / 2)).toBeLessThan(map.width / 10);
  const node = await boxOf(canvasNode(page, await nearMiddle(page)));
  await press(page, { x: node.x - 8, y: node.y + node.height + 8 });
  await page.mouse.move(node.x - 20, node.y + 20, { steps: 3 });
  await page.locator('.react-flow.is-panned.is-pulled').waitFor();
  const view = await viewOf(page);
  await page.mouse.move(node.x - 220, node.y + 120, { steps: 10 });
  await eventually(() => viewOf(page)).not.toBe(view);
  await page.mouse.up();
  await page.locator('.react-flow.is-panned').waitFor({ state: 'detached' });
  const after = await placeOf();
  expect(after.x).toBeGreaterThan(before.x + 1);
  expect(after.y).toBeLessThan(before.y - 1);
  expect(await seen.getAttribute('d')).toBe(drawn);
});

test('a pan near finds nodes rendered around what is seen, and renders more as it goes on', async () => {
  const { page } = await openLarge();
  await zoomIn(page);
  await atRest(page);
  const node = await boxOf(canvasNode(page, await nearMiddle(page)));
  const from = { x: node.x - 8, y: node.y + node.height + 8 };
  await press(page, from);
  await page.mouse.move(from.x - 12, from.y, { steps: 3 });
  await page.locator('.react-flow.is-panned.is-pulled').waitFor();
  await watchChanges(page);
  const view = await viewOf(page);
  await page.mouse.move(from.x - 220, from.y + 110, { steps: 10 });
  await eventually(() => viewOf(page)).not.toBe(view);
  expect(await readChanges(page)).toMatchObject(NONE);
  const canvas = await boxOf(page.getByTestId('canvas'));
  await page.mouse.move(canvas.x + 20 - canvas.width, from.y + 110, { steps: 20 });
  await eventually(async () => (await strayNodes(page, 0)).missing).toEqual([]);
  expect((await readChanges(page)).nodes).not.toEqual([]);
  await page.mouse.up();
  await atRest(page);
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

test('a node that is dragged near takes its connections along, and leaves them where it is dropped', async () => {
  const { page, ...opened } = await openLarge();
  await zoomIn(page);
  await atRest(page);
  const id = await nearMiddle(page);
  const before = await boxOf(canvasNode(page, id));
  const hidden = page.locator('.react-flow__edge[style*="hidden"]');
  const from = { x: before.x + before.width / 2, y: before.y + 10 };
  await press(page, from);
  await page.mouse.move(from.x + 12, from.y + 4, { steps: 3 });
  await page.locator('.flow-lifted').waitFor({ state: 'attached' });
  await watchChanges(page);
  await page.mouse.move(from.x + 80, from.y + 60, { steps: 10 });
  await eventually(async () => (await boxOf(canvasNode(page, id))).x).toBeGreaterThan(before.x + 70);
  expect(await readChanges(page)).toMatchObject({ nodes: [id], shapes: 0, map: 0, transitions: 0 });
  expect(await hidden.count()).toBe(2);
  await expectLinesToTouch(page, id);
  const dragged = await boxOf(canvasNode(page, id));
  await page.mouse.up();
  await page.locator('.flow-lifted').waitFor({ state: 'detached' });
  await eventually(() => hidden.count()).toBe(0);
  const dropped = await boxOf(canvasNode(page, id));
  expect([dropped.x, dropped.y]).toEqual([
    expect.closeTo(dragged.x, 1) as unknown,
    expect.closeTo(dragged.y, 1) as unknown,
  ]);
  expect(await canvasNode(page, id).evaluate((node) => (node as HTMLElement).style.transform)).toBe('none');
  const started = FLOW.nodes.find((node) => node.id === id)?.position ?? { x: 0, y: 0 };
  await eventually(
    async () => (await draftOf(opened)).nodes.find((node) => node.id === id)?.position?.y ?? 0,
  ).toBeGreaterThan(started.y);
});
