import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { copyWith } from './support/clipboard.ts';
import { createWorkflow, editorOf, templateField } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

const FLOW = {
  nodes: [
    { id: 'hook', type: 'trigger.webhook', position: { x: 0, y: 0 }, data: { label: 'Order' } },
    {
      id: 'greet',
      type: 'core.set',
      position: { x: 280, y: 0 },
      data: { label: 'Greet', config: { values: { text: 'Hello' } } },
    },
  ],
  edges: [{ id: 'hook-greet', source: 'hook', target: 'greet' }],
};

/** Calls the webhook like an external system. @returns the receipt */
async function callWebhook(address: string, body: object): Promise<unknown> {
  const response = await fetch(`${world.url}${new URL(address).pathname}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(202);
  return response.json();
}

test('the panel of a webhook shows its state after each change: saved, inactive, active', async () => {
  const opened = await world.openAs('editor', 'workflows');
  const { page, person } = opened;
  const editor = editorOf(page);
  const id = await createWorkflow(person, 'Orders', { nodes: [], edges: [] });
  await person.call('PUT /orgs/:org/workflows/:id/draft', {
    params: { org: person.organisationId, id },
    body: { flow_data: FLOW as never, base_version: 1, revision: 0 },
  });
  await page.goto(`${world.url}/o/${person.organisationId}/workflows/${id}`);
  await editor.node('hook').click();
  const webhook = editor.panel.getByRole('region', { name: 'Webhook' });
  const listen = webhook.getByRole('button', { name: 'Listen for a sample' });
  // Calls reach the saved version, so listening saves first.
  await webhook.getByRole('button', { name: 'Save and listen for a sample' }).click();
  await webhook.getByText('Waiting for a call').waitFor();
  await editor.state.getByText('Saved (v2)').waitFor();
  await webhook.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(() => listen.isDisabled()).toBe(false);

  // A draft already accepts calls, and its menu mentions that.
  await editor.bar.getByRole('button', { name: /^Status: Draft/ }).click();
  await page.getByText('forms and chats already start the saved version').waitFor();
  await page.getByRole('menuitem', { name: 'Deactivate' }).click();
  await webhook.getByRole('alert').waitFor();
  await editor.bar.getByRole('button', { name: /^Status: Inactive/ }).click();
  await page.getByRole('menuitem', { name: 'Activate' }).click();
  await webhook.getByRole('alert').waitFor({ state: 'detached' });
  expectNoComplaints(opened);
});

test('listening takes the next call as the sample, and templates are completed from it', async () => {
  const opened = await world.openAs('editor', 'workflows');
  const { page, person } = opened;
  const editor = editorOf(page);
  const id = await createWorkflow(person, 'Orders', FLOW);
  await page.goto(`${world.url}/o/${person.organisationId}/workflows/${id}`);
  await editor.node('hook').click();
  const webhook = editor.panel.getByRole('region', { name: 'Webhook' });
  const address = await copyWith(webhook.getByRole('button', { name: 'Copy URL to call' }));

  expect(await callWebhook(address, { customer: 'Nobody' })).toMatchObject({ captured: false });
  await webhook.getByRole('button', { name: 'Listen for a sample' }).click();
  await webhook.getByText('Waiting for a call').waitFor();
  // What is refused meanwhile is shown with the reason.
  expect((await fetch(`${world.url}${new URL(address).pathname}`)).status).toBe(405);
  await webhook.getByText('A call was refused (405)').waitFor();
  const order = { customer: 'Ada', lines: [{ sku: 'A-1' }] };
  expect(await callWebhook(address, order)).toMatchObject({ success: true, captured: true });
  await page.getByText('Call received and saved as the sample.').waitFor();
  await webhook.getByRole('region', { name: 'Received call' }).getByText('"Ada"').waitFor();
  await webhook.getByRole('button', { name: 'Listen for a sample' }).waitFor();
  expect(await callWebhook(address, { customer: 'Somebody else' })).toMatchObject({ captured: false });

  // Values of the call are offered for completion and used in the preview.
  await editor.node('greet').click();
  const field = templateField(editor.panel, 'Value of text');
  await field.click();
  await page.keyboard.press('End');
  await page.keyboard.type(' {{trigger.data.cus');
  await page.getByRole('option', { name: /^trigger\.data\.customer/ }).click();
  await field.getByText('{{trigger.data.customer}}').waitFor();
  await editor.panel.getByText('"Hello Ada"').waitFor();

  // The sample is stored: on the next visit it is the run's input.
  await editor.state.getByText(/^Saved as draft/).waitFor();
  await page.reload();
  await editor.bar.getByRole('button', { name: 'Run', exact: true }).click();
  await editor.bottom.getByText('"A-1"').waitFor();
  await editor.bottom.getByText('Completed').waitFor();
  await editor.node('greet').click();
  await editor.bottom.getByText('"Hello Ada"').waitFor();
  expectNoComplaints(opened);
});
