import { isJsonObject, type JsonObject } from '@millrace/engine';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type BrowserService,
  expectNoComplaints,
  type OpenOptions,
  openBrowserService,
  type TestPage,
} from './support/browser-service.ts';
import { createWorkflow, editorOf, templateField } from './support/editor.ts';
import { focused } from './support/focused.ts';

let world: BrowserService;
let person: TestPerson;
let workflowId: number;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());
beforeEach(async () => {
  person = await createPerson(world.service, 'editor');
  workflowId = await createWorkflow(person, 'Forms', FLOW);
});

const node = (id: string, type: string, x: number, config: JsonObject) => ({
  id,
  type,
  position: { x, y: 0 },
  data: { label: `The ${id}`, config },
});
const FLOW = {
  nodes: [
    node('hook', 'trigger.webhook', 0, {}),
    node('test', 'core.if', 260, {
      conditions: [{ left: '{{trigger.data.total}}', operator: 'greater_than', right: 5 }],
    }),
    node('call', 'http.request', 520, { method: 'POST', url: 'https://api.example.com' }),
    node('loop', 'core.for_each', 780, { items: '{{trigger.data.lines}}' }),
  ],
  edges: [
    { id: 'a', source: 'hook', target: 'test' },
    { id: 'b', source: 'test', sourceHandle: 'true', target: 'call' },
    { id: 'c', source: 'call', target: 'loop' },
  ],
};

async function openNode(label: string, who = person, options: OpenOptions = {}): Promise<TestPage> {
  const opened = await world.openFor(who, `workflows/${workflowId}`, options);
  await opened.page.getByText(label, { exact: true }).first().click();
  await opened.page.getByRole('textbox', { name: 'Node name' }).waitFor();
  return opened;
}

/** A node's config in the saved draft. */
async function configInDraft(id: string): Promise<JsonObject | null> {
  const params = { org: person.organisationId, id: workflowId };
  const { data } = await person.call('GET /orgs/:org/workflows/:id/draft', { params });
  const nodes = (data.draft?.flow_data.nodes ?? []) as unknown as typeof FLOW.nodes;
  const config = nodes.find((each) => each.id === id)?.data.config as unknown as JsonObject | undefined;
  return config !== undefined && isJsonObject(config) ? config : null;
}

async function settingsInDraft(): Promise<unknown> {
  const params = { org: person.organisationId, id: workflowId };
  const { data } = await person.call('GET /orgs/:org/workflows/:id/draft', { params });
  return data.draft?.flow_data.settings;
}

