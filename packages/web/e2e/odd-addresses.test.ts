import { createAccount, PASSWORD } from '@millrace/testing/accounts';
import { createPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';

/** Crafted addresses that someone might trick others into opening. */
let service: BrowserService;
beforeAll(async () => {
  service = await openBrowserService({ runsWorker: false });
});
afterAll(() => service.stop());

describe('the sign-in page', () => {
  test('shows nothing that is only in its address', async () => {
    const opened = await service.openPage();
    await opened.page.goto(`${service.url}/sign-in?problem=Call+0800-EVIL`);
    await opened.page.getByRole('textbox', { name: 'E-mail address' }).waitFor();
    expect(await opened.page.locator('#root').textContent()).not.toMatch(/EVIL|signOn/);
    expectNoComplaints(opened);
  });

  test.each(['//evil.example/', 'https://evil.example/', '/\\evil.example/'])(
    'leads nowhere else: %s',
    async (next) => {
      const person = await createAccount(service.service, 'viewer');
      const opened = await service.openPage();
      const { page } = opened;
      await page.goto(`${service.url}/sign-in?next=${encodeURIComponent(next)}`);
      await page.getByRole('textbox', { name: 'E-mail address' }).fill(person.email);
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
      expect(new URL(page.url()).origin).toBe(service.url);
      expectNoComplaints(opened);
    },
  );
});

test('lists ignore unknown values in the address', async () => {
  const boss = await createPerson(service.service, 'system_admin');
  const opened = await service.openFor(boss, 'members?tab=other');
  await opened.page.getByRole('cell', { name: boss.email, exact: false }).first().waitFor();
  await opened.page.goto(`${service.url}/o/${boss.organisationId}/accounts?search=[1]`);
  await opened.page.getByRole('cell', { name: boss.email, exact: false }).first().waitFor();
  expectNoComplaints(opened);
});

test("a missing workflow is a page that doesn't exist", async () => {
  const viewer = await createPerson(service.service, 'viewer');
  const { page } = await service.openFor(viewer, 'workflows/999999');
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await expect.poll(() => page.title()).toBe('Page not found · Millrace');
});

test('a name that is refused is not reported as saved', async () => {
  const boss = await createPerson(service.service, 'org_admin');
  const opened = await service.openFor(boss, 'settings');
  const { page } = opened;
  const answers: number[] = [];
  page.on('response', (response) => {
    if (response.request().method() === 'PATCH') answers.push(response.status());
  });
  const name = page.getByRole('textbox', { name: 'Name' });
  const save = page.getByRole('button', { name: 'Save' }).first();
  await name.fill('99');
  await save.click();
  await page.getByText(/must not consist of digits only/).waitFor();
  await name.fill('A good name');
  const isSaved = page.waitForResponse(
    (response) => response.request().method() === 'PATCH' && response.url().endsWith('/settings'),
  );
  await save.click();
  await isSaved;
  // The name is sent twice, the other settings once.
  await expect.poll(() => answers).toEqual([422, 200, 200]);
});
