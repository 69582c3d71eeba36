import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { expectAccessible, findOverflow } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { editorOf } from './support/editor.ts';
import { askVisitor } from './support/visitor-approval.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ config: { allowHosts: ['127.0.0.1'] } });
});
afterAll(() => world.stop());

const FORM = {
  title: 'Apply for a place at the mill',
  description: 'It takes two minutes.',
  fields: [
    { label: 'Name', name: 'name', type: 'text', required: true },
    { label: 'E-mail', name: 'email', type: 'email', required: true, help: 'We answer to this address.' },
    { label: 'Shift', name: 'shift', type: 'choice', choices: ['Morning', 'Evening'], required: true },
    { label: 'Days', name: 'days', type: 'choices', choices: ['Monday', 'Tuesday', 'Sunday'] },
    { label: 'Your documents', name: '', type: 'page' },
    { label: 'CV', name: 'cv', type: 'file', accept: '.pdf', required: true },
    { label: 'I have read the rules of the mill', name: 'agreed', type: 'checkbox', required: true },
  ],
};

/** A workflow that forms start, by their nodes' ids, in its editor. */
async function openForms(name: string, forms: { readonly [id: string]: object }, settings = {}) {
  const opened = await world.openAs('editor', 'workflows');
  const { page, person } = opened;
  const nodes = Object.entries(forms).map(([id, config], index) => ({
    id,
    type: 'trigger.form',
    position: { x: 300 * index, y: 0 },
    data: { config },
  }));
  const { data } = await person.call('POST /orgs/:org/workflows', {
    params: { org: person.organisationId },
    body: { name, status: 'active', flow_data: { nodes, edges: [], settings } as never },
  });
  const workflowId = data.workflow.id;
  await page.goto(`${world.url}/o/${person.organisationId}/workflows/${workflowId}`);
  const editor = editorOf(page);
  return { opened, workflowId, editor, panel: editor.panel.getByRole('region', { name: 'Form' }) };
}

async function inputsOf(workflowId: number): Promise<unknown[]> {
  const rows = await world.service.database.db.query<{ input: string }>(
    'SELECT input::text AS input FROM executions WHERE workflow_id = $1',
    [workflowId],
  );
  return rows.map(({ input }) => JSON.parse(input));
}

test('an author makes a form and opens it; a visitor fills in its pages, and the workflow starts once', async () => {
  const { opened, workflowId, editor, panel } = await openForms('Applications', { form: FORM });
  const { page } = opened;
  await editor.node('form').click();
  const link = panel.getByRole('link', { name: 'Open the form' });
  await link.waitFor();
  await expectAccessible(page);
  const { pathname } = new URL((await link.getAttribute('href')) ?? '');

  const visitor = await world.openPage();
  const form = visitor.page;
  await form.setViewportSize({ width: 390, height: 844 });
  await form.goto(world.url + pathname);
  await form.getByRole('heading', { name: FORM.title }).waitFor();
  await expectAccessible(form);
  await form.getByRole('textbox', { name: 'Name' }).fill('Ada');
  await form.getByRole('textbox', { name: 'E-mail' }).fill('ada@example.com');
  await form.getByRole('radio', { name: 'Evening' }).check();
  await form.getByRole('checkbox', { name: 'Sunday' }).check();
  await form.getByRole('button', { name: 'Continue' }).click();
  await form.getByRole('heading', { name: 'Your documents' }).waitFor();
  await expectAccessible(form);
  await form.getByRole('button', { name: 'Back' }).click();
  expect(await form.getByRole('radio', { name: 'Evening' }).isChecked()).toBe(true);
  expect(await form.getByRole('textbox', { name: 'E-mail' }).inputValue()).toBe('ada@example.com');
  await form.getByRole('button', { name: 'Continue' }).click();
  const cv = { name: 'cv.txt', mimeType: 'text/plain', buffer: Buffer.from('Ada') };
  await form.getByLabel('CV').setInputFiles(cv);
  await form.getByRole('checkbox', { name: 'I have read the rules of the mill' }).check();
  await form.getByRole('button', { name: 'Submit' }).click();
  await form.getByText("cv.txt isn't one of the accepted files (.pdf).").waitFor();
  await expectAccessible(form);
  await form.getByLabel('CV').setInputFiles({ ...cv, name: 'cv.pdf', mimeType: 'application/pdf' });
  await form.getByRole('button', { name: 'Submit' }).click();
  await form.getByRole('heading', { name: 'Thank you' }).waitFor();
  await form.reload();
  await form.getByRole('heading', { name: 'Thank you' }).waitFor();

  expect(await inputsOf(workflowId)).toMatchObject([
    {
      name: 'Ada',
      email: 'ada@example.com',
      shift: 'Evening',
      days: ['Sunday'],
      cv: { name: 'cv.pdf', size: 3 },
      agreed: true,
    },
  ]);
  expectNoComplaints(opened);
  expectNoComplaints(visitor);
});

