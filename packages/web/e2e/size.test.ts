import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { createAccount } from '@millrace/testing/accounts';
import type { TestPerson } from '@millrace/testing/admin';
import { QUIET_MS } from '@millrace/ui/components/load-in-reserve.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listRoutes } from '../src/build/route-files.ts';
import { type BrowserService, openBrowserService } from './support/browser-service.ts';
import { furnish } from './support/furnish.ts';
import { furnishOffice } from './support/furnish-office.ts';

const LIMIT_BYTES = 350 * 1024;
/** Everything until the page is complete: the page itself, scripts, styles, and calls of the service. */
const MOST_REQUESTS = 40;

let world: BrowserService;
let person: TestPerson;
let furniture: Awaited<ReturnType<typeof furnish>>;
let waitingId: number;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createAccount(world.service, 'system_admin');
  furniture = await furnish(world.service, person);
  await furnishOffice(world.service, person);
  const { call, organisationId: org } = person;
  const { data } = await call('GET /orgs/:org/approvals', { params: { org } });
  waitingId = data.items[0]?.execution_id ?? 0;
});
afterAll(() => world.stop());

interface LoadedScript {
  readonly name: string;
  /** Gzipped; browsers download even less, since they accept Brotli. */
  readonly bytes: number;
  readonly isJapanese: boolean;
}

/** Shorter than the page waits before it loads something in reserve. */
const GAP_MS = QUIET_MS / 2;

/**
 * What is requested until the page is complete, by the browser's own times: until what it is about is there, nothing on it is loading any more, and
 * nothing has been requested for a while.
 */
async function listRequests(path: string, shows: string, language: 'en' | 'ja'): Promise<readonly string[]> {
  const { page } = await world.openFor(person, path, { language });
  const shown = await page.waitForFunction(
    (main) => {
      const isThere = document.querySelector('h1, h2') !== null && document.querySelector(main) !== null;
      return isThere && document.querySelector('.mantine-Skeleton-root') === null && performance.now();
    },
    shows,
    { polling: 'raf' },
  );
  const names = await page.waitForFunction(
    ([shownAt, gap]) => {
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
      return performance.now() > until && requests.slice(0, count).map(({ name }) => name);
    },
    [Number(await shown.jsonValue()), GAP_MS] as const,
    { polling: 50 },
  );
  return [page.url(), ...((await names.jsonValue()) || [])];
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

/** Compressing less would make it larger. */
const TINY_BYTES = 1_000;

/** Requests gzip only. */
function fetchGzip(url: string): Promise<LoadedScript> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      const isPacked = answer.headers['content-encoding'] === 'gzip';
      if (!/\bimmutable\b/.test(answer.headers['cache-control'] ?? '')) {
        reject(new Error(`${url} would be fetched again`));
      }
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const packed = Buffer.concat(chunks);
        if (!isPacked && packed.length > TINY_BYTES) reject(new Error(`${url} isn't compressed`));
        const text = (isPacked ? gunzipSync(packed) : packed).toString();
        const name = url.replace(/^.*\//, '');
        resolve({ name, bytes: packed.length, isJapanese: KANA.test(text) });
      });
    });
    asked.on('error', reject);
  });
}

interface Place {
  readonly what: string;
  readonly path: () => string;
  /** What it is about, besides its heading. */
  readonly shows?: string;
}

const workflow = (tab = '') => `workflows/${furniture.workflowId}${tab}`;
const execution = (index: number) => furniture.executionIds[index] ?? 0;

