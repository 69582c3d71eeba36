import { parseJson } from '@millrace/engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOrders, openWorld, outputOf, statusesOf, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

async function countOf(csv: string) {
  const stored = await world.service.api('POST', '/files?name=count.csv', {
    key: world.key,
    raw: csv,
    headers: { 'content-type': 'text/csv' },
  });
  expect(stored.status, stored.text).toBe(201);
  return { warehouse: 'North', email: 'ada@example.com', table: parseJson(stored.text) };
}

const lastMail = () => world.mail.received.at(-1);

it('stock-count mails what differs, and what a table lacks', async () => {
  const stock = await world.importExample('stock-count', {
    shop_url: world.outside.url,
    shop_credential: await world.addToken(),
    mail_credential: await world.addMail(),
    stock_email: 'stock@example.com',
  });
  world.outside.on('GET /stock', {
    body: {
      stock: [
        { sku: 'BUOY-1', expected: 12 },
        { sku: 'ROPE-402', expected: 7 },
        { sku: 'LAMP-9', expected: 1 },
      ],
    },
  });
  const run = async (csv: string) => world.finished(await world.execute(stock.id, await countOf(csv)));

  const differs = await run('sku,counted\nBUOY-1,12\nROPE-402,5\nTIDE-7,3\n');
  expect(differs).toMatchObject({ status: 'completed', display_name: 'Stock count of North' });
  expect(outputOf(differs, 'rows').rows).toMatchObject([
    { sku: 'LAMP-9', expected: 1 },
    { sku: 'ROPE-402', counted: '5', expected: 7 },
    { sku: 'TIDE-7', counted: '3' },
  ]);
  expect(world.outside.to('GET /stock')[0]?.query).toEqual({ warehouse: 'North' });
  expect([...(lastMail()?.to ?? [])].sort()).toEqual(['ada@example.com', 'stock@example.com']);
  expect(lastMail()?.attachments).toEqual(['North-differences.xlsx']);

  const fine = await run('sku;counted\nBUOY-1;12\nROPE-402;7\nLAMP-9;1\n');
  expect(statusesOf(fine)).toMatchObject({ fine: 'success', mail: 'skipped' });
  expect(lastMail()?.subject).toContain('no differences');

  const unusable = await run('article,number\nBUOY-1,12\n');
  expect(statusesOf(unusable)).toMatchObject({ unusable: 'success', shop: 'skipped' });
  expect(lastMail()?.text).toContain('Yours has the columns article, number.');
});

it('monthly-export mails the orders of the month before, by the clock of its time zone', async () => {
  const { id, db } = await world.addDatabase();
  await createOrders(db);
  // The first is of October in Berlin, the last of December.
  const times = [
    '2026-10-31T22:59:59Z',
    '2026-10-31T23:00:00Z',
    '2026-11-30T22:59:59Z',
    '2026-11-30T23:00:00Z',
  ];
  for (const [index, paidAt] of times.entries()) {
    await db.query(
      `INSERT INTO orders (payment_id, order_id, customer, amount, currency, paid_at)
       VALUES ($1, $1, 'Ada', 100, 'EUR', $2)`,
      [`O-${index}`, paidAt],
    );
  }
  const monthly = await world.importExample(
    'monthly-export',
    { orders_database: id, mail_credential: await world.addMail(), accounts_email: 'accounts@example.com' },
    { status: 'active' },
  );
  const execution = await world.finished(await world.fire(monthly.id, '2026-12-01T05:00:00Z'));

  expect(execution).toMatchObject({ status: 'completed', display_name: 'Orders before December 2026' });
  const { rows } = outputOf(execution, 'orders') as {
    readonly rows: readonly { readonly order_id: string }[];
  };
  expect(rows.map(({ order_id }) => order_id)).toEqual(['O-1', 'O-2']);
  expect(lastMail()?.to).toEqual(['accounts@example.com']);
  expect(lastMail()?.subject).toBe('Orders of November 2026');
  expect(lastMail()?.attachments).toEqual(['orders-2026-11.xlsx']);
});
