import type { Database } from '@millrace/database/database';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOrders, type Imported, openWorld, outputOf, statusesOf, type World } from './world.ts';

let world: World;
let report: Imported;
let orders: Database;

beforeAll(async () => {
  world = await openWorld();
  const database = await world.addDatabase();
  orders = database.db;
  await createOrders(orders);
  const vars = {
    orders_database: database.id,
    mail_credential: await world.addMail(),
    mail_from: 'Reports <reports@harbour-supplies.example>',
    mail_to: 'board@harbour-supplies.example, sales@harbour-supplies.example',
  };
  report = await world.importExample('daily-report', vars, { status: 'active' });
});
afterAll(() => world.close());
beforeEach(async () => {
  world.mail.forget();
  await orders.query('DELETE FROM orders');
});

/** Inserts orders: time of payment, amount in the smallest unit, and currency. */
async function book(...paid: readonly (readonly [at: string, amount: number, currency?: string])[]) {
  for (const [index, [at, amount, currency = 'EUR']] of paid.entries()) {
    await orders.query('INSERT INTO orders (payment_id, amount, currency, paid_at) VALUES ($1, $2, $3, $4)', [
      `pi_${index}`,
      amount,
      currency,
      at,
    ]);
  }
}

async function reportAt(at: string) {
  const execution = await world.finished(await world.fire(report.id, at));
  const [mail, ...others] = world.mail.received;
  expect(others).toEqual([]);
  return { execution, mail };
}

describe('daily-report', () => {
  it("mails yesterday's orders by currency at eight", async () => {
    await book(
      ['2026-11-18T23:00:00Z', 100],
      ['2026-11-19T22:59:59.999Z', 250],
      ['2026-11-19T12:00:00Z', 1_234_550],
      ['2026-11-19T12:30:00Z', 4_200, 'JPY'],
      // The last instant before and the first after that day in Berlin.
      ['2026-11-18T22:59:59.999Z', 7_000_000],
      ['2026-11-19T23:00:00Z', 8_000_000],
    );
    const { execution, mail } = await reportAt('2026-11-20T07:00:00Z');

    expect(execution).toMatchObject({
      status: 'completed',
      trigger_type: 'schedule',
      display_name: 'Report of 2026-11-20',
    });
    expect(new Set(Object.values(statusesOf(execution)))).toEqual(new Set(['success']));
    expect(outputOf(execution, 'orders')).toMatchObject({ row_count: 4, is_truncated: false });
    expect(mail).toMatchObject({
      from: 'reports@harbour-supplies.example',
      to: ['board@harbour-supplies.example', 'sales@harbour-supplies.example'],
      subject: 'Sales of 19 November 2026: 4 orders',
    });
    expect(mail?.text).toMatch(/^EUR +3 orders +12,349\.00 {3}largest 12,345\.50$/m);
    expect(mail?.text).toMatch(/^JPY +1 order +4,200\.00 /m);
  });

  it('the day on which clocks go forward has 23 hours', async () => {
    await book(['2026-03-28T23:00:00Z', 100], ['2026-03-29T21:59:59Z', 100], ['2026-03-29T22:00:00Z', 999]);
    const { execution } = await reportAt('2026-03-30T06:00:00Z');
    expect(outputOf(execution, 'orders')).toMatchObject({ row_count: 2 });
  });

  it('a day without orders is reported, too', async () => {
    const { execution, mail } = await reportAt('2026-11-21T07:00:00Z');
    expect(execution.status).toBe('completed');
    expect(mail?.subject).toBe('Sales of 20 November 2026: 0 orders');
    expect(mail?.text).toContain('Nothing was sold.');
  });

  it("retries a mail server that doesn't accept the report", async () => {
    world.mail.refuse(1);
    const { execution, mail } = await reportAt('2026-11-22T07:00:00Z');
    expect(execution.node_outputs.report).toMatchObject({ status: 'success', attempts: 2 });
    expect(mail?.subject).toContain('Sales of');
  });

  it("fails with the reason if the table doesn't exist", async () => {
    await orders.query('ALTER TABLE orders RENAME TO sold');
    try {
      const { execution, mail } = await reportAt('2026-11-23T07:00:00Z');
      expect(execution).toMatchObject({ status: 'failed', error: { node_id: 'orders' } });
      expect(execution.error?.message).toContain('orders');
      expect(mail).toBeUndefined();
    } finally {
      await orders.query('ALTER TABLE sold RENAME TO orders');
    }
  });
});
