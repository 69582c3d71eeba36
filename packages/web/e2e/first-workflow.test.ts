import { type MailServer, openMailServer } from '@millrace/testing/mail-server';
import { type ModelServer, startModelServer } from '@millrace/testing/model-server';
import { type Outside, openOutside } from '@millrace/testing/outside';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { type CountingHand, countingHand } from './support/counting-hand.ts';
import { editorOf, templateField } from './support/editor.ts';
import { focused } from './support/focused.ts';

let world: BrowserService;
let outside: Outside;
let mails: MailServer;
let models: ModelServer;
beforeAll(async () => {
  outside = await openOutside();
  mails = await openMailServer();
  models = await startModelServer({
    models: ['gpt-other', 'gpt-test'],
    answer: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? 'It was shipped.'
        : { toolCalls: [{ name: 'http_request', arguments: { email: 'ada@example.com' } }] },
  });
  world = await openBrowserService({ config: { allowHosts: ['127.0.0.1'] } });
});
afterAll(async () => {
  await world.stop();
  await outside.close();
  await mails.close();
  await models.close();
});

/** Clicks and key presses each first workflow may take. */
const MAX_CLICKS = { payment: 22, mails: 25, support: 30 } as const;

const PAYMENT = (amount: number) => ({
  id: 'evt_1',
  object: 'event',
  type: 'payment_intent.succeeded',
  data: { object: { id: 'pi_1', amount, currency: 'eur', receipt_email: 'ada@example.com' } },
});

test('a payment by webhook, a condition, a call and a chat message, in few clicks', async () => {
  outside.on('POST /payments', { body: { ok: true } });
  outside.on('POST /hooks/chat1', { body: 'ok' });
  mails.forget();
  const opened = await world.openAs('editor', 'workflows');
  const { page } = opened;
  const hand = countingHand(page);
  const editor = editorOf(page);

  await hand.newWorkflow('Large payments');
  await editor.canvas.getByRole('heading', { name: 'How does it start?' }).waitFor();
  await hand.click(editor.canvas.getByRole('button', { name: /^Webhook/ }));
  const webhook = editor.panel.getByRole('region', { name: 'Webhook' });
  await hand.click(webhook.getByRole('button', { name: 'Save and listen for a sample' }));
  await webhook.getByText('Waiting for a call').waitFor();
  const address = (await webhook.locator('pre').first().textContent()) ?? '';
  await send(address, PAYMENT(100));
  await webhook.getByRole('region', { name: 'Received call' }).waitFor();

  await hand.add('if');
  const left = templateField(editor.panel, 'Left side');
  await left.waitFor();
  await hand.click(editor.panel.getByRole('button', { name: /^amount\b/ }));
  await left.getByText('{{trigger.data.data.object.amount}}').waitFor();
  await hand.click(editor.panel.getByRole('combobox', { name: 'Operator' }));
  await hand.click(page.getByRole('option', { name: 'greater than' }));
  await focused(editor.panel.getByRole('textbox', { name: 'Right side' }));
  await hand.type('1000');

  await hand.add('http');
  await focused(templateField(editor.panel, 'URL'));
  await hand.type(`${outside.url}/payments`);
  await hand.click(editor.panel.getByRole('combobox', { name: 'Method' }));
  await hand.click(page.getByRole('option', { name: 'POST' }));
  await hand.click(templateField(editor.panel, 'Body'));
  await hand.type('{{trigger.data}}');

  await hand.add('chat');
  await hand.click(editor.panel.getByRole('button', { name: 'New credential for Credential' }));
  const credential = page.getByRole('dialog', { name: 'Add a credential' });
  await focused(credential.getByRole('textbox', { name: 'Webhook URL' }));
  await hand.type(`${outside.url}/hooks/chat1`);
  const service = credential.getByRole('combobox', { name: 'Service' });
  await expect.poll(() => service.inputValue()).toBe('Mattermost');
  await hand.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await hand.click(templateField(editor.panel, 'Text'));
  await hand.type('Large payment: {{trigger.data.data.object.amount}}');

  // Saves, activates, and waits for what comes.
  await hand.click(editor.bar.getByRole('switch', { name: 'Active' }));
  await editor.bottom.getByText('Waiting for the next execution').waitFor();
  await send(address, PAYMENT(5_000));
  await editor.bottom.getByText('Completed').waitFor();
  for (const id of ['if', 'request', 'notify']) await editor.node(id).getByText('Succeeded').waitFor();

  hand.expectAtMost(MAX_CLICKS.payment);
  expect(outside.to('POST /payments').map(({ body }) => body)).toEqual([PAYMENT(5_000)]);
  expect(outside.to('POST /hooks/chat1').map(({ body }) => body)).toMatchObject([
    { text: expect.stringContaining('Large payment: 5000') },
  ]);
  expectNoComplaints(opened);
});

