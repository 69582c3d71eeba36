import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { addCredential } from '@millrace/credentials/credentials';
import { createSecretKeys } from '@millrace/secrets/keys';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { startModelServer } from '@millrace/testing/model-server';
import { startHttp } from '@millrace/testing/test-server';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/settings/config.ts';
import type { Service } from '../../src/start/service.ts';
import { startService } from '../../src/start/start-service.ts';
import { NEVER_SHEDS } from '../never-sheds.ts';
import { type Collector, type ReceivedSpan, startCollector } from './collector.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const SECRET = 'kept-out-of-traces';

let database: TestDatabase;
const services: Service[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
  await database.drop();
});

const lines: { readonly [field: string]: unknown }[] = [];

function configOf(env: NodeJS.ProcessEnv) {
  return loadConfig({
    ...NEVER_SHEDS,
    DATABASE_URL: database.url,
    PORT: '0',
    MILLRACE_ALLOW_HOSTS: '127.0.0.1',
    MILLRACE_SHUTDOWN_GRACE_MS: '20000',
    ...env,
  });
}

async function start(env: NodeJS.ProcessEnv): Promise<Service> {
  const log = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const service = await startService({
    config: configOf(env),
    roles: { api: true, worker: true },
    log,
  });
  services.push(service);
  return service;
}

