import type { Environment } from 'vitest/runtime';
import { BrowserPages } from './browser-pages.ts';
import { launchChromium, type TestBrowser } from './chromium.ts';

declare global {
  /** The pages of this process's browser, which the first test file that asks for one starts. */
  var browserPages: (() => Promise<BrowserPages>) | undefined;
}

/** Pages are gone before code that was optimized for them has paid off. */
const CHEAP_SCRIPTS = ['--js-flags=--no-maglev --no-opt'];

/** The surroundings of browser tests: the files that one process runs share its browser, which ends with the process. */
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
