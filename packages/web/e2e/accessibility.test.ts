import AxeBuilder from '@axe-core/playwright';
import { createAccount } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type BrowserService,
  expectNoComplaints,
  openBrowserService,
  type TestPage,
} from './support/browser-service.ts';
import type { ContextOptions } from './support/chromium.ts';
import { furnish } from './support/furnish.ts';
import { furnishOffice } from './support/furnish-office.ts';
import { LISTS, placesOf, settle } from './support/places.ts';
import { addressIn, type Scene, sayIn, scenesOf } from './support/scenes.ts';

let world: BrowserService;
let person: TestPerson;
let newcomer: TestPerson;
let furniture: Awaited<ReturnType<typeof furnish>>;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createAccount(world.service, 'system_admin');
  newcomer = await createPerson(world.service, 'system_admin');
  furniture = await furnish(world.service, person);
  await furnishOffice(world.service, person);
});
afterAll(() => world.stop());

const NARROW = { width: 390, height: 844 } as const;
const say = sayIn('en');

/** What axe calls serious or critical, in a line each, and whether the page is wider than its window. */
async function findViolations(page: Page): Promise<string[]> {
  // Without frames of other origins the old way does; the new one opens another page for each look.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  const window = page.viewportSize()?.width ?? width;
  return [
    ...(width > window ? [`it is ${width} pixels wide`] : []),
    ...violations
      .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'heading-order')
      .flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary}`),
      ),
  ];
}

/** What is wrong with each of these places, by name. */
async function judgePlaces(
  who: TestPerson,
  places: { readonly [name: string]: string },
  options: ContextOptions,
): Promise<{ readonly [name: string]: readonly string[] }> {
  const opened = await world.openFor(who, '/account', options);
  const found: Record<string, string[]> = {};
  for (const [name, path] of Object.entries(places)) {
    await opened.page.goto(addressIn(world.url, who.organisationId, path));
    await settle(opened.page);
    const violations = await findViolations(opened.page);
    if (violations.length > 0) found[name] = violations;
  }
  expectNoComplaints(opened);
  await opened.context.close();
  return found;
}

async function openScene({ page }: TestPage, { path, open }: Scene): Promise<void> {
  // A place that differs in its fragment only would not be loaded anew.
  await page.goto('about:blank');
  await page.goto(addressIn(world.url, person.organisationId, path));
  await open(page, say);
}

async function judgeScenes(options: ContextOptions): Promise<{ readonly [name: string]: readonly string[] }> {
  const opened = await world.openFor(person, '/account', options);
  const found: Record<string, string[]> = {};
  for (const scene of scenesOf(furniture)) {
    await openScene(opened, scene);
    const violations = await findViolations(opened.page);
    if (violations.length > 0) found[scene.name] = violations;
  }
  await opened.context.close();
  return found;
}

const places = () => placesOf(furniture.workflowId, furniture.executionIds);
const lists = () => Object.fromEntries(LISTS.map((name) => [name, name]));

describe('axe finds nothing serious', () => {
  test('on any page with something in it', async () => {
    expect(await judgePlaces(person, places(), { scheme: 'light' })).toEqual({});
  });

  test('on any page with something in it, dark, in a narrow window', async () => {
    expect(await judgePlaces(person, places(), { scheme: 'dark', ...NARROW })).toEqual({});
  });

  test.each(['light', 'dark'] as const)(
    'on any page with nothing in it, in a narrow window, %s',
    async (scheme) => {
      expect(await judgePlaces(newcomer, lists(), { scheme, ...NARROW })).toEqual({});
    },
  );

  test('in any dialog, menu or panel', async () => {
    expect(await judgeScenes({ scheme: 'light' })).toEqual({});
  }, 400_000);

  test('in any of them, dark, in a narrow window', async () => {
    expect(await judgeScenes({ scheme: 'dark', ...NARROW })).toEqual({});
  }, 400_000);
});

/** What a dialog or menu is opened by, and where the focus is when it is closed. */
const RETURNING = [
  'workflows-menu',
  'workflows-run',
  'editor-menu',
  'credential-add',
  'key-issue',
  'member-invite',
];

describe('who uses the keyboard', () => {
  test.each(RETURNING)('stays in %s, and comes back to where they were when they leave it', async (name) => {
    const opened = await world.openFor(person, '/account');
    const scene = scenesOf(furniture).find((each) => each.name === name);
    if (scene === undefined) throw new Error(`there is no scene ${name}`);
    await openScene(opened, scene);
    const { page } = opened;
    const layer = page.locator('[role="dialog"], [role="menu"]').last();
    // A menu is left by Tab; in a dialog Tab goes round.
    for (let presses = 0; presses < (name.endsWith('-menu') ? 0 : 25); presses += 1) {
      // In an editor of code Tab indents, until Escape was pressed.
      if (await page.locator('.cm-content:focus').isVisible()) await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
      expect(await layer.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    }
    if (await page.locator('.cm-content:focus').isVisible()) {
      await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Escape');
    await layer.waitFor({ state: 'hidden' });
    await page.locator('button:focus').waitFor();
    await page.keyboard.press('Enter');
    await layer.waitFor();
  });

  test('finds the way from the top of each page to its content', async () => {
    const { page } = await world.openFor(person, 'workflows');
    await settle(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content');
  });
});

describe('who sees in another way', () => {
  test('can enlarge everything to 200 % without scrolling sideways', async () => {
    // A window of 1280 pixels at 200 % is one of 640 whose pixels count twice.
    const opened = await world.openFor(person, '/account', { width: 640, height: 400 });
    const found: Record<string, number> = {};
    for (const [name, path] of Object.entries(places())) {
      await opened.page.goto(addressIn(world.url, person.organisationId, path));
      await settle(opened.page);
      const width = await opened.page.evaluate(() => document.documentElement.scrollWidth);
      if (width > 640) found[name] = width;
    }
    expect(found).toEqual({});
  });

  test('sees nothing move who asked for that', async () => {
    const opened = await world.openFor(person, `workflows/${furniture.workflowId}`);
    await settle(opened.page);
    await opened.page.getByRole('button', { name: say('editor.addNode'), exact: true }).click();
    const moving = await opened.page.evaluate(() =>
      document
        .getAnimations()
        .map((animation) => animation.effect?.getComputedTiming().endTime ?? 0)
        .filter((endTime) => Number(endTime) > 50),
    );
    expect(moving).toEqual([]);
  });
});
