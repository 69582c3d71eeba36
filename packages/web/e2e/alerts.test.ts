import { randomBytes } from 'node:crypto';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { openMailServer } from '@millrace/testing/mail-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';

const EVIL = '<img src=x onerror="document.title=\'taken over\'">';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({
    config: { secretKeys: { current: randomBytes(32), previous: [] }, allowHosts: ['127.0.0.1'] },
  });
  const { db, secretKeys } = world.service.deps;
  await prepareSecretKeys(db, secretKeys, { makesKey: true });
});
afterAll(() => world.stop());

test('a rule is added, tested, turned off and deleted; the history keeps what was sent', async () => {
  const mail = await openMailServer();
  const opened = await world.openAs('org_admin', 'alerts');
  const { page, person } = opened;
  const { status } = await person.call('POST /orgs/:org/credentials', {
    params: { org: person.organisationId },
    body: { name: 'Letters', type: 'smtp', hosts: [], fields: mail.credential },
  });
  expect(status).toBe(200);
  await page.getByRole('heading', { name: 'No alert rules yet' }).waitFor();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a rule' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill(`Tell us ${EVIL}`);
  await dialog.getByRole('combobox', { name: 'Mail server' }).click();
  await page.getByRole('option', { name: 'Letters' }).click();
  await dialog.getByRole('textbox', { name: 'From' }).fill('alerts@example.com');
  await dialog.getByRole('textbox', { name: 'To (separated by commas)' }).fill('nobody');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText('nobody', { exact: false }).last().waitFor();
  await dialog.getByRole('textbox', { name: 'To (separated by commas)' }).fill('ada@example.com');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.waitFor({ state: 'hidden' });

  const name = `Tell us ${EVIL}`;
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Send a test alert' }).click();
  await page.getByText('Test alert sent.').waitFor();
  expect(mail.received).toMatchObject([{ to: ['ada@example.com'], subject: `Millrace test alert: ${name}` }]);
  const history = page.getByRole('table', { name: 'Sent alerts' });
  await history.getByText('Sent', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'Credentials' }).click();
  await page.getByRole('button', { name: 'More for Letters' }).click();
  await page.getByRole('menuitem', { name: 'Where it is used' }).click();
  const usage = page.getByRole('dialog', { name: 'What uses Letters' });
  await usage.getByText('Alert rules', { exact: true }).waitFor();
  await expectAccessible(page);
  await usage.getByRole('link', { name }).click();
  await page.getByRole('heading', { name: 'Alerts', exact: true }).waitFor();

  await page.getByRole('switch', { name: `Turn ${name} on or off` }).click();
  await expect
    .poll(() => page.getByRole('switch', { name: `Turn ${name} on or off` }).isChecked())
    .toBe(false);
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No alert rules yet' }).waitFor();
  await history.getByText(name).waitFor();
  expect(await page.title()).not.toContain('taken over');
  expectNoComplaints(opened);
  await mail.close();
});
