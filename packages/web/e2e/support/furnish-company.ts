import type { TestPerson } from '@millrace/testing/admin';
import type { TestService } from '@millrace/testing/service';

/** What scenes of a busy organisation open. */
export interface Company {
  readonly largeId: number;
  readonly emptyId: number;
  /** Has one node of each type. */
  readonly nodesId: number;
  readonly nodeTypes: readonly string[];
  readonly folderId: number;
  readonly loopId: number;
  readonly loopExecutionId: number;
  readonly waitingId: number;
  readonly testId: number;
  readonly cancelledId: number;
}

const LONG_NAME =
  'Order fulfilment for every country: warehouse, carriers, customs, accounting and the reports that the auditors ask for';

/** Steps in rows of ten, each after the one before. */
function largeFlow() {
  const count = 120;
  const at = (step: number) => ({ x: 300 + (step % 10) * 280, y: Math.floor(step / 10) * 160 });
  const steps = Array.from({ length: count }, (_, step) => ({
    id: `step${step}`,
    type: 'core.set',
    position: at(step),
    data: {
      label: step % 7 === 0 ? `税関書類の確認と出荷指示 ${step}` : `Check stock ${step}`,
      config: { values: { step, customer: '{{trigger.data.customer}}' } },
    },
  }));
  const ids = ['start', ...steps.map(({ id }) => id)];
  return {
    nodes: [
      {
        id: 'start',
        type: 'trigger.schedule',
        position: { x: 0, y: 0 },
        data: { config: { schedule: { type: 'cron', cron: '0 7 * * 1-5' }, timezone: 'Europe/Berlin' } },
      },
      ...steps,
    ],
    edges: steps.map(({ id }, step) => ({ id: `e${step}`, source: ids[step] ?? 'start', target: id })),
    settings: { timezone: 'Europe/Berlin' },
  };
}

const LOOP_FLOW = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 80 }, data: {} },
    {
      id: 'each',
      type: 'core.for_each',
      position: { x: 300, y: 0 },
      width: 420,
      height: 200,
      data: {
        label: 'Each customer',
        config: { items: '{{trigger.data.customers}}', on_item_error: 'collect', concurrency: 2 },
      },
    },
    {
      id: 'ask',
      type: 'http.request',
      parentId: 'each',
      position: { x: 40, y: 60 },
      data: {
        label: 'Ask the CRM',
        config: { url: 'http://127.0.0.1:1/customers/{{item.id}}' },
        retry: { max_attempts: 2, backoff_ms: 10 },
      },
    },
    {
      id: 'sum',
      type: 'core.code',
      position: { x: 800, y: 80 },
      data: {
        label: 'Report',
        config: {
          code: 'console.log("failed", input.failed); return { text: "Done", rows: Array.from({ length: 40 }, (_, n) => ({ n, name: "顧客 " + n })) };',
          input: { failed: '{{nodes.each.output}}' },
        },
      },
    },
  ],
  edges: [
    { id: 'e1', source: 'start', target: 'each' },
    { id: 'e2', source: 'each', target: 'sum' },
  ],
  settings: {
    search_keys: { batch: '{{trigger.data.batch}}' },
    input_schema: {
      type: 'object',
      properties: {
        batch: { type: 'string', description: 'Shown in reports' },
        customers: { type: 'array' },
        is_urgent: { type: 'boolean' },
      },
      required: ['batch'],
    },
  },
};

const SLEEPING_FLOW = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    {
      id: 'nap',
      type: 'core.delay',
      position: { x: 300, y: 0 },
      data: { label: '翌営業日まで待つ', config: { duration_ms: 3_600_000 } },
    },
  ],
  edges: [{ id: 'e1', source: 'start', target: 'nap' }],
};

const SENDING_FLOW = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    {
      id: 'send',
      type: 'http.request',
      position: { x: 300, y: 0 },
      data: {
        label: 'Tell the shop',
        config: {
          method: 'POST',
          url: 'https://example.com/orders',
          body: { order: '{{trigger.data.order}}' },
        },
      },
    },
  ],
  edges: [{ id: 'e1', source: 'start', target: 'send' }],
};

