import type { Role } from '@millrace/admin-api';
import { createPerson, type PersonOptions, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestOverrides, type TestService } from '@millrace/testing/service';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { ensureWebPage } from '../../../../tools/web-page.mjs';
import type { BorrowOptions } from './browser-pages.ts';
import { inputLogOf } from './input-log.ts';

/** A service that serves the built UI, and the browser. */
export interface BrowserService {
  readonly service: TestService;
  /** Where the UI is served; the same host as configured in the service. */
  readonly url: string;
  /** A page of a signed-out browser, until the test ends. */
  openPage(options?: OpenOptions): Promise<TestPage>;
  /** A page of a user with this role, at `path` within their organisation (`workflows`). */
  openAs(
    role: Role,
    path: string,
    options?: OpenOptions & PersonOptions,
  ): Promise<TestPage & { readonly person: TestPerson }>;
  /** Another page of the same person, as in another browser. */
  openFor(person: TestPerson, path: string, options?: OpenOptions): Promise<TestPage>;
  stop(): Promise<void>;
}

export interface OpenOptions extends BorrowOptions {
  /** Called before the page navigates anywhere. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

export interface TestPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Script errors, content security policy violations and failed requests (5xx). */
  readonly complaints: readonly string[];
}

/** Starts the service; builds the UI first if its sources have changed. */
export async function openBrowserService(overrides: TestOverrides = {}): Promise<BrowserService> {
  const { browserPages } = globalThis;
  if (browserPages === undefined)
    throw new Error('Browser tests run in the environment of support/environment.ts.');
  const webPages = await ensureWebPage();
  const pages = await browserPages();
  const service = await startTestService({
    ...overrides,
    deps: { webPages, ...overrides.deps },
    config: { publicUrl: 'http://127.0.0.1', ...overrides.config },
  });
  const { url } = service;

  async function openPage({ prepare, ...options }: OpenOptions = {}): Promise<TestPage> {
    const { page, context, giveBack } = await pages.borrow(url, options);
    const complaints = collectComplaints(page);
    onTestFinished(async ({ task }) => {
      const [error] = task.result?.errors ?? [];
      // Part of the message: summaries of a long run leave out what was printed beside it.
      if (error !== undefined) error.message += `\n${await report(page, complaints)}`;
      await giveBack();
    });
    await prepare?.(page);
    return { page, context, complaints };
  }

  async function openFor(person: TestPerson, path: string, options: OpenOptions = {}): Promise<TestPage> {
    const opened = await openPage(options);
    const [name = '', value = ''] = person.cookie.split('=');
    await opened.context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Lax' }]);
    await opened.page.goto(
      path.startsWith('/') ? `${url}${path}` : `${url}/o/${person.organisationId}/${path}`,
    );
    return opened;
  }

  return {
    service,
    url,
    openPage,
    openFor,
    async openAs(role, path, options = {}) {
      const person = await createPerson(service, role, options);
      return { ...(await openFor(person, path, options)), person };
    },
    stop: () => service.stop(),
  };
}

/** Prints what a failed test's page shows. @returns its last input events, and the browser's complaints */
async function report(page: Page, complaints: readonly string[]): Promise<string> {
  const shown = await page
    .locator('body')
    .ariaSnapshot({ timeout: 5_000 })
    .catch((error: unknown) => String(error));
  console.error([`A test failed on ${page.url()}:`, ...complaints, shown].join('\n'));
  return [`The last input to ${page.url()}:`, ...(await inputLogOf(page)), ...complaints].join('\n');
}

/** A rejected call is logged as an error too, but the UI handles those itself. A blocked style is reported with its element (`browser-pages.ts`). */
const KNOWN_OTHERWISE = ['Failed to load resource', 'Applying inline style violates'] as const;

function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !KNOWN_OTHERWISE.some((start) => message.text().startsWith(start))) {
      complaints.push(`console: ${message.text()}`);
    }
  });
  page.on('response', (response) => {
    if (response.status() >= 500) complaints.push(`${response.status()} ${response.url()}`);
  });
  return complaints;
}

/** Fails if the browser reported any complaint. */
export function expectNoComplaints({ complaints }: TestPage): void {
  expect(complaints).toEqual([]);
}
