import type { JsonObject } from '@millrace/engine';
import type { Reply } from '@millrace/testing/outside';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Imported, openWorld, outputOf, statusesOf, TOKEN, type World } from './world.ts';

const CUSTOMERS = 230;

let world: World;
let sync: Imported;
/** The CRM, by customer. */
let contacts: Map<number, unknown>;

beforeAll(async () => {
  world = await openWorld();
  const vars = {
    shop_url: `${world.outside.url}/shop`,
    shop_credential: await world.addToken(),
    crm_url: `${world.outside.url}/crm`,
    crm_credential: await world.addToken(),
    chat_credential: await world.addChat('duty'),
  };
  sync = await world.importExample('nightly-sync', vars, { status: 'active' });
});
afterAll(() => world.close());
beforeEach(() => {
  world.outside.forget();
  contacts = new Map([[1, { id: 1, name: 'Old name' }]]);
  world.outside.on('GET /shop/customers', ({ query }) => ({
    body: page(Number(query.page), Number(query.per_page)),
  }));
  world.outside.on('POST /crm/contacts/upsert', ({ body }) => upsert(body));
  world.outside.on('POST /hooks/duty', { body: 'ok' });
});

function page(number: number, size: number): JsonObject {
  const first = (number - 1) * size;
  const count = Math.max(0, Math.min(size, CUSTOMERS - first));
  const customers = Array.from({ length: count }, (_, index) => ({
    id: first + index + 1,
    name: `Customer ${first + index + 1}`,
  }));
  return { customers, next_page: first + size < CUSTOMERS ? number + 1 : null };
}

function upsert(body: unknown): Reply {
  const { contacts: given } = body as { contacts: { id: number }[] };
  const created = given.filter(({ id }) => !contacts.has(id)).length;
  for (const contact of given) contacts.set(contact.id, contact);
  return { body: { created, updated: given.length - created } };
}

const NIGHT = { scheduled_at: '2026-11-21T01:30:00.000Z', timezone: 'Europe/Berlin' };

async function run() {
  return world.finished(await world.execute(sync.id, NIGHT));
}

describe('nightly-sync', () => {
  it('copies every page at half past two, each once, and counts', async () => {
    const execution = await world.finished(await world.fire(sync.id, '2026-11-21T01:30:00Z'));

    expect(execution).toMatchObject({
      status: 'completed',
      display_name: 'Sync of 2026-11-21',
      trigger_type: 'schedule',
    });
    expect(new Set(Object.values(statusesOf(execution)))).toEqual(new Set(['success']));
    expect(outputOf(execution, 'summary')).toEqual({ pages: 3, customers: 230, created: 229, updated: 1 });
    expect(execution.node_outputs.write).toMatchObject({ iterations: 3 });
    expect(contacts.size).toBe(CUSTOMERS);
    expect(contacts.get(1)).toEqual({ id: 1, name: 'Customer 1' });
    const read = world.outside.to('GET /shop/customers');
    expect(read.map(({ query }) => query)).toEqual([
      { page: '1', per_page: '100' },
      { page: '2', per_page: '100' },
      { page: '3', per_page: '100' },
    ]);
    expect(read[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    const written = world.outside.to('POST /crm/contacts/upsert');
    expect(new Set(written.map(({ headers }) => headers['idempotency-key'])).size).toBe(3);
  });

  it('retries a page, and the CRM can recognise the repeat', async () => {
    world.outside.on('GET /shop/customers', ({ query }, nth) =>
      nth === 2 ? { status: 502 } : { body: page(Number(query.page), Number(query.per_page)) },
    );
    world.outside.on('POST /crm/contacts/upsert', ({ body }, nth) =>
      nth === 1 ? { status: 429, headers: { 'retry-after': '0' } } : upsert(body),
    );
    const execution = await run();

    expect(execution.status).toBe('completed');
    expect(outputOf(execution, 'summary')).toMatchObject({ pages: 3, customers: 230 });
    expect(world.outside.to('GET /shop/customers').map(({ query }) => query.page)).toEqual([
      '1',
      '2',
      '2',
      '3',
    ]);
    const [first, second, third] = world.outside.to('POST /crm/contacts/upsert');
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(third?.headers['idempotency-key']).not.toBe(first?.headers['idempotency-key']);
  });

  it("raises the alarm once if a page can't be copied", async () => {
    world.outside.on('POST /crm/contacts/upsert', ({ body }, nth) =>
      nth === 2 ? { status: 413, body: { error: 'too many contacts' } } : upsert(body),
    );
    const execution = await run();

    expect(execution).toMatchObject({ status: 'failed', error: { code: 'http_status', node_id: 'pages' } });
    expect(statusesOf(execution)).toMatchObject({
      night: 'success',
      pages: 'failed',
      read: 'success',
      write: 'failed',
    });
    const [alarmId = 0] = sync.companionIds;
    const [message] = await world.outside.arrival('POST /hooks/duty', 1);
    const [alarm, ...others] = await world.executionsOf(alarmId);
    expect(others).toEqual([]);
    expect(await world.finished(alarm ?? 0)).toMatchObject({
      status: 'completed',
      trigger_type: 'error',
      display_name: 'Alarm: Sync of 2026-11-21',
    });
    expect(message?.text).toContain('Nightly sync failed');
    expect(message?.text).toContain('status 413');
    expect(message?.text).toContain('Write it to the CRM');
    expect(message?.text).toContain(String(execution.id));
    expect(world.outside.to('POST /hooks/duty')).toHaveLength(1);
  });

  // Last, because the world has another worker afterwards.
  it('continues after a restart of the service without repeating anything', async () => {
    world.outside.on('POST /crm/contacts/upsert', ({ body }, nth) =>
      nth === 2 ? { status: 503, headers: { 'retry-after': '1' } } : upsert(body),
    );
    const id = await world.execute(sync.id, NIGHT);
    await world.outside.arrival('POST /crm/contacts/upsert', 2);
    await world.restartWorker();
    const execution = await world.finished(id);

    expect(execution.status).toBe('completed');
    expect(outputOf(execution, 'summary')).toEqual({ pages: 3, customers: 230, created: 229, updated: 1 });
    expect(world.outside.to('GET /shop/customers').map(({ query }) => query.page)).toEqual(['1', '2', '3']);
    const keys = world.outside
      .to('POST /crm/contacts/upsert')
      .map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[1]).toBe(keys[2]);
  });
});
