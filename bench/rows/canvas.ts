import type { Page } from 'playwright-core';
import type { TestBrowser } from '../../packages/web/e2e/support/chromium.ts';
import { ensureWebPage } from '../../tools/web-page.mjs';
import {
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

/** Actions by their names in the report. */
const ACTIONS = [
  { id: 'pan_all', label: 'all nodes in view, panning' },
  { id: 'drag_all', label: 'all nodes in view, dragging a node' },
  { id: 'pan', label: 'zoomed in, panning' },
  { id: 'drag', label: 'zoomed in, dragging a node' },
] as const;
const MEASURES = [
  { id: 'frame_p50', label: 'time per frame, p50' },
  { id: 'frame_p95', label: 'time per frame, p95' },
  { id: 'longest_task', label: 'longest task' },
] as const;

/** How smoothly the editor handles large workflows: Chromium without a graphics card, traced. */
export const canvasRow: Row = {
  id: 'canvas',
  metrics: SIZES.flatMap((size) =>
    ACTIONS.flatMap((action) =>
      MEASURES.map(
        (measure): Metric => ({
          id: `canvas.${size}_${action.id}_${measure.id}`,
          section: 'Editor',
          label: `${size} nodes, ${action.label}: ${measure.label}`,
          unit: 'ms',
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
  const far = {
    pan_all: await trace(browser, page, findEmptyPlace),
    drag_all: await trace(browser, page, findNode),
  };
  await zoomIn(page);
  const measured = {
    ...far,
    pan: await trace(browser, page, findEmptyPlace),
    drag: await trace(browser, page, findNode),
  };
  return ACTIONS.flatMap(({ id }) => readingsOf(`canvas.${size}_${id}`, measured[id]));
}

async function trace(
  { browser }: TestBrowser,
  page: Page,
  find: (page: Page) => Promise<Place>,
): Promise<Smoothness> {
  const from = await find(page);
  await browser.startTracing(page, { categories: [...TRACE_CATEGORIES] });
  await pull(page, from);
  const text = (await browser.stopTracing()).toString('utf8');
  return readSmoothness(parseTrace(text));
}

function readingsOf(id: string, { frameMs, longestTaskMs }: Smoothness): [string, number][] {
  return [
    [`${id}_frame_p50`, percentile(frameMs, 0.5)],
    [`${id}_frame_p95`, percentile(frameMs, 0.95)],
    [`${id}_longest_task`, longestTaskMs],
  ];
}
