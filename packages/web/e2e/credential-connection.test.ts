import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type OidcProvider, startOidcProvider } from '@millrace/testing/oidc-provider';
import { type Outside, openOutside } from '@millrace/testing/outside';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { type Front, openFront } from './support/front.ts';

/** Credentials that someone approves at a service: a browser, and a real provider. */
let front: Front;
let provider: OidcProvider;
let outside: Outside;
let world: BrowserService;
let editor: TestPerson;
beforeAll(async () => {
  front = await openFront();
  provider = await startOidcProvider(`${front.url}/api/admin/oauth/callback`);
  outside = await openOutside();
  outside.on('GET /things', { body: { ok: true } });
  world = await openBrowserService({
    runsWorker: false,
    config: { publicUrl: front.url, allowHosts: ['127.0.0.1'] },
  });
  front.leadTo(world.service.port);
  editor = await createPerson(world.service, 'editor');
});
afterAll(async () => {
  await world.stop();
  await outside.close();
  await provider.stop();
  await front.stop();
});

async function create(name: string): Promise<number> {
  const { data } = await editor.call('POST /orgs/:org/credentials', {
    params: { org: editor.organisationId },
    body: {
      name,
      type: 'oauth2',
      hosts: [new URL(outside.url).host],
      fields: {
        authorization_url: `${provider.issuer}/auth`,
        token_url: `${provider.issuer}/token`,
        client_id: provider.clientId,
        client_secret: provider.clientSecret,
        client_authentication: 'basic',
        scope: 'openid offline_access',
        authorization_parameters: 'prompt=consent',
      },
    },
  });
  return data.id;
}

/** Opens the dialog, and approves in another tab while it is open. */
async function connect(page: Page, context: BrowserContext, name: string): Promise<void> {
  await page.getByRole('button', { name: `Connect ${name}` }).click();
  const dialog = page.getByRole('dialog', { name: `Connect ${name}` });
  await dialog.getByText('Approve access at the service').waitFor();
  const link = dialog.getByRole('link', { name: /^Open / });
  const address = (await link.getAttribute('href')) ?? '';
  const tab = await context.newPage();
  await tab.goto(await provider.signIn(address, name));
  await tab.getByText('Connected.').waitFor();
  await tab.close();
  await dialog.getByRole('status').getByText('Connected.').waitFor();
  expect(await link.count()).toBe(0);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
}

test('the dialog tells when it was approved in the other tab, and so it does after access was revoked', async () => {
  const id = await create('Shop');
  const opened = await world.openFor(editor, '/sign-in');
  const { page, context } = opened;
  await page.goto(`${front.url}/o/${editor.organisationId}/credentials`);
  await page.getByText('Not connected').waitFor();
  await connect(page, context, 'Shop');
  await page.getByText('Not connected').waitFor({ state: 'detached' });

  await provider.revokeAll();
  await world.service.deps.db.query(
    `UPDATE credential_grants SET obtained_at = now() - interval '1 minute', renew_at = now() - interval '1 second',
       expires_at = now() - interval '1 second' WHERE credential_id = $1`,
    [id],
  );
  const tried = await editor.call('POST /orgs/:org/credentials/:credential/test', {
    params: { org: editor.organisationId, credential: id },
    body: { url: `${outside.url}/things` },
  });
  expect(tried.data).toMatchObject({ refusal: { key: 'ports.credential_disconnected' } });
  await page.reload();
  await page.getByText('These credentials have to be connected again:').waitFor();
  await connect(page, context, 'Shop');
  await page.getByText('These credentials have to be connected again:').waitFor({ state: 'detached' });
  expectNoComplaints(opened);
});
