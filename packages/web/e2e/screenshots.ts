import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createAccount } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findLostFocus, findOverflow, findViolations, findViolationsOnTop } from './support/accessible.ts';
import { type BrowserService, openBrowserService } from './support/browser-service.ts';
import type { ContextOptions } from './support/chromium.ts';
import { companyScenes } from './support/company-scenes.ts';
import { furnish } from './support/furnish.ts';
import { furnishCompany } from './support/furnish-company.ts';
import { furnishOffice } from './support/furnish-office.ts';
import { LISTS, placesOf, settle } from './support/places.ts';
import { addressIn, type Scene, sayIn, scenesOf } from './support/scenes.ts';
import { makeVisitorScenes, type VisitorScene } from './support/visitor-scenes.ts';
import { goWithin } from './support/walk.ts';

/**
 * Screenshots of every page, dialog, menu and state: `npm run screenshots`. With SCREENSHOTS set to a regular expression, only those whose name matches it:
 * `SCREENSHOTS='^editor|^form' npm run screenshots -- -t 'ja dark'`.
 */
const FOLDER = fileURLToPath(new URL('../screenshots', import.meta.url));
const WANTED = new RegExp(process.env.SCREENSHOTS ?? '');
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };
/** Each language, scheme and width is in two of them. */
const LOOKS: readonly (readonly [name: string, look: ContextOptions & { language: 'en' | 'ja' }])[] = [
  ['en-light-1280', { language: 'en', scheme: 'light', ...WIDE }],
  ['ja-dark-1280', { language: 'ja', scheme: 'dark', ...WIDE }],
  ['en-dark-390', { language: 'en', scheme: 'dark', ...NARROW }],
  ['ja-light-390', { language: 'ja', scheme: 'light', ...NARROW }],
];
/** Longer than any page takes: what still isn't there doesn't come. */
const PATIENCE_MS = 20_000;

let world: BrowserService;
let person: TestPerson;
let newcomer: TestPerson;
let viewer: TestPerson;
let pages: readonly Scene[];
let scenes: readonly Scene[];
let forViewers: readonly Scene[];
let forVisitors: readonly VisitorScene[];
beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true });
  world = await openBrowserService({ config: { allowHosts: ['127.0.0.1'] } });
  person = await createAccount(world.service, 'system_admin', { email: 'ada@example.com' });
  newcomer = await createPerson(world.service, 'system_admin', { email: 'newcomer@example.com' });
  const furniture = await furnish(world.service, person);
  await furnishOffice(world.service, person);
  const company = await furnishCompany(world.service, person);
  viewer = await createPerson(world.service, 'viewer', {
    organisationId: person.organisationId,
    email: 'reader@example.com',
  });
  pages = Object.entries(placesOf(furniture.workflowId, furniture.executionIds)).map(asScene);
  scenes = [...scenesOf(furniture), ...companyScenes(company)];
  forViewers = [
    ...['workflows', 'executions', 'approvals', 'credentials', 'members'].map(
      (name) => [name, name] as const,
    ),
    ['editor', `workflows/${furniture.workflowId}`] as const,
    ['execution-waiting', `executions/${company.waitingId}`] as const,
  ].map(asScene);
  forVisitors = await makeVisitorScenes(person, world.url);
});
afterAll(() => world.stop());

function asScene([name, path]: readonly [name: string, path: string]): Scene {
  return { name, path, open: settle };
}

