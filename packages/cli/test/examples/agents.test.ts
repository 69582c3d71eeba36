import type { JsonObject } from '@millrace/engine';
import { type McpTestServer, startMcpServer } from '@millrace/testing/mcp-server';
import {
  type ModelAnswer,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from '@millrace/testing/model-server';
import { pdfFile } from '@millrace/testing/pdf';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endOf, newSession, send as say } from '../../../public-addresses/test/chat-calls.ts';
import { type Reached, reachServices } from './services.ts';
import {
  approvalIn,
  decideOn,
  type Imported,
  openWorld,
  outputOf,
  statusesOf,
  TOKEN,
  type World,
} from './world.ts';

let world: World;
let reached: Reached;
let model: ModelServer;
let answer: ModelServerOptions['answer'];
let models: { readonly ai_credential: number; readonly ai_model: string };
beforeAll(async () => {
  model = await startModelServer({
    key: 'sk-agents',
    answer: (request) => answer(request),
    embed: ({ texts }) => texts.map((text) => [text.split(/open/i).length - 1, 0.1]),
  });
  world = await openWorld();
  reached = await reachServices(world);
  const fields = { provider: 'openai_compatible', base_url: model.baseUrl('openai_compatible') };
  models = {
    ai_credential: await world.addCredential('ai', { ...fields, api_key: 'sk-agents' }),
    ai_model: 'harbour-small',
  };
  world.outside.on('POST /hooks/team', { body: 'ok' });
});
afterAll(async () => {
  await reached.stop();
  await world.close();
  await model.close();
});
beforeEach(() => {
  world.outside.forget();
  world.mail.forget();
});

const run = async ({ id }: Imported, data: unknown) =>
  world.finished(await world.execute(id, data as JsonObject));
const bodiesTo = (line: string) => world.outside.to(line).map(({ body }) => body);

/** What the model says, one after the other. */
function script(...answers: readonly ModelAnswer[]): void {
  let asked = 0;
  answer = () => {
    asked += 1;
    return answers[asked - 1] ?? { text: 'I have nothing to add.' };
  };
}
const call = (name: string, args: JsonObject): ModelAnswer => ({ toolCalls: [{ name, arguments: args }] });

describe('support-chat', () => {
  let page: string;
  beforeAll(async () => {
    const chat = await world.importExample(
      'support-chat',
      { ...models, title: 'Harbour', collection: 'chat', chat_credential: await world.addChat('team') },
      { status: 'active' },
    );
    const upload = await world.importExample('knowledge-upload', {
      ...{ ai_credential: models.ai_credential, collection: 'chat' },
    });
    const stored = await world.service.api('POST', '/files?name=harbour.md', {
      key: world.key,
      raw: '# Office\n\nWe are open from 8 to 16.\n',
      headers: { 'content-type': 'text/markdown' },
    });
    const document = JSON.parse(stored.text) as JsonObject;
    expect((await run(upload, { name: 'Harbour', document })).status).toBe('completed');
    const [row] = await world.service.database.db.query<{ hash: string }>(
      'SELECT webhook_hash AS hash FROM workflows WHERE id = $1',
      [chat.id],
    );
    page = `${world.service.url}/api/v1/chat/${row?.hash ?? ''}`;
  });
  async function ask(session: string, text: string): Promise<unknown> {
    const sent = await say(page, session, text);
    expect(sent.status).toBe(202);
    return (await endOf(page, session, sent.body.number)).answer;
  }

  it('answers from the documents, and remembers what was said', async () => {
    const session = newSession();
    script(call('search_documents', { question: 'When are you open?' }), { text: 'From 8 to 16.' });
    expect(await ask(session, 'When are you open?')).toBe('From 8 to 16.');
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('We are open from 8 to 16.');
    script({ text: 'Closed.' });
    expect(await ask(session, 'And on Sundays?')).toBe('Closed.');
    const sent = JSON.stringify(model.requests.at(-1)?.messages);
    for (const text of ['When are you open?', 'From 8 to 16.', 'And on Sundays?'])
      expect(sent).toContain(text);
    // Another visitor's conversation begins with nothing.
    await ask(newSession(), 'Hello');
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('From 8 to 16.');
  });

  it('calls a person only with a way to reach the visitor', async () => {
    const named = { question: 'A berth for 40 feet?', contact: 'ada@example.com' };
    script(call('call_a_person', { question: 'A berth?' }), call('call_a_person', named), { text: 'Done.' });
    expect(await ask(newSession(), 'Can I talk to somebody?')).toBe('Done.');
    const told = bodiesTo('POST /hooks/team');
    expect(told).toHaveLength(1);
    for (const text of Object.values(named)) expect(JSON.stringify(told)).toContain(text);
  });

  it('apologises if the model fails, and tells the team', async () => {
    answer = () => ({ error: { status: 401, message: 'Wrong key' } });
    expect(await ask(newSession(), 'Hello?')).toMatch(/^I cannot answer at the moment/);
    expect(JSON.stringify(bodiesTo('POST /hooks/team'))).toContain('could not answer');
  });
});

