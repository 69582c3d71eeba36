import { createPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { createWorkflow, greetingFlow } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

describe('the frame', () => {
  test("doesn't show viewers what only administrators may see", async () => {
    const viewer = await world.openAs('viewer', '');
    await viewer.page.getByRole('link', { name: 'Workflows' }).waitFor();
    expect(await viewer.page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    const admin = await world.openAs('org_admin', '');
    await admin.page.getByRole('link', { name: 'API keys' }).waitFor();
    expect(await admin.page.getByRole('link', { name: 'System' }).count()).toBe(0);
    expectNoComplaints(viewer);
    expectNoComplaints(admin);
  });

  test('is in Japanese if the browser is, and in English once chosen', async () => {
    const opened = await world.openAs('viewer', '', { language: 'ja' });
    const { page } = opened;
    await page.getByRole('link', { name: 'ワークフロー' }).waitFor();
    await page.getByRole('button', { name: /アカウントメニュー/ }).click();
    await page.getByRole('menuitem', { name: 'English' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Workflows' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Workflows' }).waitFor();
    await page.locator('html[lang="en"]').waitFor();
    expectNoComplaints(opened);
  });

  test('a narrow window has the navigation behind a button', async () => {
    const opened = await world.openAs('viewer', '', { width: 390 });
    const { page } = opened;
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('link', { name: 'Executions' }).click();
    await page.waitForURL(/\/executions$/);
    await page.getByRole('button', { name: 'Open menu' }).waitFor();
    expectNoComplaints(opened);
  });

  test('in the editor the navigation is icons with accessible names, until expanded', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', greetingFlow('Hello'));
    const opened = await world.openFor(person, `workflows/${id}`);
    const { page } = opened;
    const link = page.getByRole('link', { name: 'Executions' });
    await link.waitFor();
    expect(await link.textContent()).toBe('');
    await page.getByRole('button', { name: 'Expand menu' }).click();
    await page.getByRole('link', { name: 'Executions' }).getByText('Executions').waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Executions' }).getByText('Executions').waitFor();
    expectNoComplaints(opened);
  });

  test('help is a click away on every page, and that of a node one key', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', greetingFlow('Hello'));
    const opened = await world.openFor(person, 'executions');
    const { page } = opened;
    const openHelp = () => page.getByRole('button', { name: 'Help' }).click();
    await openHelp();
    const links = page.getByRole('menu').getByRole('menuitem');
    await links.last().waitFor();
    expect(await links.evaluateAll((items) => items.map((item) => item.getAttribute('href')))).toEqual([
      null,
      '/docs/guides/executions',
      '/docs/guides',
      '/docs',
      null,
    ]);
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Help for the node').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.goto(`${world.url}/o/${person.organisationId}/workflows/${id}`);
    await page.locator('.react-flow__node[data-id="greet"]').click();
    await page.getByRole('tab', { name: 'Configure', selected: true }).waitFor();
    await page.keyboard.press('F1');
    const help = page.getByRole('tab', { name: 'Help', selected: true });
    await help.waitFor();
    const reference = page.getByRole('link', { name: 'All settings in the documentation' });
    expect(await reference.getAttribute('href')).toBe('/docs/guides/nodes#coreset');
    await page.getByRole('tab', { name: 'Configure' }).click();
    await page.keyboard.press('F1');
    await help.waitFor();
    expectNoComplaints(opened);
  });

  test('light or dark is chosen in the menu, and stays', async () => {
    const opened = await world.openAs('viewer', 'workflows');
    const { page } = opened;
    const html = page.locator('html');
    await page.locator('html[data-mantine-color-scheme="light"]').waitFor();
    await page.getByRole('button', { name: /account menu/i }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
    expect(await html.getAttribute('data-mantine-color-scheme')).toBe('dark');
    expectNoComplaints(opened);
  });

  test('without signing in leads to the sign-in page, and back to where the user was going', async () => {
    const { page } = await world.openPage();
    await page.goto(`${world.url}/o/1/executions`);
    await page.waitForURL(/\/sign-in\?next=%2Fo%2F1%2Fexecutions$/);
  });
});

describe('a mistyped address', () => {
  test.each([
    ['en', 'Page not found', 'Go to the start page'],
    ['ja', 'ページが見つかりません', 'トップページへ'],
  ] as const)('leads to a page that says so and back, in %s', async (language, title, back) => {
    const opened = await world.openAs('viewer', '/acount', { language });
    const { page, person } = opened;
    await page.getByRole('heading', { name: title }).waitFor();
    const { url, status } = await page.evaluate(() => {
      const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
      return { url: location.pathname, status: entry?.responseStatus };
    });
    expect([url, status]).toEqual(['/acount', 404]);
    await page.getByRole('link', { name: back }).click();
    await page.waitForURL(`**/o/${person.organisationId}/workflows`);
    expectNoComplaints(opened);
  });

  test('is reported without signing in, too', async () => {
    const opened = await world.openPage();
    const answer = await opened.page.goto(`${world.url}/sign-on`);
    expect(answer?.status()).toBe(404);
    await opened.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expectNoComplaints(opened);
  });
});
