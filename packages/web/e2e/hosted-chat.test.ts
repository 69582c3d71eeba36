import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { addModelCredential } from '@millrace/testing/model-credential';
import {
  type ModelRequest,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from '@millrace/testing/model-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { editorOf } from './support/editor.ts';

/** A picture of one dot. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

let world: BrowserService;
let model: ModelServer;
let answer: ModelServerOptions['answer'];
/** A website that shows the chat. */
let site: Server;
let snippet = '';
beforeAll(async () => {
  model = await startModelServer({ answer: (request) => answer(request) });
  site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1></main>${snippet}</html>`,
    );
  });
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
  world = await openBrowserService({
    config: { allowHosts: [model.host], secretKeys: { current: randomBytes(32), previous: [] } },
  });
});
afterAll(async () => {
  await world.stop();
  await model.close();
  site.close();
});

interface Step {
  readonly id: string;
  readonly type: string;
  readonly config: object;
  /** The output of the step before that leads here, if it has several. */
  readonly on?: string;
}

/** Makes an active workflow of a chat and what follows it. @returns the path of the page */
async function makeChat(
  { call, organisationId: org }: TestPerson,
  config: { readonly title: string; readonly [setting: string]: unknown },
  ...steps: readonly Step[]
): Promise<{ readonly id: number; readonly path: string }> {
  const all: readonly Step[] = [{ id: 'chat', type: 'trigger.chat', config }, ...steps];
  const flow = {
    nodes: all.map(({ id, type, config: of }, index) => ({
      ...{ id, type, position: { x: 0, y: 120 * index } },
      data: { config: of },
    })),
    edges: steps.map(({ id, on }, index) => ({
      ...{ source: all[index]?.id, target: id },
      ...(on === undefined ? {} : { sourceHandle: on }),
    })),
  };
  const { data } = await call('POST /orgs/:org/workflows', {
    params: { org },
    body: { name: config.title, status: 'active', flow_data: flow as never },
  });
  const { id } = data.workflow;
  const chat = await call('GET /orgs/:org/workflows/:id/chat', { params: { org, id } });
  return { id, path: new URL(chat.data.url).pathname };
}

test('an author makes a chat; a visitor reads the answer as it is written, finds it after a reload, and on another website', async () => {
  const opened = await world.openAs('editor', 'workflows');
  const { page, person } = opened;
  const fields = { provider: 'anthropic', base_url: model.baseUrl('anthropic'), api_key: 'sk-test' };
  const credentialId = await addModelCredential(world.service, person.organisationId, fields);
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const chat = {
    title: 'Ask the mill',
    greeting: 'Hello! Ask me about orders and deliveries.',
    suggestions: ['Do you deliver on Sundays?', 'Where is my order?'],
    allowed_origins: [origin],
  };
  const agent = {
    credential_id: credentialId,
    model: 'claude-sonnet-4-5',
    prompt: '{{trigger.data.message}}',
    memory_key: '{{trigger.data.session_id}}',
  };
  const { id } = await makeChat(person, chat, { id: 'agent', type: 'ai.agent', config: agent });
  await page.goto(`${world.url}/o/${person.organisationId}/workflows/${id}`);
  const editor = editorOf(page);
  await editor.node('chat').click();
  const panel = editor.panel.getByRole('region', { name: 'Chat' });
  const link = panel.getByRole('link', { name: 'Open the chat' });
  await link.waitFor();
  await panel.getByText(`Shown on: ${origin}`).waitFor();
  await expectAccessible(page);
  const { pathname } = new URL((await link.getAttribute('href')) ?? '');

  let go: () => void = () => {};
  const until = new Promise<void>((resolve) => {
    go = resolve;
  });
  answer = () => ({
    text: ['**Yes**, we ', 'do: see https://mill.example/sundays.\n', '<b>Bring</b> bread.'],
    pauseAfter: { events: 5, until },
  });
  const visitor = await world.openPage();
  const there = visitor.page;
  await there.setViewportSize({ width: 390, height: 844 });
  await there.goto(world.url + pathname);
  await there.getByRole('heading', { name: chat.title }).waitFor();
  await expectAccessible(there);
  await there.getByRole('button', { name: 'Do you deliver on Sundays?' }).click();
  const log = there.getByRole('log', { name: 'Conversation' });
  await log.getByText('Yes, we').waitFor();
  await expectAccessible(there);
  go();
  await log.getByText('<b>Bring</b> bread.').waitFor();
  expect(await log.getByRole('link').getAttribute('href')).toBe('https://mill.example/sundays');
  const asked: string[][] = [];
  answer = ({ messages }) => {
    asked.push(messages.map(({ text }) => text));
    return 'In `Mill Lane`.';
  };
  await there.getByRole('textbox', { name: 'Message' }).fill('Where are you?');
  await there.keyboard.press('Enter');
  await log.getByText('In Mill Lane.').waitFor();
  expect(asked[0]).toHaveLength(3);
  await there.reload();
  await log.getByText('In Mill Lane.').waitFor();
  expect(await log.getByRole('article').count()).toBe(5);
  expect(await there.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await there.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(there);
  await there.getByRole('button', { name: 'New conversation' }).click();
  await there.getByRole('button', { name: 'Where is my order?' }).waitFor();
  expect(await log.getByRole('article').count()).toBe(1);
  expectNoComplaints(visitor);

  // The chat as part of another website.
  snippet = `<script src="${world.url}${pathname}/embed.js" async></script>`;
  const shopper = await world.openPage();
  await shopper.page.goto(origin);
  await shopper.page.getByRole('button', { name: 'Ask the mill' }).click();
  const frame = shopper.page.frameLocator('iframe[title="Ask the mill"]');
  await frame.getByRole('textbox', { name: 'Message' }).fill('Hello');
  await frame.getByRole('button', { name: 'Send' }).click();
  await frame.getByText('In Mill Lane.').waitFor();
  await frame.getByRole('textbox', { name: 'Message' }).press('Escape');
  await shopper.page.getByRole('button', { name: 'Ask the mill' }).waitFor();
  expectNoComplaints(shopper);

  // The author sees what the agent remembers, and has it forgotten.
  await editor.node('agent').click();
  const memory = editor.panel.getByRole('region', { name: 'Remembered conversations' });
  await memory.getByText('2 messages').waitFor();
  await expectAccessible(page);
  await memory.getByRole('button', { name: 'Forget all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Forget all' }).click();
  await memory.getByText('Nothing is remembered yet.').waitFor();
  expectNoComplaints(opened);
});

test('answers in Markdown become lists, tables and code; nothing in them runs or is loaded from elsewhere', async () => {
  const editor = await createPerson(world.service, 'editor');
  const text = [
    '## Hours\n',
    '1. Mill\n   - open from *nine*\n   - ~~closed~~ **never**\n2. Shop\n',
    '| Bread | Price |\n|---|--:|\n| Rye | 4 |\n',
    '> Said the miller\nand left\n',
    '```sh\ncurl <b>x</b>\n```\n',
    '![A mill](https://mill.example/mill.png) [bad](javascript:alert(1)) see https://mill.example/a_b_c.\n',
    `<img src=x onerror="document.title='attacked'">`,
  ].join('\n');
  const { path } = await makeChat(editor, { title: 'Hours', greeting: 'Ask **me**.', answer: text });
  const visitor = await world.openPage();
  const { page } = visitor;
  await page.goto(world.url + path);
  const log = page.getByRole('log', { name: 'Conversation' });
  await log.getByRole('strong').filter({ hasText: 'me' }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('**When**?');
  await page.keyboard.press('Enter');
  const answered = log.getByRole('article').last();
  await answered.getByRole('heading', { name: 'Hours' }).waitFor();
  expect(await answered.locator('.text').ariaSnapshot()).toMatchInlineSnapshot(`
    "- heading "Hours" [level=2]
    - list:
      - listitem:
        - text: Mill
        - list:
          - listitem:
            - text: open from
            - emphasis: nine
          - listitem:
            - text: closed
            - strong: never
      - listitem: Shop
    - table:
      - rowgroup:
        - row "Bread Price":
          - columnheader "Bread"
          - columnheader "Price"
      - rowgroup:
        - row "Rye 4":
          - cell "Rye"
          - cell "4"
    - blockquote:
      - paragraph: Said the miller and left
    - text: curl <b>x</b>
    - paragraph:
      - link "A mill":
        - /url: https://mill.example/mill.png
      - text: "[bad](javascript:alert(1)) see"
      - link "https://mill.example/a_b_c":
        - /url: https://mill.example/a_b_c
      - text: .
    - paragraph: <img src=x onerror="document.title='attacked'">"
  `);
  expect(await answered.locator('td.right').textContent()).toBe('4');
  expect(await log.getByRole('article').nth(1).locator('.text').textContent()).toBe('**When**?');
  expect(await page.title()).not.toContain('attacked');
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expectNoComplaints(visitor);
});

test('a visitor is asked in the chat, corrects what they entered, and decides after a reload', async () => {
  const { person } = await world.openAs('editor', 'workflows');
  const fields = [
    { label: 'How many loaves', name: 'count', type: 'number', required: true },
    { label: 'Sort', name: 'sort', type: 'choice', choices: ['Rye', 'Wheat'], required: true },
    { label: 'Slice it', name: 'slice', type: 'checkbox' },
  ];
  const question = { title: 'Order bread?', text: 'For tomorrow.', fields, in_chat: true };
  const text = '{{nodes.ask.output.values.count}} {{nodes.ask.output.values.sort}}: ordered';
  const { path } = await makeChat(
    person,
    { title: 'Bakery' },
    { id: 'ask', type: 'wait.approval', config: question },
    { id: 'reply', type: 'core.set', config: { values: { text } }, on: 'approve' },
  );
  const { page } = await world.openPage();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(world.url + path);
  await page.getByRole('textbox', { name: 'Message' }).fill('Bread, please');
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'Order bread?' });
  await form.getByText('For tomorrow.').waitFor();
  await page.getByText('Please decide.').waitFor();
  await form.getByRole('radio', { name: 'Rye' }).check();
  await form.getByRole('button', { name: 'Approve' }).click();
  await form.getByRole('alert').filter({ hasText: /./ }).waitFor();
  const count = form.getByRole('textbox', { name: 'How many loaves' });
  expect(await count.getAttribute('aria-invalid')).toBe('true');
  expect(await count.evaluate((input) => input === document.activeElement)).toBe(true);
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page);
  await page.reload();
  await form.getByRole('radio', { name: 'Wheat' }).check();
  await count.fill('3');
  await form.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('log', { name: 'Conversation' }).getByText('3 Wheat: ordered').waitFor();
  expect(await form.count()).toBe(0);
});

test('a visitor attaches files by the keyboard, takes one back, and saves what the answer gives', async () => {
  const { person } = await world.openAs('editor', 'workflows');
  const chat = {
    ...{ title: 'Photo desk', files_per_message: 2, files_accept: 'image/*, .txt', language: 'ja' },
    ...{ answer: '{{trigger.data.files | length}} files', answer_files: '{{trigger.data.files}}' },
  };
  const { path } = await makeChat(person, chat);
  const visitor = await world.openPage();
  const { page } = visitor;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(world.url + path);
  const attach = page.getByRole('button', { name: 'ファイルを添付' });
  const choose = async (...files: { name: string; mimeType: string; buffer: Buffer }[]) => {
    const chooser = page.waitForEvent('filechooser');
    await attach.focus();
    await page.keyboard.press('Enter');
    await (await chooser).setFiles(files);
  };
  const dot = { name: 'dot.png', mimeType: 'image/png', buffer: DOT };
  const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('Flour') };
  await choose(dot, note, { ...note, name: 'more.txt' });
  await page.getByText('添付できるファイルは 2 個まで').waitFor();
  const chosen = page.getByRole('list', { name: '添付ファイル' });
  await chosen.getByText('note.txt').waitFor();
  await expectAccessible(page);
  await chosen.getByRole('button', { name: 'note.txt を削除' }).click();
  await choose({ ...note, name: 'other.txt' });
  await page.getByRole('textbox').fill('これです');
  await page.keyboard.press('Enter');
  const log = page.getByRole('log');
  await log.getByText('2 files').waitFor();
  await log.getByRole('img', { name: 'dot.png' }).waitFor();
  await expectAccessible(page);
  const saving = page.waitForEvent('download');
  await log.getByRole('button', { name: 'other.txt を保存' }).click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toBe('other.txt');
  await page.reload();
  await log.getByRole('img', { name: 'dot.png' }).waitFor();
  expect(await log.getByRole('listitem').allTextContents()).toEqual([
    expect.stringContaining('dot.png'),
    expect.stringContaining('other.txt'),
  ]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expectNoComplaints(visitor);
});

test('a visitor attaches an image, a PDF and a text in a chat on another website, and the model gets them with that message', async () => {
  const { person } = await world.openAs('editor', 'workflows');
  const fields = { provider: 'anthropic', base_url: model.baseUrl('anthropic'), api_key: 'sk-test' };
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const agent = {
    credential_id: await addModelCredential(world.service, person.organisationId, fields),
    model: 'claude-sonnet-4-5',
    prompt: '{{trigger.data.message}}',
    files: '{{trigger.data.files}}',
    memory_key: '{{trigger.data.session_id}}',
  };
  const chat = {
    ...{ title: 'Papers', allowed_origins: [origin] },
    ...{
      files_per_message: 3,
      files_accept: 'image/*, .pdf, .txt',
      answer_files: '{{trigger.data.files[0]}}',
    },
  };
  const { path } = await makeChat(person, chat, { id: 'agent', type: 'ai.agent', config: agent });
  snippet = `<script src="${world.url}${path}/embed.js" async></script>`;
  const turns: ModelRequest['messages'][] = [];
  answer = ({ messages }) => {
    turns.push(messages);
    return turns.length === 1 ? 'Hello.' : 'Three papers.';
  };
  const visitor = await world.openPage();
  const { page } = visitor;
  await page.goto(origin);
  await page.getByRole('button', { name: 'Papers' }).click();
  const frame = page.frameLocator('iframe[title="Papers"]');
  const field = frame.getByRole('textbox', { name: 'Message' });
  await field.fill('Good morning');
  await field.press('Enter');
  await frame.getByText('Hello.').waitFor();
  const files = [
    { name: 'dot.png', mimeType: 'image/png', buffer: DOT },
    { name: 'bill.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 of the mill') },
    { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('Two bags of flour.') },
  ];
  const chooser = page.waitForEvent('filechooser');
  await frame.getByRole('button', { name: 'Attach files' }).click();
  await (await chooser).setFiles(files);
  await frame.getByRole('list', { name: 'Attached files' }).getByText('bill.pdf').waitFor();
  await field.fill('What are these?');
  await field.press('Enter');
  await frame.getByText('Three papers.').waitFor();
  // The file of the answer, as an address of the frame's own.
  const shown = frame.getByRole('log').getByRole('img', { name: 'dot.png' }).last();
  await expect.poll(() => shown.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
  const [hello, , asked] = turns[1] ?? [];
  expect([hello?.text, hello?.files]).toEqual(['Good morning', undefined]);
  expect(asked?.files).toMatchObject([
    { type: 'image/png', base64: DOT.toString('base64') },
    { type: 'application/pdf', base64: files[1]?.buffer.toString('base64') },
  ]);
  expect(asked?.text).toBe('File "note.txt":\n```\nTwo bags of flour.\n```\n\nWhat are these?');
  // The next message has no files, and the model isn't sent the earlier ones again.
  await field.fill('Thank you');
  await field.press('Enter');
  await expect.poll(() => turns.length).toBe(3);
  expect(turns[2]?.flatMap((turn) => turn.files ?? [])).toEqual([]);
  expectNoComplaints(visitor);
});
