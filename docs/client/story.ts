import createClient from 'openapi-fetch';
// Made from the service's own description of itself; docs/api.md says how.
import type { components, paths } from './millrace.ts';

type NewWorkflow = NonNullable<
  paths['/api/v1/workflows']['post']['requestBody']
>['content']['application/json'];
type ExecutionDetail = components['schemas']['ExecutionDetail'];

/** A workflow as it is exported from the editor, or written by hand. */
const GREETING = {
  nodes: [
    { id: 'call', type: 'trigger.webhook', position: { x: 0, y: 0 }, data: {} },
    {
      id: 'greet',
      type: 'core.set',
      position: { x: 200, y: 0 },
      data: { config: { values: { text: 'Hello {{trigger.data.name}}' } } },
    },
  ],
  edges: [{ id: 'e1', source: 'call', target: 'greet' }],
  settings: {
    input_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
};

/**
 * Everything a client does with the public API, by a client that was generated from its description: it stores a workflow,
 * changes and activates it, starts it by the API and by its webhook, reads the results, and archives it.
 * @returns what the executions said
 */
export async function tellTheStory(baseUrl: string, key: string): Promise<readonly unknown[]> {
  const api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });

  const created = await api.POST('/api/v1/workflows', {
    params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
    body: { name: 'Greeting', flow_data: GREETING, tags: ['client'] },
  });
  const workflow = given(created);
  const path = { id: workflow.id };

  const read = await api.GET('/api/v1/workflows/{id}', { params: { path } });
  const { flow_data: flow } = given(read);
  const settings = { display_name: 'Greeting for {{trigger.data.name}}' };
  const changed = await api.PUT('/api/v1/workflows/{id}', {
    params: { path, header: { 'If-Match': read.response.headers.get('etag') ?? '' } },
    body: { flow_data: { ...flow, settings: { ...GREETING.settings, ...settings } }, status: 'active' },
  });
  if (given(changed).version !== 2 || given(changed).problems.length > 0)
    throw new Error('not as it was sent');

  const versions = given(await api.GET('/api/v1/workflows/{id}/versions', { params: { path } }));
  const first = versions.data.at(-1)?.version ?? 1;
  given(
    await api.GET('/api/v1/workflows/{id}/versions/{version}', {
      params: { path: { ...path, version: first } },
    }),
  );

  const refused = await api.POST('/api/v1/workflows/{id}/execute', {
    params: { path },
    body: { input_data: { nobody: true } },
  });
  if (refused.error === undefined || !('errors' in refused.error))
    throw new Error('input that does not fit was taken');
  const faults = refused.error.errors.map(({ pointer }) => pointer);

  const receipt = given(
    await api.POST('/api/v1/workflows/{id}/execute', {
      params: { path, header: { 'Idempotency-Key': crypto.randomUUID() } },
      body: { input_data: { name: 'Ada' } },
    }),
  );
  const byApi = await ended(receipt.execution_id);

  const { hash } = given(await api.GET('/api/v1/workflows/{id}/webhook-info', { params: { path } }));
  const call = given(
    await api.POST('/api/v1/webhooks/{hash}', { params: { path: { hash } }, body: { name: 'Grace' } }),
  ) as components['schemas']['WebhookReceipt'];
  const byWebhook = await ended(call.execution_id);

  const batch = given(
    await api.POST('/api/v1/workflows/{id}/executions/batch', {
      params: { path, header: { 'Idempotency-Key': crypto.randomUUID() } },
      body: {
        mode: 'each',
        items: [
          { input_data: { name: 'Alan' }, idempotency_key: 'greet-alan' },
          { input_data: { nobody: true } },
        ],
      },
    }),
  );
  const inBatch: string[] = [];
  for (const entry of batch.data) {
    if (entry.outcome === 'refused') {
      inBatch.push(...entry.problem.errors.map(({ pointer }) => pointer));
      continue;
    }
    const { node_outputs: outputs } = await ended(entry.receipt.execution_id);
    inBatch.push(String(outputs.greet?.output.text));
  }

  const rerun = given(
    await api.POST('/api/v1/executions/{id}/rerun', {
      params: { path: { id: byApi.id } },
      body: { from: 'start' },
    }),
  );
  const again = await ended(rerun.execution_id);

  const page = given(
    await api.GET('/api/v1/executions', {
      params: { query: { workflow_id: workflow.id, status: 'completed', limit: 100 } },
    }),
  );
  const archived = given(await api.DELETE('/api/v1/workflows/{id}', { params: { path } }));
  const listed = given(
    await api.GET('/api/v1/workflows', { params: { query: { status: 'archived', limit: 1 } } }),
  );

  return [
    faults,
    ...[byApi, byWebhook, again].map((execution) => execution.node_outputs.greet?.output.text),
    inBatch,
    page.data.length,
    archived.status,
    listed.data[0]?.id === workflow.id,
  ];

  /** Waits at the service, which answers as soon as there is an end. */
  async function ended(id: number): Promise<ExecutionDetail> {
    for (;;) {
      const execution = given(
        await api.GET('/api/v1/executions/{id}', { params: { path: { id }, query: { wait: 30 } } }),
      );
      if (execution.status === 'failed') throw new Error(execution.error?.message);
      if (execution.status === 'completed') return execution;
    }
  }
}

/** What is sent is checked when the program is: without its comment none of these would compile. */
export const WRONG_BODIES: readonly NewWorkflow[] = [
  // @ts-expect-error a workflow has a name
  { flow_data: GREETING },
  // @ts-expect-error there is no such member
  { name: 'Greeting', flow_data: GREETING, colour: 'red' },
  // @ts-expect-error there is no such status of a new workflow
  { name: 'Greeting', flow_data: GREETING, status: 'paused' },
];

/** The answer's body, or an error with the service's words. */
function given<Body>({
  data,
  error,
}: {
  readonly data?: Body;
  readonly error?: { readonly detail: string };
}): Body {
  if (data === undefined) throw new Error(error?.detail ?? 'there is no answer');
  return data;
}
