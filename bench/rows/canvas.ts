import type { Page } from 'playwright-core';
import type { TestBrowser } from '../../packages/web/e2e/support/chromium.ts';
import { ensureWebPage } from '../../tools/web-page.mjs';
import {
  countFrames,
  findEmptyPlace,
  findNode,
  largeFlow,
  openEditor,
  type Place,
  pull,
  signIn,
  zoomIn,
} from '../editor/page.ts';
import { parseTrace, readSmoothness, type Smoothness, TRACE_CATEGORIES } from '../editor/trace.ts';
import type { Metric, Row } from '../row.ts';
import { startMillrace } from '../server-process.ts';
import { percentile } from '../statistics.ts';
import { createTenant, createWorkflow } from '../tenant.ts';

/** Measured in the same round, so that they can be compared on a machine whose speed varies. */
const SIZES = [500, 1_000];

/** Milliseconds before each action. */
const REST_MS = 1_500;

/** Actions by their names in the report. */
const ACTIONS = [
  { id: 'pan_all', label: 'all nodes in view, panning' },
  { id: 'drag_all', label: 'all nodes in view, dragging a node' },
  { id: 'pan', label: 'zoomed in, panning' },
  { id: 'drag', label: 'zoomed in, dragging a node' },
] as const;
const MEASURES = [
  { id: 'frames', label: 'frames a second', unit: '/s' },
  { id: 'frame_p50', label: 'time per frame while traced, p50', unit: 'ms' },
  { id: 'frame_p95', label: 'time per frame while traced, p95', unit: 'ms' },
  { id: 'longest_task', label: 'longest task while traced', unit: 'ms' },
] as const;

/** How smoothly the editor handles large workflows, in Chromium without a graphics card. A trace shows more and slows the page, so each action is repeated with one. */
export const canvasRow: Row = {
  id: 'canvas',
  metrics: SIZES.flatMap((size) =>
    ACTIONS.flatMap((action) =>
      MEASURES.map(
        (measure): Metric => ({
          id: `canvas.${size}_${action.id}_${measure.id}`,
          section: 'Editor',
          label: `${size} nodes, ${action.label}: ${measure.label}`,
          unit: measure.unit,
        }),
      ),
    ),
  ),
  async measure(bench) {
    await ensureWebPage((text) => bench.progress(text));
    const folder = await bench.createFolder('canvas');
    const server = await startMillrace({ command: 'start', databaseUrl: bench.databaseUrl, folder });
    try {
      const tenant = await createTenant(bench.db, 'canvas');
      const session = await signIn(bench.db, tenant.organisationId);
      const readings: [string, number][] = [];
      for (const size of SIZES) {
        const workflowId = await createWorkflow(server.baseUrl, tenant, `canvas ${size}`, largeFlow(size));
        const opened = await openEditor(server.baseUrl, session, tenant.organisationId, workflowId);
        try {
          readings.push(...(await measureActions(size, opened)));
        } finally {
          await opened.browser.close();
        }
      }
      return Object.fromEntries(readings);
    } finally {
      await server.stop();
    }
  },
};

async function measureActions(
  size: number,
  { browser, page }: { readonly browser: TestBrowser; readonly page: Page },
): Promise<[string, number][]> {
  // What V8 hasn't compiled yet is slower once.
  await pull(page, await findEmptyPlace(page));
  const far = {
    pan_all: await measureAction(browser, page, findEmptyPlace),
    drag_all: await measureAction(browser, page, findNode),
  };
  await zoomIn(page);
  const measured = {
    ...far,
    pan: await measureAction(browser, page, findEmptyPlace),
    drag: await measureAction(browser, page, findNode),
  };
  return ACTIONS.flatMap(({ id }) => readingsOf(`canvas.${size}_${id}`, measured[id]));
}

interface Action extends Smoothness {
  /** Without the trace. */
  readonly framesPerSecond: number;
}

async function measureAction(
  { browser }: TestBrowser,
  page: Page,
  find: (page: Page) => Promise<Place>,
): Promise<Action> {
  // As someone who has looked first: the canvas prepares for it at rest.
  await page.waitForTimeout(REST_MS);
  const from = await find(page);
  const framesPerSecond = await countFrames(page, () => pull(page, from));
  await browser.startTracing(page, { categories: [...TRACE_CATEGORIES] });
  await pull(page, from);
  const text = (await browser.stopTracing()).toString('utf8');
  return { ...readSmoothness(parseTrace(text)), framesPerSecond };
}

function readingsOf(id: string, { framesPerSecond, frameMs, longestTaskMs }: Action): [string, number][] {
  return [
    [`${id}_frames`, framesPerSecond],
    [`${id}_frame_p50`, percentile(frameMs, 0.5)],
    [`${id}_frame_p95`, percentile(frameMs, 0.95)],
    [`${id}_longest_task`, longestTaskMs],
  ];
}
