import type { Flow } from '@millrace/engine';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BrowserService, OpenOptions, TestPage } from './browser-service.ts';
import { createWorkflow } from './editor.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The editor of a workflow as this person, once the canvas has settled. */
export async function openEditor(
  world: BrowserService,
  person: TestPerson,
  id: number,
  options: OpenOptions = {},
): Promise<TestPage> {
  const opened = await world.openFor(person, `workflows/${id}`, options);
  await stillCanvas(opened.page);
  return opened;
}

/** The editor with this flow, saved by a new user. */
export async function openFlow(
  world: BrowserService,
  flow: Flow,
  options: OpenOptions = {},
): Promise<TestPage & { readonly person: TestPerson; readonly id: number }> {
  const person = await createPerson(world.service, 'editor');
  const id = await createWorkflow(person, 'Orders', flow);
  return { ...(await openEditor(world, person, id, options)), person, id };
}

/** The person's draft as saved by the service; the saved flow if there is none. */
export async function draftOf({ person, id }: { person: TestPerson; id: number }): Promise<Flow> {
  const params = { org: person.organisationId, id };
  const { data } = await person.call('GET /orgs/:org/workflows/:id/draft', { params });
  if (data.draft !== null) return data.draft.flow_data as Flow;
  const saved = await person.call('GET /orgs/:org/workflows/:id', { params });
  return saved.data.flow_data;
}

/** Waits until the service has saved the draft. */
export async function keptDraft(page: Page): Promise<void> {
  await page.getByText('Saved as draft').waitFor();
}

export function canvasNode(page: Page, id: string): Locator {
  return page.locator(`.react-flow__node[data-id="${id}"]`);
}

export function handleOf(page: Page, id: string, kind: 'source' | 'target'): Locator {
  return page.locator(`.react-flow__handle.${kind}[data-nodeid="${id}"]`);
}

/** What the page remembers between two frames. */
interface CanvasMemory {
  canvasPlaces?: string;
  canvasFrames?: number;
}

/** Consecutive frames in which nothing may move. */
const STILL_FRAMES = 10;

/**
 * Waits until the canvas has settled: node types, which determine sizes, have loaded and nothing moves. Positions
 * measured earlier would miss.
 */
export async function stillCanvas(page: Page): Promise<void> {
  await page.getByTestId('canvas').waitFor();
  await page.evaluate(() => {
    (window as CanvasMemory).canvasFrames = 0;
  });
  await page.waitForFunction(
    (frames) => {
      const memory = window as CanvasMemory;
      const nodes = [...document.querySelectorAll('.react-flow__node')];
      const places = nodes.map((node) => Object.values(node.getBoundingClientRect().toJSON())).join();
      const isKnown = document.querySelector('.react-flow__node .flow-kind-unknown') === null;
      const isStill = isKnown && places === memory.canvasPlaces;
      memory.canvasPlaces = places;
      memory.canvasFrames = isStill ? (memory.canvasFrames ?? 0) + 1 : 0;
      return memory.canvasFrames >= frames;
    },
    STILL_FRAMES,
    { polling: 'raf' },
  );
}

/** Consecutive frames in which a measured element may not move: the canvas pans 50 ms after a node was added. */
const STEADY_FRAMES = 6;

/** Frames after which an element that still moves is taken for one that never rests. */
const RESTLESS_FRAMES = 3_600;

/** Where an element is drawn, once that stays the same. @throws Error if it isn't drawn, or never rests */
export async function boxOf(locator: Locator) {
  await locator.evaluate(
    async (element, { steady, restless }) => {
      const place = () => JSON.stringify(element.getBoundingClientRect());
      let before = '';
      for (let same = 0, frames = 0; same < steady; frames += 1) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        const now = place();
        if (frames > restless) throw new Error(`still moves, from ${before} to ${now}`);
        same = now === before ? same + 1 : 0;
        before = now;
      }
    },
    { steady: STEADY_FRAMES, restless: RESTLESS_FRAMES },
  );
  const box = await locator.boundingBox();
  if (box === null) throw new Error(`${locator.toString()} isn't shown`);
  return box;
}

/** The point to press. @throws Error if it isn't drawn */
export async function middleOf(locator: Locator): Promise<Point> {
  const { x, y, width, height } = await boxOf(locator);
  return { x: x + width / 2, y: y + height / 2 };
}

/** Drags with the mouse in steps, like a hand. */
export async function dragTo(page: Page, from: Point, to: Point): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 5 });
  await page.mouse.move(to.x, to.y, { steps: 5 });
  await page.mouse.up();
}

/** Polls until the UI and the service have caught up: a draft is saved a moment after a change. */
export function eventually<Value>(read: () => Value | Promise<Value>) {
  return expect.poll(read);
}

/** Waits until the responses from these endpoints have arrived: the ends of their addresses. */
export async function hasFetched(page: Page, ...paths: readonly string[]): Promise<void> {
  await page.waitForFunction((ends) => {
    const arrived = performance.getEntriesByType('resource').map(({ name }) => name);
    return ends.every((end) => arrived.some((address) => address.endsWith(end)));
  }, paths);
}

/**
 * Waits until the palette is there with all that it imports and lists, which the editor loads in reserve for when the connection is lost. Its own
 * file may arrive first.
 */
export async function hasReserve(page: Page): Promise<void> {
  await hasFetched(page, '/node-types');
  const file = await page.waitForFunction(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => name)
      .find((address) => /\/palette-[^/]*\.js$/.test(address)),
  );
  // As a text: the test runner would replace the import.
  await page.evaluate(`import(${JSON.stringify(await file.jsonValue())}).then(() => undefined)`);
}
