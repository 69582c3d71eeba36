import { fileURLToPath } from 'node:url';
import type { Flow, JsonObject } from '@millrace/engine';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { type BrowserService, openBrowserService } from './support/browser-service.ts';
import { createWorkflow, editorOf } from './support/editor.ts';
import { settle } from './support/places.ts';

/** Regenerates the images of the README and docs: `npm run screenshots -- doc-pictures`. */
const FOLDER = fileURLToPath(new URL('../../../docs/images', import.meta.url));
const SCHEMES = ['light', 'dark'] as const;
const SIZE = { width: 1280, height: 760 } as const;

const ORDER = {
  number: 'T-1042',
  customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
  lines: [
    { sku: 'LAMP', quantity: 2, price: 40 },
    { sku: 'DESK', quantity: 1, price: 180 },
    { sku: 'CHAIR', quantity: 4, price: 95 },
  ],
};

/** What the canvas keeps of a loop, and the service stores as it is. */
const LOOP_SIZE = { width: 268, height: 160 };

const node = (
  id: string,
  type: string,
  label: string,
  [x, y]: readonly [number, number],
  config: JsonObject,
) => ({
  id,
  type,
  position: { x, y },
  data: { label, config },
});

/** Sums up an order line by line, and reports large ones to a host that doesn't respond. */
const flowOf = (accountsUrl: string): Flow => ({
  nodes: [
    node('order', 'trigger.webhook', 'Order placed', [0, 130], {}),
    {
      ...node('lines', 'core.for_each', 'Every line', [220, 66], { items: '{{trigger.data.lines}}' }),
      ...LOOP_SIZE,
    },
    {
      ...node('line', 'core.code', 'Price of the line', [44, 70], {
        code: 'return { sum: input.quantity * input.price };',
        input: { quantity: '{{item.quantity}}', price: '{{item.price}}' },
      }),
      parentId: 'lines',
    },
    node('total', 'core.code', 'Total', [530, 130], {
      code: [
        'const { lines } = input;',
        '// What every line came to, in whole euros.',
        'const total = lines.reduce((sum, { result }) => sum + result.sum, 0);',
        'console.log(`${lines.length} lines: ${total} EUR`);',
        'return { total };',
      ].join('\n'),
      input: { lines: '{{nodes.lines.output.items}}' },
    }),
    node('large', 'core.if', 'A large order?', [756, 130], {
      conditions: [{ left: '{{nodes.total.output.result.total}}', operator: 'greater_than', right: 500 }],
    }),
    {
      ...node('accounts', 'http.request', 'Tell accounts', [984, 60], {
        method: 'POST',
        url: accountsUrl,
        body: { order: '{{trigger.data.number}}', total: '{{nodes.total.output.result.total}}' },
      }),
    },
    node('thanks', 'core.set', 'Thank the customer', [984, 210], {
      values: { text: 'Thank you, {{trigger.data.customer.name}}!' },
    }),
  ],
  edges: [
    { id: 'e1', source: 'order', target: 'lines' },
    { id: 'e2', source: 'lines', target: 'total' },
    { id: 'e3', source: 'total', target: 'large' },
    { id: 'e4', source: 'large', sourceHandle: 'true', target: 'accounts' },
    { id: 'e5', source: 'large', sourceHandle: 'false', target: 'thanks' },
  ],
});

let world: BrowserService;
let person: TestPerson;
let workflow: number;
let execution: number;
beforeAll(async () => {
  world = await openBrowserService();
  person = await createPerson(world.service, 'org_admin', { email: 'ada@example.com' });
  await person.call('PATCH /orgs/:org', {
    params: { org: person.organisationId },
    body: { name: 'Harbour Lamps' },
  });
  await person.call('PATCH /me', { body: { name: 'Ada Lovelace' } });
  // An unreachable host: the image of a failure needs one.
  workflow = await createWorkflow(person, 'Orders', flowOf('http://accounts.invalid/orders'));
  const { data } = await person.call('POST /orgs/:org/workflows/:id/run', {
    params: { org: person.organisationId, id: workflow },
    body: { input: ORDER },
  });
  execution = data.execution_id;
  const key = await world.service.createKey({ organisationId: person.organisationId });
  await world.service.api('GET', `/executions/${execution}?wait=60`, { key });
});
afterAll(() => world.stop());

async function take(name: string, path: string, prepare: (page: Page) => Promise<void>): Promise<void> {
  for (const scheme of SCHEMES) {
    const { page, context } = await world.openFor(person, path, { ...SIZE, scheme });
    await settle(page);
    await prepare(page);
    await settle(page);
    await page.screenshot({ path: `${FOLDER}/${name}-${scheme}.png` });
    await context.close();
  }
}

test('the editor, after a run', () =>
  take('editor', `workflows/${workflow}`, async (page) => {
    const editor = editorOf(page);
    await editor.node('total').click();
    await editor.panel.getByText('reduce').first().waitFor();
  }));

test('an execution that failed', () => take('execution', `executions/${execution}`, async () => {}));