describe('ticket-agent', () => {
  const zendesk = '/mill.zendesk.com/api/v2';
  let mcp: McpTestServer;
  let agent: Imported;
  let tickets: readonly unknown[] = [];
  let before = 0;
  const called = () => mcp.calls.slice(before).map(({ name }) => name);
  const tool = (name: string) => ({
    name,
    inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  });
  beforeAll(async () => {
    mcp = await startMcpServer({
      token: TOKEN,
      tools: [tool('find_order'), tool('refund_order'), tool('delete_customer')],
      call: (name) => ({ content: [{ type: 'text', text: `${name}: done` }] }),
    });
    const account = { username: 'ada@example.com/token', password: 'not-a-real-one' };
    const vars = {
      zendesk_credential: await world.addCredential('basic', account, ['mill.zendesk.com']),
      subdomain: 'mill',
      ...models,
      mcp_url: mcp.url,
      mcp_credential: await world.addToken(mcp.host),
      chat_credential: await world.addChat('team'),
    };
    agent = await world.importExample('ticket-agent', vars, { status: 'active' });
    world.outside.on(`GET ${zendesk}/search.json`, () => ({ body: { results: tickets } }));
    world.outside.on(`PUT ${zendesk}/tickets/17`, { body: { ticket: { id: 17 } } });
    await reached.poll(agent.id);
  });
  afterAll(() => mcp.close());
  beforeEach(() => {
    before = mcp.calls.length;
  });

  /** As the page sends its fields, filled in beforehand. */
  const FIELDS = { 'field.arguments 1': '{"order":"4711"}' };

  /** A new ticket, on which the agent works until it asks. */
  async function untilAsked() {
    const ticket = agent.sample('broken-lamp.json') as JsonObject;
    const id = await world.execute(agent.id, ticket);
    expect((await world.settled(id)).status).toBe('waiting_async');
    return { id, page: approvalIn(world, JSON.stringify(bodiesTo('POST /hooks/team').at(-1))) };
  }
  const REFUND = [
    call('shop_find_order', { order: '4711' }),
    call('shop_refund_order', { order: '4711' }),
    { text: 'I refunded order 4711.' },
  ];

  it('looks things up at once, changes something once a person has approved, and leaves a note', async () => {
    script(...REFUND);
    tickets = [{ ...(agent.sample('broken-lamp.json') as JsonObject), created_at: new Date().toISOString() }];
    const [started = 0] = await reached.poll(agent.id);
    expect((await world.settled(started)).status).toBe('waiting_async');
    expect(called()).toEqual(['find_order']);
    expect(world.outside.to(`PUT ${zendesk}/*`)).toEqual([]);
    expect(model.requests.at(-1)?.tools?.map(({ name }) => name)).toEqual([
      'shop_find_order',
      'shop_refund_order',
    ]);
    const page = approvalIn(world, JSON.stringify(bodiesTo('POST /hooks/team')));
    expect((await decideOn(page, { choice: 'approve', ...FIELDS })).status).toBe(200);
    expect((await world.finished(started)).status).toBe('completed');
    expect(called()).toEqual(['find_order', 'refund_order']);
    expect(bodiesTo(`PUT ${zendesk}/tickets/17`)).toEqual([
      { ticket: { comment: { body: 'I refunded order 4711.', public: false } } },
    ]);
  });

  it('changes nothing that a person rejects, and the model is told why', async () => {
    script(...REFUND.slice(0, 2), { text: 'I asked for a photo.' });
    const { id, page } = await untilAsked();
    const decision = { choice: 'reject', comment: 'Ask for a photo first.', ...FIELDS };
    expect((await decideOn(page, decision)).status).toBe(200);
    expect((await world.finished(id)).status).toBe('completed');
    expect(called()).toEqual(['find_order']);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('Ask for a photo first.');
    expect(JSON.stringify(bodiesTo(`PUT ${zendesk}/tickets/17`))).toContain('I asked for a photo.');
  });

  it('says in the note that it could not finish', async () => {
    answer = () => call('shop_find_order', { order: '1' });
    const execution = await run(agent, agent.sample('broken-lamp.json'));
    expect(statusesOf(execution)).toMatchObject({ note: 'skipped', failed: 'success' });
    expect(JSON.stringify(bodiesTo(`PUT ${zendesk}/tickets/17`))).toMatch(/agent_step_limit.*find_order/);
  });
});

