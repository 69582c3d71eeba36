import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium as playwright } from 'playwright-core';

/** A browser with a folder of its own for what it leaves behind. */
export interface TestBrowser {
  readonly browser: Browser;
  newContext(options?: ContextOptions): Promise<BrowserContext>;
  close(): Promise<void>;
}

export interface ContextOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  readonly language?: 'en' | 'ja';
}

/** Starts the Chromium that its npm package ships, libraries included. */
export async function launchChromium(): Promise<TestBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-chromium-'));
  const executablePath = await chromium.executablePath();
  const browser = await playwright.launch({
    executablePath,
    headless: true,
    args: ['--no-sandbox', '--lang=en-US', '--disable-dev-shm-usage'],
    env: { ...process.env, TMPDIR: folder } as { [name: string]: string },
  });
  return {
    browser,
    newContext: ({ width = 1280, height = 800, scheme = 'light', language = 'en' } = {}) =>
      browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        locale: language === 'ja' ? 'ja-JP' : 'en-US',
        timezoneId: 'Europe/Berlin',
        reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'],
      }),
    async close() {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
