import {
  ADMIN_API,
  type Endpoint,
  type EndpointName,
  isAtLeast,
  ROLES,
  type Role,
} from '@millrace/admin-api';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectNoComplaints } from './support/browser-service.ts';
import { closeByEscape } from './support/focused.ts';
import { type Place, placesOfRoles, type View } from './support/role-places.ts';
import { openRoleWorld, type RoleWorld } from './support/role-world.ts';
import { goWithin } from './support/walk.ts';

let world: RoleWorld;
beforeAll(async () => {
  world = await openRoleWorld();
});
afterAll(() => world.stop());

const ENDPOINTS = Object.entries(ADMIN_API) as readonly (readonly [EndpointName, Endpoint])[];

/** Endpoints that require more than this role. */
function refusedTo(role: Role): readonly EndpointName[] {
  return ENDPOINTS.filter(
    ([, { access }]) => access !== 'anyone' && access !== 'signed_in' && !isAtLeast(role, access),
  ).map(([name]) => name);
}

/** Endpoints without a control of their own: steps of an action started elsewhere. */
const STEPS: ReadonlySet<string> = new Set<EndpointName>([
  'DELETE /orgs/:org/workflows/:id/sample-listener',
  'PUT /orgs/:org/workflows/:id/sample',
  // Pasting a workflow of another product onto the canvas.
  'POST /orgs/:org/import',
  // Running a single node of a draft.
  'PUT /orgs/:org/workflows/:id/pins',
]);

describe.each(ROLES)('%s', (role) => {
  test('sees the pages and actions that the role allows, and no others', async () => {
    const opened = await world.openFor(world.people[role], 'workflows');
    const { page } = opened;
    await page.getByRole('link', { name: 'Orders' }).waitFor();
    const places = placesOfRoles(page, world);
    for (const place of places) await expectNavigation(page, place, role);
    const differences: string[] = [];
    for (const place of places) {
      await goWithin(page, `${world.url}/o/${world.params.org}/${place.path}`);
      if (isAtLeast(role, place.needs)) differences.push(...(await findDifferences(page, place, role)));
      else await expectRefusal(page, place);
    }
    expect(differences).toEqual([]);
    expectNoComplaints(opened);
  });

  test('is refused everything else by the API, from the same browser', async () => {
    const { page } = await world.openFor(world.people[role], '/account');
    await page.getByRole('heading', { name: 'My account' }).waitFor();
    const names = refusedTo(role);
    const calls = names.map((name) => {
      const [method = '', path = ''] = name.split(' ');
      const filled = path.replace(/:(\w+)/g, (_match, param: string) => String(world.params[param]));
      return { name, method, path: `/api/admin${filled}` };
    });
    expect(calls.filter(({ path }) => path.includes('undefined'))).toEqual([]);
    const answers = await page.evaluate(
      (asked) =>
        Promise.all(
          asked.map(async ({ name, method, path }) => {
            const body =
              method === 'GET' ? {} : { body: '{}', headers: { 'content-type': 'application/json' } };
            const response = await fetch(path, { method, ...body });
            const { code } = response.status === 403 ? await response.json() : { code: 'is let through' };
            return `${name}: ${response.status} ${code}`;
          }),
        ),
      calls,
    );
    expect(answers).toEqual(names.map((name) => `${name}: 403 insufficient_role`));
  });
});

test('the pages above have a control for every change to an organisation', async () => {
  const { page } = await world.openPage();
  const known = new Set(
    placesOfRoles(page, world).flatMap(({ views }) =>
      views.flatMap(({ actions }) => actions.map(([endpoint]): string => endpoint)),
    ),
  );
  const changes = ENDPOINTS.filter(
    ([name, { access }]) =>
      !name.startsWith('GET ') && access !== 'viewer' && (ROLES as readonly string[]).includes(access),
  ).map(([name]) => name);
  expect(changes.filter((name) => !known.has(name) && !STEPS.has(name))).toEqual([]);
});

async function expectNavigation(page: Page, { path, needs }: Place, role: Role): Promise<void> {
  const link = page
    .getByRole('navigation', { name: 'Main' })
    .locator(`a[href="/o/${world.params.org}/${path}"]`);
  const isPlace = !path.includes('/') && !path.includes('?');
  expect([path, await link.count()]).toEqual([path, isPlace && isAtLeast(role, needs) ? 1 : 0]);
}

/** Actions that are visible but forbidden, or permitted but hidden. */
async function findDifferences(page: Page, { path, views }: Place, role: Role): Promise<string[]> {
  const found: string[] = [];
  for (const view of views) {
    await enter(view);
    for (const [endpoint, at] of view.actions) {
      const { access } = ADMIN_API[endpoint] as Endpoint;
      if (isAtLeast(role, access as Role)) {
        await at.waitFor().catch(() => found.push(`${path}: ${endpoint} is missing`));
      } else if ((await at.count()) > 0) {
        found.push(`${path}: ${endpoint} is there`);
      }
    }
    if (view.isMenu === true) await closeByEscape(page.getByRole('menu'));
  }
  return found;
}

async function enter({ way, shows }: View): Promise<void> {
  await way?.click();
  await shows.waitFor();
}

/** A page that this role may not open shows an explanation and no controls. */
async function expectRefusal(page: Page, { path, views }: Place): Promise<void> {
  await page.getByRole('heading', { name: "You don't have permission to do this" }).waitFor();
  for (const { way, actions } of views) {
    for (const at of [...(way === undefined ? [] : [way]), ...actions.map(([, at]) => at)]) {
      expect([path, String(at), await at.count()]).toEqual([path, String(at), 0]);
    }
  }
}