/** Photographs them all; fails at the end with what could not be opened, is too wide, inaccessible or not to be left by the keyboard. */
async function photograph(
  who: TestPerson,
  all: readonly Scene[],
  [look, options]: (typeof LOOKS)[number],
  suffix = '',
): Promise<void> {
  const wanted = all.filter(({ name }) => WANTED.test(name));
  if (wanted.length === 0) return;
  const { page } = await world.openFor(who, '/account', options);
  page.setDefaultTimeout(PATIENCE_MS);
  await settle(page);
  const failures: string[] = [];
  for (const [index, scene] of wanted.entries()) {
    const { name, path, open } = scene;
    const goesOn =
      scene.continues === true && all.indexOf(scene) - 1 === all.indexOf(wanted[index - 1] ?? scene);
    try {
      if (!goesOn) {
        await goWithin(page, addressIn(world.url, who.organisationId, path));
        await settle(page);
      }
      await open(page, sayIn(options.language));
    } catch (error) {
      failures.push(`${name}: ${String(error).slice(0, 500)}`);
    }
    await page.screenshot({ path: `${FOLDER}/${name}${suffix}-${look}.png` });
    const found = [
      ...(await findOverflow(page)),
      ...(await findViolationsOnTop(page)),
      ...(scene.isHeld === true ? [] : await findLostFocus(page)),
    ];
    failures.push(...found.map((each) => `${name}: ${each}`));
  }
  expect(failures).toEqual([]);
}

/** Photographs lists whose data is refused, or never arrives. */
async function photographWithout(state: 'error' | 'loading', [look, options]: (typeof LOOKS)[number]) {
  const wanted = [...LISTS, 'account'].filter((name) => WANTED.test(`${name}-${state}`));
  if (wanted.length === 0) return;
  const { page } = await world.openFor(person, '/account', options);
  await settle(page);
  await page.route(/\/api\/admin\/(?!state$|me$|orgs\/\d+\/first-steps)/, (route) =>
    state === 'error' ? route.fulfill({ status: 503, json: REFUSAL }) : undefined,
  );
  for (const name of wanted) {
    await goTo(page, name);
    if (state === 'error') {
      await page
        .getByRole('button', { name: sayIn(options.language)('common.retry') })
        .first()
        .waitFor();
    }
    await page.screenshot({ path: `${FOLDER}/${name}-${state}-${look}.png` });
  }
}

const REFUSAL = {
  type: 'urn:millrace:problem:database_unavailable',
  title: 'Database unavailable',
  status: 503,
  detail: 'The database is currently unreachable. Send the request again after the time in Retry-After.',
  code: 'database_unavailable',
  key: 'api.database_unavailable',
  params: {},
  request_id: 'req_1',
};

/** Photographs what people outside see, each in a new document. */
async function photographVisitors([look, options]: (typeof LOOKS)[number]): Promise<void> {
  const wanted = forVisitors.filter(({ name }) => WANTED.test(name));
  if (wanted.length === 0) return;
  const { page } = await world.openPage(options);
  page.setDefaultTimeout(PATIENCE_MS);
  const failures: string[] = [];
  for (const { name, url, open } of wanted) {
    await page.goto(url);
    try {
      await open(page);
    } catch (error) {
      failures.push(`${name}: ${String(error).slice(0, 500)}`);
    }
    await page.screenshot({ path: `${FOLDER}/${name}-${look}.png`, fullPage: true });
    const found = [...(await findOverflow(page)), ...(await findViolations(page))];
    failures.push(...found.map((each) => `${name}: ${each}`));
  }
  expect(failures).toEqual([]);
}

/** In a new document, without anything that was loaded before. */
async function goTo(page: Page, name: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(addressIn(world.url, person.organisationId, name === 'account' ? '/account' : name));
  await page.locator('h1, h2').first().waitFor();
}

test.each(LOOKS)('%s: pages', (...look) => photograph(person, pages, look));
test.each(LOOKS)('%s: dialogs, menus and states', (...look) => photograph(person, scenes, look));
test.each(LOOKS)('%s: empty pages', (...look) =>
  photograph(
    newcomer,
    LISTS.map((name) => asScene([name, name])),
    look,
    '-empty',
  ),
);
test.each(LOOKS)('%s: what viewers see', (...look) => photograph(viewer, forViewers, look, '-viewer'));
test.each(LOOKS)('%s: refused', (...look) => photographWithout('error', look));
test.each(LOOKS)('%s: loading', (...look) => photographWithout('loading', look));
test.each(LOOKS)('%s: what visitors see', (...look) => photographVisitors(look));
