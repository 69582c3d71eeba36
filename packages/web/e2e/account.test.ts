import { UNATTENDED_HEADER } from '@millrace/admin-api';
import { makeSetupToken } from '@millrace/identity/setup/setup';
import { codeOf, createAccount, PASSWORD } from '@millrace/testing/accounts';
import { createKeyFolder, type KeyFolder } from '@millrace/testing/secret-keys';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { focused } from './support/focused.ts';
import { signIn } from './support/sign-in.ts';

let world: BrowserService;
let folder: KeyFolder;
beforeAll(async () => {
  folder = await createKeyFolder();
  world = await openBrowserService({
    runsWorker: false,
    limits: { failedAuthPerMinutePerIp: 1_000 },
    deps: { secretKeys: folder.open() },
    config: {
      singleSignOn: {
        issuer: 'http://127.0.0.1:9',
        clientId: 'millrace',
        clientSecret: null,
        name: 'Example Login',
        newMembers: null,
      },
    },
  });
});
afterAll(async () => {
  await world.stop();
  await folder.remove();
});

describe('setup', () => {
  test('the setup link creates the first account, by keyboard only, and then no other', async () => {
    const token = (await makeSetupToken(world.service.database.db)) ?? '';
    const opened = await world.openPage();
    const { page } = opened;
    await page.goto(`${world.url}/setup`);
    await page.getByRole('heading', { name: 'Open the setup link' }).waitFor();
    await page.goto(`${world.url}/`);
    await page.waitForURL(/\/setup$/);
    await page.goto(`${world.url}/sign-in`);
    await page.getByText('There are no accounts yet.').waitFor();

    await page.goto(`${world.url}/setup#token=${token}`);
    await focused(page.getByRole('textbox', { name: 'Your name' }));
    await page.keyboard.type('Ada Lovelace');
    await page.keyboard.press('Tab');
    await page.keyboard.type('ada@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.type('ada@example.com');
    await page.keyboard.press('Enter');
    await page.getByText("It's too similar to your name or e-mail address.").waitFor();
    await page.getByLabel('New password').fill('analytical engine');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/o\/\d+\/workflows$/);
    await page.getByRole('button', { name: 'Account menu for Ada Lovelace' }).waitFor();

    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByText('0 of 4 done').waitFor();
    await steps.getByRole('button', { name: 'Create the sample' }).click();
    await page.waitForURL(/\/workflows\/\d+$/);
    const sample = new URL(page.url()).pathname;
    await page.getByRole('link', { name: 'Workflows' }).click();
    const open = steps.getByRole('link', { name: 'Open the sample' });
    expect(await open.getAttribute('href')).toBe(sample);
    await steps.getByRole('button', { name: 'Dismiss the first steps' }).click();
    await steps.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Help' }).click();
    expect(await steps.count()).toBe(0);
    await page.getByRole('menuitem', { name: 'First steps' }).click();
    await steps.getByText('0 of 4 done').waitFor();

    const second = await world.openPage();
    await second.page.goto(`${world.url}/setup#token=${token}`);
    await second.page.getByRole('heading', { name: 'Setup is complete' }).waitFor();
    expectNoComplaints(opened);
    expectNoComplaints(second);
  });
});

