import { createPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { createWorkflow, greetingFlow } from './support/editor.ts';
import { focused } from './support/focused.ts';

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

  test('its scripts are the same to the browser each time: a nonce would have every function compiled again', async () => {
    const { page } = await world.openAs('editor', 'workflows');
    await page.getByRole('heading', { name: 'Workflows' }).waitFor();
    const found = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('script, link')].map(({ nonce, tagName }) => [
        tagName,
        nonce,
      ]),
    );
    expect(found.map(([tag]) => tag)).toContain('SCRIPT');
    expect(found.filter(([, nonce]) => nonce !== '')).toEqual([]);
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
    const navigation = page.getByRole('navigation', { name: 'Main' });
    const link = navigation.getByRole('link', { name: 'Executions' });
    await link.waitFor();
    expect(await link.textContent()).toBe('');
    await page.getByRole('button', { name: 'Expand menu' }).click();
    await link.getByText('Executions').waitFor();
    await page.reload();
    await link.getByText('Executions').waitFor();
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

describe('the command palette', () => {
  test('goes to workflows, executions by number, nodes and pages, and does things, by keyboard', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', greetingFlow('Hello'));
    const invoices = await createWorkflow(person, 'Invoices', greetingFlow('Hello'));
    const { data } = await person.call('POST /orgs/:org/workflows/:id/run', {
      params: { org: person.organisationId, id },
      body: {},
    });
    const opened = await world.openFor(person, 'executions');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Executions' }).waitFor();
    const field = page.getByRole('combobox', { name: 'Search…' });
    const choose = async (text: string, option: string | RegExp) => {
      await page.keyboard.press('ControlOrMeta+k');
      await focused(field);
      await page.keyboard.type(text);
      await page.getByRole('option', { name: option, selected: true, exact: false }).waitFor();
      await page.keyboard.press('Enter');
      await field.waitFor({ state: 'detached' });
    };
    await choose('orders', /^Orders/);
    await page.waitForURL(new RegExp(`/workflows/${id}$`));
    await page.locator('.react-flow__node').first().waitFor();
    // The store has the names of nodes; what was typed is their kind.
    await choose('set values', /Set values/);
    await page.locator('.editor-side').waitFor();
    await choose(`#${data.execution_id}`, new RegExp(`Execution #${data.execution_id}$`));
    await page.waitForURL(new RegExp(`/executions/${data.execution_id}$`));
    await page.getByRole('heading', { level: 1 }).waitFor();

    // What was open last comes first; the arrow keys go through all of it, and Escape closes.
    await page.getByRole('button', { name: 'Search…' }).click();
    await focused(field);
    const recent = page.getByRole('group', { name: 'Recent' }).getByRole('option');
    await expect.poll(() => recent.count()).toBe(2);
    expect(await recent.first().getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => recent.nth(1).getAttribute('aria-selected')).toBe('true');
    expect(await field.getAttribute('aria-activedescendant')).toBe(await recent.nth(1).getAttribute('id'));
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });

    // Enter that confirms a conversion of an input method chooses nothing.
    await page.keyboard.press('ControlOrMeta+k');
    await focused(field);
    await field.dispatchEvent('keydown', {
      key: 'Enter',
      isComposing: true,
      bubbles: true,
      cancelable: true,
    });
    // Whoever knows the name doesn't wait for the service.
    await page.keyboard.type('invoices');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/workflows/${invoices}$`));
    await field.waitFor({ state: 'detached' });

    await choose('dark', 'Appearance: Dark');
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await choose('credent', 'Credentials');
    await page.waitForURL(/\/credentials$/);
    await choose('new workflow', 'New workflow');
    // It would leave the dialog, and what was typed there.
    await page.keyboard.press('ControlOrMeta+k');
    expect(await field.count()).toBe(0);
    await page
      .getByRole('dialog', { name: 'New workflow' })
      .getByRole('textbox', { name: 'Name' })
      .fill('Third');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/workflows\/\d+$/);
    expectNoComplaints(opened);
  });
});

test('the command palette on the account page finds what the organisation open last has', async () => {
  const person = await createPerson(world.service, 'editor');
  const id = await createWorkflow(person, 'Orders', greetingFlow('Hello'));
  const opened = await world.openFor(person, '/account');
  const { page } = opened;
  await page.getByRole('textbox', { name: 'Your name' }).waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await focused(page.getByRole('combobox', { name: 'Search…' }));
  await page.keyboard.type('orders');
  await page.getByRole('option', { name: /^Orders/, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/o/${person.organisationId}/workflows/${id}$`));
  expectNoComplaints(opened);
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