test('every morning a call, a loop over its rows, and one e-mail each, in few clicks', async () => {
  outside.on('GET /rows', {
    body: {
      rows: [
        { email: 'ada@example.com', name: 'Ada' },
        { email: 'grace@example.com', name: 'Grace' },
      ],
    },
  });
  mails.forget();
  const opened = await world.openAs('editor', 'workflows');
  const { page } = opened;
  const hand = countingHand(page);
  const editor = editorOf(page);

  await hand.newWorkflow('Morning mails');
  await hand.click(editor.canvas.getByRole('button', { name: /^Schedule/ }));
  await hand.click(editor.panel.getByRole('combobox', { name: 'Cron expression' }));
  await hand.click(page.getByRole('option', { name: 'Every day' }));

  await hand.add('http');
  await focused(templateField(editor.panel, 'URL'));
  await hand.type(`${outside.url}/rows`);
  // What comes back is known from then on.
  await hand.click(editor.panel.getByRole('button', { name: 'Run only this node' }));
  await editor.bottom.getByText('Completed').waitFor();

  await hand.add('loop');
  await hand.click(editor.panel.getByRole('button', { name: 'Insert nodes.request.output.body.rows' }));
  await editor.panel.getByText('{{nodes.request.output.body.rows}}').waitFor();

  await hand.add('mail');
  await hand.click(editor.panel.getByRole('button', { name: 'New credential for Credential' }));
  await addMailServer(page, hand);
  await focused(templateField(editor.panel, 'From'));
  await hand.type('office@example.com');
  await hand.click(templateField(editor.panel, 'To'));
  await editor.panel
    .getByRole('button', { name: /^email ada@example\.com/ })
    .first()
    .waitFor();
  await hand.type('{{item.email}}');
  await hand.click(templateField(editor.panel, 'Subject'));
  await hand.type('Good morning, {{item.name}}');
  await hand.click(templateField(editor.panel, 'Text'));
  await hand.type('Have a good day.');

  await hand.click(editor.bar.getByRole('switch', { name: 'Active' }));
  await editor.bottom.getByText('Waiting for the next execution').waitFor();
  await hand.click(editor.bar.getByRole('button', { name: 'Run', exact: true }));
  await editor.node('send').getByText('Succeeded').waitFor();
  await editor.bottom.getByText('Completed').waitFor();

  hand.expectAtMost(MAX_CLICKS.mails);
  expect(mails.received.map(({ to, subject }) => [to, subject])).toEqual([
    [['ada@example.com'], 'Good morning, Ada'],
    [['grace@example.com'], 'Good morning, Grace'],
  ]);
  expectNoComplaints(opened);
});

