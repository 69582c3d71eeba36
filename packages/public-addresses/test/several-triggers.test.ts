import type { JsonObject } from '@millrace/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExecutionBody } from '../../runtime/test/worker/service-with-worker.ts';
import { type ApiWorld, startSeveralTriggers } from './several-triggers-world.ts';

let world: ApiWorld;
beforeAll(async () => {
  world = await startSeveralTriggers();
});
afterAll(() => world.service.stop());

/** The nodes that ran, and what `text` came to. */
function summaryOf(execution: Pick<ExecutionBody, 'status' | 'node_outputs'>) {
  const nodes = Object.entries(execution.node_outputs);
  const ran = nodes.filter(([, { status }]) => status === 'success').map(([id]) => id);
  const skipped = nodes.filter(([, { status }]) => status === 'skipped').map(([id]) => id);
  return { status: execution.status, ran: ran.toSorted(), skipped: skipped.toSorted() };
}

const BY_HAND = {
  status: 'completed',
  ran: ['all', 'manual', 'of_manual'],
  skipped: ['form', 'of_form', 'of_second', 'orders', 'second'],
};
const BY_ORDERS = {
  status: 'completed',
  ran: ['all', 'orders'],
  skipped: ['form', 'manual', 'of_form', 'of_manual', 'of_second', 'second'],
};
const BY_SECOND = {
  status: 'completed',
  ran: ['all', 'of_second', 'second'],
  skipped: ['form', 'manual', 'of_form', 'of_manual', 'orders'],
};
const BY_FORM = {
  status: 'completed',
  ran: ['all', 'form', 'of_form'],
  skipped: ['manual', 'of_manual', 'of_second', 'orders', 'second'],
};

describe('a start through the API', () => {
  test('begins at the manual trigger, or at the one it names', async () => {
    const { id } = await world.create();
    expect(summaryOf(await world.execute(id, { input_data: { n: 1 } }))).toEqual(BY_HAND);
    expect(summaryOf(await world.execute(id, { trigger: 'second' }))).toEqual(BY_SECOND);
    const named = await world.execute(id, { trigger: 'manual', input_data: { n: 2 } });
    expect(summaryOf(named)).toEqual(BY_HAND);
    expect(named).toMatchObject({ trigger_type: 'api', input_data: { n: 2 } });
  });

  test('is refused if the workflow has no such trigger', async () => {
    const { id } = await world.create();
    for (const trigger of ['all', 'nothing']) {
      const answer = await world.api('POST', `/workflows/${id}/execute`, { trigger });
      expect(answer).toMatchObject({
        status: 422,
        json: {
          errors: [
            { pointer: '/trigger', code: 'not_found', message: expect.stringContaining('manual, orders') },
          ],
        },
      });
    }
    const batch = await world.api('POST', `/workflows/${id}/executions/batch`, {
      mode: 'each',
      items: [{ trigger: 'second' }, { trigger: 'all' }, {}],
    });
    const outcomes = (batch.json.data as JsonObject[]).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['started', 'refused', 'started']);
  });

  test('of a workflow without a manual trigger begins at the first', async () => {
    const { id } = await world.create({ without: ['manual', 'of_manual'] });
    const { ran } = summaryOf(await world.execute(id, {}));
    expect(ran).toEqual(['all', 'orders']);
  });
});

