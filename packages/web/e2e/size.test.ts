import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPerson, type TestPerson } from '../../server/test/support/admin.ts';
import { type BrowserService, openBrowserService } from './support/browser-service.ts';
import { furnish } from './support/furnish.ts';
import { settle } from './support/places.ts';

const LIMIT_BYTES = 400 * 1024;

let world: BrowserService;
let person: TestPerson;
let workflowId: number;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createPerson(world.service, 'editor');
  ({ workflowId } = await furnish(world.service, person));
});
afterAll(() => world.stop());

/** Scripts a page has loaded, packed as they came, largest first. */
async function listScripts(path: string): Promise<{ readonly name: string; readonly bytes: number }[]> {
  const { page } = await world.openFor(person, path);
  await settle(page);
  const scripts = await page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(({ name }) => name.endsWith('.js'))
      .map(({ name, encodedBodySize, decodedBodySize }) => ({
        name: name.replace(/^.*\//, ''),
        bytes: encodedBodySize,
        isPacked: encodedBodySize < decodedBodySize || decodedBodySize < 1_000,
      })),
  );
  expect(scripts.filter(({ isPacked }) => !isPacked)).toEqual([]);
  return scripts.map(({ name, bytes }) => ({ name, bytes })).sort((a, b) => b.bytes - a.bytes);
}

test.each([
  ['the list of workflows', () => 'workflows'],
  ['the editor', () => `workflows/${workflowId}`],
])('%s loads less than 400 KB of packed script until it is shown', async (_what, path) => {
  const scripts = await listScripts(path());
  const sum = scripts.reduce((total, { bytes }) => total + bytes, 0);
  expect(sum, JSON.stringify(scripts.slice(0, 10), null, 1)).toBeLessThan(LIMIT_BYTES);
  expect(sum).toBeGreaterThan(100 * 1024);
});
