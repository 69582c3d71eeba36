import { stringifyJson } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Imported, openWorld, outputOf, statusesOf, TOKEN, type World } from './world.ts';

let world: World;
let leads: Imported;

beforeAll(async () => {
  world = await openWorld();
  leads = await world.importExample('lead-enrichment', {
    enrichment_url: world.outside.url,
    enrichment_credential: await world.addToken(),
    chat_credential: await world.addChat('sales'),
  });
});
afterAll(() => world.close());
beforeEach(() => {
  world.outside.forget();
  world.outside.on('POST /hooks/sales', { body: 'ok' });
});

async function deliver() {
  const receipt = await leads.call(stringifyJson(leads.sample('lead.json')));
  expect(receipt.status, receipt.text).toBe(202);
  return world.finished(receipt.json.execution_id);
}

/** The organisation's stored state of the lead. */
async function remembered(): Promise<unknown> {
  const [entry] = await world.service.database.db.query<{ value: string }>(
    "SELECT value::text AS value FROM data_entries WHERE key = 'lead:mira.okafor@northwind-bakeries.example'",
  );
  return entry === undefined ? undefined : JSON.parse(entry.value);
}

describe('lead-enrichment', () => {
  it('notifies sales of a good lead at once, and stores what was found', async () => {
    const person = {
      score: 91,
      title: 'Head of logistics',
      company: { name: 'Northwind Bakeries Ltd', employees: 310 },
    };
    world.outside.on('GET /v1/people', { body: person });
    const execution = await deliver();

    expect(execution).toMatchObject({
      status: 'completed',
      display_name: 'Lead Mira Okafor, Northwind Bakeries',
    });
    expect(statusesOf(execution)).toEqual({
      lead: 'success',
      enrich: 'success',
      is_hot: 'success',
      tell_sales: 'success',
      ask_sales: 'skipped',
      remember: 'success',
    });
    const [asked] = world.outside.to('GET /v1/people');
    expect(asked?.query).toEqual({ email: 'mira.okafor@northwind-bakeries.example' });
    expect(asked?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    const [post] = world.outside.to('POST /hooks/sales');
    expect(post?.body).toMatchObject({
      attachments: [
        {
          title: 'New lead: Mira Okafor, Northwind Bakeries Ltd',
          fields: [
            { title: 'Score', value: '91' },
            { title: 'Role', value: 'Head of logistics' },
            { title: 'Employees', value: '310' },
            { title: 'E-mail' },
          ],
        },
      ],
    });
    expect(world.outside.received).toHaveLength(2);
    expect(await remembered()).toEqual({
      name: 'Mira Okafor',
      company: 'Northwind Bakeries Ltd',
      source: 'pricing-page',
      score: 91,
      is_hot: true,
      execution: execution.id,
    });
    expect(JSON.stringify(execution)).not.toContain(TOKEN);
  });

  it('stores an unknown person without notifying sales', async () => {
    world.outside.on('GET /v1/people', { status: 404, body: { error: 'unknown' } });
    const execution = await deliver();

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toMatchObject({
      enrich: 'success',
      is_hot: 'success',
      tell_sales: 'skipped',
      ask_sales: 'skipped',
      remember: 'success',
    });
    expect(world.outside.to('POST /hooks/sales')).toEqual([]);
    expect(await remembered()).toMatchObject({ company: 'Northwind Bakeries', score: null, is_hot: false });
  });

  it('asks for manual review when the service refuses, and stores the lead all the same', async () => {
    world.outside.on('GET /v1/people', { status: 403, body: { error: 'quota used up' } });
    const execution = await deliver();

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toEqual({
      lead: 'success',
      enrich: 'failed',
      is_hot: 'skipped',
      tell_sales: 'skipped',
      ask_sales: 'success',
      remember: 'success',
    });
    expect(world.outside.to('GET /v1/people')).toHaveLength(1);
    const [post] = world.outside.to('POST /hooks/sales');
    expect(JSON.stringify(post?.body)).toContain('returned status 403');
    expect(await remembered()).toMatchObject({ is_hot: null, execution: execution.id });
  });

  it('retries the service and the chat before it gives up', async () => {
    world.outside.on('GET /v1/people', (_, nth) => (nth === 1 ? { status: 503 } : { body: { score: 70 } }));
    world.outside.on('POST /hooks/sales', (_, nth) =>
      nth === 1 ? { status: 429, headers: { 'retry-after': '0' } } : { body: 'ok' },
    );
    const execution = await deliver();

    expect(execution.status).toBe('completed');
    expect(execution.node_outputs.enrich).toMatchObject({ status: 'success', attempts: 2 });
    expect(execution.node_outputs.tell_sales).toMatchObject({ status: 'success', attempts: 2 });
    expect(outputOf(execution, 'is_hot')).toEqual({ result: true });
  });
});