describe('receipt-mail', () => {
  const graph = '/graph.microsoft.com/v1.0/me/drive';
  const rows = `POST ${graph}/items/book1/workbook/tables/Receipts/rows/add`;
  let receipts: Imported;
  beforeAll(async () => {
    const imap = { host: 'imap.example.com', username: 'receipts', password: 'not-a-real-one' };
    receipts = await world.importExample('receipt-mail', {
      mailbox: await world.addCredential('imap', imap),
      ...models,
      microsoft_credential: await world.addToken('graph.microsoft.com'),
      workbook_id: 'book1',
      mail_credential: await world.addMail(),
      accounts_email: 'accounts@example.com',
    });
    world.outside.on(`PUT ${graph}/*`, { status: 201, body: { webUrl: 'https://onedrive.example/1' } });
    world.outside.on(rows, { status: 201, body: { index: 3 } });
  });
  async function file(name: string, content: Uint8Array<ArrayBuffer> | string, type: string) {
    const stored = await world.service.api('POST', `/files?name=${encodeURIComponent(name)}`, {
      key: world.key,
      raw: content,
      headers: { 'content-type': type },
    });
    expect(stored.status, stored.text).toBe(201);
    return JSON.parse(stored.text) as JsonObject;
  }
  const mail = (...attachments: readonly JsonObject[]) =>
    run(receipts, { ...(receipts.sample('without-file.json') as JsonObject), attachments });
  const pdf = (text: string) => file('a/..:b.pdf', new Uint8Array(pdfFile([text])), 'application/pdf');
  const READ = { vendor: '=SUM(A1)', date: '2026-11-28', total: 18.5, currency: 'EUR' };

  it('files a receipt and its row once, whoever mails it, and shows the file to the model', async () => {
    answer = () => JSON.stringify(READ);
    const receipt = await pdf('Taxi 18.50');
    expect((await mail(receipt)).status).toBe('completed');
    const [request] = model.requests.slice(-1);
    expect(JSON.stringify(request)).toContain('application/pdf');
    const [put] = world.outside.to(`PUT ${graph}/*`);
    expect(decodeURIComponent(put?.line ?? '')).toMatch(
      /^PUT .*\/root:\/Receipts\/\d{4}-\d{2}\/[0-9a-f]{12} \.\._b\.pdf:\/content$/,
    );
    expect(bodiesTo(rows)).toEqual([
      { values: [['2026-11-28', "'=SUM(A1)", 18.5, 'EUR', 'ada@example.com', 'https://onedrive.example/1']] },
    ]);
    await mail(receipt);
    expect(bodiesTo(rows)).toHaveLength(1);
  });

  it('files the others if one cannot be read, and tells accounts', async () => {
    answer = (request) => (JSON.stringify(request).includes('image/png') ? 'no JSON' : JSON.stringify(READ));
    const execution = await mail(
      await file('broken.png', 'x', 'image/png'),
      await file('terms.docx', 'x', 'application/octet-stream'),
      await pdf('Ferry 7.00'),
    );
    expect(execution.status).toBe('completed');
    expect(bodiesTo(rows)).toHaveLength(1);
    expect(world.mail.received).toMatchObject([
      { to: ['accounts@example.com'], text: expect.stringMatching(/^From ada@example.com.\s+File 1: /) },
    ]);
  });

  it('does nothing for a mail without a file', async () => {
    const execution = await mail();
    expect(statusesOf(execution)).toMatchObject({ kept: 'success', receipts: 'skipped', reply: 'skipped' });
    expect(world.outside.received).toEqual([]);
    expect(world.mail.received).toEqual([]);
  });
});

