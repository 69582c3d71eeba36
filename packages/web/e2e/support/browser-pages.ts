import type { BrowserContext, Page } from 'playwright-core';
import { type ContextOptions, type Look, type TestBrowser, USUAL_LOOK } from './chromium.ts';

/** A page that a test has for itself until it gives it back. */
export interface BorrowedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly giveBack: () => Promise<void>;
}

export interface BorrowOptions extends ContextOptions {
  /** In a new browser profile, where nothing was loaded before; it is thrown away afterwards. */
  readonly isFresh?: boolean;
}

/** Ends a hang; what is waited for comes, on a slow machine later. */
const MOST_PATIENCE_MS = 90_000;
/** What a page does in no time, or never. */
const CLEANING_MS = 10_000;
/** What tests listen to. */
const EVENTS = ['console', 'dialog', 'download', 'pageerror', 'request', 'response'] as const;

/**
 * Lends pages to one test after the other. A page of a new profile fetches and compiles every script again, which takes
 * three times as much work as going on to another address. So a page goes on to the next test, knowing nothing of the
 * one before: without its cookies, its storage, its routes, its listeners and its other pages.
 */
export class BrowserPages {
  readonly #browser: TestBrowser;
  readonly #idle = new Map<string, { readonly page: Page; readonly context: BrowserContext }[]>();

  constructor(browser: TestBrowser) {
    this.#browser = browser;
  }

  /** @param origin where the page goes, whose storage is cleared afterwards */
  async borrow(origin: string, { isFresh = false, ...options }: BorrowOptions = {}): Promise<BorrowedPage> {
    const look = { ...USUAL_LOOK, ...options };
    const key = JSON.stringify([look.width, look.height, look.scheme, look.language, look.isTouched]);
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, idle);
    const { page, context } = (isFresh ? undefined : idle.pop()) ?? (await this.#open(look));
    const giveBack = async (): Promise<void> => {
      const isClean = !isFresh && (await clean(page, context, origin, look));
      if (isClean) idle.push({ page, context });
      else await context.close();
    };
    return { page, context, giveBack };
  }

  async #open(look: Look) {
    const context = await this.#browser.newContext(look);
    const page = await context.newPage();
    page.setDefaultTimeout(MOST_PATIENCE_MS);
    return { page, context };
  }
}

/** @returns whether the page may be lent to another test */
async function clean(
  page: Page,
  context: BrowserContext,
  origin: string,
  { width, height, scheme }: Look,
): Promise<boolean> {
  if (page.isClosed()) return false;
  try {
    for (const event of EVENTS) page.removeAllListeners(event);
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.setOffline(false);
    await context.clearCookies();
    await page.mouse.move(0, 0);
    // A document without scripts: nothing stores anything after that.
    await page.goto(`${origin}/healthz`, { timeout: CLEANING_MS });
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await page.emulateMedia({ colorScheme: scheme, forcedColors: null, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    return true;
  } catch {
    // It crashed, or doesn't answer.
    return false;
  }
}