const SIGNING_SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`;
const ALERT = {
  workflow_id: null,
  count: null,
  seconds: null,
  channel: 'webhook',
  language: 'en',
  group_seconds: 900,
  quiet_hours: null,
  is_enabled: true,
} as const;

/** Fills an organisation, furnished before, as a company's is after a year: many workflows, long and Japanese names, executions in every state, alerts. */
export async function furnishCompany(service: TestService, person: TestPerson): Promise<Company> {
  const { call, organisationId: org } = person;
  const params = { org };
  const key = await service.createKey({ organisationId: org });
  const create = async (
    name: string,
    flow: object,
    more: { tags?: string[]; description?: string } = {},
  ): Promise<number> => {
    const { data, text, status } = await call('POST /orgs/:org/workflows', {
      params,
      body: { name, flow_data: flow as never, ...more },
    });
    if (status !== 200) throw new Error(`${name}: ${text}`);
    return data.workflow.id;
  };
  const run = async (id: number, input: object): Promise<number> => {
    const { data } = await call('POST /orgs/:org/workflows/:id/run', {
      params: { org, id },
      body: { input: input as never },
    });
    return data.execution_id;
  };
  const ended = (id: number) => service.api('GET', `/executions/${id}?wait=60`, { key });

  const folder = async (name: string, parent: number | null = null): Promise<number> =>
    (await call('POST /orgs/:org/folders', { params, body: { name, parent_id: parent } })).data.id;
  const folderId = await folder('Shop');
  await folder('Europe, the Middle East and Africa, without the islands', folderId);
  await folder('日次処理');

  const change = async (id: number, body: { status?: 'active'; is_test_mode?: boolean }) => {
    const { data } = await call('GET /orgs/:org/workflows/:id', { params: { org, id } });
    const { updated_at } = data;
    await call('PUT /orgs/:org/workflows/:id', { params: { org, id }, body: { updated_at, ...body } });
  };
  const largeId = await create(LONG_NAME, largeFlow(), {
    tags: ['fulfilment', '倉庫', 'quarterly-audit-of-all-subsidiaries'],
    description: 'Owned by the logistics team.',
  });
  await change(largeId, { status: 'active' });
  await create('請求書の自動送付とお支払いリマインド（月末締め・翌月末払い）', SLEEPING_FLOW, {
    tags: ['経理'],
  });
  const emptyId = await create('New idea', { nodes: [], edges: [] });
  const oldId = await create('Former import', SENDING_FLOW);
  await call('POST /orgs/:org/workflows/:id/archive', { params: { org, id: oldId } });
  const { data: catalogue } = await call('GET /node-types');
  const types = catalogue.items.filter(({ kind, type }) => kind !== 'trigger' || type === 'trigger.webhook');
  const nodesId = await create('One of each', {
    nodes: types.map(({ type, title, examples: [example] }, index) => ({
      id: `n${index}`,
      type,
      position: { x: 320 * Math.floor(index / 8), y: 140 * (index % 8) },
      data: { label: title, config: example?.config ?? {} },
    })),
    edges: [],
  });

  const loopId = await create('Nightly report of customers', LOOP_FLOW);
  const customers = Array.from({ length: 6 }, (_, index) => ({ id: index, name: `顧客 ${index}` }));
  const loopExecutionId = await run(loopId, { batch: '2026-11-24', customers });
  await ended(loopExecutionId);
  const sleepingId = await create('翌営業日のフォローアップ', SLEEPING_FLOW);
  const waitingId = await run(sleepingId, { order: 17 });
  const cancelledId = await run(sleepingId, { order: 18 });
  await call('POST /orgs/:org/executions/:execution/cancel', { params: { org, execution: cancelledId } });
  await ended(cancelledId);
  const sendingId = await create('Forwarding', SENDING_FLOW);
  await change(sendingId, { is_test_mode: true });
  const testId = await run(sendingId, { order: 19 });
  await ended(testId);

  await call('POST /orgs/:org/execution-views', {
    params,
    body: {
      name: 'Failures of this week',
      is_shared: true,
      filters: { status: 'failed', range: 'week' } as never,
    },
  });
  await furnishAlerts(person);
  return {
    largeId,
    emptyId,
    nodesId,
    nodeTypes: types.map(({ type }) => type),
    folderId,
    loopId,
    loopExecutionId,
    waitingId,
    testId,
    cancelledId,
  };
}

async function furnishAlerts({ call, organisationId: org }: TestPerson): Promise<void> {
  const params = { org };
  const { data: secret } = await call('POST /orgs/:org/credentials', {
    params,
    body: { name: 'Alerts of the office', type: 'secret', hosts: [], fields: { value: SIGNING_SECRET } },
  });
  const target = { credential_id: secret.id, url: 'http://127.0.0.1:1/alerts' };
  const rules = [
    { ...ALERT, name: 'Any failure', kind: 'failure' },
    { ...ALERT, name: '夜間バッチが動いていない', kind: 'silent', seconds: 86_400, language: 'ja' },
    {
      ...ALERT,
      name: 'Slow',
      kind: 'slow',
      seconds: 300,
      quiet_hours: { from: 1320, to: 420 },
      is_enabled: false,
    },
    { ...ALERT, name: 'Keys and credentials that end', kind: 'expiring', seconds: 604_800 },
  ] as const;
  const { data: list } = await call('GET /orgs/:org/workflows', { params });
  for (const rule of rules) {
    const workflow_id = rule.kind === 'silent' ? (list.items[0]?.id ?? null) : null;
    const made = await call('POST /orgs/:org/alert-rules', {
      params,
      body: { ...rule, workflow_id, target },
    });
    if (made.status !== 200) throw new Error(`${rule.name}: ${made.text}`);
    await call('POST /orgs/:org/alert-rules/:rule/test', { params: { org, rule: made.data.id } });
  }
}