/** What there is to see at each route of the router. */
const PLACES: { readonly [route: string]: readonly Place[] } = {
  '/o/$org/workflows': [
    { what: 'the list of workflows', path: () => 'workflows', shows: 'a[href*="/workflows/"]' },
  ],
  '/o/$org/templates': [{ what: 'the gallery', path: () => 'templates', shows: 'article' }],
  '/o/$org/executions': [
    { what: 'the list of executions', path: () => 'executions', shows: '[data-execution]' },
  ],
  '/o/$org/executions/compare': [
    { what: 'a comparison', path: () => `executions/compare?a=${execution(0)}&b=${execution(1)}` },
  ],
  '/o/$org/executions/$execution': [
    { what: 'an execution', path: () => `executions/${execution(0)}`, shows: '.react-flow__node' },
    { what: 'a failed execution', path: () => `executions/${execution(2)}`, shows: '.react-flow__node' },
    { what: 'an execution that waits', path: () => `executions/${waitingId}`, shows: '.react-flow__node' },
    {
      what: 'a node of an execution',
      path: () => `executions/${execution(2)}?node=price`,
      shows: '.react-flow__node',
    },
  ],
  '/o/$org/approvals': [{ what: 'approvals', path: () => 'approvals' }],
  '/o/$org/credentials': [{ what: 'credentials', path: () => 'credentials' }],
  '/o/$org/ai-data': [{ what: 'AI data', path: () => 'ai-data' }],
  '/o/$org/keys': [{ what: 'keys', path: () => 'keys' }],
  '/o/$org/members': [{ what: 'members', path: () => 'members' }],
  '/o/$org/alerts': [{ what: 'alerts', path: () => 'alerts' }],
  '/o/$org/audit': [{ what: 'the audit log', path: () => 'audit' }],
  '/o/$org/settings': [{ what: 'settings', path: () => 'settings' }],
  '/o/$org/organisations': [{ what: 'organisations', path: () => 'organisations' }],
  '/o/$org/accounts': [{ what: 'accounts', path: () => 'accounts' }],
  '/o/$org/system': [{ what: 'the system', path: () => 'system' }],
  '/sign-in': [{ what: 'signing in', path: () => '/sign-in' }],
  '/setup': [{ what: 'setting up', path: () => '/setup' }],
  '/invitation': [{ what: 'an invitation', path: () => '/invitation' }],
  '/account': [{ what: 'the account', path: () => '/account' }],
  '/o/$org/workflows/$id': [
    { what: 'the editor', path: workflow, shows: '.react-flow__node' },
    {
      what: 'the executions of a workflow',
      path: () => workflow('/executions'),
      shows: '[data-execution]',
    },
    { what: 'the versions of a workflow', path: () => workflow('/versions'), shows: '.react-flow__node' },
    { what: 'the settings of a workflow', path: () => workflow('/settings'), shows: 'textarea, input' },
  ],
};

test('no page of the router is left out', () => {
  const router = readFileSync(`${import.meta.dirname}/../src/router.tsx`, 'utf8');
  expect(Object.keys(PLACES).sort()).toEqual(
    listRoutes(router)
      .map(({ path }) => path)
      .sort(),
  );
  // The tabs of a workflow are one page to the router.
  const tabs = /\['\/', ([^\]]+)\]\.map\(\(path\)/.exec(router)?.[1]?.match(/\w+/g) ?? [];
  const paths = PLACES['/o/$org/workflows/$id']?.map(({ what }) => what) ?? [];
  expect(tabs.filter((tab) => !paths.includes(`the ${tab} of a workflow`))).toEqual([]);
  expect(tabs).not.toEqual([]);
});

describe.each(Object.values(PLACES).flat())('$what', ({ path, shows = 'h1, h2' }) => {
  test.each(['en', 'ja'] as const)(
    'needs few requests and little script, compressed with gzip, until it is complete: %s',
    async (language) => {
      const requests = await listRequests(path(), shows, language);
      const scripts = await listScripts(requests);
      const sum = scripts.reduce((total, { bytes }) => total + bytes, 0);
      if (process.env.SIZES !== undefined)
        console.info(
          `${path()} ${language} ${sum} ${requests.length}`,
          scripts.map(({ name, bytes }) => `${bytes} ${name}`).join(' '),
        );
      expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(MOST_REQUESTS);
      expect(sum, JSON.stringify(scripts, null, 1)).toBeLessThan(LIMIT_BYTES);
      expect(sum).toBeGreaterThan(100 * 1024);
      // Readers of English load no Japanese.
      expect(scripts.some(({ isJapanese }) => isJapanese)).toBe(language === 'ja');
    },
  );
});
