import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { focused } from './support/focused.ts';

/** Credentials that are made while a template is filled in. */
let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

test('a new credential begins with what the connector says, at the host that is filled in, and is taken', async () => {
  const opened = await world.openAs('editor', 'templates');
  const { page, person } = opened;
  const params = { org: person.organisationId };
  const workflows = async () => (await person.call('GET /orgs/:org/workflows', { params })).data.items;
  await page.getByRole('button', { name: 'Details of Orders to Notion' }).click();
  const dialog = page.getByRole('dialog', { name: 'Orders to Notion' });
  await dialog.getByRole('textbox', { name: 'Shop', exact: true }).fill('acme');
  await dialog.getByRole('button', { name: 'New credential for Shopify credential' }).click();

  const form = page.getByRole('dialog', { name: 'Add a credential' });
  const value = form.getByLabel('Header value');
  await focused(value);
  expect(await form.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Shopify');
  expect(await form.getByText('acme.myshopify.com', { exact: true }).count()).toBe(1);
  expect(await form.getByRole('textbox', { name: 'Header name' }).inputValue()).toBe(
    'X-Shopify-Access-Token',
  );
  await value.fill('a-token');
  await page.keyboard.press('Enter');
  await form.waitFor({ state: 'detached' });
  const { data } = await person.call('GET /orgs/:org/credentials', { params });
  expect(data.items).toMatchObject([{ name: 'Shopify', type: 'header', hosts: ['acme.myshopify.com'] }]);
  const chosen = dialog.getByRole('combobox', { name: 'Shopify credential' });
  await expect.poll(() => chosen.inputValue()).toBe('Shopify (Header)');
  // Enter was for the form of the credential alone.
  expect(await workflows()).toEqual([]);

  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await page.waitForURL(/\/workflows\/\d+/);
  const [made] = await workflows();
  const whole = await person.call('GET /orgs/:org/workflows/:id', {
    params: { ...params, id: made?.id ?? 0 },
  });
  expect(JSON.stringify(whole.data)).toContain(`"credential_id":${data.items[0]?.id}`);
  expectNoComplaints(opened);
});

test('of a service with OAuth, it begins with the service and the scopes', async () => {
  const opened = await world.openAs('editor', 'templates');
  const { page } = opened;
  await page.getByRole('button', { name: 'Details of Sign-up sheet' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign-up sheet' });
  await dialog.getByRole('button', { name: 'New credential for Google credential' }).click();
  const form = page.getByRole('dialog', { name: 'Add a credential' });
  await expect
    .poll(() => form.getByRole('textbox', { name: 'Name', exact: true }).inputValue())
    .toBe('Google Sheets');
  expect(await form.getByRole('combobox', { name: 'Type' }).inputValue()).toBe('OAuth 2.0');
  expect(await form.getByRole('combobox', { name: 'Service' }).inputValue()).toBe('Google');
  expect(await form.getByRole('textbox', { name: 'Scope' }).inputValue()).toBe(
    'https://www.googleapis.com/auth/spreadsheets',
  );
  expect(await form.getByText('sheets.googleapis.com', { exact: true }).count()).toBe(1);
  // Escape closes the inner dialog alone.
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Create', exact: true }).waitFor();
  expectNoComplaints(opened);
});
