import { auditActions, createAccount, createBrowser, PASSWORD } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type OidcAccount, type OidcProvider, startOidcProvider } from '@millrace/testing/oidc-provider';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type BrowserService,
  expectNoComplaints,
  openBrowserService,
  type TestPage,
} from './support/browser-service.ts';
import { type Front, openFront } from './support/front.ts';
import { signIn } from './support/sign-in.ts';

/** Single sign-on end to end: a browser and a real provider. */
let front: Front;
let provider: OidcProvider;
let world: BrowserService;
let admin: TestPerson;
beforeAll(async () => {
  front = await openFront();
  provider = await startOidcProvider(
    `${front.url}/api/admin/single-sign-on/callback`,
    `${front.url}/api/admin/oauth/callback`,
  );
  const { issuer, clientId, clientSecret } = provider;
  world = await openBrowserService({
    runsWorker: false,
    limits: { failedAuthPerMinutePerIp: 1_000 },
    config: {
      publicUrl: front.url,
      allowHosts: ['127.0.0.1'],
      singleSignOn: { issuer, clientId, clientSecret, name: 'Example Login', newMembers: null },
    },
  });
  front.leadTo(world.service.port);
  admin = await createPerson(world.service, 'org_admin');
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
  await front.stop();
});

/** A browser restricted to this machine: the provider's pages request an external font. */
async function openDoor(path = '/sign-in', language: 'en' | 'ja' = 'en'): Promise<TestPage> {
  const opened = await world.openPage({ language });
  await opened.context.route(
    (url) => url.hostname !== '127.0.0.1',
    (route) => route.abort(),
  );
  await opened.page.goto(`${front.url}${path}`);
  return opened;
}

const CONTINUE = 'Continue with Example Login';

/** Signs in from the sign-in page to the end, with a provider that returns this account. */
async function signInAtProvider(page: Page, account: OidcAccount, button = CONTINUE): Promise<void> {
  await page.getByRole('link', { name: button }).click();
  await finishAtProvider(page, account);
}

async function finishAtProvider(page: Page, account: OidcAccount): Promise<void> {
  const login = `login-${provider.accounts.size}`;
  provider.accounts.set(login, account);
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** Excludes the provider's cookies, which are sent to the same host. */
async function ownCookies({ context }: TestPage): Promise<string[]> {
  const cookies = await context.cookies(front.url);
  return cookies
    .map(({ name }) => name)
    .filter((name) => name.startsWith('millrace_'))
    .sort();
}

const verified = (email: string): OidcAccount => ({ email, email_verified: true, name: 'Ada Lovelace' });

describe('admits', () => {
  test('people who were invited, back to where they were going, and out and in again', async () => {
    const org = admin.organisationId;
    await admin.call('POST /orgs/:org/invitations', {
      params: { org },
      body: { role: 'editor', email: 'ada@example.com' },
    });
    const opened = await openDoor(`/o/${org}/executions?status=failed`);
    const { page } = opened;
    await page.waitForURL(/\/sign-in\?next=/);
    await signInAtProvider(page, verified('Ada@Example.com'));
    await page.waitForURL(`${front.url}/o/${org}/executions?status=failed`);
    await page.getByRole('button', { name: 'Account menu for Ada Lovelace' }).click();
    await page.getByRole('menuitem', { name: 'My account' }).click();
    // The provider is the only way to sign in: nothing about passwords is shown.
    await page.getByText('ada@example.com').waitFor();
    expect(await page.getByRole('region', { name: 'Two-factor authentication' }).count()).toBe(0);
    expect(await page.getByLabel('Current password').count()).toBe(0);
    expect(await ownCookies(opened)).toEqual(['millrace_device', 'millrace_session']);
    expect(await auditActions(world.service, org)).toEqual(
      expect.arrayContaining(['invitation.accepted', 'user.signed_in']),
    );

    await page.goto(`${front.url}/o/${org}/workflows`);
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    // The provider's session is still active.
    await page.getByRole('link', { name: CONTINUE }).click();
    await page.waitForURL(/\/o\/\d+\/workflows$/);
    expectNoComplaints(opened);
  });

  test('an account with the same address, which stays as it is if the address was already proved', async () => {
    const person = await createAccount(world.service, 'editor');
    await world.service.database.db.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [
      person.userId,
    ]);
    const opened = await openDoor();
    await signInAtProvider(opened.page, verified(person.email));
    await opened.page.waitForURL(`${front.url}/o/${person.organisationId}/workflows`);
    await opened.page.goto(`${front.url}/account`);
    // Both sign-in methods: the provider, and still the password.
    await opened.page.getByLabel('Current password').waitFor();
    const body = { email: person.email, password: PASSWORD };
    expect((await createBrowser(world.service).call('POST /sign-in', { body })).status).toBe(204);
    expectNoComplaints(opened);
  });

  test('the owner of an address with which someone else created an account, who is signed out', async () => {
    const { data } = await admin.call('POST /orgs/:org/invitations', {
      params: { org: admin.organisationId },
      body: { role: 'viewer' },
    });
    const other = await openDoor(`/invitation${new URL(data.url).hash}`);
    await other.page.getByRole('textbox', { name: 'Your name' }).fill('Mallory');
    await other.page.getByRole('textbox', { name: 'E-mail address' }).fill('owner@example.com');
    await other.page.getByLabel('New password').fill('difference engine');
    await other.page.getByRole('button', { name: 'Create account and join' }).click();
    await other.page.waitForURL(/\/o\/\d+\/workflows$/);

    const owner = await openDoor();
    await signInAtProvider(owner.page, verified('owner@example.com'));
    await owner.page.waitForURL(/\/o\/\d+\/workflows$/);
    await other.page.reload();
    await signIn(other.page, 'owner@example.com', 'difference engine');
    await other.page.getByRole('alert').getByText('Wrong e-mail address or password.').waitFor();
    expectNoComplaints(owner);
    expectNoComplaints(other);
  });
});

