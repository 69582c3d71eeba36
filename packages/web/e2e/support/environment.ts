import type { Environment } from 'vitest/runtime';
import { BrowserPages } from './browser-pages.ts';
import { launchChromium, type TestBrowser } from './chromium.ts';

declare global {
  /** Pages of this process's browser, started by the first test file that needs one. */
  var browserPages: (() => Promise<BrowserPages>) | undefined;
}

/** Pages are too short-lived for optimizing compilers to pay off. */
const CHEAP_SCRIPTS = ['--js-flags=--no-maglev --no-opt'];

/** The environment of browser tests: all files run by one process share its browser, which ends with it. */
export default {
  name: 'browser',
  viteEnvironment: 'ssr',
  setup(global: typeof globalThis) {
    let browser: Promise<TestBrowser> | undefined;
    let pages: Promise<BrowserPages> | undefined;
    global.browserPages = () => {
      browser ??= launchChromium(CHEAP_SCRIPTS);
      pages ??= browser.then((started) => new BrowserPages(started));
      return pages;
    };
    return {
      async teardown() {
        await (await browser)?.close();
      },
    };
  },
} satisfies Environment;
