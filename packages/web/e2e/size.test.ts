import { appendFileSync, readFileSync } from 'node:fs';
import type { JsonObject } from '@millrace/engine';
import { createAccount } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { QUIET_MS } from '@millrace/ui/components/load-in-reserve.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exampleFile } from '../../own-connectors/test/world.ts';
import { listRoutes } from '../src/build/route-files.ts';
import { type BrowserService, openBrowserService } from './support/browser-service.ts';
import { furnish } from './support/furnish.ts';
import { furnishOffice } from './support/furnish-office.ts';
import { PAGE_KINDS, type PageFacts } from './support/page-kinds.ts';

const LIMIT_BYTES = 350 * 1024;
/** Until the page is complete: of the page itself, scripts, styles, and answers of the service. */
const MAX_REQUESTS = 40;

let world: BrowserService;
let person: TestPerson;
let facts: PageFacts;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createAccount(world.service, 'system_admin');
  const furniture = await furnish(world.service, person);
  await furnishOffice(world.service, person);
  const { call, organisationId: org } = person;
  const { data } = await call('GET /orgs/:org/approvals', { params: { org } });
  facts = { ...furniture, waitingId: data.items[0]?.execution_id ?? 0, nodeId: 'price' };
});
afterAll(() => world.stop());

/** What the browser has fetched, by its own account. */
interface Transfer {
  readonly name: string;
  /** As it came: compressed with gzip, with what the browser counts for headers. */
  readonly bytes: number;
}

/** Shorter than the page waits before it loads something in reserve. */
const GAP_MS = QUIET_MS / 2;

/**
 * Nothing comes from a cache, as at a first visit, but without a profile and a process of the browser for each page. At https and on this
 * machine, browsers take less than gzip.
 */
async function fetchEverything(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.setExtraHTTPHeaders({ 'accept-encoding': 'gzip' });
  onTestFinished(async () => {
    await page.setExtraHTTPHeaders({});
    await session.detach();
  });
}

/**
 * What is fetched until the page is complete, by the browser's own times: until what it is about is there, nothing on it is loading any more, and
 * nothing has been requested for a while. Nothing is cached before.
 */
async function listTransfers(
  path: string,
  shows: string,
  language: 'en' | 'ja',
  reader = person,
): Promise<readonly Transfer[]> {
  const { page } = await world.openFor(reader, path, { language, prepare: fetchEverything });
  const shown = await page.waitForFunction(
    (main) => {
      const isThere = document.querySelector('h1, h2') !== null && document.querySelector(main) !== null;
      return isThere && document.querySelector('.mantine-Skeleton-root') === null && performance.now();
    },
    shows,
    { polling: 'raf' },
  );
  const transfers = await page.waitForFunction(
    ([shownAt, gap]) => {
      const [document] = performance.getEntriesByType('navigation') as PerformanceResourceTiming[];
      const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const requests = entries.toSorted((a, b) => a.startTime - b.startTime);
      let until = shownAt + gap;
      let count = 0;
      for (const { startTime, responseEnd } of requests) {
        if (startTime > until) break;
        // Streams of events end with the page.
        until = Math.max(until, responseEnd + gap);
        count += 1;
      }
      const all = document === undefined ? [] : [document, ...requests.slice(0, count)];
      return (
        performance.now() > until && all.map(({ name, transferSize }) => ({ name, bytes: transferSize }))
      );
    },
    [Number(await shown.jsonValue()), GAP_MS] as const,
    { polling: 50 },
  );
  return ((await transfers.jsonValue()) || []).toSorted((a, b) => b.bytes - a.bytes);
}

/** Kana are in texts only; a script may name the language in its own characters. */
const KANA = /[\u3040-\u30ff]/;

/** Names of files have a hash of their content, so each is read once. */
const known = new Map<string, Promise<boolean>>();

/** Whether a script has Japanese texts. @throws Error if it would be fetched again by the next page */
function isJapanese(url: string): Promise<boolean> {
  const reading = known.get(url) ?? readScript(url);
  known.set(url, reading);
  return reading;
}

async function readScript(url: string): Promise<boolean> {
  const answer = await fetch(url);
  if (!/\bimmutable\b/.test(answer.headers.get('cache-control') ?? ''))
    throw new Error(`${url} would be fetched again`);
  return KANA.test(await answer.text());
}