async function call(
  service: Service,
  key: string,
  path: string,
  body?: unknown,
  headers: { readonly [name: string]: string } = {},
) {
  const response = await fetch(`${service.address}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as { readonly [name: string]: unknown } };
}

/** Nodes one after the other. */
function chain(
  ...nodes: readonly { readonly id: string; readonly type: string; readonly config?: unknown }[]
) {
  return {
    nodes: nodes.map(({ id, type, config }) => ({ id, type, data: config === undefined ? {} : { config } })),
    edges: nodes.slice(1).map(({ id }, index) => ({ source: nodes[index]?.id, target: id })),
  };
}

/** What the workflows call: the headers of each request, by its path, and the URL of the callback. */
async function startReceiver() {
  const received = new Map<string, string | undefined>();
  let callback: string | null = null;
  const { url } = await startHttp((request, response) => {
    void text(request).then((body) => {
      received.set(request.url ?? '', request.headers.traceparent as string | undefined);
      if (request.url === '/wait') callback = (JSON.parse(body) as { url: string }).url;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  return { url, received, callbackPath: () => (callback === null ? null : new URL(callback).pathname) };
}

function find(collector: Collector, name: string, more: (span: ReceivedSpan) => boolean = () => true) {
  const found = collector.spans.filter((span) => span.name === name && more(span));
  expect(found, name).toHaveLength(1);
  return found[0] as ReceivedSpan;
}

test('one trace leads from the caller through request, execution, nodes, calls and another workflow, across a wait and two processes', async () => {
  const collector = await startCollector();
  const receiver = await startReceiver();
  lines.splice(0);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=flows%20and%20more',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  };
  const first = await start(env);
  const key = first.firstStart?.apiKey ?? '';
  const child = await call(first, key, '/workflows', {
    name: 'child',
    status: 'active',
    flow_data: chain(
      { id: 'start', type: 'trigger.manual' },
      { id: 'call', type: 'http.request', config: { method: 'POST', url: `${receiver.url}/child` } },
    ),
  });
  const parent = await call(first, key, '/workflows', {
    name: 'parent',
    status: 'active',
    flow_data: chain(
      { id: 'start', type: 'trigger.manual' },
      {
        id: 'call',
        type: 'http.request',
        config: {
          method: 'POST',
          url: `${receiver.url}/parent`,
          body: { secret: '{{trigger.data.secret}}' },
        },
      },
      {
        id: 'own',
        type: 'http.request',
        config: { url: `${receiver.url}/own`, headers: { TraceParent: 'mine' } },
      },
      { id: 'flow', type: 'flow.call', config: { workflow_id: child.body.id } },
      {
        id: 'wait',
        type: 'wait.callback',
        config: { request: { url: `${receiver.url}/wait`, body: { url: '{{args.callback_url}}' } } },
      },
      { id: 'end', type: 'core.fail', config: { code: 'as_planned' } },
    ),
  });
  const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
  const started = await call(
    first,
    key,
    `/workflows/${String(parent.body.id)}/execute`,
    { input_data: { secret: SECRET } },
    { traceparent },
  );
  expect(started.status).toBe(202);
  const id = Number(started.body.execution_id ?? started.body.id);
  await vi.waitUntil(() => receiver.callbackPath(), PATIENCE);
  await vi.waitUntil(async () => {
    const [row] = await database.db.query<{ status: string }>('SELECT status FROM executions WHERE id = $1', [
      id,
    ]);
    return row?.status === 'waiting_async';
  }, PATIENCE);
  await first.stop();

  const second = await start(env);
  const ended = await fetch(`${second.address}${receiver.callbackPath()}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret: SECRET }),
  });
  expect(ended.status).toBeLessThan(300);
  await vi.waitUntil(
    async () => (await call(second, key, `/executions/${id}?wait=20`)).body.status === 'failed',
    PATIENCE,
  );
  await second.stop();

  const ofTrace = collector.spans.filter(({ traceId }) => traceId === CALLER.traceId);
  const request = find(collector, 'POST /api/v1/workflows/:id/execute');
  expect(request).toMatchObject({ traceId: CALLER.traceId, parentSpanId: CALLER.spanId, kind: 2 });
  expect(request.attributes).toMatchObject({
    'http.route': '/api/v1/workflows/:id/execute',
    'http.response.status_code': 202,
  });
  const execution = find(collector, `workflow ${String(parent.body.id)}`);
  expect(execution).toMatchObject({ traceId: CALLER.traceId, parentSpanId: request.spanId, status: 2 });
  expect(execution.attributes).toMatchObject({
    'millrace.execution.id': id,
    'millrace.execution.status': 'failed',
    'error.type': 'as_planned',
  });

  const nodes = ofTrace.filter(
    ({ attributes }) => attributes['millrace.execution.id'] === id && 'millrace.node.id' in attributes,
  );
  expect(nodes.every(({ parentSpanId }) => parentSpanId === execution.spanId)).toBe(true);
  const nodeSpan = (node: string, isResumed = false) =>
    nodes.filter(
      ({ attributes }) =>
        attributes['millrace.node.id'] === node &&
        (attributes['millrace.node.resumed'] === true) === isResumed,
    );
  const [[called], [flowNode], [waiting], [resumed], [last]] = [
    nodeSpan('call'),
    nodeSpan('flow'),
    nodeSpan('wait'),
    nodeSpan('wait', true),
    nodeSpan('end'),
  ];
  expect(called?.attributes['millrace.node.result']).toBe('success');
  expect(last).toMatchObject({ status: 2, attributes: { 'error.type': 'as_planned' } });
  expect(waiting?.resource['service.instance.id']).not.toBe(resumed?.resource['service.instance.id']);
  expect(execution.resource['service.instance.id']).toBe(resumed?.resource['service.instance.id']);
  expect(execution.resource).toMatchObject({
    'service.name': 'millrace',
    'deployment.environment.name': 'test',
  });
  for (const { startNs, endNs } of collector.spans) expect(endNs).toBeGreaterThanOrEqual(startNs);

  const below = (span: ReceivedSpan | undefined) => `00-${CALLER.traceId}-${span?.spanId}-01`;
  expect(receiver.received.get('/parent')).toBe(below(called));
  expect(receiver.received.get('/wait')).toBe(below(waiting));
  expect(receiver.received.get('/own')).toBe('mine');
  const childExecution = find(collector, `workflow ${String(child.body.id)}`);
  expect(childExecution).toMatchObject({ traceId: CALLER.traceId, parentSpanId: flowNode?.spanId });
  const childCall = ofTrace.find(
    ({ parentSpanId, name }) => parentSpanId === childExecution.spanId && name === 'http.request',
  );
  expect(receiver.received.get('/child')).toBe(below(childCall));

  expect(collector.headers.every((headers) => headers['x-team'] === 'flows and more')).toBe(true);
  const sent = collector.bodies.join('');
  for (const text of [SECRET, key, receiver.callbackPath()?.split('/').at(-1) ?? '?', '127.0.0.1']) {
    expect(sent).not.toContain(text);
  }

  const requestLine = lines.find(({ msg, execution_id: about }) => msg === 'request' && about === id);
  expect(requestLine).toMatchObject({ trace_id: CALLER.traceId, span_id: request.spanId });
  expect(requestLine?.request_id).toBe(request.attributes['millrace.request.id']);
  const endLine = lines.find(({ msg, execution_id: about }) => msg === 'execution failed' && about === id);
  expect(endLine).toMatchObject({ trace_id: CALLER.traceId });
});

