import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** The README's main use case, with the unchanged files in `examples/event-router`. */
const example = (file: string) => new URL(`../../../../examples/event-router/${file}`, import.meta.url);

interface Received {
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly userAgent: string | undefined;
  readonly body: unknown;
}

let service: TestService;
let key: TestKey;
let receiver: Server;
let received: Received[] = [];
let hash: string;
let workflowId: number;

beforeAll(async () => {
  receiver = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        path: `${request.method} ${request.url}`,
        idempotencyKey: request.headers['idempotency-key']?.toString(),
        userAgent: request.headers['user-agent'],
        body: JSON.parse(Buffer.concat(chunks).toString()),
      });
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ receipt: `R-${received.length}`, path: request.url }));
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  service = await startTestService({ worker: {}, config: { allowHosts: ['127.0.0.1'] } });
  key = await service.createKey();
  const workflow = JSON.parse(await readFile(example('workflow.json'), 'utf8'));
  const { port } = receiver.address() as AddressInfo;
  workflow.flow_data.settings.vars.receiver_url = `http://127.0.0.1:${port}`;
  const created = await service.api('POST', '/workflows', { key, body: workflow });
  expect(created.status, created.text).toBe(201);
  expect(created.json.problems).toEqual([]);
  workflowId = created.json.id;
  const info = await service.api('GET', `/workflows/${workflowId}/webhook-info`, { key });
  hash = String(info.json.hash);
});

afterAll(async () => {
  await service.stop();
  await new Promise((resolve) => receiver.close(resolve));
});

/** The parts of an execution that the test reads; every response is checked against the OpenAPI document. */
interface Execution {
  readonly status: string;
  readonly display_name: string;
  readonly input_data: unknown;
  readonly node_outputs: { readonly [nodeId: string]: { readonly status: string; readonly output: unknown } };
}

/** Sends an event as its source would, and returns the execution once it is final. */
async function deliver(raw: string): Promise<Execution> {
  received = [];
  const receipt = await service.api('POST', `/webhooks/${hash}`, {
    raw,
    headers: { 'content-type': 'application/json' },
  });
  expect(receipt.status, receipt.text).toBe(202);
  expect(receipt.json).toMatchObject({ success: true, captured: false });
  const execution = await service.api('GET', `/executions/${receipt.json.execution_id}?wait=30`, { key });
  expect(execution.json).toMatchObject({ workflow_id: workflowId, trigger_type: 'webhook' });
  return execution.json as unknown as Execution;
}

function statusesOf(execution: Execution): { [nodeId: string]: string } {
  return Object.fromEntries(
    Object.entries(execution.node_outputs).map(([id, record]) => [id, record.status]),
  );
}

function outputOf(execution: Execution, nodeId: string): unknown {
  return execution.node_outputs[nodeId]?.output;
}

describe('the event router of examples/', () => {
  it('GitHub push: filters the commits, announces them, skips the payment branch', async () => {
    const event = await readFile(example('github-push.json'), 'utf8');
    const push = JSON.parse(event);
    const execution = await deliver(event);

    expect(execution).toMatchObject({ status: 'completed', display_name: 'harbour-tools/tide-tables' });
    expect(execution.input_data).toEqual(push);
    expect(statusesOf(execution)).toEqual({
      event: 'success',
      kind: 'success',
      new_commits: 'success',
      announce: 'success',
      is_large: 'skipped',
      tell_accounts: 'skipped',
      book: 'skipped',
      done: 'success',
      summary: 'success',
    });
    expect(outputOf(execution, 'event')).toEqual({ data: push });
    expect(outputOf(execution, 'kind')).toEqual({ matched: ['push'] });
    const kept = [push.commits[0], push.commits[2]];
    expect(outputOf(execution, 'new_commits')).toEqual({ items: kept, count: 2, rejected_count: 1 });
    expect(outputOf(execution, 'summary')).toEqual({
      event: 'push',
      announced: 201,
      booked: null,
      accounts_told: null,
      receipt: null,
    });
    expect(received).toEqual([
      {
        path: 'POST /announcements',
        idempotencyKey: expect.stringMatching(/\S/),
        userAgent: expect.stringMatching(/^Millrace\//),
        body: {
          text: 'hsato pushed 2 new commits to harbour-tools/tide-tables',
          branch: 'refs/heads/main',
          repository_id: 730019244,
          last_message: 'Add 東京湾 tables 🌊',
          commits: kept,
        },
      },
    ]);
  });

  it('Stripe payment: notifies accounts and books it in parallel branches, then merges', async () => {
    const event = await readFile(example('stripe-payment-intent-succeeded.json'), 'utf8');
    const execution = await deliver(event);

    expect(execution).toMatchObject({ status: 'completed', display_name: 'payment_intent.succeeded' });
    expect(statusesOf(execution)).toEqual({
      event: 'success',
      kind: 'success',
      new_commits: 'skipped',
      announce: 'skipped',
      is_large: 'success',
      tell_accounts: 'success',
      book: 'success',
      done: 'success',
      summary: 'success',
    });
    expect(outputOf(execution, 'is_large')).toEqual({ result: true });
    expect(outputOf(execution, 'done')).toEqual({
      tell_accounts: outputOf(execution, 'tell_accounts'),
      book: outputOf(execution, 'book'),
    });
    expect(outputOf(execution, 'summary')).toEqual({
      event: 'payment',
      announced: null,
      booked: 201,
      accounts_told: 201,
      receipt: expect.stringMatching(/^R-[12]$/),
    });
    const payment = 'pi_3QmTideHarbour0Kx1c9d8e7';
    const byPath = new Map(received.map((request) => [request.path, request.body]));
    expect(byPath.size).toBe(2);
    expect(byPath.get('POST /large-payments')).toEqual({
      payment,
      order: 'T-20261119-0042',
      amount: 249900,
      currency: 'EUR',
    });
    expect(byPath.get('POST /payments')).toEqual({
      payment,
      amount: 249900,
      currency: 'EUR',
      livemode: false,
    });
    expect(new Set(received.map((request) => request.idempotencyKey)).size).toBe(2);
  });

  it('deleted branch: no commit is new, so nothing is sent', async () => {
    const push = JSON.parse(await readFile(example('github-push.json'), 'utf8'));
    const execution = await deliver(
      JSON.stringify({ ...push, deleted: true, commits: [], head_commit: null }),
    );

    expect(execution.status).toBe('completed');
    expect(outputOf(execution, 'new_commits')).toEqual({ items: [], count: 0, rejected_count: 0 });
    expect(statusesOf(execution).announce).toBe('skipped');
    expect(statusesOf(execution).summary).toBe('skipped');
    expect(received).toEqual([]);
  });
});
