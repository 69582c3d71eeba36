import { createPerson } from '@millrace/testing/admin';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { createWorkflow, greetingFlow } from './support/editor.ts';
import { focused } from './support/focused.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

const LIBRARY = '**/assets/floating-ui.dom-*.js';

/** What positions comes when the test lets it. */
async function openHeld() {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = () => {};
  const isAskedFor = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const hold = (page: Page) =>
    page.route(LIBRARY, async (route) => {
      asked();
      await held;
      await route.continue();
    });
  const person = await createPerson(world.service, 'editor');
  const id = await createWorkflow(person, 'Orders', greetingFlow('Hello'));
  const opened = await world.openFor(person, `workflows/${id}`, { isFresh: true, prepare: hold });
  return { opened, page: opened.page, release, isAskedFor };
}

/** The account's menu belongs above its button, at the lower end of the window. */
async function expectAbove(page: Page, button: Locator): Promise<void> {
  const menu = page.getByRole('menu');
  await menu.waitFor();
  const [shown, target] = await Promise.all([menu.boundingBox(), button.boundingBox()]);
  expect(shown?.y).toBeGreaterThan(0);
  expect((shown?.y ?? 0) + (shown?.height ?? 0)).toBeLessThan((target?.y ?? 0) + 1);
}

test('a menu opened by keyboard before there is what positions it has the focus, and gives it back', async () => {
  const { opened, page, release, isAskedFor } = await openHeld();
  const button = page.getByRole('button', { name: /account menu/i });
  await button.focus();
  await page.keyboard.press('Enter');
  await isAskedFor;
  expect(await page.getByRole('menu').count()).toBe(0);
  release();
  await page.getByRole('menu').waitFor();
  await focused(page.getByRole('menuitem').first());
  await expectAbove(page, button);
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await focused(button);
  expectNoComplaints(opened);
});

test('a hint that was pointed at before there is what positions it comes when it can, next to what it is about', async () => {
  const { opened, page, release, isAskedFor } = await openHeld();
  const button = page.getByRole('link', { name: 'Executions' }).first();
  await button.hover();
  await isAskedFor;
  release();
  const hint = page.getByRole('tooltip');
  await hint.waitFor();
  const id = await hint.getAttribute('id');
  expect(await button.getAttribute('aria-describedby')).toBe(id);
  await page.keyboard.press('Escape');
  await hint.waitFor({ state: 'detached' });
  await page.mouse.move(640, 600);
  await button.hover();
  await hint.waitFor();
  await page.mouse.move(640, 600);
  await hint.waitFor({ state: 'detached' });
  expectNoComplaints(opened);
});

test('without it, a menu opens beside its button nevertheless', async () => {
  const opened = await world.openAs('editor', 'workflows', {
    isFresh: true,
    prepare: (page) => page.route(LIBRARY, (route) => route.abort()),
  });
  const { page } = opened;
  const button = page.getByRole('button', { name: /account menu/i });
  await button.click();
  await expectAbove(page, button);
  await focused(page.getByRole('menuitem').first());
});
