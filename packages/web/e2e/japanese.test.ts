import { createAccount } from '@millrace/testing/accounts';
import type { TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { services } from '../../connectors/src/services.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { furnish } from './support/furnish.ts';
import { furnishOffice } from './support/furnish-office.ts';
import { placesOf } from './support/places.ts';
import { addressIn, sayIn, scenesOf } from './support/scenes.ts';
import { walk } from './support/walk.ts';

let world: BrowserService;
let person: TestPerson;
let furniture: Awaited<ReturnType<typeof furnish>>;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createAccount(world.service, 'system_admin');
  furniture = await furnish(world.service, person);
  await furnishOffice(world.service, person);
});
afterAll(() => world.stop());

/** User-provided names, as created by `furnish`. */
const DATA =
  /^(?:organisation |Test system_admin|Takes orders from|Orders|Invoice by e-mail|Refund approval|Nightly sync|Nothing left of|Order placed|Large order\?|Every line|Nothing special|No stock|Line\b|Refund|The desk came|Shop|Signature of|Warehouse|Bookkeeping|Reports|Former shop|Test (?:viewer|editor|org_admin)|Ada$|test$|total > 100|sku, number)/;
/** Names that are the same in every language: products, formats, protocols, keys. */
const NAMES =
  /^(?:Millrace|English|API|AI|HTML|HTTP|URL|JSON|SQL|UTC|GET|Webhook|Cc|Bcc|Node\.js|PostgreSQL|MongoDB|Redis|Kafka|MQTT|Markdown|XML)(?:[ ·].*)?$/;
/** Services are called the same in Japanese, unless their connector says otherwise. */
const SERVICES = new Set(services.map(({ title }) => title));
/** Identifiers: actions, scopes, codes; addresses and keys. */
const IDENTIFIER = /^(?:[a-z]\w*[.:_/-][\w.:/-]*|\S+@\S+|mr_\S+)$/;
/** Ids of nodes, handles, tags, JSON members and names in templates. */
const WORDS = new Set(
  'start check each price small refuse request true false default error lines note customer total result test shop orders sample reports webhook development sales sync finance support json code message sku now file'.split(
    ' ',
  ),
);

/** Texts without a Japanese character that are neither data nor names. */
async function findEnglish(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const around = walker.currentNode.parentElement;
      if (around === null || around.closest('script, style, code, pre, kbd, noscript, .cm-editor') !== null)
        continue;
      if (around.checkVisibility()) found.push(walker.currentNode.textContent ?? '');
    }
    for (const name of [
      'aria-label',
      'title',
      'placeholder',
      'alt',
      'aria-description',
      'aria-roledescription',
    ]) {
      for (const element of document.querySelectorAll(`[${name}]`))
        found.push(element.getAttribute(name) ?? '');
    }
    return found;
  });
  // Unit symbols are the same in every language.
  const told = texts.map((text) => text.replaceAll(/\d+ (?:min|ms|[dhs])\b/g, '').trim());
  return [...new Set(told)]
    .filter((text) => /[A-Za-z]{3}/.test(text) && !/[\u3040-\u30ff\u4e00-\u9fff]/.test(text))
    .filter(
      (text) =>
        !WORDS.has(text) &&
        !SERVICES.has(text) &&
        ![DATA, NAMES, IDENTIFIER].some((known) => known.test(text)),
    );
}

const addressOf = (path: string) => addressIn(world.url, person.organisationId, path);
const openJapanese = () => world.openFor(person, '/account', { language: 'ja' });

describe('a Japanese reader', () => {
  test('finds no English on any page', async () => {
    const places = placesOf(furniture.workflowId, furniture.executionIds);
    const stops = Object.entries(places).map(([name, path]) => ({ name, address: addressOf(path) }));
    const opened = await openJapanese();
    expect(await walk(opened.page, stops, { findEnglish })).toEqual({ findEnglish: {} });
    expectNoComplaints(opened);
  });

  test('finds none in any dialog, menu or panel', async () => {
    const stops = scenesOf(furniture).map(({ path, open, ...scene }) => ({
      ...scene,
      address: addressOf(path),
      open: (page: Page) => open(page, sayIn('ja')),
    }));
    const { page } = await openJapanese();
    expect(await walk(page, stops, { findEnglish })).toEqual({ findEnglish: {} });
  });

  test('chooses the language in the menu, and finds it again in another browser', async () => {
    const path = 'workflows';
    const here = await world.openFor(person, path, { language: 'en' });
    await here.page.getByRole('button', { name: /account menu/i }).click();
    const stored = here.page.waitForResponse((answer) => answer.url().endsWith('/me/language'));
    await here.page.getByRole('menuitem', { name: '日本語' }).click();
    expect((await stored).status()).toBe(204);
    await here.page.getByRole('heading', { name: 'ワークフロー', exact: true }).waitFor();
    await here.page.locator('html[lang="ja"]').waitFor();

    const elsewhere = await world.openFor(person, path, { language: 'en' });
    await elsewhere.page.getByRole('heading', { name: 'ワークフロー', exact: true }).waitFor();
    await expect.poll(() => elsewhere.page.title()).toContain('ワークフロー');
  });

  test('sees in Japanese why something was refused', async () => {
    const path = 'executions/compare?a=999999999&b=1';
    const { page } = await world.openFor(person, path, { language: 'ja' });
    // Once for each side.
    await page.getByText('実行が見つかりません。').first().waitFor();
  });
});
