import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { DATA_ROOT } from '@millrace/testing/data-root';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium as playwright } from 'playwright-core';
import { matchWholeNames } from './whole-names.ts';

/** A browser with its own temporary folder. */
export interface TestBrowser {
  readonly browser: Browser;
  newContext(options?: ContextOptions): Promise<BrowserContext>;
  close(): Promise<void>;
}

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly scheme: 'light' | 'dark';
  readonly language: 'en' | 'ja';
  /** A touch screen without a mouse. */
  readonly isTouched: boolean;
}

/** Overrides of {@link USUAL_LOOK}. */
export type ContextOptions = Partial<Look>;

export const USUAL_LOOK: Look = {
  width: 1280,
  height: 800,
  scheme: 'light',
  language: 'en',
  isTouched: false,
};

/**
 * Starts the Chromium bundled with its npm package, libraries included.
 *
 * @param args for its command line, besides the standard ones
 */
export async function launchChromium(args: readonly string[] = []): Promise<TestBrowser> {
  const executablePath = await unpackChromium();
  const folder = await mkdtemp(join(DATA_ROOT, 'millrace-browser-'));
  const browser = await playwright.launch({
    executablePath,
    headless: true,
    args: ['--no-sandbox', '--lang=en-US', '--disable-dev-shm-usage', ...args],
    env: { ...process.env, TMPDIR: folder } as { [name: string]: string },
  });
  return {
    browser,
    async newContext(options = {}) {
      const { width, height, scheme, language, isTouched } = { ...USUAL_LOOK, ...options };
      const context = await browser.newContext({
        viewport: { width, height },
        hasTouch: isTouched,
        isMobile: isTouched,
        colorScheme: scheme,
        locale: language === 'ja' ? 'ja-JP' : 'en-US',
        timezoneId: 'Europe/Berlin',
        reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      context.on('page', matchWholeNames);
      return context;
    },
    async close() {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Unpacks the browser once per user and version. The package itself unpacks into a temporary folder shared by all users
 * and takes a partial copy there for complete. So it gets another folder, which is renamed once it is complete.
 */
async function unpackChromium(): Promise<string> {
  const { devDependencies } = createRequire(import.meta.url)('../../package.json') as {
    readonly devDependencies: { readonly [name: string]: string };
  };
  const version = devDependencies['@sparticuz/chromium'];
  const place = join(tmpdir(), `millrace-chromium-${userInfo().uid}-${version}`);
  const executable = join(place, 'chromium');
  if (existsSync(executable) && (await lstat(place)).uid === userInfo().uid) return executable;
  const fresh = await mkdtemp(join(tmpdir(), 'millrace-unpack-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = fresh;
  try {
    const unpacked = await chromium.executablePath();
    if (basename(unpacked) !== 'chromium' || !(await readdir(fresh)).includes('chromium')) {
      throw new Error(`the browser was unpacked to ${unpacked} instead of ${fresh}`);
    }
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  // Another process may have been faster; both unpacked the same files.
  await rename(fresh, place).catch(() => rm(fresh, { recursive: true, force: true }));
  return executable;
}