describe('refuses, with a reason,', () => {
  const told = (page: Page, text: string | RegExp) => page.getByRole('alert').getByText(text).waitFor();

  test('people who were not invited, in Japanese too, and remembers where they were going', async () => {
    const opened = await openDoor(`/o/${admin.organisationId}/keys`, 'ja');
    const { page } = opened;
    await page.waitForURL(/\/sign-in\?next=/);
    await signInAtProvider(page, verified('stranger@example.com'), 'Example Login で続行');
    await told(page, '招待されていません');
    expect(new URL(page.url()).searchParams.get('next')).toBe(`/o/${admin.organisationId}/keys`);
    expect(await ownCookies(opened)).toEqual([]);
    expectNoComplaints(opened);
  });

  test("an address that the provider doesn't vouch for", async () => {
    const person = await createAccount(world.service, 'editor');
    const opened = await openDoor();
    await signInAtProvider(opened.page, { email: person.email, email_verified: false });
    await told(opened.page, /hasn't confirmed your e-mail address/);
    expectNoComplaints(opened);
  });

  test('people who decline at the provider', async () => {
    const opened = await openDoor();
    await opened.page.getByRole('link', { name: CONTINUE }).click();
    await opened.page.getByRole('link', { name: /Cancel/ }).click();
    await told(opened.page, /Sign-in was cancelled at the provider/);
    expectNoComplaints(opened);
  });

  test('the end of a sign-in that another tab replaced (state); that of the other tab works', async () => {
    const person = await createAccount(world.service, 'viewer');
    const opened = await openDoor();
    const former = opened.page;
    await former.getByRole('link', { name: CONTINUE }).click();
    await former.getByPlaceholder('Enter any login').waitFor();
    const present = await opened.context.newPage();
    await present.goto(`${front.url}/sign-in`);
    await present.getByRole('link', { name: CONTINUE }).click();
    await present.getByPlaceholder('Enter any login').waitFor();
    await finishAtProvider(former, verified(person.email));
    await told(former, /started in another browser or tab, or has expired/);
    await finishAtProvider(present, verified(person.email));
    await present.waitForURL(`${front.url}/o/${person.organisationId}/workflows`);
    expectNoComplaints(opened);
  });

  test('a response to another sign-in (nonce)', async () => {
    const person = await createAccount(world.service, 'viewer');
    const opened = await openDoor();
    const { page } = opened;
    const begun = await opened.context.request.get(`${front.url}/api/admin/single-sign-on/start`, {
      maxRedirects: 0,
    });
    const authorization = new URL(begun.headers().location ?? '');
    authorization.searchParams.set('nonce', 'A'.repeat(43));
    await page.goto(authorization.href);
    await finishAtProvider(page, verified(person.email));
    await told(page, /The provider sent an unexpected response/);
    await page.goto(`${front.url}/account`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expectNoComplaints(opened);
  });
});

test('a credential is connected by approving it at its service, in a tab of its own', async () => {
  const editor = await createPerson(world.service, 'editor');
  const opened = await world.openFor(editor, 'credentials');
  const { page, context } = opened;
  await context.route(
    (url) => url.hostname !== '127.0.0.1',
    (route) => route.abort(),
  );
  await page.goto(`${front.url}/o/${editor.organisationId}/credentials`);
  await page.getByRole('button', { name: 'Add a credential' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add a credential' });
  await dialog.getByRole('combobox', { name: 'Type' }).click();
  await page.getByRole('option', { name: 'OAuth 2.0' }).click();
  const field = (name: string) => dialog.getByRole('textbox', { name });
  await field('Name').fill('Calendar');
  await dialog.getByText(`${front.url}/api/admin/oauth/callback`).waitFor();
  await field('Client ID').fill(provider.clientId);
  await dialog.getByLabel('Client secret').fill(provider.clientSecret);
  await field('Scope').fill('openid offline_access');
  await field('Authorization URL').fill(`${provider.issuer}/auth`);
  await field('Token URL').fill(`${provider.issuer}/token`);
  await field('Extra authorization parameters').fill('prompt=consent');
  await dialog.getByRole('combobox', { name: 'Client authentication' }).click();
  await page.getByRole('option', { name: 'HTTP basic authentication' }).click();
  await dialog.getByLabel('Hosts it may be sent to').fill('api.example.com');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Add' }).click();

  // It is of no use before, so this comes next.
  await page.getByRole('dialog', { name: 'Connect Calendar' }).waitFor();
  await page.getByText('Not connected').waitFor();
  const service = context.waitForEvent('page');
  await page.getByRole('link', { name: `Open ${new URL(provider.issuer).host}` }).click();
  const tab = await service;
  await finishAtProvider(tab, verified('ada@example.com'));
  await tab.getByText('Connected.', { exact: true }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await page.getByText('Not connected').waitFor({ state: 'detached' });
  expectNoComplaints(opened);
});
