import { type Outside, openOutside } from '@millrace/testing/outside';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { editorOf, templateField } from './support/editor.ts';
import { focused } from './support/focused.ts';

let world: BrowserService;
let outside: Outside;
beforeAll(async () => {
  outside = await openOutside();
  world = await openBrowserService({ config: { allowHosts: ['127.0.0.1'] } });
});
afterAll(async () => {
  await world.stop();
  await outside.close();
});

/** Clicks and key presses the first workflow may take; typing text is free. */
const MOST_CLICKS = 22;

/** A user whose clicks and key presses are counted. */
function countingHand(page: Page) {
  const clicks: string[] = [];
  return {
    clicks,
    async click(target: Locator): Promise<void> {
      clicks.push(`click ${target.toString()}`);
      await target.click();
    },
    async press(key: string): Promise<void> {
      clicks.push(`press ${key}`);
      await page.keyboard.press(key);
    },
    /** Types into the field that has the focus. */
    type: (text: string) => page.keyboard.type(text),
  };
}

const PAYMENT = (amount: number) => ({
  id: 'evt_1',
  object: 'event',
  type: 'payment_intent.succeeded',
  data: { object: { id: 'pi_1', amount, currency: 'eur', receipt_email: 'ada@example.com' } },
});

test('a payment by webhook, a condition, a call and a chat message, in few clicks', async () => {
  outside.on('POST /payments', { body: { ok: true } });
  outside.on('POST /hooks/chat1', { body: 'ok' });
  const opened = await world.openAs('editor', 'workflows');
  const { page } = opened;
  const hand = countingHand(page);
  const editor = editorOf(page);
  const palette = page.getByRole('dialog', { name: 'Add node' }).getByRole('combobox');

  await hand.click(page.getByRole('button', { name: 'New workflow' }));
  await focused(page.getByRole('dialog', { name: 'New workflow' }).getByRole('textbox', { name: 'Name' }));
  await hand.type('Large payments');
  await hand.press('Enter');
  await page.waitForURL(/\/workflows\/\d+$/);

  await editor.canvas.getByRole('heading', { name: 'How does it start?' }).waitFor();
  await hand.click(editor.canvas.getByRole('button', { name: /^Webhook/ }));
  const webhook = editor.panel.getByRole('region', { name: 'Webhook' });
  await hand.click(webhook.getByRole('button', { name: 'Save and listen for a sample' }));
  await webhook.getByText('Waiting for a call').waitFor();
  const address = (await webhook.locator('pre').first().textContent()) ?? '';
  await pay(address, 100);
  await webhook.getByRole('region', { name: 'Received call' }).waitFor();

  await hand.press('ControlOrMeta+K');
  await focused(palette);
  await hand.type('if');
  await hand.press('Enter');
  const left = templateField(editor.panel, 'Left side');
  await left.waitFor();
  await hand.click(editor.panel.getByRole('button', { name: /^amount\b/ }));
  await left.getByText('{{trigger.data.data.object.amount}}').waitFor();
  await hand.click(editor.panel.getByRole('combobox', { name: 'Operator' }));
  await hand.click(page.getByRole('option', { name: 'greater than' }));
  await focused(editor.panel.getByRole('textbox', { name: 'Right side' }));
  await hand.type('1000');

  await hand.press('ControlOrMeta+K');
  await focused(palette);
  await hand.type('http');
  await hand.press('Enter');
  await focused(templateField(editor.panel, 'URL'));
  await hand.type(`${outside.url}/payments`);
  await hand.click(editor.panel.getByRole('combobox', { name: 'Method' }));
  await hand.click(page.getByRole('option', { name: 'POST' }));
  await hand.click(templateField(editor.panel, 'Body'));
  await hand.type('{{trigger.data}}');

  await hand.press('ControlOrMeta+K');
  await focused(palette);
  await hand.type('slack');
  await hand.press('Enter');
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
  await pay(address, 5_000);
  await editor.bottom.getByText('Completed').waitFor();
  for (const id of ['if', 'request', 'notify']) await editor.node(id).getByText('Succeeded').waitFor();

  expect(hand.clicks.length, hand.clicks.join('\n')).toBeLessThanOrEqual(MOST_CLICKS);
  expect(outside.to('POST /payments').map(({ body }) => body)).toEqual([PAYMENT(5_000)]);
  expect(outside.to('POST /hooks/chat1').map(({ body }) => body)).toMatchObject([
    { text: expect.stringContaining('Large payment: 5000') },
  ]);
  expectNoComplaints(opened);
});

/** A call of the payment provider. */
async function pay(address: string, amount: number): Promise<void> {
  const response = await fetch(`${world.url}${new URL(address).pathname}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(PAYMENT(amount)),
  });
  expect(response.status).toBe(202);
}
