import type { BrowserContext, Page } from 'playwright-core';
import { type ContextOptions, type Look, type TestBrowser, USUAL_LOOK } from './chromium.ts';
import { recordInput } from './input-log.ts';

/** A page used exclusively by one test until it is returned. */
export interface BorrowedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly giveBack: () => Promise<void>;
}

export interface BorrowOptions extends ContextOptions {
  /** Uses a new browser profile with empty caches, discarded afterwards. */
  readonly isFresh?: boolean;
}

/** Ends a hang; on a slow machine the awaited result may only be late. */
const MAX_PATIENCE_MS = 90_000;
/** Cleaning either takes almost no time or never finishes. */
const CLEANING_MS = 10_000;
/** The events that tests listen to. */
const EVENTS = ['console', 'dialog', 'download', 'pageerror', 'request', 'response'] as const;

/**
 * Lends pages to one test after another. A new profile fetches and compiles every script again, three times the work of
 * navigating to another address. So pages are reused, after clearing cookies, storage, routes, listeners and other
 * pages of the previous test.
 */
export class BrowserPages {
  readonly #browser: TestBrowser;
  readonly #idle = new Map<string, { readonly page: Page; readonly context: BrowserContext }[]>();

  constructor(browser: TestBrowser) {
    this.#browser = browser;
  }

  /** @param origin where the page will navigate; its storage is cleared afterwards */
  async borrow(origin: string, { isFresh = false, ...options }: BorrowOptions = {}): Promise<BorrowedPage> {
    const look = { ...USUAL_LOOK, ...options };
    // All else can be changed in an open page.
    const key = JSON.stringify([look.language, look.isTouched]);
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, idle);
    const { page, context } = (isFresh ? undefined : idle.pop()) ?? (await this.#open(look));
    await show(page, look);
    const giveBack = async (): Promise<void> => {
      const isClean = !isFresh && (await clean(page, context, origin));
      if (isClean) idle.push({ page, context });
      else await context.close();
    };
    return { page, context, giveBack };
  }

  async #open(look: Look) {
    const context = await this.#browser.newContext(look);
    await context.addInitScript(reportViolations);
    await context.addInitScript(recordInput);
    const page = await context.newPage();
    page.setDefaultTimeout(MAX_PATIENCE_MS);
    return { page, context };
  }
}

/**
 * Logs violations of the content security policy with the element at fault, which the browser's own message doesn't name. Where text is edited,
 * the browser itself writes styles that the policy blocks: text that replaces coloured text would keep its colour.
 */
function reportViolations(): void {
  document.addEventListener('securitypolicyviolation', ({ target, effectiveDirective, blockedURI }) => {
    const isOfEditing = target instanceof HTMLElement && target.isContentEditable;
    if (isOfEditing && effectiveDirective === 'style-src-attr') return;
    const place = target instanceof Element ? target.outerHTML.slice(0, 500) : 'the page';
    console.error(`violates ${effectiveDirective}: ${blockedURI} in ${place}`);
  });
}

async function show(page: Page, { width, height, scheme }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme, forcedColors: null, reducedMotion: 'reduce' });
  await page.setViewportSize({ width, height });
}

/** @returns whether the page can be lent again */
async function clean(page: Page, context: BrowserContext, origin: string): Promise<boolean> {
  if (page.isClosed()) return false;
  try {
    for (const event of EVENTS) page.removeAllListeners(event);
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.setOffline(false);
    await context.clearCookies();
    await page.mouse.move(0, 0);
    // A document without scripts: nothing is stored after that.
    await page.goto(`${origin}/healthz`, { timeout: CLEANING_MS });
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    return true;
  } catch {
    // It crashed or doesn't respond.
    return false;
  }
}
