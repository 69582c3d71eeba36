import type { Environment } from 'vitest/runtime';
import type { BrowserPages } from './browser-pages.ts';
import type { TestBrowser } from './chromium.ts';

declare global {
  /** Pages of this process's browser, started by the first test file that needs one. */
  var browserPages: (() => Promise<BrowserPages>) | undefined;
}

/** Pages are too short-lived for optimizing compilers to pay off. */
const CHEAP_SCRIPTS = ['--js-flags=--no-maglev --no-opt'];

/** The environment of all tests. The files run by one process share a browser, which starts when one needs it and ends with the process. */
export default {
  name: 'shared-browser',
  viteEnvironment: 'ssr',
  setup(global: typeof globalThis) {
    let browser: Promise<TestBrowser> | undefined;
    let pages: Promise<BrowserPages> | undefined;
    global.browserPages = () => {
      browser ??= import('./chromium.ts').then(({ launchChromium }) => launchChromium(CHEAP_SCRIPTS));
      pages ??= open(browser);
      return pages;
    };
    return {
      async teardown() {
        await (await browser)?.close();
      },
    };
  },
} satisfies Environment;

async function open(browser: Promise<TestBrowser>): Promise<BrowserPages> {
  const { BrowserPages } = await import('./browser-pages.ts');
  return new BrowserPages(await browser);
}
