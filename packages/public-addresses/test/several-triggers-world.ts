import type { JsonObject } from '@millrace/engine';
import { send } from '@millrace/testing/api';
import {
  type ExecutionBody,
  startWorkingService,
  type WorkingService,
} from '../../runtime/test/worker/service-with-worker.ts';

export interface Variation {
  readonly without?: readonly string[];
  readonly secondPath?: string;
  readonly status?: string;
  readonly forms?: readonly string[];
  /** Whether the last node fails. */
  readonly fails?: boolean;
}

export interface Page {
  readonly status: number;
  readonly html: string;
  readonly location: string | null;
}

/** A service with workflows that have a manual trigger, two webhooks and forms, all of which lead to the node `all`. */
export interface ApiWorld {
  readonly service: WorkingService;
  create(variation?: Variation): Promise<{ readonly id: number; readonly hash: string }>;
  api(method: string, path: string, body?: JsonObject): Promise<{ status: number; json: JsonObject }>;
  /** Starts the workflow and waits for the end. */
  execute(id: number, body: JsonObject): Promise<ExecutionBody>;
  ended(receipt: JsonObject): Promise<ExecutionBody>;
  post(path: string, body: JsonObject): Promise<{ status: number; json: JsonObject }>;
  page(path: string): Promise<Page>;
  submit(path: string, fields: { readonly [name: string]: string }): Promise<Page>;
  /** Once they have ended, the latest first. */
  executionsOf(workflowId: number): Promise<ExecutionBody[]>;
}

export async function startSeveralTriggers(): Promise<ApiWorld> {
  const service = await startWorkingService({ limits: { requestsPerMinutePerWebhook: 0 } });
  const { key } = service;
  const base = `${service.url}/api/v1`;
  const readPage = async (response: Response): Promise<Page> => ({
    status: response.status,
    html: await response.text(),
    location: response.headers.get('location'),
  });
  return {
    service,
    async create(variation = {}) {
      const id = await service.createWorkflow(flowWith(variation), { status: variation.status ?? 'active' });
      const [row] = await service.database.db.query<{ hash: string }>(
        'SELECT webhook_hash AS hash FROM workflows WHERE id = $1',
        [id],
      );
      return { id, hash: row?.hash ?? '' };
    },
    api: (method, path, body) =>
      service.api(method as 'GET', path, { key, ...(body === undefined ? {} : { body }) }) as never,
    async execute(id, body) {
      const { json } = await service.api('POST', `/workflows/${id}/execute`, { key, body });
      return service.finished(Number(json.execution_id));
    },
    ended: (receipt) => service.finished(Number(receipt.execution_id)),
    post: (path, body) => send(`${base}${path}`, 'POST', { raw: JSON.stringify(body) }) as never,
    page: async (path) => readPage(await fetch(`${base}${path}`)),
    submit: async (path, fields) =>
      readPage(
        await fetch(`${base}${path}`, {
          method: 'POST',
          body: new URLSearchParams(fields),
          redirect: 'manual',
        }),
      ),
    async executionsOf(workflowId) {
      const { json } = await service.api('GET', `/executions?workflow_id=${workflowId}`, { key });
      const ids = (json.data as readonly { readonly id: number }[]).map((item) => item.id);
      return Promise.all(ids.map((id) => service.finished(id)));
    },
  };
}

function flowWith({ without = [], secondPath = 'refunds/:id', forms = ['form'], fails = false }: Variation) {
  const set = (id: string, values: JsonObject) => ({ id, type: 'core.set', data: { config: { values } } });
  const deduplicate = { by: 'path', name: 'event' };
  const nodes = [
    { id: 'manual', type: 'trigger.manual', data: {} },
    { id: 'orders', type: 'trigger.webhook', data: { config: { deduplicate } } },
    { id: 'second', type: 'trigger.webhook', data: { config: { path: secondPath, deduplicate } } },
    ...forms.map((id) => ({
      id,
      type: 'trigger.form',
      data: { config: { title: id, fields: [{ label: 'Name', name: 'name', type: 'text' }] } },
    })),
    set('of_manual', { n: '{{trigger.data.n}}' }),
    set('of_second', { text: '{{trigger.request.params.id}} {{nodes.second.output.data.n}}' }),
    set('of_form', { name: '{{trigger.data.name}}' }),
    fails
      ? { id: 'all', type: 'core.fail', data: { config: { message: 'no' } } }
      : set('all', without.includes('of_manual') ? {} : { of: '{{nodes.of_manual.output.n}}' }),
  ].filter(({ id }) => !without.includes(id));
  const known = new Set(nodes.map(({ id }) => id));
  const pairs = [
    ['manual', 'of_manual'],
    ['second', 'of_second'],
    ['form', 'of_form'],
    ['of_manual', 'all'],
    ['of_second', 'all'],
    ['of_form', 'all'],
    ['orders', 'all'],
    ...forms.slice(1).map((id) => [id, 'all']),
  ];
  const edges = pairs.flatMap(([source = '', target = '']) =>
    known.has(source) && known.has(target) ? [{ source, target }] : [],
  );
  return { nodes, edges };
}
