import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { IN_RESERVE } from '@millrace/ui/components/load-in-reserve.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
let executionId: number;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createPerson(world.service, 'editor');
  const { workflowId: id, executionIds } = await furnish(world.service, person);
  workflowId = id;
  executionId = executionIds[0] ?? 0;
});
afterAll(() => world.stop());

interface LoadedScript {
  readonly name: string;
  /** Gzipped; browsers download even less, since they accept Brotli. */
  readonly bytes: number;
  readonly isJapanese: boolean;
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
  const scripts = await Promise.all(requests.filter((name) => name.endsWith('.js')).map(readScript));
  return scripts.sort((a, b) => b.bytes - a.bytes);
}

/** Names of scripts have a hash of their content, so each is read once. */
const known = new Map<string, Promise<LoadedScript>>();

function readScript(url: string): Promise<LoadedScript> {
  const reading = known.get(url) ?? fetchGzip(url);
  known.set(url, reading);
  return reading;
}

/** Kana are in texts only; a script may name the language in its own characters. */
const KANA = /[\u3040-\u30ff]/;

/** Requests gzip only. */
function fetchGzip(url: string): Promise<LoadedScript> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      if (answer.headers['content-encoding'] !== 'gzip') reject(new Error(`${url} isn't compressed`));
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const packed = Buffer.concat(chunks);
        const text = gunzipSync(packed).toString();
        const name = url.replace(/^.*\//, '');
        resolve({ name, bytes: packed.length, isJapanese: KANA.test(text) });
      });
    });
    asked.on('error', reject);
  });
}

/** The page of an execution has the canvas of its flow, a timeline and its data; it isn't within the limit yet. */
const EXECUTION_BYTES = 405 * 1024;

interface Place {
  readonly what: string;
  readonly path: () => string;
  readonly shows: string;
  readonly limit?: number;
}

const PLACES: readonly Place[] = [
  { what: 'the list of workflows', path: () => 'workflows', shows: 'a[href*="/workflows/"]' },
  { what: 'the editor', path: () => `workflows/${workflowId}`, shows: '.react-flow__node' },
  { what: 'an execution', path: () => `executions/${executionId}`, shows: 'h1', limit: EXECUTION_BYTES },
  { what: 'the gallery', path: () => 'templates', shows: 'h1' },
  { what: 'credentials', path: () => 'credentials', shows: 'h1' },
];

describe.each(PLACES)('$what', ({ path, shows, limit = LIMIT_BYTES }) => {
  test.each(['en', 'ja'] as const)(
    'needs few requests and little script, compressed with gzip, until it is complete: %s',
    async (language) => {
      const requests = await listRequests(path(), shows, { language });
      expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(MOST_REQUESTS);
      const scripts = await listScripts(requests);
      const sum = scripts.reduce((total, { bytes }) => total + bytes, 0);
      expect(sum, JSON.stringify(scripts.slice(0, 10), null, 1)).toBeLessThan(limit);
      expect(sum).toBeGreaterThan(100 * 1024);
      // Readers of English load no Japanese.
      expect(scripts.some(({ isJapanese }) => isJapanese)).toBe(language === 'ja');
    },
  );
});
