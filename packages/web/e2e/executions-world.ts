import type { TestPerson } from '@millrace/testing/admin';
import { type BrowserService, openBrowserService } from './support/browser-service.ts';

/** A flow with a manual trigger and these nodes; edges are written `from>to` or `from:handle>to`. */
export function flowOf(nodes: readonly object[], edges: readonly string[], settings: object = {}): object {
  return {
    nodes: [{ id: 'start', type: 'trigger.manual', position: { x: 0, y: 80 }, data: {} }, ...nodes],
    edges: edges.map((text, index) => {
      const [from = '', target = ''] = text.split('>');
      const [source = '', sourceHandle] = from.split(':');
      return { id: `e${index}`, source, target, ...(sourceHandle === undefined ? {} : { sourceHandle }) };
    }),
    settings,
  };
}

const at = (x: number, y = 80) => ({ x, y });

/** Completes: a list, a loop over it, code that logs, a large output. */
const ORDERS = flowOf(
  [
    {
      id: 'prepare',
      type: 'core.set',
      position: at(260),
      data: {
        label: 'Prepare the order',
        config: { values: { order: '{{trigger.data.order}}', rows: [1, -1, 3] } },
      },
    },
    {
      id: 'each',
      type: 'core.for_each',
      position: at(520),
      data: {
        label: 'Each row',
        config: { items: '{{nodes.prepare.output.rows}}', on_item_error: 'collect' },
      },
    },
    {
      id: 'price',
      type: 'core.code',
      parentId: 'each',
      position: { x: 30, y: 60 },
      data: {
        label: 'Price',
        config: {
          code: 'console.log("row", input.row); return { price: input.row * 10 };',
          input: { row: '{{item}}' },
        },
      },
    },
    {
      id: 'pause',
      type: 'core.delay',
      parentId: 'each',
      position: { x: 30, y: 160 },
      data: { label: 'Pause', config: { duration_ms: '{{item}}' } },
    },
    {
      id: 'sum',
      type: 'core.code',
      position: at(900),
      data: {
        label: 'Sum',
        config: {
          code: 'console.log("summing up"); return { total: 42, items: Array.from({ length: 3000 }, (_, n) => ({ n, text: "item " + n })) };',
          input: {},
        },
      },
    },
  ],
  ['start>prepare', 'prepare>each', 'price>pause', 'each>sum'],
  { input_schema: { type: 'object', properties: { order: { type: 'integer' } } } },
);

/** Fails at its second node, after one retry. */
const BROKEN = flowOf(
  [
    { id: 'first', type: 'core.set', position: at(260), data: { config: { values: { ok: true } } } },
    {
      id: 'call',
      type: 'http.request',
      position: at(520),
      data: {
        label: 'Ask the stock',
        config: { url: 'http://127.0.0.1:1/stock' },
        retry: { max_attempts: 2, backoff_ms: 100 },
      },
    },
    { id: 'after', type: 'core.set', position: at(780), data: { config: { values: {} } } },
  ],
  ['start>first', 'first>call', 'call>after'],
);

/** Waits for an approval. */
const ASKING = flowOf(
  [
    {
      id: 'ask',
      type: 'wait.approval',
      position: at(260),
      data: {
        label: 'Ask',
        config: {
          title: 'Refund order {{trigger.data.order}}?',
          text: 'It arrived broken.\nThe customer sent a picture.',
        },
      },
    },
    {
      id: 'refund',
      type: 'core.set',
      position: at(540, 0),
      data: { config: { values: { refunded: true } } },
    },
    {
      id: 'keep',
      type: 'core.set',
      position: at(540, 180),
      data: { config: { values: { refunded: false } } },
    },
  ],
  ['start>ask', 'ask:approve>refund', 'ask:reject>keep'],
);

/** Waits for a delay. */
const SLEEPING = flowOf(
  [
    {
      id: 'nap',
      type: 'core.delay',
      position: at(260),
      data: { label: 'Nap', config: { duration_ms: 3_600_000 } },
    },
  ],
  ['start>nap'],
);

/** Sends a request, which test mode records instead. */
const SENDING = flowOf(
  [
    {
      id: 'send',
      type: 'http.request',
      position: at(260),
      data: {
        config: {
          method: 'POST',
          url: 'https://example.com/orders',
          body: { order: '{{trigger.data.order}}' },
        },
      },
    },
  ],
  ['start>send'],
);

export interface ExecutionsWorld extends BrowserService {
  /** Saves a workflow in the person's organisation. @returns its id */
  createWorkflow(person: TestPerson, kind: keyof typeof FLOWS): Promise<number>;
  execute(person: TestPerson, workflowId: number, input?: object): Promise<number>;
  /** Runs a workflow of this kind to completion. */
  ran(person: TestPerson, kind: keyof typeof FLOWS): Promise<number>;
  finished(person: TestPerson, id: number): Promise<void>;
}

const FLOWS = {
  orders: { name: 'Import of orders', flow_data: ORDERS },
  broken: { name: 'Check of the stock', flow_data: BROKEN },
  asking: { name: 'Refunds', flow_data: ASKING },
  sleeping: { name: 'Reminder', flow_data: SLEEPING },
  sending: { name: 'Forwarding', flow_data: SENDING, is_test_mode: true },
};

/** A service that runs executions, and a browser. */
export async function openExecutionsWorld(): Promise<ExecutionsWorld> {
  const world = await openBrowserService({ config: { allowHosts: ['127.0.0.1'] } });
  const { service } = world;
  const keys = new Map<number, ReturnType<typeof service.createKey>>();
  const keyOf = ({ organisationId }: TestPerson) => {
    const known = keys.get(organisationId) ?? service.createKey({ organisationId });
    keys.set(organisationId, known);
    return known;
  };
  const send = async (person: TestPerson, ...[method, path, request]: Parameters<typeof service.api>) => {
    const answer = await service.api(method, path, { key: await keyOf(person), ...request });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.json;
  };
  const made: ExecutionsWorld = {
    ...world,
    async createWorkflow(person, kind) {
      return (await send(person, 'POST', '/workflows', { body: FLOWS[kind] })).id;
    },
    async execute(person, workflowId, input = { order: 17 }) {
      const body = { input_data: input };
      return (await send(person, 'POST', `/workflows/${workflowId}/execute`, { body })).execution_id;
    },
    async finished(person, id) {
      await send(person, 'GET', `/executions/${id}?wait=30`);
    },
    async ran(person, kind) {
      const id = await made.execute(person, await made.createWorkflow(person, kind));
      await made.finished(person, id);
      return id;
    },
  };
  return made;
}