test('a webhook continues the trace of its caller, and calls of a model carry it on', async () => {
  const collector = await startCollector();
  const model = await startModelServer({
    key: 'sk-kept-out',
    answer: () => ({ text: SECRET, usage: { input: 3, output: 2 } }),
  });
  const secretKey = randomBytes(32).toString('base64');
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, MILLRACE_SECRET_KEY: secretKey };
  const service = await start(env);
  const key = service.firstStart?.apiKey ?? '';
  const [organisation] = await database.db.query<{ id: number }>('SELECT id FROM organisations');
  const credential = await addCredential(
    { db: database.db, keys: createSecretKeys(configOf(env)) },
    {
      ...{ organisationId: organisation?.id ?? 0, name: 'model', type: 'ai', hosts: [] },
      fields: { base_url: model.baseUrl('openai_compatible'), api_key: 'sk-kept-out' },
    },
    { actor: 'operator' },
  );
  const config = { credential_id: credential.id, model: 'small', prompt: '{{trigger.data.question}}' };
  const { body: workflow } = await call(service, key, '/workflows', {
    name: 'asks',
    status: 'active',
    flow_data: chain({ id: 'hook', type: 'trigger.webhook' }, { id: 'ask', type: 'ai.generate', config }),
  });
  const hook = await call(service, key, `/workflows/${String(workflow.id)}/webhook-info`);
  const path = new URL(String(hook.body.url)).pathname;
  const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
  const received = await call(
    service,
    '',
    path.replace('/api/v1', ''),
    { question: SECRET },
    { traceparent },
  );
  expect(received.status).toBe(202);
  const id = Number(received.body.execution_id);
  const ended = await vi.waitUntil(async () => {
    const { body } = await call(service, key, `/executions/${id}?wait=20`);
    return body.completed_at === null ? null : body;
  }, PATIENCE);
  expect([ended.status, ended.error]).toEqual(['completed', undefined]);
  await service.stop();
  await model.close();

  const request = find(collector, 'POST /api/v1/webhooks/:hash');
  expect(request).toMatchObject({ traceId: CALLER.traceId, parentSpanId: CALLER.spanId });
  const execution = find(collector, `workflow ${String(workflow.id)}`);
  expect(execution).toMatchObject({ traceId: CALLER.traceId, parentSpanId: request.spanId, status: 0 });
  const asked = find(collector, 'ai.generate');
  expect(asked).toMatchObject({ traceId: CALLER.traceId, parentSpanId: execution.spanId });
  const [question, ...others] = model.requests;
  expect(others).toEqual([]);
  expect(question?.headers.traceparent).toBe(`00-${CALLER.traceId}-${asked.spanId}-01`);
  const sent = collector.bodies.join('');
  for (const text of [SECRET, 'sk-kept-out', path.split('/').at(-1) ?? '?']) expect(sent).not.toContain(text);
});

test('nothing is read from requests and sent with calls if that is switched off; protobuf is the default', async () => {
  const collector = await startCollector();
  const service = await start({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/custom`,
    OTEL_PROPAGATORS: 'none',
  });
  const { apiKey: key, workflowId } = service.firstStart ?? {};
  const { body } = await call(
    service,
    key ?? '',
    `/workflows/${workflowId}/execute`,
    {},
    {
      traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`,
    },
  );
  const id = Number(body.execution_id ?? body.id);
  await vi.waitUntil(
    async () => (await call(service, key ?? '', `/executions/${id}?wait=20`)).body.status === 'completed',
    PATIENCE,
  );
  await service.stop();
  expect(collector.types.every((type) => type === 'application/x-protobuf')).toBe(true);
  const execution = find(collector, `workflow ${workflowId}`);
  const request = find(collector, 'POST /api/v1/workflows/:id/execute');
  expect(request.parentSpanId).toBe('');
  expect(execution).toMatchObject({ traceId: request.traceId, parentSpanId: request.spanId, status: 0 });
  expect(execution.attributes).toMatchObject({
    'millrace.execution.id': id,
    'millrace.execution.status': 'completed',
  });
  expect(collector.spans.some(({ traceId }) => traceId === CALLER.traceId)).toBe(false);
  const nodes = collector.spans.filter(({ parentSpanId }) => parentSpanId === execution.spanId);
  expect(nodes.length).toBeGreaterThan(1);
  expect(nodes.every(({ traceId }) => traceId === execution.traceId)).toBe(true);
});

test('without a collector executions run as ever, and what it did not take is counted', async () => {
  const service = await start({
    // Nothing ever listens on it.
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    OTEL_BSP_MAX_QUEUE_SIZE: '3',
    OTEL_BSP_SCHEDULE_DELAY: '10',
    MILLRACE_METRICS_PORT: '0',
  });
  const { apiKey: key, workflowId } = service.firstStart ?? {};
  const { body } = await call(service, key ?? '', `/workflows/${workflowId}/execute`, {});
  const id = String(body.execution_id ?? body.id);
  await vi.waitUntil(
    async () => (await call(service, key ?? '', `/executions/${id}?wait=20`)).body.status === 'completed',
    PATIENCE,
  );
  await vi.waitUntil(async () => {
    const page = await (await fetch(service.metricsUrl ?? '')).text();
    expect(page).toContain('millrace_trace_spans_exported_total 0');
    return /^millrace_trace_spans_dropped_total [1-9]/m.test(page);
  }, PATIENCE);
});
