import { createAccount, PASSWORD } from '@millrace/testing/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { focused } from './support/focused.ts';
import { signIn } from './support/sign-in.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

describe('people', () => {
  test('an invitation link creates a member; role, removal and the last administrator', async () => {
    const admin = await world.openAs('org_admin', 'members');
    const { page } = admin;
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.getByRole('radio').count()).toBe(3);
    await dialog.getByRole('radio', { name: /^Viewer/ }).check();
    await dialog.getByRole('textbox', { name: 'E-mail address' }).fill('Bea@example.com');
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const link = await page.getByRole('textbox', { name: 'Invitation link' }).inputValue();
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();

    const guest = await world.openPage();
    await guest.page.goto(`${world.url}/invitation${new URL(link).hash}`);
    await guest.page.getByText('Your role will be Viewer.').waitFor();
    await guest.page.getByRole('textbox', { name: 'Your name' }).fill('Bea <b>Bold</b>');
    expect(await guest.page.getByRole('textbox', { name: 'E-mail address' }).inputValue()).toBe(
      'bea@example.com',
    );
    await guest.page.getByLabel('New password').fill('difference engine');
    await guest.page.getByRole('button', { name: 'Create account and join' }).click();
    await guest.page.waitForURL(/\/o\/\d+\/workflows$/);
    await guest.page.reload();
    await guest.page.goto(`${world.url}/invitation${new URL(link).hash}`);
    await guest.page.getByRole('heading', { name: 'This invitation is no longer valid' }).waitFor();

    await page.getByRole('tab', { name: 'Invitations' }).click();
    await page
      .getByRole('row', { name: /bea@example.com/ })
      .getByText('Accepted')
      .waitFor();
    await page.getByRole('tab', { name: 'Members' }).click();
    await page.reload();
    await page.getByText('Bea <b>Bold</b>').waitFor();
    await page.getByRole('combobox', { name: 'Role of bea@example.com' }).click();
    await page.getByRole('option', { name: 'Editor' }).click();
    // An organisation admin can't vouch for the email address, so this invitation must be accepted too.
    const more = await page.getByRole('textbox', { name: 'Invitation link' }).inputValue();
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    await guest.page.goto(`${world.url}/invitation${new URL(more).hash}`);
    await guest.page.getByRole('button', { name: 'Join' }).click();
    await guest.page.waitForURL(/\/o\/\d+\/workflows$/);
    await page.reload();
    const role = page.getByRole('combobox', { name: 'Role of bea@example.com' });
    await role.waitFor();
    expect(await role.inputValue()).toBe('Editor');
    await role.click();
    await page.getByRole('option', { name: 'Viewer' }).click();
    await page.getByText('bea@example.com is now Viewer.').waitFor();
    await page.getByRole('combobox', { name: `Role of ${admin.person.email}` }).click();
    await page.getByRole('option', { name: 'Viewer' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change my role' }).click();
    await page.getByText('This is the last administrator.').waitFor();
    await page.getByRole('button', { name: 'Remove bea@example.com' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => page.getByRole('row', { name: /bea@example/ }).count()).toBe(0);
    expectNoComplaints(admin);
    expectNoComplaints(guest);
  });

  test('someone with an account joins after signing in, and can switch organisations', async () => {
    const admin = await createAccount(world.service, 'org_admin');
    const person = await createAccount(world.service, 'viewer');
    const { data } = await admin.call('POST /orgs/:org/invitations', {
      params: { org: admin.organisationId },
      body: { role: 'editor', email: person.email },
    });
    const opened = await world.openFor(admin, `/invitation${new URL(data.url).hash}`);
    const { page } = opened;
    await page.getByText(`You are signed in as ${admin.email}`).waitFor();
    await page.getByRole('button', { name: 'Use a different account' }).click();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in to join' }).click();
    await page.waitForURL(new RegExp(`/o/${admin.organisationId}/workflows$`));
    await page.getByRole('link', { name: 'Executions' }).click();
    await page.waitForURL(/\/executions$/);
    await page.getByRole('button', { name: /switch organisation/ }).click();
    // The same section of the other organisation.
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /Viewer$/ })
      .click();
    await page.waitForURL(`${world.url}/o/${person.organisationId}/executions`);
    expectNoComplaints(opened);
  });

  test('a member of many organisations searches them, and lands where their role allows', async () => {
    const person = await createAccount(world.service, 'org_admin');
    for (let index = 0; index < 8; index += 1)
      await createAccount(world.service, 'viewer', { email: person.email });
    const last = await createAccount(world.service, 'viewer', { email: person.email });
    await world.service.database.db.query('UPDATE organisations SET name = $2 WHERE id = $1', [
      last.organisationId,
      'zebra',
    ]);
    const opened = await world.openFor(person, 'members');
    const { page } = opened;
    await page.getByRole('button', { name: /switch organisation/ }).click();
    const choices = page.getByRole('dialog');
    await expect.poll(() => choices.getByRole('link').count()).toBe(10);
    await expectAccessible(page, '[role=dialog]');
    await focused(choices);
    await page.keyboard.type('zeb');
    await expect.poll(() => choices.getByRole('link').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${world.url}/o/${last.organisationId}/workflows`);
    // Returns there, not to the first organisation.
    await page.getByRole('heading', { name: 'Workflows', exact: true }).waitFor();
    await page.goto(`${world.url}/`);
    await page.waitForURL(`${world.url}/o/${last.organisationId}/workflows`);
    expectNoComplaints(opened);
  });

  test('the owner of an address takes over the account that someone else created with it', async () => {
    const squatter = await createAccount(world.service, 'org_admin');
    const { email } = await createAccount(world.service, 'viewer', {
      organisationId: squatter.organisationId,
    });
    await world.service.database.db.query('UPDATE users SET email_verified_at = NULL WHERE email = $1', [
      email,
    ]);
    const opened = await world.openAs('system_admin', 'members', { organisationId: squatter.organisationId });
    const { page } = opened;
    await page.getByText('Address not confirmed').first().waitFor();
    await page.getByRole('combobox', { name: `Role of ${email}` }).click();
    await page.getByRole('option', { name: 'Editor' }).click();
    await page.getByText(`Send this link to ${email}`).waitFor();
    await expectAccessible(page, '[role=dialog]');
    const link = await page.getByRole('textbox', { name: 'Invitation link' }).inputValue();
    await page.getByRole('button', { name: 'Done' }).click();
    await expect
      .poll(() => page.getByRole('combobox', { name: `Role of ${email}` }).inputValue())
      .toBe('Viewer');
    expectNoComplaints(opened);

    const owner = await world.openPage();
    await owner.page.goto(`${world.url}/invitation${new URL(link).hash}`);
    await owner.page.getByText('This link makes the account yours').waitFor();
    await expectAccessible(owner.page);
    await owner.page.getByLabel('Your name').fill('Owner');
    await owner.page.getByLabel('New password').fill('another horse battery');
    await owner.page.getByRole('button', { name: 'Create account and join' }).click();
    await owner.page.waitForURL(new RegExp(`/o/${squatter.organisationId}/workflows$`));
    expectNoComplaints(owner);
  });

  test('a member leaves an organisation, and a removed one is redirected to where they still belong', async () => {
    const person = await createAccount(world.service, 'viewer');
    const { email } = person;
    const [second, third] = [
      await createAccount(world.service, 'viewer', { email }),
      await createAccount(world.service, 'viewer', { email }),
    ];
    const { db } = world.service.database;
    const [row] = await db.query<{ name: string }>('SELECT name FROM organisations WHERE id = $1', [
      second.organisationId,
    ]);
    const { page } = await world.openFor(person, '/account');
    await page.getByRole('button', { name: `Leave ${row?.name}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).click();
    await page.getByText(`You left ${row?.name}.`).waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^Leave / }).count()).toBe(2);

    await page.goto(`${world.url}/o/${person.organisationId}/workflows`);
    await page.getByRole('heading', { name: 'Workflows', exact: true }).waitFor();
    await db.query('UPDATE members SET removed_at = now() WHERE id = $1', [person.memberId]);
    await page.getByRole('link', { name: 'Executions' }).click();
    await page.waitForURL(`${world.url}/o/${third.organisationId}/workflows`);
    await page.getByText("You aren't a member of that organisation").waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  test('a system administrator creates, renames and opens organisations', async () => {
    const opened = await world.openAs('system_admin', 'organisations');
    const { page } = opened;
    await page.getByRole('button', { name: 'New organisation' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('42');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('not only digits').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Acme');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Rename Acme' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Acme Ltd');
    await page
      .getByRole('dialog', { name: /^Rename/ })
      .getByRole('button', { name: /^Rename$/ })
      .click();
    await page.getByRole('link', { name: 'Acme Ltd' }).click();
    await page.waitForURL(/\/o\/\d+\/workflows$/);
    await page
      .getByRole('button', { name: /switch organisation/ })
      .getByText('Acme Ltd')
      .waitFor();
    expectNoComplaints(opened);
  });
});

describe('accounts', () => {
  test('a system administrator finds a person, sees what they belong to, and removes the account', async () => {
    const person = await createAccount(world.service, 'editor', { email: 'leaving@example.com' });
    const theirs = await world.openFor(person, 'executions');
    await theirs.page.getByRole('heading', { name: 'Executions', exact: true }).waitFor();
    const opened = await world.openAs('system_admin', 'accounts');
    const { page } = opened;
    await page.getByRole('textbox', { name: 'Search by name or e-mail address' }).fill('nobody like this');
    await page.getByText('No matching accounts').waitFor();
    await page.getByRole('textbox', { name: 'Search by name or e-mail address' }).fill('LEAVING@');
    const row = page.getByRole('row', { name: /leaving@example\.com/ });
    await row.getByText('Editor', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByRole('button', { name: 'Remove the account of leaving@example.com' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The audit log keeps what they did.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Remove account' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('leaving@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('The account of leaving@example.com was removed.').waitFor();
    await page.getByText('No matching accounts').waitFor();
    // Their page is signed out by itself: its stream was closed.
    await theirs.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(theirs.page, person.email);
    await theirs.page.getByRole('alert').getByText('Wrong e-mail address or password.').waitFor();
    expectNoComplaints(opened);
    expectNoComplaints(theirs);
  });
});

describe('without the right to administer', () => {
  test.each([
    ['editor', 'members'],
    ['org_admin', 'organisations'],
    ['org_admin', 'accounts'],
  ] as const)('a person with the role %s finds nothing to do at %s', async (role, path) => {
    const opened = await world.openAs(role, path);
    await opened.page.getByRole('heading', { name: "You don't have permission to do this" }).waitFor();
    expect(await opened.page.getByRole('main').getByRole('button').count()).toBe(0);
    expectNoComplaints(opened);
  });
});