describe('meeting-notes', () => {
  const drive = '/www.googleapis.com/drive/v3/files';
  const openai = 'POST /api.openai.com/v1/audio/transcriptions';
  const slack = 'POST /slack.com/api/chat.postMessage';
  let meeting: Imported;
  let files: readonly unknown[] = [];
  beforeAll(async () => {
    const vars = {
      google_credential: await world.addToken('www.googleapis.com'),
      folder_id: 'd1',
      openai_credential: await world.addToken('api.openai.com'),
      names: 'Tide clock',
      ...models,
      slack_credential: await world.addToken('slack.com'),
      slack_channel: 'C1',
    };
    meeting = await world.importExample('meeting-notes', vars, { status: 'active' });
    world.outside.on(`GET ${drive}`, () => ({ body: { files } }));
    world.outside.on(`GET ${drive}/f1`, { body: 'sound', headers: { 'content-type': 'audio/mp4' } });
    world.outside.on(slack, { body: { ok: true, channel: 'C1', ts: '1' } });
    await reached.poll(meeting.id);
  });
  beforeEach(() => world.outside.on(openai, { body: { text: 'We build the lamp. Ada orders glass.' } }));
  const recording = (more: object = {}) => ({ ...(meeting.sample('recording.json') as JsonObject), ...more });

  it('posts summary, decisions and tasks of a new recording', async () => {
    files = [recording({ createdTime: new Date().toISOString() })];
    answer = () =>
      JSON.stringify({
        summary: 'About <lamps>.',
        decisions: [],
        tasks: ['Ada orders glass.', 'Jonas calls.'],
      });
    const [started = 0] = await reached.poll(meeting.id);
    expect((await world.finished(started)).status).toBe('completed');
    const [heard] = world.outside.to(openai);
    expect(heard?.text).toContain('filename="f1');
    expect(heard?.text).toContain('sound');
    expect(heard?.text).toContain('Tide clock');
    expect(bodiesTo(slack)).toMatchObject([
      {
        text: '*Weekly.m4a* <https://drive.google.com/file/d/f1/view|Recording>\nAbout &lt;lamps&gt;.\n*Tasks*\n• Ada orders glass.\n• Jonas calls.',
      },
    ]);
  });

  it.each([
    ['is too large', { size: '25000001' }, {}, /^Weekly.m4a could not be written down: it is larger/],
    ['is refused', {}, { status: 400, body: { error: { message: 'Not <audio>' } } }, /: .*Not &lt;audio&gt;/],
  ])('says so if a recording %s', async (_what, more, reply, said) => {
    world.outside.on(openai, reply);
    expect((await run(meeting, recording(more))).status).toBe('completed');
    expect(bodiesTo(slack)).toMatchObject([{ text: expect.stringMatching(said) }]);
  });

  it('leaves silence and other files alone', async () => {
    world.outside.on(openai, { body: { text: ' ' } });
    expect(statusesOf(await run(meeting, recording()))).toMatchObject({ notes: 'skipped', post: 'skipped' });
    const other = await run(meeting, recording({ mimeType: 'application/pdf' }));
    expect(outputOf(other, 'other')).toEqual({ type: 'application/pdf' });
    expect(world.outside.to(slack)).toEqual([]);
  });
});
