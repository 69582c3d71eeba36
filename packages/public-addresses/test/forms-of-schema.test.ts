import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';
import { executionsIn, read, submit, urlIn } from './forms-calls.ts';

let service: WorkingService;
beforeAll(async () => {
  service = await startWorkingService({ limits: { requestsPerMinutePerWebhook: 0 } });
});
afterAll(() => service.stop());

const ORDER = {
  type: 'object',
  properties: {
    customer: { type: 'string', title: 'Your name', minLength: 2 },
    mail: { type: 'string', format: 'email', title: 'E-mail address' },
    sacks: { type: 'integer', title: 'Sacks', minimum: 1, maximum: 50, default: 2 },
    flour: {
      oneOf: [
        { const: 'rye', title: 'Rye flour' },
        { const: 'spelt', title: 'Spelt flour' },
      ],
    },
    extras: { type: 'array', items: { enum: [25, 50] }, title: 'Further sizes in kg' },
    note: { type: 'string', 'x-multiline': true, description: 'Anything else' },
    invoice: { type: 'boolean', default: true, title: 'Send an invoice' },
    plan: {
      type: 'object',
      title: 'Plan of the yard',
      properties: { $file: { type: 'string' } },
      required: ['$file'],
      contentMediaType: '.pdf',
    },
  },
  required: ['customer', 'mail', 'sacks', 'flour'],
  additionalProperties: false,
};

async function createOrderForm(schema: JsonObject = ORDER, status = 'active', perMinute = 0) {
  const config = { title: 'Order flour', submissions_per_minute: perMinute };
  const id = await service.createWorkflow(
    {
      nodes: [{ id: 'form', type: 'trigger.form', data: { config } }],
      edges: [],
      settings: { input_schema: schema },
    },
    { status },
  );
  return { id, url: await urlIn(service, id) };
}

const GOOD = { customer: 'Ada', mail: 'ada@example.com', sacks: '3', flour: 'Rye flour' };

/** A filled-in form, with its files. */
const formOf = (fields: { readonly [name: string]: string | File }): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
};

test('shows what the input schema describes, in its order', async () => {
  const { url } = await createOrderForm();
  const { status, html } = await read(url);
  expect(status).toBe(200);
  const labels = [
    ...html.matchAll(
      /<(?:label for="field-\d+"|legend|label class="option alone")>(?:<input[^>]*> )?([^<]*)/g,
    ),
  ];
  expect(labels.map(([, label = '']) => label.trim())).toEqual([
    'Your name',
    'E-mail address',
    'Sacks',
    'flour',
    'Further sizes in kg',
    'note',
    'Send an invoice',
    'Plan of the yard',
  ]);
  expect(html).toMatch(/name="sacks"[^>]* required[^>]* value="2"|name="sacks" required[^>]*value="2"/);
  expect(html).toMatch(/value="on"[^>]*name="invoice"[^>]* checked/);
  expect(html).toContain('Anything else');
  expect(html).toMatch(/type="file"[^>]*name="plan"[^>]*accept="\.pdf"/);
});

test('a submission starts an execution with an input of the schema, as the API does', async () => {
  const { id, url } = await createOrderForm();
  const plan = new File(['%PDF'], 'yard.pdf', { type: 'application/pdf' });
  const data = formOf({ ...GOOD, extras: '50', plan, other: 'not asked for' });
  expect((await submit(url, data, await read(url))).status).toBe(303);
  const [execution, ...others] = await executionsIn(service, id);
  expect(others).toEqual([]);
  expect(execution).toMatchObject({
    status: 'completed',
    trigger_type: 'form',
    input_data: {
      customer: 'Ada',
      mail: 'ada@example.com',
      sacks: 3,
      flour: 'rye',
      extras: [50],
      invoice: false,
      plan: { name: 'yard.pdf', type: 'application/pdf', size: 4 },
    },
  });
  const { plan: _file, ...input } = (execution?.input_data ?? {}) as JsonObject;
  expect(Object.keys(input)).not.toContain('note');
  const started = await service.api('POST', `/workflows/${id}/execute`, {
    key: service.key,
    body: { input_data: input },
  });
  expect(started.status).toBe(202);
});

