import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { message } from '@millrace/messages';
import type { Diagnosis } from '@millrace/operations/doctor/finding';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { takeSample } from '@millrace/service/system/sampler';
import { createPerson } from '@millrace/testing/admin';
import { openMailServer } from '@millrace/testing/mail-server';
import { openOutside, type Reply } from '@millrace/testing/outside';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { copyWith } from './support/clipboard.ts';
import { closeByEscape, focused } from './support/focused.ts';

const DIAGNOSIS: Diagnosis = {
  checks: ['disk', 'keys'],
  findings: [
    {
      check: 'keys',
      level: 'warning',
      what: message('doctor.rotation_unfinished'),
      why: message('doctor.rotation_unfinished_why'),
      fix: message('doctor.rotation_unfinished_fix'),
    },
    {
      check: 'disk',
      level: 'error',
      what: message('doctor.disk_full', { path: '/data', gigabytes: 0.4 }),
      why: message('doctor.disk_full_why'),
      fix: message('doctor.disk_full_fix'),
    },
  ],
};

let world: BrowserService;
beforeAll(async () => {
  const given = { current: randomBytes(32), previous: [] };
  const examine = async () => DIAGNOSIS;
  world = await openBrowserService({
    config: { secretKeys: given, allowHosts: ['127.0.0.1'] },
    deps: { examine },
  });
  const { db, secretKeys } = world.service.deps;
  await prepareSecretKeys(db, secretKeys, { makesKey: true });
});
afterAll(() => world.stop());

/** A browser would run this if it weren't escaped. */
const EVIL = '<img src=x onerror="document.title=\'taken over\'">';

async function ask(secret: string): Promise<number> {
  const headers = { authorization: `Bearer ${secret}` };
  return (await fetch(`${world.url}/api/v1/workflows`, { headers })).status;
}

