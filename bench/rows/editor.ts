import type { Page } from 'playwright-core';
import type { TestBrowser } from '../../packages/web/e2e/support/chromium.ts';
import { ensureWebPage } from '../../tools/web-page.mjs';
import { dragNode, largeFlow, openEditor, pan, signIn, zoomIn } from '../editor/page.ts';
import { parseTrace, readSmoothness, type Smoothness, TRACE_CATEGORIES } from '../editor/trace.ts';
import type { Metric, Row } from '../row.ts';
import { startMillrace } from '../server-process.ts';
import { percentile } from '../statistics.ts';
import { createTenant, createWorkflow } from '../tenant.ts';

const NODES = 500;

/** Actions by their names in the report. */
const ACTIONS = [
  { id: 'pan_all', label: 'all nodes in sight, moving the picture' },
  { id: 'drag_all', label: 'all nodes in sight, dragging a node' },
  { id: 'pan', label: 'zoomed in, moving the picture' },
  { id: 'drag', label: 'zoomed in, dragging a node' },
] as const;

/** How smoothly the editor handles a workflow of 500 nodes: Chromium without a graphics card, traced. */
export const editorRow: Row = {
  id: 'editor',
  metrics: ACTIONS.flatMap(({ id, label }): Metric[] => [
    {
      id: `editor.${id}_frame_p50`,
      section: 'Editor',
      label: `${NODES} nodes, ${label}: time per frame, p50`,
      unit: 'ms',
    },
    {
      id: `editor.${id}_frame_p95`,
      section: 'Editor',
      label: `${NODES} nodes, ${label}: time per frame, p95`,
      unit: 'ms',
    },
    {
      id: `editor.${id}_longest_task`,
      section: 'Editor',
      label: `${NODES} nodes, ${label}: longest task`,
      unit: 'ms',
    },
  ]),
  async measure(bench) {
    await ensureWebPage((text) => bench.progress(text));
    const folder = await bench.createFolder('editor');
    const server = await startMillrace({ command: 'start', databaseUrl: bench.databaseUrl, folder });
    try {
      const tenant = await createTenant(bench.db, 'editor');
      const flow = largeFlow(NODES);
      const workflowId = await createWorkflow(server.baseUrl, tenant, 'editor', flow);
      const session = await signIn(bench.db, tenant.organisationId);
      const { browser, page } = await openEditor(server.baseUrl, session, tenant.organisationId, workflowId);
      try {
        const far = {
          pan_all: await trace(browser, page, pan),
          drag_all: await trace(browser, page, dragNode),
        };
        await zoomIn(page);
        const measured = {
          ...far,
          pan: await trace(browser, page, pan),
          drag: await trace(browser, page, dragNode),
        };
        return Object.fromEntries(ACTIONS.flatMap(({ id }) => readingsOf(id, measured[id])));
      } finally {
        await browser.close();
      }
    } finally {
      await server.stop();
    }
  },
};

async function trace(
  { browser }: TestBrowser,
  page: Page,
  act: (page: Page) => Promise<void>,
): Promise<Smoothness> {
  await browser.startTracing(page, { categories: [...TRACE_CATEGORIES] });
  await act(page);
  const text = (await browser.stopTracing()).toString('utf8');
  return readSmoothness(parseTrace(text));
}

function readingsOf(id: string, { frameMs, longestTaskMs }: Smoothness): [string, number][] {
  return [
    [`editor.${id}_frame_p50`, percentile(frameMs, 0.5)],
    [`editor.${id}_frame_p95`, percentile(frameMs, 0.95)],
    [`editor.${id}_longest_task`, longestTaskMs],
  ];
}
