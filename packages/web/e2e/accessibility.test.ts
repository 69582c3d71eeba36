import { createAccount } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findOverflow, findViolations } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import type { ContextOptions } from './support/chromium.ts';
import { closeByEscape, focused } from './support/focused.ts';
import { furnish } from './support/furnish.ts';
import { furnishOffice } from './support/furnish-office.ts';
import { LISTS, placesOf, settle } from './support/places.ts';
import { addressIn, type Scene, sayIn, scenesOf } from './support/scenes.ts';
import { type Findings, type Inspector, once, type Stop, walk } from './support/walk.ts';

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

const inspect: Inspector = async (page) => [...(await findOverflow(page)), ...(await findViolations(page))];

/** A 1280-pixel window at 200 % zoom is one of 640 CSS pixels with a device pixel ratio of 2. */
const inspectEnlarged: Inspector = async (page) => {
  const before = page.viewportSize() ?? { width: 1280, height: 800 };
  await page.setViewportSize({ width: 640, height: 400 });
  await settle(page);
  const found = await findOverflow(page);
  await page.setViewportSize(before);
  return found;
};

/** In the dark, only the colours can differ. */
const inspectColours: Inspector = (page) =>
  findViolations(page, { rules: ['color-contrast', 'link-in-text-block'] });

async function walkPlaces<Name extends string>(
  who: TestPerson,
  places: { readonly [name: string]: string },
  inspectors: { readonly [N in Name]: Inspector },
  options: ContextOptions,
): Promise<{ readonly [N in Name]: Findings }> {
  const stops = Object.entries(places).map(([name, path]) => ({
    name,
    address: addressIn(world.url, who.organisationId, path),
  }));
  const opened = await world.openFor(who, '/account', options);
  const found = await walk(opened.page, stops, inspectors);
  expectNoComplaints(opened);
  return found;
}

const stopAt = ({ path, open, ...scene }: Scene): Stop => ({
  ...scene,
  address: addressIn(world.url, person.organisationId, path),
  open: (page) => open(page, say),
});

async function inspectScenes(options: ContextOptions): Promise<Findings> {
  const { page } = await world.openFor(person, '/account', options);
  const { found } = await walk(page, scenesOf(furniture).map(stopAt), { found: inspect });
  return found;
}

const places = () => placesOf(furniture.workflowId, furniture.executionIds);
const walkInTheLight = once(() =>
  walkPlaces(person, places(), { inspect, inspectEnlarged }, { scheme: 'light' }),
);
const lists = Object.fromEntries(LISTS.map((name) => [name, name]));
const walkWithoutContent = async (found: Inspector, scheme: 'light' | 'dark') =>
  (await walkPlaces(newcomer, lists, { found }, { scheme, ...NARROW })).found;

describe('axe finds nothing serious', () => {
  test('on any page with content', async () => {
    expect((await walkInTheLight()).inspect).toEqual({});
  });

  test('on any page with content, dark, in a narrow window', async () => {
    const { found } = await walkPlaces(person, places(), { found: inspect }, { scheme: 'dark', ...NARROW });
    expect(found).toEqual({});
  });

  test('on any empty page, in a narrow window, light', async () => {
    expect(await walkWithoutContent(inspect, 'light')).toEqual({});
  });

  test('on any empty page, in a narrow window, dark', async () => {
    expect(await walkWithoutContent(inspectColours, 'dark')).toEqual({});
  });

  test('in any dialog, menu or panel', async () => {
    expect(await inspectScenes({ scheme: 'light' })).toEqual({});
  });

  test('in any of them, dark, in a narrow window', async () => {
    expect(await inspectScenes({ scheme: 'dark', ...NARROW })).toEqual({});
  });
});

/** What opens each dialog or menu; closing it must return the focus there. */
const RETURNING = [
  'workflows-menu',
  'workflows-run',
  'editor-menu',
  'credential-add',
  'key-issue',
  'member-invite',
];

describe('with the keyboard', () => {
  test.each(RETURNING)('focus stays in %s, and returns to where it was on leaving', async (name) => {
    const scene = scenesOf(furniture).find((each) => each.name === name);
    if (scene === undefined) throw new Error(`there is no scene ${name}`);
    const { page } = await world.openFor(person, scene.path);
    await scene.open(page, say);
    const layer = page.locator('[role="dialog"], [role="menu"]').last();
    await focused(layer);
    // Tab closes a menu; in a dialog it cycles.
    for (let presses = 0; presses < (name.endsWith('-menu') ? 0 : 25); presses += 1) {
      // Tab indents in a code editor until Escape is pressed.
      if (await page.locator('.cm-content:focus').isVisible()) await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
      await focused(layer);
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

  test('the content of each page can be reached from its top', async () => {
    const { page } = await world.openFor(person, 'workflows');
    await settle(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content');
  });
});

describe('with other ways of seeing', () => {
  test('everything can be enlarged to 200 % without scrolling sideways', async () => {
    expect((await walkInTheLight()).inspectEnlarged).toEqual({});
  });

  test('nothing moves if reduced motion is requested', async () => {
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
    // Nor does what is closed fade away.
    await closeByEscape(opened.page.getByRole('dialog'));
    await opened.page.getByRole('button', { name: say('workplace.more') }).click();
    await focused(opened.page.getByRole('menu'));
    await opened.page.keyboard.press('Escape');
    await settle(opened.page);
    expect(await opened.page.getByRole('menu').count()).toBe(0);
  });
});
