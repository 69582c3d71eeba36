import { get } from 'node:http';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { IN_RESERVE } from '@millrace/ui/components/load-in-reserve.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BorrowOptions } from './support/browser-pages.ts';
import { type BrowserService, openBrowserService } from './support/browser-service.ts';
import { furnish } from './support/furnish.ts';
import { settle } from './support/places.ts';

const LIMIT_BYTES = 350 * 1024;
/** Everything until the page is complete: the page itself, scripts, styles, and calls of the service. */
const MOST_REQUESTS = 40;

let world: BrowserService;
let person: TestPerson;
let workflowId: number;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createPerson(world.service, 'editor');
  ({ workflowId } = await furnish(world.service, person));
});
afterAll(() => world.stop());

interface LoadedScript {
  readonly name: string;
  /** Gzipped; browsers download even less, since they accept Brotli. */
  readonly bytes: number;
}

/** What has been requested once the page is fully shown, apart from what it then loads in reserve. */
async function listRequests(
  path: string,
  shows: string,
  options: BorrowOptions = {},
): Promise<readonly string[]> {
  const { page } = await world.openFor(person, path, options);
  await page.locator(shows).first().waitFor();
  await settle(page);
  const names = await page.evaluate((mark) => {
    const complete = performance.getEntriesByName(mark, 'mark')[0]?.startTime ?? Number.POSITIVE_INFINITY;
    const resources = performance.getEntriesByType('resource');
    return resources.filter(({ startTime }) => startTime < complete).map(({ name }) => name);
  }, IN_RESERVE);
  return [page.url(), ...names];
}

/** Scripts among what has been requested, largest first. */
async function listScripts(requests: readonly string[]): Promise<readonly LoadedScript[]> {
  const scripts = requests.filter((name) => name.endsWith('.js'));
  const sizes = await Promise.all(scripts.map(async (url) => ({ url, ...(await measureGzip(url)) })));
  expect(sizes.filter(({ encoding }) => encoding !== 'gzip')).toEqual([]);
  return sizes
    .map(({ url, bytes }) => ({ name: url.replace(/^.*\//, ''), bytes }))
    .sort((a, b) => b.bytes - a.bytes);
}

/** Requests gzip only. */
function measureGzip(
  url: string,
): Promise<{ readonly bytes: number; readonly encoding: string | undefined }> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.on('end', () => resolve({ bytes, encoding: answer.headers['content-encoding'] }));
    });
    asked.on('error', reject);
  });
}

test.each([
  ['the list of workflows', () => 'workflows', 'a[href*="/workflows/"]'],
  ['the editor', () => `workflows/${workflowId}`, '.react-flow__node'],
])(
  '%s needs few requests, and less than 350 KB of script, compressed with gzip, until it is complete',
  async (_what, path, shows) => {
    const requests = await listRequests(path(), shows);
    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(MOST_REQUESTS);
    const scripts = await listScripts(requests);
    const sum = scripts.reduce((total, { bytes }) => total + bytes, 0);
    expect(sum, JSON.stringify(scripts.slice(0, 10), null, 1)).toBeLessThan(LIMIT_BYTES);
    expect(sum).toBeGreaterThan(100 * 1024);
  },
);

/** Texts of Japanese, by the names of their files. */
const isJapanese = ({ name }: LoadedScript) => name.startsWith('ja-');
const sumOf = (scripts: readonly LoadedScript[]) => scripts.reduce((total, { bytes }) => total + bytes, 0);

test('English readers load no Japanese', async () => {
  const scripts = await listScripts(await listRequests(`workflows/${workflowId}`, '.react-flow__node'));
  expect(scripts.filter(isJapanese)).toEqual([]);
});

test('Japanese readers load the texts of what they see in addition, on the list within the same limit', async () => {
  const list = await listScripts(
    await listRequests('workflows', 'a[href*="/workflows/"]', { language: 'ja' }),
  );
  expect(sumOf(list), JSON.stringify(list, null, 1)).toBeLessThan(LIMIT_BYTES);
  expect(list.some(isJapanese)).toBe(true);
  const requests = await listRequests(`workflows/${workflowId}`, '.react-flow__node', { language: 'ja' });
  expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(MOST_REQUESTS);
  const editor = (await listScripts(requests)).filter(isJapanese);
  expect(sumOf(editor), JSON.stringify(editor)).toBeLessThan(108 * 1024);
});