describe('API keys', () => {
  test('issued by keyboard, copied, used against the public API, rotated, revoked', async () => {
    const opened = await world.openAs('org_admin', 'keys');
    const { page } = opened;
    await page.getByRole('heading', { name: 'No API keys yet' }).waitFor();
    const issue = page.getByRole('button', { name: 'Create a key' }).first();
    await issue.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create a key' });
    await focused(dialog.getByLabel('Name'));
    await page.keyboard.type(`Import ${EVIL}`);
    await dialog.getByRole('checkbox', { name: /workflows:read/ }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');

    const shown = page.getByRole('dialog', { name: /Copy Import/ });
    const secret = await copyWith(shown.getByRole('button', { name: 'Copy the key' }));
    expect(secret).toMatch(/^mr_\w{12}_.{49}$/);
    expect(await shown.textContent()).toContain(`curl 'http://127.0.0.1`);
    // Only its button closes it: an accidental key press must not lose the secret.
    await page.keyboard.press('Escape');
    await expect.poll(() => shown.isVisible()).toBe(true);
    await shown.getByRole('button', { name: 'I have saved the key' }).click();
    await shown.waitFor({ state: 'hidden' });
    expect(await page.content()).not.toContain(secret.slice(20, 50));
    expect(await ask(secret)).toBe(200);

    await page.getByRole('button', { name: /^More for Import/ }).click();
    await page.getByRole('menuitem', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    const successor = await copyWith(page.getByRole('button', { name: 'Copy the key' }));
    await page.getByRole('button', { name: 'I have saved the key' }).click();
    await page.getByText(/Still works for 23 h 5\d min/).waitFor();
    expect([await ask(secret), await ask(successor)]).toEqual([200, 200]);

    const old = page.getByRole('row', { name: /Rotated/ });
    await old.getByRole('button', { name: /^More for Import/ }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await old.waitFor({ state: 'detached' });
    expect([await ask(secret), await ask(successor)]).toEqual([401, 200]);
    await page.getByRole('switch', { name: 'Show expired and revoked keys' }).click();
    await page.getByRole('row', { name: /Revoked/ }).waitFor();
    expect(await page.title()).toBe('API keys · Millrace');
    expectNoComplaints(opened);
  });

  test('a locked key is unlocked', async () => {
    const opened = await world.openAs('org_admin', 'keys');
    const { page, person } = opened;
    const key = await world.service.createKey({ organisationId: person.organisationId });
    const wrong = key.text.replace(/.{7}$/, 'AAAAAAA');
    for (let count = 0; count < 10; count += 1) expect(await ask(wrong)).toBe(401);
    expect(await ask(key.text)).toBe(401);
    await page.reload();
    await page
      .getByRole('row', { name: /Locked/ })
      .getByRole('button', { name: 'More for test' })
      .click();
    await page.getByRole('menuitem', { name: 'Unlock' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unlock' }).click();
    await page.getByRole('row', { name: /Valid/ }).waitFor();
    expect(await ask(key.text)).toBe(200);
    expectNoComplaints(opened);
  });
});

describe('credentials', () => {
  test('are added with the form of their type, changed without their secret, and removed', async () => {
    const opened = await world.openAs('editor', 'credentials');
    const { page, person } = opened;
    await page.getByRole('button', { name: 'Add a credential' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add a credential' });
    await dialog.getByRole('combobox', { name: 'Type' }).click();
    await page.getByRole('option', { name: 'Bearer token' }).click();
    await dialog.getByLabel('Name', { exact: false }).first().fill('CRM');
    await dialog.getByLabel('Hosts it may be sent to').fill('api.example.com');
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Token').fill('with blanks in it');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('must be visible ASCII').waitFor();
    await dialog.getByLabel('Token').fill('canary-of-the-page');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('row', { name: /CRM.*Bearer token.*api\.example\.com/ }).waitFor();

    await page.getByRole('button', { name: 'Edit CRM' }).click();
    const change = page.getByRole('dialog', { name: 'Edit CRM' });
    expect(await change.getByLabel('Token').inputValue()).toBe('');
    await change.getByLabel('Name', { exact: false }).first().fill('CRM, renamed');
    await change.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Edit CRM, renamed' }).click();
    const elsewhere = page.getByRole('dialog', { name: 'Edit CRM, renamed' });
    // It takes the focus a moment after it is shown; Enter is for the field.
    await focused(elsewhere);
    await elsewhere.getByLabel('Hosts it may be sent to').fill('evil.example');
    await page.keyboard.press('Enter');
    await elsewhere.getByRole('button', { name: 'Save' }).click();
    await elsewhere.getByText('must be given again').waitFor();
    await closeByEscape(elsewhere);
    // The dialog gives the focus back, which would close a menu that is open by then.
    await focused(page.getByRole('button', { name: 'Edit CRM, renamed' }));

    const stored = await world.service.database.db.query(
      'SELECT hosts FROM credentials WHERE organisation_id = $1',
      [person.organisationId],
    );
    expect(stored).toEqual([{ hosts: ['api.example.com'] }]);
    expect(await page.content()).not.toContain('canary');
    await page.getByRole('button', { name: 'More for CRM, renamed' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No credentials yet' }).waitFor();
    expectNoComplaints(opened);
  });
});

describe('the form of a stored credential', () => {
  test.each([
    ['en', 'Edit Team chat', 'Token', 'Stored. Leave empty to keep it.', 'Show or hide what you typed'],
    [
      'ja',
      'Team chat を編集',
      'トークン',
      '保存済みです。空のままにすると変更されません。',
      '入力内容の表示を切り替え',
    ],
  ] as const)(
    'shows which secrets were entered, and what is typed, in %s',
    async (language, change, token, kept, show) => {
      const editor = await createPerson(world.service, 'editor');
      const { status } = await editor.call('POST /orgs/:org/credentials', {
        params: { org: editor.organisationId },
        body: { name: 'Team chat', type: 'chat', hosts: [], fields: { service: 'slack', token: 'xoxb-1' } },
      });
      expect(status).toBe(200);
      const opened = await world.openFor(editor, 'credentials', { language });
      const { page } = opened;
      await page.getByRole('button', { name: change }).click();
      const dialog = page.getByRole('dialog', { name: change });
      const [entered, never] = [dialog.getByLabel(token), dialog.getByLabel('Webhook URL')];
      await expect.poll(() => entered.getAttribute('placeholder')).toBe(kept);
      await focused(dialog);
      expect(await never.getAttribute('placeholder')).toBeNull();
      await entered.fill('xoxb-2');
      // By keyboard too.
      await page.keyboard.press('Tab');
      const toggle = dialog.locator('button:focus');
      expect(await toggle.getAttribute('aria-label')).toBe(show);
      await page.keyboard.press('Space');
      await expect.poll(() => entered.getAttribute('type')).toBe('text');
      expectNoComplaints(opened);
    },
  );
});

describe('testing a credential', () => {
  test('happens on adding one, explains failures and how to fix them, and is recorded', async () => {
    const mail = await openMailServer();
    const opened = await world.openAs('editor', 'credentials');
    const { page, person } = opened;
    await page.getByRole('button', { name: 'Add a credential' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add a credential' });
    await dialog.getByRole('combobox', { name: 'Type' }).click();
    await page.getByRole('option', { name: 'Mail server' }).click();
    await dialog.getByLabel('Name').first().fill('Letters');
    await dialog.getByRole('textbox', { name: 'Server' }).fill(mail.credential.host);
    await dialog.getByRole('textbox', { name: 'Port' }).fill(String(mail.credential.port));
    await dialog.getByRole('combobox', { name: 'Encryption' }).click();
    await page.getByRole('option', { name: 'None' }).click();
    await dialog.getByRole('textbox', { name: 'User name' }).fill(mail.credential.username);
    await dialog.locator('input[type=password]').fill('canary-wrong');
    await dialog.getByRole('button', { name: 'Add' }).click();

    const test = page.getByRole('dialog', { name: 'Test Letters' });
    await test.getByText("It doesn't work").waitFor();
    await test.getByText(/does not accept the user name and password/).waitFor();
    await test.getByText(/Many providers require an app password/).waitFor();
    await test.getByText(`${mail.credential.host}:${mail.credential.port}`, { exact: true }).waitFor();
    expect(await page.content()).not.toContain('canary');
    await test.getByRole('button', { name: 'Edit credential' }).click();
    const change = page.getByRole('dialog', { name: 'Edit Letters' });
    await change.locator('input[type=password]').fill(mail.credential.password);
    await change.getByRole('button', { name: 'Save' }).click();
    await test.getByText('It works').waitFor();
    await page.keyboard.press('Escape');
    await test.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'More for Letters' }).click();
    await page.getByRole('menuitem', { name: 'Test' }).click();
    await test.getByText('It works').waitFor();
    expect(mail.received).toEqual([]);
    const rows = await world.service.database.db.query<{ outcome: string }>(
      `SELECT details ->> 'outcome' AS outcome FROM audit_log
       WHERE action = 'credential.tested' AND organisation_id = $1 ORDER BY id`,
      [person.organisationId],
    );
    expect(rows.map(({ outcome }) => outcome)).toEqual(['failed', 'works', 'works']);
    expectNoComplaints(opened);
    await mail.close();
  });

  test('with a token needs a page, and recognises one that is open to all', async () => {
    const outside = await openOutside();
    const guarded: Reply = { body: { name: 'Ada' } };
    outside.on('GET /me', ({ headers }) =>
      headers.authorization === 'Bearer canary' ? guarded : { status: 401 },
    );
    outside.on('GET /open', {});
    const person = await createPerson(world.service, 'editor');
    const params = { org: person.organisationId };
    const body = { name: 'CRM', type: 'bearer', hosts: ['127.0.0.1'], fields: { token: 'canary' } };
    await person.call('POST /orgs/:org/credentials', { params, body });
    const opened = await world.openFor(person, 'credentials', { scheme: 'dark' });
    const { page } = opened;
    await page.getByRole('button', { name: 'More for CRM' }).click();
    await page.getByRole('menuitem', { name: 'Test' }).click();
    const test = page.getByRole('dialog', { name: 'Test CRM' });
    const address = test.getByRole('textbox', { name: 'URL that requires the credential' });
    await address.fill('not an address');
    await page.keyboard.press('Enter');
    await test.getByText(/must be an http:\/\/ or https:\/\/ URL/).waitFor();
    await address.fill(`${outside.url}/open`);
    await page.keyboard.press('Enter');
    await test.getByText("Couldn't verify").waitFor();
    await test.getByText(/responds just as well without the credential/).waitFor();
    await expectAccessible(page);
    await address.fill(`${outside.url}/me`);
    await page.keyboard.press('Enter');
    await test.getByText('It works').waitFor();
    await test.getByText(/Status 200/).waitFor();
    expectNoComplaints(opened);
    await outside.close();
  });
});

describe('the audit log', () => {
  test('is filtered, expanded and exported; names in it stay text', async () => {
    const admin = await createPerson(world.service, 'org_admin');
    const params = { org: admin.organisationId };
    const body = { name: EVIL, scopes: ['workflows:read' as const], expires_at: null };
    await admin.call('POST /orgs/:org/keys', { params, body });
    await admin.call('POST /orgs/:org/keys', { params, body: { ...body, name: '=1+1' } });
    const opened = await world.openFor(admin, 'audit');
    const { page } = opened;
    await page.getByRole('cell', { name: 'Member added' }).waitFor();
    await page.getByText('Not verified yet.').waitFor();
    await page.getByRole('combobox', { name: 'Action' }).click();
    await page.getByRole('option', { name: 'Key created' }).click();
    await page.waitForURL(/action=api_key.issued/);
    await page.getByRole('cell', { name: 'Member added' }).waitFor({ state: 'detached' });
    await expect.poll(() => page.getByRole('cell', { name: 'Key created' }).count()).toBe(2);
    await expect.poll(() => page.getByTitle('api_key.issued').count()).toBe(2);
    await page.getByRole('textbox', { name: 'Subject' }).fill('=1+');
    await expect.poll(() => page.getByRole('cell', { name: 'Key created' }).count()).toBe(1);
    await page.getByRole('textbox', { name: 'Subject' }).fill('');
    await expect.poll(() => page.getByRole('cell', { name: 'Key created' }).count()).toBe(2);
    await page
      .getByRole('button', { name: /^Show details/ })
      .last()
      .click();
    await page.getByText('"scopes"').waitFor();
    expect(await page.locator('img[src="x"]').count()).toBe(0);

    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: /^CSV/ }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^audit-log-.*\.csv$/);
    const text = await readFile(await download.path(), 'utf8');
    expect(text).toContain('"api_key.issued"');
    expect(text).not.toContain('"member.added"');
    expect(text).toContain('"\'=1+1"');
    await page.getByRole('textbox', { name: 'IP address' }).fill('203.0.113.');
    await page.getByRole('heading', { name: 'No matching entries' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('cell', { name: 'Audit log exported' }).waitFor();
    expect(await page.title()).toBe('Audit log · Millrace');
    expectNoComplaints(opened);
  });
});

describe('settings', () => {
  test('are saved section by section, with errors beside them', async () => {
    const opened = await world.openAs('org_admin', 'settings');
    const { page } = opened;
    const retention = page.getByRole('region', { name: 'Retention' });
    await retention.getByLabel('Completed').fill('31');
    await retention.getByRole('button', { name: 'Save' }).click();
    await retention.getByText('must be at most 30').waitFor();
    await retention.getByLabel('Completed').fill('7');
    await retention.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').first().waitFor();
    const hosts = page.getByRole('region', { name: 'Allowed hosts' });
    await hosts.getByRole('radio', { name: 'Only these hosts' }).click();
    await hosts.getByText('The list is empty').waitFor();
    await hosts.getByLabel('Hosts', { exact: true }).fill('*.example.com');
    await page.keyboard.press('Enter');
    // The button is disabled while it saves, too.
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await hosts.getByRole('button', { name: 'Save' }).click();
    expect((await saved).status()).toBe(200);
    await expect.poll(() => hosts.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.reload();
    await expect.poll(() => retention.getByLabel('Completed').inputValue()).toBe('7');
    await hosts.getByText('*.example.com').first().waitFor();
    expectNoComplaints(opened);
  });

  test('the time zone is the default of new workflows', async () => {
    const admin = await createPerson(world.service, 'org_admin');
    const params = { org: admin.organisationId };
    await admin.call('PATCH /orgs/:org/settings', { params, body: { time_zone: 'Asia/Tokyo' } });
    const { page } = await world.openFor(admin, 'workflows');
    const defaults = page.waitForResponse(/\/defaults$/);
    await page.getByRole('button', { name: 'New workflow' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('In Tokyo');
    await defaults;
    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/\/workflows\/\d+$/);
    const id = Number(new URL(page.url()).pathname.split('/').at(-1));
    const { data } = await admin.call('GET /orgs/:org/workflows/:id', { params: { ...params, id } });
    expect(data.flow_data).toMatchObject({ settings: { timezone: 'Asia/Tokyo' } });
  });
});

describe('the system page', () => {
  test('shows workers, including those that died, and charts of the last hours with their latest values', async () => {
    const { db } = world.service.database;
    await takeSample(db);
    await db.query(
      "UPDATE service_samples SET minute = minute - interval '5 minutes', sampled_at = sampled_at - interval '5 minutes'",
    );
    await takeSample(db);
    const opened = await world.openAs('system_admin', 'system');
    const { page } = opened;
    await page.getByRole('cell', { name: new RegExp(`Process ${process.pid}\\b`) }).waitFor();
    await page.getByText('At least one worker is running.').waitFor();
    await page.getByText(/vs\. 5 minutes ago/).waitFor();
    // Errors first.
    const findings = page.getByRole('listitem').filter({ hasText: /^(Error|Warning): / });
    await expect.poll(() => findings.count()).toBe(2);
    expect(await findings.first().textContent()).toMatch(
      /^Error: The disk of \/data has 0\.4 GB left\.When it is full.*space\.Make room/,
    );
    await page.getByRole('button', { name: 'Check again' }).waitFor();
    await expect.poll(() => page.locator('figure canvas').count()).toBe(4);
    await page.getByRole('img', { name: /^Executions per minute, latest: Started/ }).waitFor();
    await expect
      .poll(() =>
        page.locator('figure', { hasText: 'Running workers' }).locator('.u-value').last().textContent(),
      )
      .toBe('1');
    await db.query(
      `INSERT INTO workers (id, host, pid, heartbeat_at, lease_expires_at)
       VALUES (gen_random_uuid(), 'far-away', 7, now() - interval '2 minutes', now() - interval '1 minute')`,
    );
    await page.getByText(/Stopped responding in the last hour: far-away \(Process 7\)/).waitFor();
    await page.getByRole('row', { name: /far-away.*Not responding/ }).waitFor();
    expectNoComplaints(opened);
  });

  test('and the settings show what organisations store', async () => {
    const { db } = world.service.database;
    const { dataBytes, executionsBytes } = world.service.deps.config.storage;
    const { id } = await createOrganisation(db, 'Storage hall', { actor: 'operator' });
    await db.query('INSERT INTO storage_usage (organisation_id, bytes) VALUES ($1, $2)', [
      id,
      executionsBytes,
    ]);
    await db.query('INSERT INTO data_usage (organisation_id, entries, bytes) VALUES ($1, 1, $2)', [
      id,
      dataBytes / 4,
    ]);
    const { organisationBytes: filesBytes } = world.service.deps.config.files;
    await db.query('INSERT INTO file_usage (organisation_id, files, bytes) VALUES ($1, 3, $2)', [
      id,
      filesBytes / 2,
    ]);
    const opened = await world.openAs('system_admin', 'system');
    const { page } = opened;
    const bar = (name: string) => page.getByRole('progressbar', { name });
    await expect.poll(() => bar('Storage hall: Executions').getAttribute('aria-valuenow')).toBe('100');
    expect(await bar('Storage hall: Data store').getAttribute('aria-valuenow')).toBe('25');
    expect(await bar('Storage hall: Files').getAttribute('aria-valuenow')).toBe('50');
    await page.getByText('Full: starts are refused until old executions are deleted.').waitFor();
    await page.getByText('2.7 GB of 10.7 GB').waitFor();
    await page.goto(`${world.url}/o/${id}/settings`);
    await page.getByRole('region', { name: 'Storage' }).getByText('107.4 GB of 107.4 GB').waitFor();
    expect(await bar('Executions').getAttribute('aria-valuenow')).toBe('100');
    expectNoComplaints(opened);
  });
});

test.each([
  ['editor', 'keys', 'Create a key'],
  ['viewer', 'credentials', 'Add a credential'],
  ['editor', 'audit', 'Export'],
  ['editor', 'settings', 'Save'],
] as const)('as %s, %s show no action to administer, and why', async (role, path, action) => {
  const { page } = await world.openAs(role, path);
  await page.getByText(/^You need the .* role to open this page/).waitFor();
  expect(await page.getByRole('button', { name: action }).count()).toBe(0);
  // A retry wouldn't help.
  expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
});
