import { createPerson } from '@millrace/testing/admin';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { boxOf } from './support/canvas.ts';
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
  const [shown, target] = await Promise.all([boxOf(menu), boxOf(button)]);
  expect(shown.y).toBeGreaterThan(0);
  expect(shown.y + shown.height).toBeLessThan(target.y + 1);
}

async function isInWindow(page: Page, what: Locator): Promise<boolean> {
  const [box, size] = [await what.boundingBox(), page.viewportSize()];
  if (box === null || size === null) return false;
  const { x, y, width, height } = box;
  return x >= 0 && y >= 0 && x + width <= size.width && y + height <= size.height;
}

/** Right of its target, in the middle of its height. */
async function expectRight(hint: Locator, target: Locator): Promise<void> {
  const [shown, about] = await Promise.all([boxOf(hint), boxOf(target)]);
  const gap = shown.x - about.x - about.width;
  expect(gap).toBeGreaterThanOrEqual(0);
  expect(gap).toBeLessThan(16);
  const middleOf = ({ y, height }: { readonly y: number; readonly height: number }) => y + height / 2;
  expect(Math.abs(middleOf(shown) - middleOf(about))).toBeLessThan(2);
  // The arrow is where the target is.
  const arrow = await boxOf(hint.locator('.mantine-Tooltip-arrow'));
  expect(Math.abs(middleOf(arrow) - middleOf(about))).toBeLessThan(2);
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
  // It goes where its button goes.
  await page.setViewportSize({ width: 1280, height: 560 });
  await expect.poll(() => isInWindow(page, page.getByRole('menu'))).toBe(true);
  await expectAbove(page, button);
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await focused(button);
  expectNoComplaints(opened);
});

test('a menu without room below its button is opened above it, and one at the edge within the window', async () => {
  const person = await createPerson(world.service, 'editor');
  for (let index = 0; index < 8; index += 1)
    await createWorkflow(person, `Orders ${index}`, greetingFlow('Hello'));
  const opened = await world.openFor(person, 'workflows');
  const { page } = opened;
  const button = page.getByRole('button', { name: /^More for Orders/ }).nth(7);
  const { y, height } = await boxOf(button);
  await page.setViewportSize({ width: 1280, height: Math.ceil(y + height) + 8 });
  await button.click();
  await expectAbove(page, button);
  expect(await isInWindow(page, page.getByRole('menu'))).toBe(true);
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
  await expectRight(hint, button);
  await page.keyboard.press('Escape');
  await hint.waitFor({ state: 'detached' });
  await page.mouse.move(640, 600);
  await button.hover();
  await hint.waitFor();
  await page.mouse.move(640, 600);
  await hint.waitFor({ state: 'detached' });
  // By keyboard it comes with the focus, and goes with it.
  await page.getByRole('link', { name: 'Workflows' }).first().focus();
  await page.keyboard.press('Tab');
  while (!(await button.evaluate((each) => each === document.activeElement)))
    await page.keyboard.press('Tab');
  await expect.poll(() => hint.textContent()).toBe('Executions');
  await expectRight(hint, button);
  await page.keyboard.press('Shift+Tab');
  await page.getByRole('tooltip', { name: 'Executions' }).waitFor({ state: 'detached' });
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