describe('signing in and out', () => {
  test('leads back to where the user was going, explains failures, and out again', async () => {
    const person = await createAccount(world.service, 'editor');
    const opened = await world.openPage();
    const { page } = opened;
    await page.goto(`${world.url}/o/${person.organisationId}/workflows?search=x`);
    await page.waitForURL(/\/sign-in\?next=/);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.getByText('Your session has ended').count()).toBe(0);
    await signIn(page, person.email, 'not the password');
    await page.getByRole('alert').getByText('Wrong e-mail address or password.').waitFor();
    await signIn(page, person.email);
    await page.waitForURL(`${world.url}/o/${person.organisationId}/workflows?search=x`);
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${world.url}/o/${person.organisationId}/workflows`);
    await page.waitForURL(/\/sign-in\?next=/);
    expectNoComplaints(opened);
  });

  test('single sign-on has a button, and explains in Japanese too why it failed', async () => {
    const opened = await world.openPage({ language: 'ja' });
    const { page } = opened;
    await page.goto(`${world.url}/sign-in?next=%2Faccount&problem=unknown_person`);
    await page.getByRole('alert').getByText('招待されていません').waitFor();
    const link = page.getByRole('link', { name: 'Example Login で続行' });
    expect(await link.getAttribute('href')).toBe('/api/admin/single-sign-on/start?return_to=%2Faccount');
    expectNoComplaints(opened);
  });

  test('a second factor is set up, required, and replaced by a recovery code', async () => {
    const person = await createAccount(world.service, 'editor');
    const opened = await world.openFor(person, '/account');
    const { page } = opened;
    const section = page.getByRole('region', { name: 'Two-factor authentication' });
    await section.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '');
    await dialog.getByRole('textbox', { name: /^Then enter the code/ }).fill('000000');
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByText('The code is wrong').waitFor();
    await dialog.getByRole('textbox', { name: /^Then enter the code/ }).fill(codeOf(secret));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    const codes = page.getByRole('dialog', { name: 'Recovery codes' });
    await codes.getByText('Each works once').waitFor();
    const recoveryCodes = await codes.getByRole('listitem').allInnerTexts();
    expect(recoveryCodes).toHaveLength(10);
    await codes.getByRole('button', { name: 'I have saved them' }).click();
    await section.getByText('On', { exact: true }).waitFor();
    expectNoComplaints(opened);

    const other = await world.openPage();
    await other.page.goto(`${world.url}/sign-in?next=%2Faccount`);
    await signIn(other.page, person.email);
    await other.page.getByRole('textbox', { name: 'Code' }).fill('000000');
    await other.page.getByRole('button', { name: 'Confirm' }).click();
    await other.page.getByRole('alert').getByText('The code is wrong').waitFor();
    await other.page.getByRole('textbox', { name: 'Code' }).fill(recoveryCodes[0] ?? '');
    await other.page.keyboard.press('Enter');
    const off = other.page.getByRole('region', { name: 'Two-factor authentication' });
    await off.getByRole('button', { name: 'Turn off' }).click();
    const proof = other.page.getByRole('dialog');
    await proof.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await proof.getByRole('textbox', { name: 'Code' }).fill(recoveryCodes[1] ?? '');
    await proof.getByRole('button', { name: 'Turn off' }).click();
    await off.getByRole('button', { name: 'Set up' }).waitFor();
    expectNoComplaints(other);
  });

  test('my sessions: one is ended from another browser, and a new password ends all others', async () => {
    const person = await createAccount(world.service, 'viewer');
    const first = await world.openPage();
    await first.page.goto(`${world.url}/sign-in?next=%2Faccount`);
    await signIn(first.page, person.email);
    await first.page.getByRole('heading', { name: 'My account' }).waitFor();
    const second = await world.openFor(person, '/account');
    const sessions = second.page.getByRole('region', { name: "Where you're signed in" });
    await sessions.getByText('This browser').waitFor();
    await sessions
      .getByRole('button', { name: /^Sign out this session: Chrome on Linux, 127\.0\.0\.1/ })
      .click();
    await expect.poll(() => sessions.getByRole('listitem').count()).toBe(1);
    await first.page.reload();
    await first.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(first.page, person.email);
    await first.page.getByLabel('Current password').fill(PASSWORD);
    await first.page.getByLabel('New password').fill('a completely new one');
    await first.page.getByRole('button', { name: 'Change password' }).click();
    await first.page.getByText('Password changed.').waitFor();
    await second.page.reload();
    await second.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expectNoComplaints(first);
    expectNoComplaints(second);
  });

  test('a user without an organisation sees a message, and can leave', async () => {
    const person = await createAccount(world.service, 'viewer');
    await world.service.database.db.query('UPDATE members SET removed_at = now() WHERE id = $1', [
      person.memberId,
    ]);
    const opened = await world.openFor(person, '/');
    const { page } = opened;
    await page.getByRole('heading', { name: "You aren't in any organisation yet" }).waitFor();
    await page.getByText(`You are signed in as ${person.email}.`).waitFor();
    await page.getByRole('link', { name: 'My account' }).click();
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expectNoComplaints(opened);
  });

  test('a sign-out that did not reach the service is reported', async () => {
    const opened = await world.openAs('viewer', 'workflows');
    const { page } = opened;
    await page.route('**/api/admin/sign-out', (route) => route.abort());
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText("Couldn't reach the service.").waitFor();
    expect(page.url()).toContain('/workflows');
    expectNoComplaints(opened);
  });
});

test("automatic requests of an unattended page don't count as use of the session", async () => {
  const person = await createAccount(world.service, 'viewer');
  const opened = await world.openPage({ isFresh: true });
  const { page } = opened;
  await page.clock.install();
  await page.goto(`${world.url}/sign-in`);
  await signIn(page, person.email);
  await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
  /** What the next fetch, a little later, counts as. There is no other before it has ended. */
  const later = async () => {
    const sent = page.waitForRequest(/\/orgs\/\d+\/workflows\?/);
    await page.clock.fastForward('00:15');
    const request = await sent;
    await (await request.response())?.finished();
    return request.headers()[UNATTENDED_HEADER] === '1' ? 'by itself' : 'for somebody';
  };
  expect(await later()).toBe('for somebody');
  await expect.poll(later).toBe('by itself');
  await page.mouse.move(200, 200);
  await page.mouse.move(260, 220);
  expect(await later()).toBe('for somebody');
  expectNoComplaints(opened);
});

describe('axe finds nothing serious', () => {
  test.each(['light', 'dark'] as const)('on the sign-in pages and in their dialogs, %s', async (scheme) => {
    const admin = await createAccount(world.service, 'system_admin');
    const { data } = await admin.call('POST /orgs/:org/invitations', {
      params: { org: admin.organisationId },
      body: { role: 'viewer' },
    });
    const door = await world.openPage({ scheme });
    for (const path of ['/sign-in?problem=failed', '/setup', `/invitation${new URL(data.url).hash}`]) {
      await door.page.goto(`${world.url}${path}`);
      await door.page.getByRole('heading', { level: 1 }).waitFor();
      // What replaces it would move what axe has measured.
      await door.page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      await expectAccessible(door.page);
    }
    const inside = await world.openFor(admin, 'members', { scheme });
    await inside.page.getByRole('button', { name: 'Invite' }).click();
    await inside.page.getByRole('dialog').getByRole('button', { name: 'Create link' }).waitFor();
    await expectAccessible(inside.page, '[role=dialog]');
  });
});