test('another website shows a form in a frame, by the snippet of its panel, if the form lists it', async () => {
  let snippet = '';
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1>${snippet}</main></html>`,
    );
  });
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void site.close());
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const config = {
    title: 'Ask the "mill"',
    fields: [{ label: 'Question', name: 'question', type: 'text', required: true }],
  };
  const { opened, editor, panel } = await openForms('Questions', {
    form: { ...config, allowed_origins: [origin] },
    other: config,
  });
  const { page } = opened;
  const snippetOf = async (node: string) => {
    await editor.node(node).click();
    const [found = ''] = await panel.getByText('<iframe').allTextContents();
    // Tests reach the service by another address than its public one.
    return found.replace(/https?:\/\/[^/"]+/, world.url);
  };
  await editor.node('form').click();
  await panel.getByText(`Shown on: ${origin}`).waitFor();
  await expectAccessible(page);
  snippet = await snippetOf('form');
  const visitor = await world.openPage();
  await visitor.page.goto(origin);
  const frame = visitor.page.frameLocator(`iframe[title='Ask the "mill"']`);
  await frame.getByRole('button', { name: 'Submit' }).waitFor();
  await frame.getByRole('textbox', { name: 'Question' }).fill('Open on Sundays?');
  await frame.getByRole('button', { name: 'Submit' }).click();
  await frame.getByRole('heading', { name: 'Thank you' }).waitFor();
  expectNoComplaints(visitor);

  await editor.node('other').click();
  await panel.getByText('No website can show the form yet.').waitFor();
  snippet = await snippetOf('other');
  const refused = visitor.page.waitForEvent('console', (said) => said.text().includes('frame-ancestors'));
  await visitor.page.goto(origin);
  await refused;
  expect(await frame.getByRole('textbox', { name: 'Question' }).count()).toBe(0);
  expectNoComplaints(opened);
});

test('a form without fields asks for what the input schema describes, and its panel says so', async () => {
  const properties = {
    customer: { type: 'string', title: 'Your name', minLength: 2 },
    sacks: { type: 'integer', title: 'Sacks', minimum: 1, default: 2 },
    flour: {
      oneOf: [
        { const: 'rye', title: 'Rye flour' },
        { const: 'spelt', title: 'Spelt flour' },
      ],
    },
    delivered: { type: 'string', format: 'date', title: 'Delivery on' },
    invoice: { type: 'boolean', title: 'Send an invoice' },
  };
  const config = {
    title: 'Order flour',
    fields: [{ label: 'Your message', name: 'message', type: 'paragraph', required: true }],
  };
  const { opened, workflowId, editor, panel } = await openForms(
    'Orders',
    { form: config },
    { input_schema: { type: 'object', properties, required: ['customer', 'sacks', 'flour'] } },
  );
  const { page } = opened;
  await editor.node('form').click();
  await panel.getByRole('button', { name: 'Use the fields of the input schema' }).click();
  await panel.getByText('Your name, Sacks, flour, Delivery on, Send an invoice').waitFor();
  await expectAccessible(page);
  await editor.bar.getByRole('button', { name: 'Save', exact: true }).click();
  await editor.state.getByText('Saved (v2)').waitFor();
  const link = panel.getByRole('link', { name: 'Open the form' });
  const { pathname } = new URL((await link.getAttribute('href')) ?? '');

  const visitor = await world.openPage({ language: 'ja' });
  const form = visitor.page;
  await form.setViewportSize({ width: 390, height: 844 });
  await form.goto(world.url + pathname);
  await form.getByRole('heading', { name: 'Order flour' }).waitFor();
  await expectAccessible(form);
  expect(await findOverflow(form)).toEqual([]);
  expect(await form.getByRole('textbox', { name: 'Sacks' }).inputValue()).toBe('2');
  await form.getByRole('textbox', { name: 'Your name' }).fill('A');
  await form.getByRole('radio', { name: 'Spelt flour' }).check();
  await form.getByLabel(/^Delivery on/).fill('2026-12-24');
  await form.getByRole('button', { name: '送信' }).click();
  await form.getByText('この値は使えません：2 文字以上必要です。').waitFor();
  await expectAccessible(form);
  await form.getByRole('textbox', { name: 'Your name' }).fill('Ada');
  await form.getByRole('button', { name: '送信' }).click();
  await form.getByRole('heading', { name: 'ありがとうございました' }).waitFor();
  expect(await inputsOf(workflowId)).toEqual([
    { customer: 'Ada', sacks: 2, flour: 'spelt', delivered: '2026-12-24', invoice: false },
  ]);
  expectNoComplaints(opened);
  expectNoComplaints(visitor);
});

test('an empty workflow can start by a form', async () => {
  const opened = await world.openAs('editor', 'workflows');
  const { page } = opened;
  await page.getByRole('button', { name: 'New workflow' }).click();
  const dialog = page.getByRole('dialog', { name: 'New workflow' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Questions');
  await page.keyboard.press('Enter');
  const editor = editorOf(page);
  await editor.canvas.getByRole('button', { name: /^Form/ }).click();
  const panel = editor.panel.getByRole('region', { name: 'Form' });
  await panel.getByText('Save the workflow first').waitFor();
  await expectAccessible(page);
  expectNoComplaints(opened);
});

test('somebody without an account decides on a phone, in Japanese, in the dark', async () => {
  const person = await createPerson(world.service, 'editor');
  const link = await askVisitor(person, world.url);
  const look = { language: 'ja', scheme: 'dark', width: 390, height: 844 } as const;
  const opened = await world.openPage(look);
  const { page } = opened;
  const expectUsable = async () => {
    expect(await findOverflow(page)).toEqual([]);
    await expectAccessible(page);
  };
  await page.goto(`${link}?choice=approve`);
  await page.locator('html[lang="ja"]').waitFor();
  await page.getByRole('heading', { name: /^Refund order 17/ }).waitFor();
  // What the link chose is only ready to be pressed.
  expect(await page.locator('button:focus').textContent()).toBe('承認');
  await expectUsable();
  // Browsers can't require one of several checkboxes; the service does.
  await page.getByRole('button', { name: '承認' }).click();
  await page.locator('.fault').waitFor();
  await expectUsable();
  await page.getByRole('checkbox', { name: '配送の遅れ' }).check();
  await page.getByRole('textbox', { name: /^コメント/ }).fill('すみませんでした。');
  await page.getByRole('button', { name: '承認' }).click();
  await page.locator('form').waitFor({ state: 'detached' });
  await expectUsable();
  const { data } = await person.call('GET /orgs/:org/approvals', {
    params: { org: person.organisationId },
  });
  expect(data.items).toEqual([]);
  expectNoComplaints(opened);
});