describe('addresses', () => {
  test('webhooks of one workflow are told apart by their paths, and each starts its own', async () => {
    const { hash } = await world.create();
    const plain = await world.post(`/webhooks/${hash}`, { n: 1 });
    expect(plain.status).toBe(202);
    expect(summaryOf(await world.ended(plain.json))).toEqual(BY_ORDERS);
    const other = await world.post(`/webhooks/${hash}/refunds/7`, { n: 2 });
    const execution = await world.ended(other.json);
    expect(summaryOf(execution)).toEqual(BY_SECOND);
    expect(execution.node_outputs.of_second).toMatchObject({ output: { text: '7 2' } });
    expect((await world.post(`/webhooks/${hash}/elsewhere`, {})).status).toBe(404);
  });

  test('an event of one webhook is another event for the other', async () => {
    const { hash } = await world.create();
    const ids = [];
    for (const rest of ['', '/refunds/1', '', '/refunds/1']) {
      const { json } = await world.post(`/webhooks/${hash}${rest}`, { event: 'e1' });
      ids.push(json.execution_id);
    }
    expect(new Set(ids.slice(0, 2)).size).toBe(2);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
  });

  test('two webhooks with one path prevent activation', async () => {
    const { id } = await world.create({ secondPath: '', status: 'draft' });
    const answer = await world.api('PUT', `/workflows/${id}`, { status: 'active' });
    expect(answer).toMatchObject({
      status: 422,
      json: { errors: [{ pointer: '/flow_data/nodes/2', code: 'same_address' }] },
    });
  });

  test('a form has its address beside webhooks; others have one by their node', async () => {
    const { id, hash } = await world.create({ forms: ['form', 'other/form'] });
    for (const [address, title] of [
      [`/forms/${hash}`, 'form'],
      [`/forms/${hash}/nodes/form`, 'form'],
      [`/forms/${hash}/nodes/other%2Fform`, 'other/form'],
    ] as const) {
      const page = await world.page(address);
      expect([page.status, page.html.includes(`<h1>${title}</h1>`)]).toEqual([200, true]);
      expect(page.html).toContain(`action="/api/v1${address}"`);
    }
    expect((await world.page(`/forms/${hash}/nodes/orders`)).status).toBe(404);
    const sent = await world.submit(`/forms/${hash}/nodes/other%2Fform`, { name: 'Ada' });
    expect([sent.status, sent.location]).toEqual([303, `/api/v1/forms/${hash}/nodes/other%2Fform/thanks`]);
    expect((await world.page(`/forms/${hash}/nodes/other%2Fform/thanks`)).status).toBe(200);
    const [execution] = await world.executionsOf(id);
    expect(summaryOf(execution as ExecutionBody).ran).toEqual(['all', 'other/form']);
    await world.submit(`/forms/${hash}`, { name: 'Bob' });
    const [first] = await world.executionsOf(id);
    expect(summaryOf(first as ExecutionBody).ran).toEqual(BY_FORM.ran);
  });

  test('the public API still says where the webhook of the workflow is', async () => {
    const { id, hash } = await world.create();
    expect((await world.api('GET', `/workflows/${id}/webhook-info`)).json).toMatchObject({
      hash,
      url: expect.stringMatching(new RegExp(`/api/v1/webhooks/${hash}$`)),
    });
    const without = await world.create({ without: ['orders', 'second', 'of_second'] });
    expect((await world.post(`/webhooks/${without.hash}`, {})).status).toBe(404);
    expect((await world.page(`/forms/${without.hash}`)).status).toBe(200);
  });
});

describe('a rerun', () => {
  test('keeps the trigger, from the start and from the failed node', async () => {
    const { id, hash } = await world.create({ fails: true });
    const first = await world.ended((await world.post(`/webhooks/${hash}/refunds/7`, { n: 2 })).json);
    expect(first).toMatchObject({ status: 'failed', error: { node_id: 'all' } });
    for (const from of ['start', 'failed_node']) {
      const answer = await world.api('POST', `/executions/${first.id}/rerun`, { from });
      expect(answer.status).toBe(202);
      const again = await world.ended(answer.json);
      expect(again.node_outputs).toMatchObject({
        second: { status: 'success' },
        manual: { status: 'skipped' },
        of_second: { output: { text: '7 2' } },
      });
    }
    const orders = await world.ended((await world.post(`/webhooks/${hash}`, {})).json);
    const { json } = await world.api('POST', `/executions/${orders.id}/rerun`, { from: 'start' });
    expect((await world.ended(json)).node_outputs).toMatchObject({
      orders: { status: 'success' },
      manual: { status: 'skipped' },
    });
    expect(id).toBeGreaterThan(0);
  });
});