test('an agent with a tool answers a support mail after an approval, in few clicks', async () => {
  outside.on('GET /orders', { body: { status: 'shipped' } });
  const opened = await world.openAs('editor', 'workflows');
  mails.forget();
  const { page, person } = opened;
  // The organisation sends mail already.
  await person.call('POST /orgs/:org/credentials', {
    params: { org: person.organisationId },
    body: { name: 'Office', type: 'smtp', hosts: [], fields: mails.credential },
  });
  const hand = countingHand(page);
  const editor = editorOf(page);

  await hand.newWorkflow('Support');
  await hand.click(editor.canvas.getByRole('button', { name: /^Webhook/ }));
  const webhook = editor.panel.getByRole('region', { name: 'Webhook' });
  await hand.click(webhook.getByRole('button', { name: 'Save and listen for a sample' }));
  await webhook.getByText('Waiting for a call').waitFor();
  const address = (await webhook.locator('pre').first().textContent()) ?? '';
  await send(address, SUPPORT_MAIL);
  await webhook.getByRole('region', { name: 'Received call' }).waitFor();

  await hand.add('agent');
  await hand.click(editor.panel.getByRole('button', { name: 'New credential for Credential' }));
  const credential = page.getByRole('dialog', { name: 'Add a credential' });
  await focused(credential.getByLabel('API key', { exact: true }));
  await hand.type('key');
  await hand.press('Shift+Tab');
  await hand.type(models.baseUrl('openai_compatible'));
  await hand.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await focused(templateField(editor.panel, 'Model'));
  await hand.click(editor.panel.getByRole('button', { name: 'Choose Model from a list' }));
  await hand.click(page.getByRole('option', { name: 'gpt-test' }));
  await expect.poll(() => templateField(editor.panel, 'Model').textContent()).toBe('gpt-test');
  await hand.click(templateField(editor.panel, 'Prompt'));
  await hand.type('{{trigger.data.text}}');
  await hand.click(editor.panel.getByRole('button', { name: 'Add to Tools' }));
  await focused(page.getByRole('textbox', { name: 'Find a node or a workflow' }));
  await hand.click(page.getByRole('option', { name: 'HTTP request' }));
  await editor.panel.getByRole('button', { name: /^http_request/, expanded: true }).waitFor();
  await focused(templateField(editor.panel, 'Description'));
  await hand.type('The status of the orders of a customer.');
  await hand.click(editor.panel.getByRole('button', { name: 'Add to Arguments' }));
  await focused(editor.panel.getByRole('textbox', { name: 'Name in Arguments' }));
  await hand.type('email');
  await hand.click(templateField(editor.panel, 'URL'));
  await hand.type(`${outside.url}/orders?email={{args.email}}`);

  await hand.add('approval');
  const choices = templateField(editor.panel, 'Label');
  await choices.first().waitFor();
  expect(await choices.allTextContents()).toEqual(['Approve', 'Reject']);
  await hand.click(templateField(editor.panel, 'Text'));
  await hand.type('{{nodes.agent.output.text}}');

  await hand.add('mail');
  await focused(templateField(editor.panel, 'From'));
  await hand.type('support@example.com');
  await hand.click(templateField(editor.panel, 'To'));
  await hand.type('{{trigger.data.from}}');
  await hand.click(templateField(editor.panel, 'Subject'));
  await hand.type('Re: {{trigger.data.subject}}');
  await hand.click(templateField(editor.panel, 'Text'));
  await hand.type('{{nodes.agent.output.text}}');

  await hand.click(editor.bar.getByRole('switch', { name: 'Active' }));
  await editor.bottom.getByText('Waiting for the next execution').waitFor();
  await send(address, SUPPORT_MAIL);
  await editor.node('approval').getByText('Waiting').waitFor();
  await hand.click(editor.bottom.getByRole('link', { name: /^Execution \d+$/ }));
  await hand.click(page.getByRole('region', { name: 'Waiting' }).getByRole('button', { name: 'Approve' }));
  await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Approve' }));
  await page.getByText('Completed').first().waitFor();

  hand.expectAtMost(MAX_CLICKS.support);
  expect(outside.to('GET /orders').map(({ query }) => query)).toEqual([{ email: 'ada@example.com' }]);
  expect(mails.received.map(({ to, subject, text }) => [to, subject, text.trim()])).toEqual([
    [['ada@example.com'], 'Re: My order', 'It was shipped.'],
  ]);
  expectNoComplaints(opened);
});

const SUPPORT_MAIL = { from: 'ada@example.com', subject: 'My order', text: 'Where is my order?' };

/** Fills in the dialog that asks for a mail server; the cursor is in its first field. */
async function addMailServer(page: Page, hand: CountingHand): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Add a credential' });
  const { host, port, username, password } = mails.credential;
  await focused(dialog.getByRole('textbox', { name: 'Server' }));
  await hand.type(host);
  await hand.press('Tab');
  await hand.type(String(port));
  await hand.click(dialog.getByRole('combobox', { name: 'Encryption' }));
  await hand.click(page.getByRole('option', { name: 'None' }));
  await hand.click(dialog.getByRole('textbox', { name: 'User name' }));
  await hand.type(username);
  await hand.press('Tab');
  await hand.type(password);
  await hand.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** A call from outside. */
async function send(address: string, body: object): Promise<void> {
  const response = await fetch(`${world.url}${new URL(address).pathname}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(202);
}
