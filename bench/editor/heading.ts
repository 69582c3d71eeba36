import type { BrowserContext } from 'playwright-core';
import { launchChromium, type TestBrowser } from '../../packages/web/e2e/support/chromium.ts';
import { ensureWebPage } from '../../tools/web-page.mjs';
import type { Bench } from '../row.ts';
import { startMillrace } from '../server-process.ts';
import { createTenant, type Tenant } from '../tenant.ts';

/** A slow mobile connection: 1.6 Mbit/s down, 750 kbit/s up, 150 ms there and back. */
const CONNECTION = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};

/** What {@link timeHeading} measures, for labels. */
export const HEADING = 'first heading at 1.6 Mbit/s and 150 ms, nothing cached';

/** Runs in the page from the start: notes when the first heading is there. */
const NOTE_HEADING = `new MutationObserver((_changes, observer) => {
  if (document.querySelector('h1, h2') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => document.documentElement.setAttribute('data-heading-at', String(performance.now())));
}).observe(document, { childList: true, subtree: true });`;

/** A page to open, as somebody new to it. */
export interface FirstVisit {
  readonly baseUrl: string;
  readonly path: string;
  /** The cookie of who opens it; null: nobody who is signed in. */
  readonly session: string | null;
  readonly language?: 'en' | 'ja';
}

/** A service with an organisation, and the browser that visits it. */
export interface Visited {
  readonly baseUrl: string;
  readonly tenant: Tenant;
  readonly browser: TestBrowser;
}

/** Runs `measure` with a service and a browser of their own, which end with it. @param name of the organisation and the folder */
export async function whileVisited<Result>(
  bench: Bench,
  name: string,
  measure: (visited: Visited) => Promise<Result>,
): Promise<Result> {
  await ensureWebPage((text) => bench.progress(text));
  const folder = await bench.createFolder(name);
  const server = await startMillrace({ command: 'start', databaseUrl: bench.databaseUrl, folder });
  const browser = await launchChromium();
  try {
    const tenant = await createTenant(bench.db, name);
    return await measure({ baseUrl: server.baseUrl, tenant, browser });
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Milliseconds from the start of the navigation until the first heading is painted, with a profile of its own. */
export async function timeHeading(
  browser: TestBrowser,
  { baseUrl, path, session, language = 'en' }: FirstVisit,
): Promise<number> {
  const context = await browser.newContext({ width: 1280, height: 800, language });
  try {
    if (session !== null) {
      await context.addCookies([{ name: 'millrace_session', value: session, url: baseUrl }]);
    }
    return await timeIn(context, baseUrl + path);
  } finally {
    await context.close();
  }
}

async function timeIn(context: BrowserContext, url: string): Promise<number> {
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
