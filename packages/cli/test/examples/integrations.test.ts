import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Imported, openWorld, statusesOf, TOKEN, type World } from './world.ts';

const SECRET = 'ebb-and-flow-2026';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.outside.forget());

async function lastExecution({ id }: Imported) {
  const [newest = 0] = await world.executionsOf(id);
  return world.finished(newest);
}

describe('slash-command', () => {
  let command: Imported;
  beforeAll(async () => {
    command = await world.importExample('slash-command', {
      slack_secret: await world.addCredential('secret', { value: SECRET }),
      shop_url: world.outside.url,
      shop_credential: await world.addToken(),
    });
    world.outside.on('GET /orders/4711', { body: { state: 'shipped', total: '84.50 EUR' } });
    world.outside.on('POST /answers', { body: 'ok' });
  });

  function ask(text: string, triggerId: string) {
    const form = {
      command: '/order',
      text,
      trigger_id: triggerId,
      response_url: `${world.outside.url}/answers`,
    };
    const body = new URLSearchParams(form).toString();
    const time = String(Math.floor(Date.now() / 1_000));
    return command.ask(body, {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${createHmac('sha256', SECRET).update(`v0:${time}:${body}`).digest('hex')}`,
    });
  }

  it('says at once that it is looking, and then what it found', async () => {
    const answer = await ask('#4711', 'one');
    expect(answer.json).toEqual({ response_type: 'ephemeral', text: 'Looking up order 4711 ...' });
    await lastExecution(command);
    expect(world.outside.to('POST /answers')).toMatchObject([
      { body: { text: 'Order 4711: shipped, 84.50 EUR' } },
    ]);
    expect(world.outside.to('GET /orders/4711')[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('says so if there is no such order, and how to ask', async () => {
    await ask('12', 'two');
    await lastExecution(command);
    expect(world.outside.to('POST /answers')).toMatchObject([{ body: { text: 'There is no order 12.' } }]);

    world.outside.forget();
    const answer = await ask('../admin', 'three');
    expect(answer.json).toMatchObject({ text: 'Please give the number of an order: /order 4711' });
    await lastExecution(command);
    expect(world.outside.received).toEqual([]);
  });
});

describe('xml-orders', () => {
  let orders: Imported;
  beforeAll(async () => {
    orders = await world.importExample('xml-orders', {
      partner_secret: await world.addCredential('secret', { value: SECRET }),
      shop_url: world.outside.url,
      shop_credential: await world.addToken(),
    });
    world.outside.on('POST /orders', { status: 201, body: { id: 900 } });
  });
  const send = (xml: string, key = SECRET) =>
    orders.ask(xml, { 'content-type': 'application/xml', 'x-partner-key': key });

  it('books an order and answers in XML', async () => {
    const answer = await send(
      '<p:order xmlns:p="urn:partner" number="P-17"><p:customer>Lighthouse &amp; Co</p:customer><p:line><p:sku>BUOY-1</p:sku></p:line></p:order>',
    );
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(answer.text).toContain('<receipt order="P-17">');
    expect(answer.text).toContain('<number>900</number>');
    const [booked] = world.outside.to('POST /orders');
    expect(booked?.headers['idempotency-key']).toBe('partner-P-17');
    expect(booked?.body).toEqual({
      reference: 'P-17',
      customer: 'Lighthouse & Co',
      lines: [{ sku: 'BUOY-1' }],
    });
  });

  it('refuses an order without lines, a document that is none, and a stranger', async () => {
    const empty = await send('<order number="P-18"><customer>Ada</customer></order>');
    expect(empty.status).toBe(422);
    expect(empty.text).toContain('at least one line');
    expect((await send('<order')).status).toBe(500);
    expect((await send('<order number="P-19"/>', 'wrong')).status).toBe(401);
    expect(world.outside.received).toEqual([]);
  });
});

describe('webhook-relay', () => {
  it('delivers a signed event to whoever wants it, once, and says who did not get it', async () => {
    const secret = `whsec_${Buffer.from('sixteen bytes or more').toString('base64')}`;
    const { url } = world.outside;
    const relay = await world.importExample('webhook-relay', {
      relay_secret: await world.addCredential('secret', { value: SECRET }),
      signing_secret: await world.addCredential('secret', { value: secret }),
      subscribers: [
        { url: `${url}/wants`, events: ['order.shipped'] },
        { url: `${url}/all`, events: ['*'] },
        { url: `${url}/other`, events: ['order.paid'] },
        { url: `${url}/gone`, events: ['*'] },
      ],
      chat_credential: await world.addChat('team'),
    });
    for (const path of ['wants', 'all', 'other', 'hooks/team'])
      world.outside.on(`POST /${path}`, { body: 'ok' });
    world.outside.on('POST /gone', { status: 410 });
    const event = relay.sample('order-shipped.json');
    const deliver = () => relay.call(JSON.stringify(event), { 'x-relay-key': SECRET });

    const receipt = await deliver();
    expect(receipt.status, receipt.text).toBe(202);
    const execution = await world.finished(receipt.json.execution_id);
    expect((await deliver()).json.execution_id).toBe(receipt.json.execution_id);

    expect(execution).toMatchObject({ status: 'completed', display_name: 'order.shipped evt_20261128_001' });
    expect(statusesOf(execution)).toMatchObject({ subscribers: 'success', tell: 'success' });
    expect(world.outside.to('POST /other')).toEqual([]);
    for (const path of ['wants', 'all']) {
      const [delivered, ...others] = world.outside.to(`POST /${path}`);
      expect(others).toEqual([]);
      const headers = { ...delivered?.headers };
      expect(new Webhook(secret).verify(delivered?.text ?? '', headers)).toMatchObject({
        type: 'order.shipped',
        data: { order: 'O-4711' },
      });
    }
    expect(JSON.stringify(world.outside.to('POST /hooks/team')[0]?.body)).toContain('evt_20261128_001');
  });
});
