import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Reached, reachServices } from './services.ts';
import { type Imported, openWorld, outputOf, statusesOf, TOKEN, type World } from './world.ts';

let world: World;
let reached: Reached;
beforeAll(async () => {
  world = await openWorld();
  reached = await reachServices(world);
});
afterAll(async () => {
  await reached.stop();
  await world.close();
});
beforeEach(() => {
  world.outside.forget();
  world.mail.forget();
});

const run = async ({ id }: Imported, data: unknown) =>
  world.finished(await world.execute(id, data as JsonObject));

describe('signup-sheet', () => {
  const values = '/sheets.googleapis.com/v4/spreadsheets/sheet1/values/Guests';
  const slack = 'POST /slack.com/api/chat.postMessage';
  let signUp: Imported;
  let emails: string[][] | undefined;
  beforeAll(async () => {
    signUp = await world.importExample('signup-sheet', {
      google_credential: await world.addToken('sheets.googleapis.com'),
      spreadsheet_id: 'sheet1',
      sheet: 'Guests',
      slack_credential: await world.addToken('slack.com'),
      slack_channel: 'C1',
    });
    world.outside.on(`GET ${values}!B2%3AB`, () => ({ body: { range: 'Guests!B2:B', values: emails } }));
    world.outside.on(slack, { body: { ok: true, channel: 'C1', ts: '1' } });
  });
  beforeEach(() => {
    emails = undefined;
    world.outside.on(`POST ${values}:append`, { body: { updates: { updatedRows: 1 } } });
  });

  it('adds a row below an empty table as it was written, and tells the channel', async () => {
    const data = { ...(signUp.sample('ada.json') as JsonObject), name: '<!channel> & Co', note: '=1+1' };
    await run(signUp, data);
    const [added] = world.outside.to(`POST ${values}:append`);
    expect(added?.query.valueInputOption).toBe('RAW');
    expect(added?.body).toMatchObject({
      values: [[expect.any(String), 'ada@example.com', '<!channel> & Co', 2, '=1+1']],
    });
    expect(added?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(world.outside.to(slack)[0]?.body).toMatchObject({
      channel: 'C1',
      text: '&lt;!channel&gt; &amp; Co signed up with 2 seats.',
    });
  });

  it('adds nobody twice, however the address is written', async () => {
    emails = [['Ada@Example.com'], [], ['jonas@example.com']];
    const execution = await run(signUp, signUp.sample('ada.json'));
    expect(statusesOf(execution)).toMatchObject({ add: 'skipped', again: 'success' });
    expect(world.outside.received.filter(({ line }) => !line.startsWith('GET'))).toEqual([]);
  });

  it('tells the channel whom to look for if the row cannot be added', async () => {
    world.outside.on(`POST ${values}:append`, { status: 403, body: { error: { message: 'Read only' } } });
    const execution = await run(signUp, signUp.sample('ada.json'));
    expect(statusesOf(execution)).toMatchObject({ tell: 'skipped', missing: 'success' });
    expect(world.outside.to(slack)[0]?.body).toMatchObject({
      text: expect.stringMatching(/^Ada Marsh \(ada@example.com, 2 seats\) signed up, but .*Read only/),
    });
  });
});

describe('orders-to-notion', () => {
  const shopify = 'GET /example.myshopify.com/admin/api/2025-07/orders.json';
  const pages = 'POST /api.notion.com/v1/pages';
  let copy: Imported;
  let orders: readonly unknown[] = [];
  let found: readonly unknown[] = [];
  beforeAll(async () => {
    world.outside.on(shopify, () => ({ body: { orders } }));
    world.outside.on('POST /api.notion.com/v1/databases/db1/query', () => ({
      body: { results: found, next_cursor: null, has_more: false },
    }));
    const header = { name: 'X-Shopify-Access-Token', value: 'shpat-not-a-real-one' };
    const vars = {
      shopify_credential: await world.addCredential('header', header, ['example.myshopify.com']),
      shop: 'example',
      notion_credential: await world.addToken('api.notion.com'),
      database_id: 'db1',
      chat_credential: await world.addChat('team'),
    };
    copy = await world.importExample('orders-to-notion', vars, { status: 'active' });
    world.outside.on('POST /hooks/team', { body: 'ok' });
  });
  beforeEach(() => {
    found = [];
    world.outside.on(pages, { body: { id: 'p1' } });
  });
  const order = (more: object) => ({ ...(copy.sample('order.json') as JsonObject), ...more });

  it('adds each order that is placed from then on, once', async () => {
    orders = [];
    expect(await reached.poll(copy.id)).toEqual([]);
    expect(world.outside.to(shopify)[0]?.headers['x-shopify-access-token']).toBe('shpat-not-a-real-one');
    orders = [order({ created_at: new Date().toISOString() })];
    const [started = 0, ...others] = await reached.poll(copy.id);
    expect(others).toEqual([]);
    expect(await world.finished(started)).toMatchObject({ status: 'completed', display_name: 'Order #1001' });
    expect(world.outside.to(pages)).toMatchObject([
      {
        body: {
          parent: { database_id: 'db1' },
          properties: {
            Name: { title: [{ text: { content: '#1001' } }] },
            'Order ID': { rich_text: [{ text: { content: '450789469' } }] },
            'E-mail': { email: 'ada@example.com' },
            Total: { number: 84.5 },
            Items: { rich_text: [{ text: { content: '1 x Tide clock\n2 x Storm lamp' } }] },
          },
        },
      },
    ]);
    expect(await reached.poll(copy.id)).toEqual([]);
  });

  it('adds nothing for an order that Notion has', async () => {
    found = [{ id: 'p1', url: 'https://www.notion.so/p1' }];
    const execution = await run(copy, order({}));
    expect(outputOf(execution, 'again')).toEqual({ page: 'https://www.notion.so/p1' });
    expect(world.outside.to(pages)).toEqual([]);
  });

  it('tells the team of a page that Notion refuses, and fails', async () => {
    const reason = 'Total is not a property that exists.';
    world.outside.on(pages, { status: 400, body: { code: 'validation_error', message: reason } });
    const execution = await run(copy, order({ email: '', line_items: [] }));
    expect(execution).toMatchObject({ status: 'failed', error: { code: 'not_added' } });
    expect(world.outside.to(pages)[0]?.body).toMatchObject({ properties: { 'E-mail': { email: null } } });
    expect(JSON.stringify(world.outside.to('POST /hooks/team')[0]?.body)).toContain(reason);
  });
});

describe('issue-to-jira', () => {
  const github = '/api.github.com/repos/mill/water/issues';
  const jira = 'POST /mill.atlassian.net/rest/api/2/issue';
  let copy: Imported;
  let issues: readonly unknown[] = [];
  beforeAll(async () => {
    world.outside.on(`GET ${github}`, () => ({ body: issues }));
    world.outside.on(jira, { status: 201, body: { id: '1', key: 'SHOP-1' } });
    world.outside.on(`POST ${github}/1347/comments`, { status: 201, body: { id: 1 } });
    const account = { username: 'ada@example.com', password: 'not-a-real-one' };
    const vars = {
      github_credential: await world.addToken('api.github.com'),
      ...{ owner: 'mill', repo: 'water', labels: ['bug'] },
      jira_credential: await world.addCredential('basic', account, ['mill.atlassian.net']),
      ...{ site: 'mill', project: 'SHOP', issue_type: 'Bug' },
    };
    copy = await world.importExample('issue-to-jira', vars, { status: 'active' });
    await reached.poll(copy.id);
  });

  it('copies a new issue once, and links both', async () => {
    const sample = copy.sample('issue.json') as JsonObject;
    const body = 'a {noformat} b';
    issues = [
      { ...sample, body, html_url: 'https://example.com/1347', created_at: new Date().toISOString() },
    ];
    const [started = 0] = await reached.poll(copy.id);
    expect(await world.finished(started)).toMatchObject({ status: 'completed' });
    expect(world.outside.to(`GET ${github}`)[0]).toMatchObject({
      query: { labels: 'bug' },
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const [created, ...others] = world.outside.to(jira);
    expect(others).toEqual([]);
    expect(created?.body).toMatchObject({
      fields: {
        ...{ project: { key: 'SHOP' }, issuetype: { name: 'Bug' }, summary: sample.title },
        description: `Opened on GitHub by ada: https://example.com/1347\n\n{noformat}\na  b\n{noformat}`,
      },
    });
    expect(world.outside.to(`POST ${github}/1347/comments`)[0]?.body).toEqual({
      body: 'We track this as [SHOP-1](https://mill.atlassian.net/browse/SHOP-1).',
    });

    const again = await run(copy, sample);
    expect(outputOf(again, 'again')).toEqual({ key: 'SHOP-1' });
    expect(world.outside.to(jira)).toHaveLength(1);
  });

  it('remembers nothing of what Jira refuses', async () => {
    world.outside.on(jira, { status: 400, body: { errorMessages: ['Specify a valid project.'] } });
    const sample = { ...(copy.sample('issue.json') as JsonObject), number: 7 };
    expect(await run(copy, sample)).toMatchObject({ status: 'failed', error: { code: 'connector_refused' } });
    world.outside.on(jira, { status: 201, body: { id: '2', key: 'SHOP-2' } });
    world.outside.on(`POST ${github}/7/comments`, { status: 201, body: { id: 2 } });
    expect(statusesOf(await run(copy, sample))).toMatchObject({ link: 'success', again: 'skipped' });
  });
});

describe('payment-reminder', () => {
  let remind: Imported;
  let payment: JsonObject;
  beforeAll(async () => {
    remind = await world.importExample('payment-reminder', {
      stripe_credential: await world.addToken('api.stripe.com'),
      mail_credential: await world.addMail(),
      timezone: 'Asia/Tokyo',
      pay_url: 'https://shop.example/pay',
      company: 'Harbour',
    });
    world.outside.on('GET /api.stripe.com/v1/payment_intents/*', () => ({ body: payment }));
  });
  const failure = (id: string, at: string) => ({
    ...(remind.sample('payment-failed.json') as JsonObject),
    created: Math.floor(Date.parse(at) / 1_000),
    data: { object: { id } },
  });
  const open = { status: 'requires_payment_method', amount: 8450, currency: 'jpy' };

  it.each([
    ['a day of the week', '2025-11-25T16:00:00Z', '2025-11-28T00:00:00.000Z'],
    ['Monday instead of Saturday', '2025-11-27T10:00:00Z', '2025-12-01T00:00:00.000Z'],
    ['Monday instead of Sunday', '2025-11-28T10:00:00Z', '2025-12-01T00:00:00.000Z'],
  ])('waits until nine in the morning of %s', async (_day, failedAt, remindsAt) => {
    payment = { ...open, status: 'succeeded' };
    const execution = await run(remind, failure(`pi_${failedAt.slice(8, 10)}`, failedAt));
    expect(outputOf(execution, 'wait')).toMatchObject({ waited_until: remindsAt });
    expect(statusesOf(execution)).toMatchObject({ settled: 'success', remind: 'skipped' });
    expect(world.mail.received).toEqual([]);
  });

  it('reminds once of a payment that is still open, and does not before it is time', async () => {
    payment = { ...open, receipt_email: 'ada@example.com' };
    await run(remind, failure('pi_17', '2025-11-25T16:00:00Z'));
    expect(world.mail.received).toMatchObject([
      { to: ['ada@example.com'], subject: 'Your payment of 8450 JPY' },
    ]);
    expect(world.mail.received[0]?.text).toContain('on 26 November 2025 did not go through');
    const again = await run(remind, failure('pi_17', '2025-11-25T18:00:00Z'));
    expect(statusesOf(again)).toMatchObject({ before: 'success', remind: 'skipped' });

    world.outside.forget();
    const later = await world.settled(
      await world.execute(remind.id, failure('pi_18', new Date().toISOString())),
    );
    expect(later.status).toBe('waiting_async');
    expect(world.outside.received).toEqual([]);
    expect(world.mail.received).toHaveLength(1);
  });

  it('leaves a payment without a receipt address alone', async () => {
    payment = { ...open, receipt_email: null };
    const execution = await run(remind, failure('pi_19', '2025-11-25T16:00:00Z'));
    expect(statusesOf(execution)).toMatchObject({ settled: 'success', first: 'skipped' });
  });
});
