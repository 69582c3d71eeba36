import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { success } from '@millrace/engine';
import { startHttp } from '@millrace/testing/test-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flowOf, type TestNode } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';

let service: WorkingService;
beforeAll(async () => {
  service = await startWorkingService();
});
afterAll(() => service.stop());

/** More than a response in memory may have by default. */
const LARGE = randomBytes(1_500_000);
const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const http = (id: string, config: object, more: object = {}): TestNode => [
  id,
  'http.request',
  { config, ...more },
];

async function run(nodes: readonly TestNode[], input: object = {}) {
  const edges = nodes.map(([id], index) => `${nodes[index - 1]?.[0] ?? 'start'}>${id}`);
  const workflowId = await service.createWorkflow(flowOf(nodes, edges));
  return service.finished(await service.execute(workflowId, input));
}

async function upload(text: string, name = 'a.txt') {
  const { json } = await service.api('POST', `/files?name=${name}`, {
    key: service.key,
    raw: text,
    headers: { 'content-type': 'text/plain' },
  });
  return json;
}

async function download(id: unknown): Promise<Buffer> {
  const response = await fetch(`${service.url}/api/v1/files/${String(id)}`, {
    headers: { authorization: `Bearer ${service.key.text}` },
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

const countFiles = async () => (await service.database.db.query('SELECT FROM files')).length;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A server that keeps what it gets, and responds with these statuses, then 200. */
async function receiver(...statuses: readonly number[]) {
  const received: Received[] = [];
  const server = await startHttp((request, response) => {
    void buffer(request).then((body) => {
      response.writeHead(statuses[received.length] ?? 200).end('{}');
      received.push({ headers: request.headers, body });
    });
  });
  return { url: server.url, received };
}

describe('a response as a file', () => {
  test('is stored, however large it is, and unpacked', async () => {
    const server = await startHttp((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/pdf',
        'content-encoding': 'gzip',
        'content-disposition': 'attachment; filename="../bill.pdf"',
      });
      response.end(gzipSync(LARGE));
    });
    const { status, node_outputs: outputs } = await run([
      http('get', { url: server.url, response_type: 'file' }),
    ]);
    expect(status).toBe('completed');
    const file = outputs.get?.output.body as { readonly $file: string };
    expect(outputs.get?.output).toMatchObject({
      status: 200,
      body_type: 'file',
      body: { name: 'bill.pdf', type: 'application/pdf', size: LARGE.length, sha256: sha256Of(LARGE) },
    });
    expect((await download(file.$file)).equals(LARGE)).toBe(true);
  });

  test('is named after the end of the address if the response has no name', async () => {
    const server = await startHttp((_request, response) => response.end('x'));
    const { node_outputs: outputs } = await run([
      http('get', { url: `${server.url}/list%20of.csv?a=b`, response_type: 'file' }),
    ]);
    expect(outputs.get?.output.body).toMatchObject({ name: 'list of.csv', type: 'application/octet-stream' });
  });

  test('with a status that is not wanted is read instead', async () => {
    const before = await countFiles();
    const server = await startHttp((_request, response) => response.writeHead(404).end('no such bill'));
    const { node_outputs: outputs } = await run([http('get', { url: server.url, response_type: 'file' })]);
    expect(outputs.get).toMatchObject({ error: { code: 'http_status' }, output: { body: 'no such bill' } });
    expect(await countFiles()).toBe(before);
  });

  test('that breaks off leaves nothing', async () => {
    const before = await countFiles();
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('abc');
      response.destroy();
    });
    const cut = await run([http('get', { url: server.url, response_type: 'file' })]);
    expect(cut.node_outputs.get?.error?.code).toBe('connection_failed');
    expect(await countFiles()).toBe(before);
  });
});

