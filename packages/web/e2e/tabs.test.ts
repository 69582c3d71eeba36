import { createPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';

let service: BrowserService;
beforeAll(async () => {
  service = await openBrowserService({ runsWorker: false });
});
afterAll(() => service.stop());

/** Simulates switching tabs; here all pages are in front. */
async function show(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate((now) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => now });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}

test('hidden tabs take no connection from the visible one, and continue when shown', async () => {
  const person = await createPerson(service.service, 'editor');
  const opened = await service.openFor(person, 'executions');
  const { context, page: first } = opened;
  const nothing = (page: Page) => page.getByText('No executions yet').first();
  const live = (page: Page) => page.getByText('Live', { exact: true });
  await live(first).waitFor();
  await show(first, 'hidden');
  // More than a browser's connection limit per host.
  for (let count = 0; count < 7; count += 1) {
    const page = await context.newPage();
    await page.goto(first.url());
    await live(page).waitFor();
    await nothing(page).waitFor();
    await show(page, 'hidden');
  }
  await show(first, 'visible');
  await live(first).waitFor();
  expectNoComplaints(opened);
  expect(context.pages()).toHaveLength(8);
});

test('a refused stream is opened again', async () => {
  const person = await createPerson(service.service, 'editor');
  let refusals = 0;
  const prepare = (page: Page) =>
    page.route('**/executions/events*', async (route) => {
      // As a proxy responds while its service restarts.
      if (refusals > 0) return route.continue();
      refusals += 1;
      return route.fulfill({ status: 502, body: 'Bad Gateway' });
    });
  const opened = await service.openFor(person, 'executions', { prepare });
  await expect.poll(() => refusals).toBe(1);
  await opened.page.getByText('Live', { exact: true }).waitFor();
});