test('what the schema refuses stays on the page, beside its field', async () => {
  const { id, url } = await createOrderForm();
  const page = await submit(url, { ...GOOD, customer: 'A', sacks: '2.5' }, await read(url));
  expect(page.status).toBe(422);
  expect(page.html).toContain('2 fields need your attention.');
  expect(page.html).toContain('This doesn&#39;t fit: the value must have at least 2 characters.');
  expect(page.html).toContain('value="ada@example.com"');
  const many = await submit(url, { ...GOOD, sacks: '51' }, page);
  expect(many.status).toBe(422);
  expect(many.html).toContain('must be 50 or less');
  expect(await executionsIn(service, id)).toEqual([]);
  expect((await submit(url, GOOD, many)).status).toBe(303);
  expect(await executionsIn(service, id)).toHaveLength(1);
});

test('what the schema says of values together is a problem of the whole form', async () => {
  const { id, url } = await createOrderForm({ ...ORDER, minProperties: 8 });
  const page = await submit(url, GOOD, await read(url));
  expect(page.status).toBe(422);
  expect(page.html).toContain(
    'This doesn&#39;t fit: what you entered, as a whole, must have at least 8 members.',
  );
  expect(await executionsIn(service, id)).toEqual([]);
});

test('what the schema wants of a value that no field asks for is a problem that names it', async () => {
  const { id, url } = await createOrderForm({ ...ORDER, allOf: [{ required: ['vat'] }] });
  const page = await submit(url, GOOD, await read(url));
  expect(page.status).toBe(422);
  expect(page.html).toContain('This doesn&#39;t fit: /vat is required.');
  expect(await executionsIn(service, id)).toEqual([]);
});

test('a submission counts before the schema checks it, since that may take long', async () => {
  const { id, url } = await createOrderForm(ORDER, 'active', 2);
  const unfit = { ...GOOD, sacks: '51' };
  let page = await read(url);
  for (let n = 0; n < 2; n += 1) {
    page = await submit(url, unfit, page);
    expect(page.status).toBe(422);
  }
  const refused = await submit(url, unfit, page);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.html).toContain('value="51"');
  expect(await executionsIn(service, id)).toEqual([]);
});

test('a choice keeps its white space, in lists that open, too', async () => {
  const sizes = ['A  B', '"C"', ...Array.from({ length: 6 }, (_, n) => `${n}\nkg`)];
  const { id, url } = await createOrderForm({
    type: 'object',
    properties: { size: { enum: sizes }, others: { type: 'array', items: { enum: sizes } } },
    required: ['size'],
  });
  const form = await read(url);
  expect(form.html).toContain('<option value="A  B">A  B</option><option value="&quot;C&quot;">');
  // With the line breaks that browsers send.
  const unfit = await submit(url, { size: 'x', others: ['1\r\nkg'] }, form);
  expect(unfit.status).toBe(422);
  expect(unfit.html).toMatch(/value="1\nkg" checked/);
  const back = await submit(url, { size: '2\r\nkg', others: 'x' }, form);
  expect(back.html).toContain('<option value="2\nkg" selected>');
  expect((await submit(url, { size: '2\r\nkg', others: ['1\r\nkg', 'A  B'] }, form)).status).toBe(303);
  expect((await executionsIn(service, id)).map((each) => each.input_data)).toEqual([
    { size: '2\nkg', others: ['A  B', '1\nkg'] },
  ]);
});

test('a workflow whose input no form can ask for is not activated, and its form is not ready', async () => {
  const address = { type: 'object', properties: { city: { type: 'string' } } };
  const schema = { type: 'object', properties: { address } };
  const { id, url } = await createOrderForm(schema, 'draft');
  expect((await read(url)).status).toBe(503);
  const refused = await service.api('PUT', `/workflows/${id}`, {
    key: service.key,
    body: { status: 'active' },
  });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('a form can\'t ask for \\"address\\"');
});

test('a draft with other problems shows it, too', async () => {
  const id = await service.createWorkflow(
    {
      nodes: [
        { id: 'form', type: 'trigger.form', data: { config: { title: 'Order flour' } } },
        { id: 'odd', type: 'core.nothing' },
      ],
      edges: [{ source: 'form', target: 'odd' }],
      settings: { input_schema: ORDER },
    },
    { status: 'draft' },
  );
  expect((await read(await urlIn(service, id))).html).toContain('Your name');
});