/** Replaces the text at once: each key would render the form again. */
async function replaceText(page: Page, name: string, text: string): Promise<void> {
  await selectText(page, name);
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

async function selectText(page: Page, name: string): Promise<void> {
  await page.getByRole('textbox', { name, exact: true }).click();
  await page.keyboard.press('ControlOrMeta+A');
}

describe('the panel of a node', () => {
  const left = async () => (await configInDraft('test'))?.conditions;
  test('offers what a template can read, and shows the result with the sample', async () => {
    const params = { org: person.organisationId, id: workflowId };
    await person.call('PUT /orgs/:org/workflows/:id/sample', {
      params,
      body: { data: { total: 250, customer: { name: 'Ada' } } },
    });
    const opened = await openNode('The test');
    const { page } = opened;
    await page.getByText('= 250').waitFor();
    // Nothing is offered for what was typed before it has loaded.
    await templateField(page.locator('body'), 'Left side').waitFor();
    await selectText(page, 'Left side');
    await page.keyboard.type('{{trigger.data.cust');
    await page.getByRole('option', { name: /trigger\.data\.customer\.name/ }).click();
    await page.getByText('= "Ada"').waitFor();
    await expect.poll(left).toMatchObject([{ left: '{{trigger.data.customer.name}}' }]);
    await replaceText(page, 'Left side', '{{trigger.data.total | nope}}');
    await page.getByText(/nope/).nth(1).waitFor();
    expectNoComplaints(opened);
  });

  test('reports what is empty, at its field and in the list of problems, until it is filled in', async () => {
    const opened = await openNode('The call');
    const { page } = opened;
    await replaceText(page, 'URL', ' ');
    const told = page.getByRole('alert').filter({ hasText: '"URL" is empty; fill it in' });
    await told.waitFor();
    await replaceText(page, 'URL', 'https://api.example.com');
    await told.waitFor({ state: 'detached' });
    expectNoComplaints(opened);
  });

  test('a number becomes a template and a number again', async () => {
    const opened = await openNode('The loop');
    const { page } = opened;
    await page.getByRole('button', { name: /^Errors and speed/ }).click();
    await page.getByRole('button', { name: 'Template for Concurrency' }).click();
    await replaceText(page, 'Concurrency, as a template', '{{trigger.data.speed}}');
    await expect.poll(() => configInDraft('loop')).toMatchObject({ concurrency: '{{trigger.data.speed}}' });
    await page.getByRole('button', { name: 'Template for Concurrency' }).click();
    await page.getByRole('textbox', { name: 'Concurrency' }).fill('7');
    await expect.poll(() => configInDraft('loop')).toMatchObject({ concurrency: 7 });
    // The value in the other form is restored.
    await page.getByRole('button', { name: 'Template for Concurrency' }).click();
    await expect.poll(() => configInDraft('loop')).toMatchObject({ concurrency: '{{trigger.data.speed}}' });
    await page.getByRole('button', { name: 'Template for Concurrency' }).click();
    await expect.poll(() => configInDraft('loop')).toMatchObject({ concurrency: 7 });
    expectNoComplaints(opened);
  });

  test('a number is what was typed: negative, with a fraction, beyond a double', async () => {
    const opened = await openNode('The test');
    const { page } = opened;
    const right = page.getByRole('textbox', { name: 'Right side' });
    for (const [text, json] of [
      ['-3', '-3'],
      ['0.05', '0.05'],
      ['12345678901234567890', '12345678901234567890'],
    ] as const) {
      await right.click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type(text);
      await expect
        .poll(async () => JSON.stringify(await configInDraft('test')))
        .toContain(`"right":${json}}`);
      expect(await right.inputValue()).toBe(text);
    }
    expectNoComplaints(opened);
  });

  test('a text keeps its lines, and looking at another kind of value loses nothing', async () => {
    const opened = await openNode('The test');
    const { page } = opened;
    await replaceText(page, 'Left side', 'ab');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.insertText('1\n2');
    await page.keyboard.type('3');
    await expect.poll(left).toMatchObject([{ left: 'a1\n23b' }]);
    const kind = page.getByRole('combobox', { name: 'How to write Left side' });
    await kind.selectOption('Number');
    await expect.poll(left).toMatchObject([{ left: 0 }]);
    await kind.selectOption('Text');
    await expect.poll(left).toMatchObject([{ left: 'a1\n23b' }]);
    expectNoComplaints(opened);
  });

  test('lines that are inserted before the editor of templates has loaded stay lines', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const prepare = (page: Page) =>
      page.route(/template-editor-/, async (route) => {
        await held;
        await route.continue();
      });
    const opened = await openNode('The test', person, { prepare });
    const { page } = opened;
    await replaceText(page, 'Left side', 'ab');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.insertText('1\n2');
    release();
    await focused(templateField(page.locator('body'), 'Left side'));
    await page.keyboard.type('3');
    await expect.poll(left).toMatchObject([{ left: 'a1\n23b' }]);
    expectNoComplaints(opened);
  });

  test('lists, free members and choices between shapes', async () => {
    const opened = await openNode('The call');
    const { page } = opened;
    const headers = page.getByRole('textbox', { name: 'Name in Headers' });
    await page.getByRole('button', { name: 'Add to Headers' }).click();
    await headers.fill('x-shop');
    await headers.press('Tab');
    await replaceText(page, 'Value of x-shop', 'harbour');
    await expect.poll(() => configInDraft('call')).toMatchObject({ headers: { 'x-shop': 'harbour' } });
    await page.getByRole('combobox', { name: 'Authentication' }).click();
    await page.getByRole('option', { name: /bearer/i }).click();
    await expect.poll(async () => (await configInDraft('call'))?.auth).toMatchObject({ type: 'bearer' });
    expectNoComplaints(opened);
  });

  test('Ctrl+S while editing a name saves it, too', async () => {
    const opened = await openNode('The call');
    const { page } = opened;
    await page.getByRole('button', { name: 'Add to Headers' }).click();
    await page.getByRole('textbox', { name: 'Name in Headers' }).fill('x-shop');
    await page.keyboard.press('ControlOrMeta+S');
    await page.getByText('Saved (v2)').waitFor();
    const params = { org: person.organisationId, id: workflowId };
    const { data } = await person.call('GET /orgs/:org/workflows/:id', { params });
    expect(JSON.stringify(data.flow_data)).toContain('"headers":{"x-shop":""}');
    expectNoComplaints(opened);
  });

  test('without the service, a part that is not loaded yet says so, and the editor stays', async () => {
    // What is below the end of the window is loaded later.
    const opened = await openNode('The call', person, { isFresh: true, width: 1280, height: 1600 });
    const { page, context } = opened;
    // The last part of the panel itself.
    await page.getByRole('button', { name: 'Run this node' }).waitFor();
    await context.setOffline(true);
    await page.getByRole('combobox', { name: 'How to write Body' }).selectOption('JSON');
    await page.getByText(/^Couldn't load this part/).waitFor();
    const name = page.getByRole('textbox', { name: 'Node name' });
    await name.fill('Written offline');
    await page.getByText('Draft not saved').waitFor();
    await context.setOffline(false);
    await page.getByText(/^Saved as draft/).waitFor();
    expect(await name.inputValue()).toBe('Written offline');
  });

  test('values of every kind can be entered without knowing JSON', async () => {
    const opened = await openNode('The call');
    const { page } = opened;
    const kind = (name: string) => page.getByRole('combobox', { name: `How to write ${name}` });
    await kind('Body').selectOption('Fields');
    await page.getByRole('button', { name: 'Add to Body' }).click();
    await page.getByRole('textbox', { name: 'Name in Body' }).fill('amount');
    await kind('Value of field_1').focus();
    await kind('Value of amount').selectOption('Number');
    await page.getByRole('textbox', { name: 'Value of amount' }).fill('12.5');
    await expect.poll(() => configInDraft('call')).toMatchObject({ body: { amount: 12.5 } });
    await kind('Value of amount').selectOption('List');
    await kind('Value of amount 1').selectOption('Nothing');
    await page.getByRole('button', { name: 'Add to Value of amount' }).click();
    await kind('Value of amount 2').selectOption('Yes or no');
    await expect.poll(() => configInDraft('call')).toMatchObject({ body: { amount: [null, true] } });
    await kind('Body').selectOption('JSON');
    await replaceText(page, 'Body', '{"amount": 9007199254740993}');
    await expect
      .poll(async () => JSON.stringify(await configInDraft('call')))
      .toContain('"body":{"amount":9007199254740993}');
    expectNoComplaints(opened);
  });

  test('a condition asks for the right side only where the operator needs it', async () => {
    const opened = await openNode('The test');
    const { page } = opened;
    await page.getByRole('textbox', { name: 'Right side' }).fill('7');
    await expect.poll(() => configInDraft('test')).toMatchObject({ conditions: [{ right: 7 }] });
    await page.getByRole('combobox', { name: 'Operator' }).click();
    await page.getByRole('option', { name: 'is empty', exact: true }).click();
    await expect
      .poll(() => configInDraft('test'))
      .toMatchObject({ conditions: [{ left: '{{trigger.data.total}}', operator: 'is_empty' }] });
    expect(await page.getByRole('textbox', { name: 'Right side' }).count()).toBe(0);
    // Another operator needs it, and gets the previous value.
    await page.getByRole('combobox', { name: 'Operator' }).click();
    await page.getByRole('option', { name: 'less than', exact: true }).click();
    await expect
      .poll(() => configInDraft('test'))
      .toMatchObject({ conditions: [{ operator: 'less_than', right: 7 }] });
    expectNoComplaints(opened);
  });

  test('errors are shown at the field, even one that is hidden at first', async () => {
    const opened = await openNode('The call');
    const { page } = opened;
    await replaceText(page, 'URL', 'https://api.example.com/{{nope}}');
    const told = page.getByRole('complementary', { name: 'Node' }).getByRole('alert');
    await told.getByText(/nope/).waitFor();
    // It isn't repeated in the alert above.
    expect(await page.getByText(/nope/).and(page.locator('.mantine-Alert-root *')).count()).toBe(0);
    await page.getByRole('button', { name: /^Limits/ }).click();
    await page.getByRole('textbox', { name: 'Timeout', exact: true }).fill('0');
    await told.nth(1).waitFor();
    await page.getByLabel('This has a problem').waitFor();
    expectNoComplaints(opened);
  });

  test('an example replaces the settings, in one step of undo', async () => {
    const opened = await openNode('The call');
    const { page } = opened;
    await page.getByRole('tab', { name: 'Help' }).click();
    await page
      .getByRole('button', { name: /^Use this example:/ })
      .first()
      .click();
    await expect.poll(async () => (await configInDraft('call'))?.url).not.toBe('https://api.example.com');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect
      .poll(async () => (await configInDraft('call'))?.url ?? 'as saved')
      .toMatch(/api\.example\.com|as saved/);
    expectNoComplaints(opened);
  });

  test('what happens on failure', async () => {
    const opened = await openNode('The call');
    const { page } = opened;
    await page.getByRole('tab', { name: 'Errors and time' }).click();
    await page.getByRole('radio', { name: 'Take the error branch' }).check();
    await page.getByRole('textbox', { name: 'Attempts' }).fill('4');
    const params = { org: person.organisationId, id: workflowId };
    await expect
      .poll(async () => {
        const { data } = await person.call('GET /orgs/:org/workflows/:id/draft', { params });
        return (data.draft?.flow_data.nodes as unknown as { id: string; data: object }[] | undefined)?.[2]
          ?.data;
      })
      .toMatchObject({ on_error: 'branch', retry: { max_attempts: 4 } });
    expectNoComplaints(opened);
  });

  test('a viewer reads everything and changes nothing', async () => {
    const viewer = await createPerson(world.service, 'viewer', { organisationId: person.organisationId });
    const opened = await openNode('The test', viewer);
    const { page } = opened;
    await page.getByRole('textbox', { name: 'Left side' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Node name' }).getAttribute('readonly')).not.toBeNull();
    expect(await page.getByRole('button', { name: /^Template for/ }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Add to/ }).count()).toBe(0);
    expectNoComplaints(opened);
  });
});

describe('the settings of the workflow', () => {
  test('a limit by key, a rate and a debounce', async () => {
    const opened = await world.openFor(person, `workflows/${workflowId}`);
    const { page } = opened;
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Workflow settings' }).click();
    await replaceText(page, 'At the same time', '2');
    await replaceText(page, 'Executions', '100');
    await replaceText(page, 'In how many seconds', '60');
    await replaceText(page, 'Wait in seconds', '30');
    await expect.poll(settingsInDraft).toMatchObject({
      concurrency: { limit: 2 },
      rate: { limit: 100, per_seconds: 60 },
      debounce: { seconds: 30 },
    });
    expectNoComplaints(opened);
  });

  test('the input, as a list of fields', async () => {
    const opened = await world.openFor(person, `workflows/${workflowId}`);
    const { page } = opened;
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Workflow settings' }).click();
    await page.getByRole('button', { name: 'Add to Input schema' }).click();
    const name = page.getByRole('textbox', { name: 'Name in Input schema' });
    await name.fill('order');
    await name.press('Tab');
    await page.getByRole('combobox', { name: 'Type of order' }).selectOption('Whole number');
    await page.getByRole('checkbox', { name: 'order is required' }).check();
    await expect.poll(settingsInDraft).toEqual({
      input_schema: { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] },
    });
    expectNoComplaints(opened);
  });
});

describe('the panel of a trigger', () => {
  test('a webhook: a new URL, and the old one for another day', async () => {
    const opened = await openNode('The hook');
    const { page } = opened;
    const address = page.getByRole('region', { name: 'Webhook' }).locator('pre').first();
    const before = await address.textContent();
    await page.getByRole('button', { name: 'New URL' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create new URL' }).click();
    await page.getByText(/^The previous URL still works for (24 hr|23 hr 5\d min)/).waitFor();
    await expect.poll(() => address.textContent()).not.toBe(before);
    expectNoComplaints(opened);
  });

  test('a webhook: the sender fills in its signature and event id, and the secret stays', async () => {
    const opened = await openNode('The hook');
    const { page } = opened;
    const sender = page.getByRole('combobox', { name: 'Sender' });
    const choose = async (name: string) => {
      await sender.click();
      await page.getByRole('option', { name }).click();
    };
    const verify = page.getByRole('button', { name: /^Verify the caller/ });
    await verify.getByText('Off').waitFor();
    await choose('Shopify');
    await expect
      .poll(() => configInDraft('hook'))
      .toMatchObject({
        signature: { preset: 'hmac', header: 'X-Shopify-Hmac-Sha256', encoding: 'base64', credential_id: 0 },
        deduplicate: { by: 'header', name: 'X-Shopify-Webhook-Id' },
      });
    // The secret is missing, so the section opens.
    await page.getByRole('combobox', { name: 'Secret', exact: true }).waitFor();
    await choose('Svix');
    await expect
      .poll(async () => (await configInDraft('hook'))?.signature)
      .toEqual({
        preset: 'standard_webhooks',
        credential_id: 0,
      });
    expect(await sender.inputValue()).toBe('Svix');
    expectNoComplaints(opened);
  });

  test('a schedule: in words, and when it fires in its zone', async () => {
    const schedule = { type: 'cron', cron: '30 2 * * *' };
    workflowId = await createWorkflow(person, 'Nightly', {
      nodes: [node('clock', 'trigger.schedule', 0, { schedule, timezone: 'Asia/Tokyo' })],
      edges: [],
    });
    const opened = await openNode('The clock');
    const { page } = opened;
    // The node shows it too.
    await page.getByRole('complementary', { name: 'Node' }).getByText('At 02:30').waitFor();
    const times = page.getByRole('region', { name: 'Next runs' });
    const fires = times.getByRole('listitem');
    await expect.poll(() => fires.count()).toBe(10);
    expect(await fires.first().textContent()).toMatch(/2:30:00 AM GMT\+9$/);
    // Without writing the expression by hand.
    await page.getByRole('combobox', { name: 'Cron expression' }).click();
    await page.getByRole('option', { name: 'On certain weekdays' }).click();
    await page.getByLabel('Time of day').fill('06:15');
    await page.getByRole('checkbox', { name: 'Tue' }).uncheck();
    await times.getByText(/^At 06:15, .*Monday, Wednesday, Thursday,? and Friday$/).waitFor();
    await expect
      .poll(() => configInDraft('clock'))
      .toMatchObject({ schedule: { type: 'cron', cron: '15 6 * * 1,3,4,5' } });
    await page.getByRole('combobox', { name: 'Time zone' }).fill('berlin');
    await page.getByRole('option', { name: 'Europe/Berlin' }).click();
    await times.getByText('Next runs in Europe/Berlin').waitFor();
    // Ten months contain one or two clock changes.
    await page.getByRole('combobox', { name: 'Cron expression' }).click();
    await page.getByRole('option', { name: 'Every month' }).click();
    await expect.poll(() => times.getByText('daylight-saving change before this').count()).toBeGreaterThan(0);
    await page.getByRole('combobox', { name: 'Cron expression' }).click();
    await page.getByRole('option', { name: 'Cron expression' }).click();
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('61 * * * *');
    await times.getByRole('alert').waitFor();
    expectNoComplaints(opened);
  });
});

/** Data and all fields are in sight: nothing is scrolled while something is dragged. */
const HIGH = { height: 1800 };

test('data goes into a field of any kind that is focused, or that it is dropped on', async () => {
  const loop = { items: [], concurrency: 2, on_item_error: 'collect' };
  const nodes = [...FLOW.nodes.filter(({ id }) => id !== 'loop'), node('loop', 'core.for_each', 780, loop)];
  workflowId = await createWorkflow(person, 'Inserting', { ...FLOW, nodes });
  const opened = await openNode('The loop', person, HIGH);
  const { panel } = editorOf(opened.page);
  const leaf = (name: string) => panel.getByTitle(`Insert nodes.call.output.${name}`, { exact: true });
  const inDraft = (name: string) => expect.poll(async () => (await configInDraft('loop'))?.[name]);

  await leaf('status').dragTo(panel.getByRole('textbox', { name: 'Concurrency' }));
  await inDraft('concurrency').toBe('{{nodes.call.output.status}}');
  await leaf('body').dragTo(panel.getByRole('button', { name: 'Add to Items' }));
  await inDraft('items').toBe('{{nodes.call.output.body}}');
  // Within braces, it takes the place of the path.
  await leaf('duration_ms').dragTo(templateField(panel, 'Concurrency, as a template'), {
    targetPosition: { x: 40, y: 12 },
  });
  await inDraft('concurrency').toBe('{{nodes.call.output.duration_ms}}');

  await panel.getByRole('combobox', { name: 'When an item fails' }).click();
  await opened.page.keyboard.press('Escape');
  await leaf('body_type').click();
  await inDraft('on_item_error').toBe('{{nodes.call.output.body_type}}');
  // The next one follows it.
  await leaf('status').click();
  await inDraft('on_item_error').toBe('{{nodes.call.output.body_type}}{{nodes.call.output.status}}');
  expectNoComplaints(opened);
});

test('data that is inserted into a list or values with something in them is added', async () => {
  const call = { method: 'GET', url: 'https://api.example.com', headers: { 'X-Shop': 'tea' } };
  const nodes = [node('hook', 'trigger.rss', 0, {}), node('call', 'http.request', 260, call)];
  const edges = [{ id: 'a', source: 'hook', target: 'call' }];
  workflowId = await createWorkflow(person, 'Adding', { nodes, edges });
  const opened = await openNode('The call', person, HIGH);
  const { panel } = editorOf(opened.page);
  const title = panel.getByTitle('Insert trigger.data.title', { exact: true });
  await title.dragTo(panel.getByRole('button', { name: 'Add to Headers' }));
  const headers = { 'X-Shop': 'tea', title: '{{trigger.data.title}}' };
  await expect.poll(async () => (await configInDraft('call'))?.headers).toEqual(headers);
  expectNoComplaints(opened);
});
