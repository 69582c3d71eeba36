import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createAccount } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, test } from 'vitest';
import { type BrowserService, openBrowserService } from './support/browser-service.ts';
import { furnish } from './support/furnish.ts';
import { furnishOffice } from './support/furnish-office.ts';
import { placesOf, settle } from './support/places.ts';
import { addressIn, type Scene, sayIn, scenesOf } from './support/scenes.ts';

/** Screenshots of every page in both themes, languages and widths: `npm run screenshots`. */
const FOLDER = fileURLToPath(new URL('../screenshots', import.meta.url));
const SCHEMES = ['light', 'dark'] as const;
const LANGUAGES = ['en', 'ja'] as const;
const WIDTHS = [1280, 390] as const;

let world: BrowserService;
let person: TestPerson;
let newcomer: TestPerson;
let places: { readonly [name: string]: string };
let scenes: readonly Scene[];
beforeAll(async () => {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  world = await openBrowserService();
  person = await createAccount(world.service, 'system_admin', { email: 'ada@example.com' });
  newcomer = await createPerson(world.service, 'org_admin', { email: 'newcomer@example.com' });
  const furniture = await furnish(world.service, person);
  await furnishOffice(world.service, person);
  places = placesOf(furniture.workflowId, furniture.executionIds);
  scenes = scenesOf(furniture);
});
afterAll(() => world.stop());

test('every page', async () => {
  for (const scheme of SCHEMES) {
    for (const language of LANGUAGES) {
      for (const width of WIDTHS) {
        const look = { scheme, language, width, height: width === 390 ? 844 : 800 } as const;
        const suffix = `${scheme}-${language}-${width}`;
        const full = await world.openFor(person, '/account', look);
        for (const [name, path] of Object.entries(places)) {
          await full.page.goto(addressIn(world.url, person.organisationId, path));
          await settle(full.page);
          await full.page.screenshot({ path: `${FOLDER}/${name}-${suffix}.png` });
        }
        await full.context.close();
        const empty = await world.openFor(newcomer, '/account', look);
        for (const name of ['workflows', 'executions', 'approvals', 'credentials', 'keys', 'audit']) {
          await empty.page.goto(`${world.url}/o/${newcomer.organisationId}/${name}`);
          await settle(empty.page);
          await empty.page.screenshot({ path: `${FOLDER}/${name}-empty-${suffix}.png` });
        }
        await empty.context.close();
      }
    }
  }
});

/** Dialogs, menus and panels: each theme, language and width once, not every combination. */
test.each([
  ['light', 'ja', 1280],
  ['dark', 'en', 1280],
  ['dark', 'ja', 390],
] as const)('what pages open, %s, %s, %d', async (scheme, language, width) => {
  const opened = await world.openFor(person, '/account', {
    scheme,
    language,
    width,
    height: width === 390 ? 844 : 800,
  });
  for (const { name, path, open } of scenes) {
    await opened.page.goto('about:blank');
    await opened.page.goto(addressIn(world.url, person.organisationId, path));
    await open(opened.page, sayIn(language));
    await opened.page.screenshot({ path: `${FOLDER}/${name}-${scheme}-${language}-${width}.png` });
  }
  await opened.context.close();
});
