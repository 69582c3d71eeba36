import { createAccount } from '@millrace/testing/accounts';
import type { TestPerson } from '@millrace/testing/admin';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { boxOf, canvasNode } from './support/canvas.ts';
import { furnish } from './support/furnish.ts';
import { settle } from './support/places.ts';

let world: BrowserService;
let person: TestPerson;
let furniture: Awaited<ReturnType<typeof furnish>>;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createAccount(world.service, 'system_admin');
  furniture = await furnish(world.service, person);
});
afterAll(() => world.stop());

async function open(path: string, scheme: 'light' | 'dark') {
  const prepare = (page: Page) => page.emulateMedia({ forcedColors: 'active', colorScheme: scheme });
  const opened = await world.openFor(person, path, { scheme, prepare });
  await settle(opened.page);
  return opened;
}

/** A screenshot of an element with a small margin. */
async function pictureOf(page: Page, locator: Locator): Promise<string> {
  const box = await boxOf(locator);
  const clip = { x: box.x - 6, y: box.y - 6, width: box.width + 12, height: box.height + 12 };
  return (await page.screenshot({ clip, caret: 'hide' })).toString('base64');
}

/** Fails if the screenshot is the same without the element. */
async function expectSeen(page: Page, locator: Locator): Promise<void> {
  await locator.waitFor();
  const withIt = await pictureOf(page, locator);
  const setVisibility = (value: string) =>
    locator.evaluate((element, visibility) => {
      (element as HTMLElement).style.visibility = visibility;
    }, value);
  await setVisibility('hidden');
  const withoutIt = await pictureOf(page, locator);
  await setVisibility('');
  expect(withIt === withoutIt, `${locator.toString()} is seen`).toBe(false);
}

describe.each(['light', 'dark'] as const)('with forced colours, %s', (scheme) => {
  test('the last runs are visible, and so is the current page', async () => {
    const opened = await open('workflows', scheme);
    const { page } = opened;
    for (const status of ['failed', 'completed']) {
      await expectSeen(page, page.locator(`tbody [data-status="${status}"]`).first());
    }
    const link = page.getByRole('navigation').getByRole('link', { name: 'Workflows', exact: true });
    const current = await pictureOf(page, link);
    await page.goto(`${world.url}/o/${person.organisationId}/executions`);
    await settle(page);
    expect((await pictureOf(page, link)) === current).toBe(false);
    expectNoComplaints(opened);
  });

  test('switches, tabs, and the selection on the canvas are distinguishable', async () => {
    const opened = await open(`workflows/${furniture.workflowId}`, scheme);
    const { page } = opened;
    const node = canvasNode(page, 'small');
    await node.waitFor();
    const plain = await pictureOf(page, node);
    await page.keyboard.press('Control+a');
    await page.locator('.react-flow__node.selected').first().waitFor();
    expect((await pictureOf(page, node)) === plain).toBe(false);
    await page.keyboard.press('Escape');
    const track = page.locator('.mantine-Switch-track').first();
    await expectSeen(page, track);
    await node.click();
    const tabs = page.getByRole('complementary', { name: 'Node' }).getByRole('tab');
    await tabs.nth(1).waitFor();
    const other = await pictureOf(page, tabs.nth(1));
    await tabs.nth(1).click();
    await page.mouse.move(0, 0);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    expect((await pictureOf(page, tabs.nth(1))) === other).toBe(false);
    expectNoComplaints(opened);
  });

  test('the bars of the timeline are visible, and so is the current view', async () => {
    const opened = await open(`executions/${furniture.executionIds[0]}`, scheme);
    const { page } = opened;
    await expectSeen(page, page.locator('[data-kind="run"]').first());
    const indicator = page.locator('.mantine-SegmentedControl-indicator').first();
    await expectSeen(page, indicator);
    expectNoComplaints(opened);
  });
});
