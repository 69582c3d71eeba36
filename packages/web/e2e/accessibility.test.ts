import AxeBuilder from '@axe-core/playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPerson, type TestPerson } from '../../server/test/support/admin.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { furnish } from './support/furnish.ts';
import { LISTS, placesOf, settle } from './support/places.ts';

let world: BrowserService;
let person: TestPerson;
let newcomer: TestPerson;
let places: { readonly [name: string]: string };
beforeAll(async () => {
  world = await openBrowserService();
  person = await createPerson(world.service, 'system_admin');
  newcomer = await createPerson(world.service, 'system_admin');
  const { workflowId, executionIds } = await furnish(world.service, person);
  places = placesOf(workflowId, executionIds);
});
afterAll(() => world.stop());

/** What axe calls serious or critical, in a line each. */
async function findViolations(page: import('playwright-core').Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary}`),
    );
}

describe.each(['light', 'dark'] as const)('axe finds nothing serious, %s', (scheme) => {
  test('on any page with something in it', async () => {
    const opened = await world.openFor(person, '/account', { scheme });
    const found: Record<string, string[]> = {};
    for (const [name, path] of Object.entries(places)) {
      await opened.page.goto(
        path.startsWith('/') ? world.url + path : `${world.url}/o/${person.organisationId}/${path}`,
      );
      await settle(opened.page);
      const violations = await findViolations(opened.page);
      if (violations.length > 0) found[name] = violations;
    }
    expect(found).toEqual({});
    expectNoComplaints(opened);
  });

  test('on any page with nothing in it, in a narrow window', async () => {
    const opened = await world.openFor(newcomer, '/account', { scheme, width: 390, height: 844 });
    const found: Record<string, string[]> = {};
    for (const name of LISTS) {
      await opened.page.goto(`${world.url}/o/${newcomer.organisationId}/${name}`);
      await settle(opened.page);
      const violations = await findViolations(opened.page);
      const width = await opened.page.evaluate(() => document.documentElement.scrollWidth);
      if (width > 390) violations.push(`it is ${width} pixels wide`);
      if (violations.length > 0) found[name] = violations;
    }
    expect(found).toEqual({});
    expectNoComplaints(opened);
  });
});
