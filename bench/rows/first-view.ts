import type { BrowserContext } from 'playwright-core';
import { launchChromium } from '../../packages/web/e2e/support/chromium.ts';
import { ensureWebPage } from '../../tools/web-page.mjs';
import { largeFlow, signIn } from '../editor/page.ts';
import type { Metric, Row } from '../row.ts';
import { startMillrace } from '../server-process.ts';
import { createTenant, createWorkflow, type Tenant } from '../tenant.ts';

/** A slow mobile connection: 1.6 Mbit/s down, 750 kbit/s up, 150 ms there and back. */
const CONNECTION = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};
const NODES = 20;

/** Pages by their ids in the results. */
const PAGES = [
  { id: 'sign_in', label: 'sign-in' },
  { id: 'workflows', label: 'list of workflows' },
  { id: 'editor', label: 'editor' },
  { id: 'executions', label: 'executions' },
  { id: 'execution', label: 'execution' },
  { id: 'versions', label: 'versions of a workflow' },
  { id: 'templates', label: 'gallery' },
  { id: 'settings', label: 'settings' },
] as const;

/** Until the first heading of a page is shown, at a slow connection, with nothing cached. */
export const firstViewRow: Row = {
  id: 'first-view',
  metrics: PAGES.map(
    ({ id, label }): Metric => ({
      id: `first-view.${id}_heading`,
      section: 'First view',
      label: `${label}: first heading at 1.6 Mbit/s and 150 ms, nothing cached`,
      unit: 'ms',
    }),
  ),
  async measure(bench) {
    await ensureWebPage((text) => bench.progress(text));
    const folder = await bench.createFolder('first-view');
    const server = await startMillrace({ command: 'start', databaseUrl: bench.databaseUrl, folder });
    const browser = await launchChromium();
    try {
      const tenant = await createTenant(bench.db, 'first view');
      const workflowId = await createWorkflow(server.baseUrl, tenant, 'first view', largeFlow(NODES));
      const executionId = await execute(server.baseUrl, tenant, workflowId);
      const session = await signIn(bench.db, tenant.organisationId);
      const home = `/o/${tenant.organisationId}`;
      const paths = {
        sign_in: '/sign-in',
        workflows: `${home}/workflows`,
        editor: `${home}/workflows/${workflowId}`,
        executions: `${home}/executions`,
        execution: `${home}/executions/${executionId}`,
        versions: `${home}/workflows/${workflowId}/versions`,
        templates: `${home}/templates`,
        settings: `${home}/settings`,
      };
      const readings: [string, number][] = [];
      for (const { id } of PAGES) {
        const context = await browser.newContext({ width: 1280, height: 800 });
        if (id !== 'sign_in') {
          await context.addCookies([{ name: 'millrace_session', value: session, url: server.baseUrl }]);
        }
        readings.push([`first-view.${id}_heading`, await timeHeading(context, server.baseUrl + paths[id])]);
        await context.close();
      }
      return Object.fromEntries(readings);
    } finally {
      await browser.close();
      await server.stop();
    }
  },
};

/** Runs the workflow once, to its end. @returns the execution's id */
async function execute(baseUrl: string, { headers }: Tenant, workflowId: number): Promise<number> {
  const answer = await fetch(`${baseUrl}/api/v1/workflows/${workflowId}/execute`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"input_data":{}}',
  });
  const { execution_id: id } = (await answer.json()) as { execution_id: number };
  await fetch(`${baseUrl}/api/v1/executions/${id}?wait=30`, { headers });
  return id;
}

/** Runs in the page from the start: notes when the first heading is there. */
const NOTE_HEADING = `new MutationObserver((_changes, observer) => {
  if (document.querySelector('h1, h2') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => document.documentElement.setAttribute('data-heading-at', String(performance.now())));
}).observe(document, { childList: true, subtree: true });`;

/** Milliseconds from the start of the navigation until the first heading is painted. */
async function timeHeading(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage();
  await page.addInitScript(NOTE_HEADING);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', CONNECTION);
  await page.goto(url, { waitUntil: 'commit' });
  const noted = page.locator('html[data-heading-at]');
  await noted.waitFor({ state: 'attached' });
  return Number(await noted.getAttribute('data-heading-at'));
}