test('no page of the router is left out', () => {
  const router = readFileSync(`${import.meta.dirname}/../src/router.tsx`, 'utf8');
  expect(Object.keys(PAGE_KINDS).sort()).toEqual(
    listRoutes(router)
      .map(({ path }) => path)
      .sort(),
  );
  // The tabs of a workflow are one page to the router.
  const tabs = /\['\/', ([^\]]+)\]\.map\(\(path\)/.exec(router)?.[1]?.match(/\w+/g) ?? [];
  const paths = PAGE_KINDS['/o/$org/workflows/$id']?.map(({ what }) => what) ?? [];
  expect(tabs.filter((tab) => !paths.includes(`the ${tab} of a workflow`))).toEqual([]);
  expect(tabs).not.toEqual([]);
});

/** Checks what was fetched. @param what as which it is told, if wanted */
function expectLight(what: string, language: 'en' | 'ja', transfers: readonly Transfer[]): void {
  const sum = transfers.reduce((total, { bytes }) => total + bytes, 0);
  if (process.env.SIZES !== undefined)
    appendFileSync(process.env.SIZES, `${JSON.stringify({ what, language, sum, transfers })}\n`);
  const all = transfers.map(({ bytes, name }) => `${bytes} ${name}`).join('\n');
  expect(transfers.filter(({ bytes }) => bytes === 0)).toEqual([]);
  expect(transfers.length, all).toBeLessThanOrEqual(MAX_REQUESTS);
  expect(sum, all).toBeLessThanOrEqual(LIMIT_BYTES);
  expect(sum).toBeGreaterThan(100 * 1024);
}

describe.each(Object.values(PAGE_KINDS).flat())('$what', ({ what, path, shows = 'h1, h2' }) => {
  test.each(['en', 'ja'] as const)(
    'needs few requests and few bytes, compressed with gzip, until it is complete: %s',
    async (language) => {
      const transfers = await listTransfers(path(facts), shows, language);
      expectLight(what, language, transfers);
      // Readers of English load no Japanese.
      const scripts = transfers.filter(({ name }) => name.endsWith('.js'));
      const inJapanese = await Promise.all(scripts.map(({ name }) => isJapanese(name)));
      expect(inJapanese.includes(true)).toBe(language === 'ja');
    },
  );
});

/** Of the files of an organisation's own connectors, and of all together. */
const [MAX_FILES, MAX_FILE_BYTES] = [50, (2 * 1024 * 1024) / 50];

/** Uploads as many connectors as an organisation may have, as large as they may be. @returns the type of a node */
async function uploadMost({ call, organisationId: org }: TestPerson): Promise<string> {
  const file = await exampleFile();
  const [operation] = file.operations as readonly JsonObject[];
  for (let number = 0; number < MAX_FILES; number += 1) {
    const operations: JsonObject[] = [];
    let text = '';
    for (let index = 0; index < 100; index += 1) {
      const title = `Create ticket ${index} in queue ${number}`;
      operations.push({ ...operation, id: `create_${index}`, title, description: `${title}.` });
      const next = JSON.stringify({
        ...file,
        id: `desk_${number}`,
        title: `Desk ${number}`,
        operations,
        ja: {},
      });
      if (Buffer.byteLength(next) > MAX_FILE_BYTES) break;
      text = next;
    }
    const { status, text: said } = await call('POST /orgs/:org/connectors', {
      params: { org },
      body: { file: text },
    });
    if (status !== 200) throw new Error(said);
  }
  return 'own.desk_7.create_7';
}

test.each(['en', 'ja'] as const)(
  'the editor of an organisation with as many connectors of its own as it may have is as light: %s',
  async (language) => {
    const admin = await createPerson(world.service, 'org_admin');
    const { call, organisationId: org } = admin;
    const type = await uploadMost(admin);
    const nodes = [
      { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
      { id: 'own', type, position: { x: 300, y: 0 } },
    ];
    const { data } = await call('POST /orgs/:org/workflows', {
      params: { org },
      body: { name: 'Tickets', flow_data: { nodes, edges: [{ source: 'start', target: 'own' }] } as never },
    });
    const path = `workflows/${data.workflow.id}`;
    const transfers = await listTransfers(path, '[data-id="own"] .flow-node-title', language, admin);
    expect(transfers.map(({ name }) => new URL(name).pathname)).toContain(
      `/api/admin/orgs/${org}/connector-types/outline`,
    );
    expectLight('the editor with own connectors', language, transfers);
  },
);
