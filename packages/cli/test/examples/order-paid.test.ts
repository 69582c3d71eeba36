import { createHmac } from 'node:crypto';
import type { Database } from '@millrace/database/database';
import { type JsonObject, stringifyJson } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOrders, type Imported, openWorld, outputOf, statusesOf, type World } from './world.ts';

const SECRET = 'whsec_9hTideHarbourSigns';

let world: World;
let payments: Imported;
let orders: Database;

beforeAll(async () => {
  world = await openWorld();
  const database = await world.addDatabase();
  orders = database.db;
  await createOrders(orders);
  payments = await world.importExample('order-paid', {
    stripe_secret: await world.addCredential('secret', { value: SECRET }),
    orders_database: database.id,
    mail_credential: await world.addMail(),
  });
});
afterAll(() => world.close());
beforeEach(async () => {
  world.mail.forget();
  await orders.query('DELETE FROM orders');
});

/** The sample with another event id and changed payment fields. */
function eventOf(id: string, payment: JsonObject = {}, more: JsonObject = {}): JsonObject {
  const event = payments.sample('payment-succeeded.json') as {
    readonly data: { object: JsonObject };
  } & JsonObject;
  return { ...event, id, ...more, data: { object: { ...event.data.object, ...payment } } };
}

function call(event: JsonObject, secret = SECRET) {
  const text = stringifyJson(event);
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', secret).update(`${time}.${text}`).digest('hex');
  return payments.call(text, { 'stripe-signature': `t=${time},v1=${signature}` });
}

async function deliver(event: JsonObject) {
  const receipt = await call(event);
  expect(receipt.status, receipt.text).toBe(202);
  return world.finished(receipt.json.execution_id);
}

function booked(): Promise<JsonObject[]> {
  return orders.query<JsonObject>(
    'SELECT payment_id, order_id, customer, amount::int AS amount, currency, invoiced_at IS NOT NULL AS invoiced FROM orders',
  );
}

const ROW = {
  payment_id: 'pi_3SbTideHarbour0Kq1vF8aZc2',
  order_id: 'O-20261121-0117',
  customer: 'Duinzicht Sailing B.V.',
  amount: 18450,
  currency: 'EUR',
  invoiced: true,
};

describe('order-paid', () => {
  it('books the payment and mails the invoice to the customer, with a blind copy to accounts', async () => {
    const execution = await deliver(eventOf('evt_1'));

    expect(execution).toMatchObject({ status: 'completed', display_name: `Payment ${ROW.payment_id}` });
    expect(new Set(Object.values(statusesOf(execution)))).toEqual(new Set(['success']));
    expect(await booked()).toEqual([ROW]);
    const [mail, ...others] = world.mail.received;
    expect(others).toEqual([]);
    const number = (outputOf(execution, 'book').rows as JsonObject[])[0]?.invoice_no;
    expect(number).toBeGreaterThanOrEqual(20260001);
    expect(mail).toMatchObject({
      from: 'invoices@harbour-supplies.example',
      to: ['anneke.visser@duinzicht-sailing.example', 'accounts@harbour-supplies.example'],
      subject: `Invoice ${number as number} for your order O-20261121-0117`,
    });
    expect(mail?.text).toContain('Hello Duinzicht Sailing B.V.,');
    expect(mail?.text).toContain('Paid      184.50 EUR');
    expect(mail?.headers.bcc).toBeUndefined();
  });

  it.each([
    [249_900_000, 'usd', '2,499,000.00 USD'],
    [18_450, 'jpy', '18,450 JPY'],
    [5, 'gbp', '0.05 GBP'],
  ])('writes %d %s as %s', async (amount, currency, text) => {
    await deliver(eventOf(`evt_${currency}`, { amount_received: amount, currency }));
    expect(world.mail.received[0]?.text).toContain(`Paid      ${text}\n`);
  });

  it('starts nothing for a call not signed by Stripe', async () => {
    const before = await world.executionsOf(payments.id);
    expect((await call(eventOf('evt_forged'), 'guessed')).status).toBe(401);
    expect(await world.executionsOf(payments.id)).toEqual(before);
    expect(await booked()).toEqual([]);
  });

  it('a repeated event starts no second execution', async () => {
    const first = await call(eventOf('evt_twice'));
    const second = await call(eventOf('evt_twice'));
    expect(second.json.execution_id).toBe(first.json.execution_id);
    await world.finished(first.json.execution_id);
    expect(world.mail.received).toHaveLength(1);
  });

  it('a payment reported by two events is one row and one invoice', async () => {
    await deliver(eventOf('evt_a'));
    const execution = await deliver(eventOf('evt_b'));

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toMatchObject({ book: 'success', is_open: 'success', invoice: 'skipped' });
    expect(await booked()).toEqual([ROW]);
    expect(world.mail.received).toHaveLength(1);
  });

  it('an unrelated event changes nothing', async () => {
    const execution = await deliver(eventOf('evt_other', {}, { type: 'payment_intent.created' }));
    expect(statusesOf(execution)).toMatchObject({ is_payment: 'success', book: 'skipped', mark: 'skipped' });
    expect(await booked()).toEqual([]);
  });

  it("books a payment whose customer can't be reached, and fails at the mail", async () => {
    const execution = await deliver(eventOf('evt_nobody', { receipt_email: 'nobody at all' }));
    expect(execution).toMatchObject({
      status: 'failed',
      error: { node_id: 'invoice', code: 'invalid_config' },
    });
    expect(await booked()).toEqual([{ ...ROW, invoiced: false }]);
    expect(world.mail.received).toEqual([]);
  });
});