describe('a file as the body of a request', () => {
  test('is sent as it is, again for each attempt', async () => {
    const { url, received } = await receiver(503, 503);
    const file = await upload('hello');
    const node = http(
      'send',
      { method: 'POST', url, body_type: 'file', body: '{{trigger.data.file}}' },
      { retry: { max_attempts: 3, backoff_ms: 1 } },
    );
    expect((await run([node], { file })).status).toBe('completed');
    expect(received).toHaveLength(3);
    for (const { headers, body } of received) {
      expect(body.toString()).toBe('hello');
      expect(headers).toMatchObject({ 'content-type': 'text/plain', 'content-length': '5' });
    }
  });

  test('can be fields of a form, beside texts', async () => {
    const { url, received } = await receiver();
    const [one, two] = [await upload('one', 'a"b.txt'), await upload('two', 'rechnung-%C3%BC.txt')];
    const body = {
      note: 'for {{trigger.data.who}}',
      count: 2,
      files: ['{{trigger.data.one}}', '{{trigger.data.two}}'],
    };
    const input = { one, two, who: 'Ada' };
    await run([http('send', { method: 'POST', url, body_type: 'multipart', body })], input);
    const [{ headers, body: sent }] = received as [Received];
    expect(headers['content-length']).toBe(String(sent.length));
    const form = await new Response(new Uint8Array(sent), {
      headers: { 'content-type': headers['content-type'] ?? '' },
    }).formData();
    expect([form.get('note'), form.get('count')]).toEqual(['for Ada', '2']);
    const files = form.getAll('files') as File[];
    expect(files.map(({ name, type }) => [name, type])).toEqual([
      ['a"b.txt', 'text/plain'],
      ['rechnung-ü.txt', 'text/plain'],
    ]);
    expect(await Promise.all(files.map((file) => file.text()))).toEqual(['one', 'two']);
  });

  test('is only described in test mode', async () => {
    const { url, received } = await receiver();
    const file = await upload('hello');
    const nodes = [http('send', { method: 'POST', url, body_type: 'file', body: '{{trigger.data.file}}' })];
    const flow = flowOf(nodes, ['start>send']);
    const workflowId = await service.createWorkflow(flow, { is_test_mode: true });
    const { node_outputs: outputs } = await service.finished(await service.execute(workflowId, { file }));
    expect(outputs.send?.output).toMatchObject({ dry_run: true, request: { body: file } });
    expect(received).toEqual([]);
  });

  test.each([
    ['text', 'invalid_config'],
    [{ $file: '00000000-0000-4000-8000-000000000000' }, 'file_not_found'],
  ])('is refused if it is %j', async (value, code) => {
    const { url, received } = await receiver();
    const make = async () => success({ value });
    service.behaviours.set('make', make);
    const { node_outputs: outputs } = await run([
      ['make', 'test.effect', { config: { do: 'make' } }],
      http('send', { method: 'POST', url, body_type: 'file', body: '{{nodes.make.output.value}}' }),
    ]);
    expect(outputs.send?.error?.code).toBe(code);
    expect(received).toEqual([]);
  });
});

describe('who may read a file', () => {
  const sending = (url: string, body: string) =>
    http('send', { method: 'POST', url, body_type: 'file', body });

  test('not whoever names it in a webhook', async () => {
    const { url, received } = await receiver();
    const file = await upload('secret');
    const flow = {
      ...flowOf([sending(url, '{{trigger.data.file}}')], ['hook>send']),
      nodes: [
        { id: 'hook', type: 'trigger.webhook', data: {} },
        { id: 'send', type: 'http.request', data: sending(url, '{{trigger.data.file}}')[2] },
      ],
    };
    const workflowId = await service.createWorkflow(flow);
    const info = await service.api('GET', `/workflows/${workflowId}/webhook-info`, { key: service.key });
    const called = await service.api('POST', `/webhooks/${String(info.json.hash)}`, { body: { file } });
    const { node_outputs: outputs } = await service.finished(called.json.execution_id);
    expect(outputs.send?.error?.code).toBe('file_not_found');
    expect(received).toEqual([]);
  });

  test('a child, of what its parent has, and the parent, of what the child returns', async () => {
    const { url, received } = await receiver();
    const source = await startHttp((_request, response) => response.end('made by the child'));
    const child = await service.createWorkflow(
      flowOf(
        [sending(url, '{{trigger.data.file}}'), http('get', { url: source.url, response_type: 'file' })],
        ['start>send', 'send>get'],
      ),
    );
    const file = await upload('from the parent');
    const { status, id } = await run(
      [
        ['call', 'flow.call', { config: { workflow_id: child, input: { file: '{{trigger.data.file}}' } } }],
        sending(url, '{{nodes.call.output.output.body}}'),
      ],
      { file },
    );
    expect([status, received.map(({ body }) => body.toString())]).toEqual([
      'completed',
      ['from the parent', 'made by the child'],
    ]);
    const referred = await service.database.db.query('SELECT FROM execution_files WHERE execution_id = $1', [
      id,
    ]);
    expect(referred).toHaveLength(2);
  });

  test('a rerun, of what the former execution had', async () => {
    const { url, received } = await receiver(500);
    const file = await upload('again');
    const failed = await run([sending(url, '{{trigger.data.file}}')], { file });
    expect(failed.status).toBe('failed');
    const rerun = await service.api('POST', `/executions/${failed.id}/rerun`, {
      key: service.key,
      body: { from: 'failed_node' },
    });
    expect((await service.finished(rerun.json.execution_id)).status).toBe('completed');
    expect(received.map(({ body }) => body.toString())).toEqual(['again', 'again']);
  });
});
