import type { TestPerson } from '@millrace/testing/admin';
import type { TestService } from '@millrace/testing/service';

/** A workflow with branches, a loop and a node that may fail. */
const ORDERS_FLOW = {
  nodes: [
    { id: 'start', type: 'trigger.webhook', position: { x: 0, y: 80 }, data: { label: 'Order placed' } },
    {
      id: 'check',
      type: 'core.if',
      position: { x: 300, y: 80 },
      data: {
        label: 'Large order?',
        config: { conditions: [{ left: '{{trigger.data.total}}', operator: 'greater_than', right: 100 }] },
      },
    },
    {
      id: 'each',
      type: 'core.for_each',
      position: { x: 620, y: 0 },
      width: 360,
      height: 170,
      data: { label: 'Every line', config: { items: '{{trigger.data.lines}}', concurrency: 5 } },
    },
    {
      id: 'price',
      type: 'core.set',
      parentId: 'each',
      position: { x: 40, y: 60 },
      data: { label: 'Line', config: { values: { sku: '{{item.sku}}', number: '{{index}}' } } },
    },
    {
      id: 'small',
      type: 'core.set',
      position: { x: 620, y: 240 },
      data: {
        label: 'Nothing special',
        config: { values: { note: 'small order of {{trigger.data.customer}}' } },
      },
    },
    {
      id: 'refuse',
      type: 'core.fail',
      position: { x: 1060, y: 40 },
      data: {
        label: 'No stock',
        config: { code: 'out_of_stock', message: 'Nothing left of {{trigger.data.customer}}' },
      },
    },
  ],
  edges: [
    { id: 'e1', source: 'start', target: 'check' },
    { id: 'e2', source: 'check', sourceHandle: 'true', target: 'each' },
    { id: 'e3', source: 'check', sourceHandle: 'false', target: 'small' },
    { id: 'e4', source: 'each', target: 'refuse' },
  ],
};

const NAMES = ['Nightly sync of customers', 'Refund approval', 'Invoice by e-mail', '日次レポートの送信'];

/** Fills an organisation with workflows, executions, keys and credentials through the admin API. */
export async function furnish(
  service: TestService,
  { call, organisationId: org }: TestPerson,
): Promise<{ readonly workflowId: number; readonly executionIds: readonly number[] }> {
  for (const name of NAMES) {
    await call('POST /orgs/:org/workflows', { params: { org }, body: { name, tags: ['sample'] } });
  }
  const created = await call('POST /orgs/:org/workflows', {
    params: { org },
    body: {
      name: 'Orders',
      description: 'Takes orders from the shop.',
      tags: ['shop', 'orders'],
      flow_data: ORDERS_FLOW as never,
    },
  });
  const { id } = created.data.workflow;
  const inputs = [
    { customer: 'Ada', total: 20, lines: [] },
    { customer: 'Grace', total: 30, lines: [] },
    { customer: 'Edsger', total: 400, lines: [{ sku: 'A-1' }, { sku: 'B-2' }] },
  ];
  const executionIds: number[] = [];
  for (const input of inputs) {
    const { data } = await call('POST /orgs/:org/workflows/:id/run', {
      params: { org, id },
      body: { input },
    });
    executionIds.push(data.execution_id);
  }
  // Responds once the execution has ended.
  const key = await service.createKey({ organisationId: org });
  for (const each of executionIds) await service.api('GET', `/executions/${each}?wait=60`, { key });
  return { workflowId: id, executionIds };
}
