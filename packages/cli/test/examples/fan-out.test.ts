import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Imported, openWorld, outputOf, statusesOf, TOKEN, type World } from './world.ts';

let world: World;
let prices: Imported;

beforeAll(async () => {
  world = await openWorld();
  world.outside.on('POST /hooks/shop', { body: 'ok' });
  prices = await world.importExample('fan-out', {
    shop_url: world.outside.url,
    shop_credential: await world.addToken(),
    chat_credential: await world.addChat('shop'),
  });
});
afterAll(() => world.close());
beforeEach(() => world.outside.forget());

const rowsOf = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({
    sku: `ART-${String(index).padStart(4, '0')}`,
    price_cents: 100 + index,
    currency: 'EUR',
  }));

describe('fan-out', () => {
  it('sends 1,000 rows, twenty at a time, and lists those that were refused', async () => {
    let atWork = 0;
    let most = 0;
    let full = Promise.withResolvers<void>();
    world.outside.on('PUT /products/*', async ({ line }) => {
      atWork += 1;
      most = Math.max(most, atWork);
      // A response is withheld until twenty requests wait for theirs; one too many would have arrived a turn later.
      if (atWork === 20) setImmediate(full.resolve);
      await full.promise;
      atWork -= 1;
      if (atWork === 0) full = Promise.withResolvers();
      return /ART-0(333|777)/.test(line)
        ? { status: 409, body: { error: 'locked' } }
        : { body: { ok: true } };
    });
    const execution = await world.finished(
      await world.execute(prices.id, { list: 'winter-2026', rows: rowsOf(1_000) }),
    );

    expect(execution).toMatchObject({ status: 'completed', display_name: 'Price list winter-2026' });
    expect(statusesOf(execution)).toEqual({
      start: 'success',
      rows: 'success',
      set_price: 'success',
      summary: 'success',
      any_failed: 'success',
      tell: 'success',
    });
    const sent = world.outside.to('PUT /products/*');
    expect(sent).toHaveLength(1_000);
    expect(most).toBe(20);
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1_000);
    expect(new Set(sent.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${TOKEN}`]));
    expect(new Map(sent.map(({ line, body }) => [line, body])).get('PUT /products/ART-0042/price')).toEqual({
      price_cents: 142,
      currency: 'EUR',
      list: 'winter-2026',
      row: 42,
    });
    const { items, errors } = outputOf(execution, 'rows') as { items: unknown[]; errors: unknown[] };
    expect(items).toEqual(
      Array.from({ length: 1_000 }, (_, index) => (index === 333 || index === 777 ? null : 200)),
    );
    expect(errors).toEqual(
      [333, 777].map((index) => ({
        index,
        code: 'http_status',
        message: expect.stringContaining(`/products/ART-0${index}/price returned status 409`),
        node_id: 'set_price',
      })),
    );
    expect(outputOf(execution, 'summary')).toEqual({ list: 'winter-2026', rows: 1_000, failed: 2, errors });
    expect(execution.node_outputs.set_price).toMatchObject({ iterations: 1_000 });
    const [post, ...others] = world.outside.to('POST /hooks/shop');
    expect(others).toEqual([]);
    expect(JSON.stringify(post?.body)).toContain('Price list winter-2026: 2 of 1000 rows failed');
  });

  it('retries a row that the shop could not accept, and reports nothing if all went well', async () => {
    world.outside.on('PUT /products/*', ({ line }, nth) =>
      line.includes('ROPE-402') && nth === 1 ? { status: 503 } : { body: { ok: true } },
    );
    const execution = await world.finished(await world.execute(prices.id, prices.sample('price-list.json')));

    expect(execution.status).toBe('completed');
    expect(outputOf(execution, 'summary')).toEqual({ list: 'winter-2026', rows: 12, failed: 0, errors: [] });
    expect(statusesOf(execution)).toMatchObject({ any_failed: 'success', tell: 'skipped' });
    const again = world.outside.to('PUT /products/ROPE-402/price');
    expect(again).toHaveLength(2);
    expect(again[0]?.headers['idempotency-key']).toBe(again[1]?.headers['idempotency-key']);
  });

  it("refuses a list that doesn't match, and says where", async () => {
    const rows = [...rowsOf(3), { sku: 'ART-X', price_cents: -1, currency: 'EUR' }];
    const { api } = world.service;
    const refused = await api('POST', `/workflows/${prices.id}/execute`, {
      key: world.key,
      body: { input_data: { list: 'x', rows } },
    });
    expect(refused.status).toBe(422);
    expect(refused.json.errors[0]?.pointer).toBe('/input_data/rows/3/price_cents');
    expect(world.outside.received).toEqual([]);
  });
});
