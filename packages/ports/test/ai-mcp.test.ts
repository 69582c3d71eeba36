import { randomBytes } from 'node:crypto';
import { addCredential } from '@millrace/credentials/credentials';
import type { JsonObject } from '@millrace/engine';
import { createSecretKeys } from '@millrace/secrets/keys';
import { type McpTestServer, type McpTestServerOptions, startMcpServer } from '@millrace/testing/mcp-server';
import { type ModelRequest, type ModelServer, startModelServer } from '@millrace/testing/model-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';
import { KEY } from './ai-harness.ts';

const TOKEN = 'mcp-canary-7c1f';

let service: WorkingService;
let model: ModelServer;
let credentialId: number;
let tokenId: number;
const opened: McpTestServer[] = [];

const resultsIn = ({ messages }: ModelRequest): readonly string[] =>
  messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));

beforeAll(async () => {
  model = await startModelServer({
    key: KEY,
    answer(request) {
      const results = resultsIn(request);
      const [tool] = request.tools;
      return results.length === 0 && tool !== undefined
        ? { toolCalls: [{ name: tool.name, arguments: { article: 'A-17' } }] }
        : `Told: ${results.join(' ')}`;
    },
  });
  const secretKeys = { current: randomBytes(32), previous: [] };
  service = await startWorkingService({ config: { allowHosts: ['127.0.0.1'], secretKeys } });
  const deps = { db: service.deps.db, keys: createSecretKeys(service.deps.config) };
  const { organisationId } = service.key;
  const ai = {
    provider: 'openai_compatible',
    base_url: model.baseUrl('openai_compatible'),
    api_key: KEY,
  };
  const add = async (type: 'ai' | 'bearer', name: string, fields: JsonObject, hosts: readonly string[]) =>
    (
      await addCredential(
        deps,
        { organisationId, name, type, hosts: [...hosts], fields },
        { actor: 'operator' },
      )
    ).id;
  credentialId = await add('ai', 'model', ai, []);
  tokenId = await add('bearer', 'mcp', { token: TOKEN }, ['127.0.0.1']);
});

afterAll(async () => {
  await service.stop();
  await model.close();
});

afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

const STOCK = {
  name: 'stock.count',
  description: 'How many there are.',
  inputSchema: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
};
const DROP = { name: 'drop_everything', inputSchema: { type: 'object' } };

async function start(options: Partial<McpTestServerOptions> = {}): Promise<McpTestServer> {
  const server = await startMcpServer({
    tools: [DROP, STOCK],
    call: () => ({ content: [{ type: 'text', text: 'Three.' }] }),
    ...options,
  });
  opened.push(server);
  return server;
}

async function run(server: McpTestServer, more: JsonObject = {}, config: JsonObject = {}) {
  const servers = [{ name: 'shop', url: server.url, tools: ['stock.count'], ...more }];
  const own = { credential_id: credentialId, model: 'gpt-test', prompt: 'How many?', mcp_servers: servers };
  const id = await service.createWorkflow({
    nodes: [
      { id: 'start', type: 'trigger.manual', data: { config: {} } },
      { id: 'ask', type: 'ai.agent', data: { config: { ...own, ...config }, retry: { max_attempts: 1 } } },
    ],
    edges: [{ source: 'start', target: 'ask' }],
  });
  const execution = await service.finished(await service.execute(id, {}));
  return { execution, output: execution.node_outputs.ask?.output, asked: model.requests.at(-1) };
}

describe('an agent with the tools of an MCP server', () => {
  it.each([
    ['as streams of events', {}],
    ['as JSON', { sendsJson: true }],
    ['over two pages', { pageSize: 1 }],
  ])('sees those it is allowed, and calls them: %s', async (_how, options) => {
    const server = await start({ ...options, token: TOKEN });
    const { execution, output, asked } = await run(server, { credential_id: tokenId });
    expect(execution.error).toBeUndefined();
    expect(asked?.tools).toEqual([
      { name: 'shop_stock_count', description: 'How many there are.', parameters: STOCK.inputSchema },
    ]);
    expect(server.calls).toEqual([{ name: 'stock.count', arguments: { article: 'A-17' } }]);
    expect(output).toMatchObject({
      text: 'Told: Three.',
      steps: [
        { tool_calls: [{ name: 'shop_stock_count', arguments: { article: 'A-17' }, result: 'Three.' }] },
        { tool_calls: [] },
      ],
    });
    expect(JSON.stringify(execution)).not.toContain(TOKEN);
    // The session is known to both, repeated calls can be told apart, and it ends with the node.
    const [, second] = server.requests;
    expect(second?.headers).toMatchObject({ 'mcp-session-id': expect.any(String) });
    expect(server.requests.some(({ headers }) => headers['idempotency-key'] !== undefined)).toBe(true);
    expect(server.requests.at(-1)?.method).toBe('DELETE');
  });

  it('hands the model what a tool returns: structured results, errors, and what is left out', async () => {
    for (const [result, told] of [
      [{ content: [], structuredContent: { left: 3 } }, '{"left":3}'],
      [{ content: [{ type: 'text', text: 'No such article.' }], isError: true }, 'No such article.'],
      [
        {
          content: [
            { type: 'text', text: 'See:' },
            { type: 'image', data: 'eA==', mimeType: 'image/png' },
          ],
        },
        'See:\n[left out: image content]',
      ],
    ] as const) {
      const { output } = await run(await start({ call: () => result }));
      expect(output?.text).toBe(`Told: ${told}`);
    }
  });

  it('goes on when a call fails', async () => {
    const server = await start({
      call: () => {
        throw new Error('the shop is closed');
      },
    });
    const { execution, output } = await run(server);
    expect(execution.status).toBe('completed');
    expect(output?.steps).toMatchObject([
      { tool_calls: [{ error: { error: { code: 'mcp_refused' } } }] },
      {},
    ]);
    expect(output?.text).toContain('the shop is closed');
  });

  it('checks arguments before they are sent', async () => {
    const inputSchema = { type: 'object', properties: { article: { type: 'integer' } } };
    const server = await start({ tools: [{ ...STOCK, inputSchema }] });
    const { output } = await run(server);
    expect(server.calls).toEqual([]);
    expect(output?.text).toContain('The arguments do not fit');
  });

  it('cuts results that are too long', async () => {
    const server = await start({ call: () => ({ content: [{ type: 'text', text: 'x'.repeat(5_000) }] }) });
    const { output } = await run(server, {}, { tool_result_chars: 100 });
    expect(output?.text).toMatch(/^Told: x{100}\n\[cut: the result has 5000 characters/);
  });
});

describe('an agent fails before it asks the model', () => {
  it.each([
    ['mcp_tool_missing', {}, { tools: ['stock.count', 'nothing'] }],
    ['mcp_unauthorized', { token: TOKEN }, {}],
    ['mcp_invalid_response', { raw: { status: 200, type: 'text/html', body: '<html></html>' } }, {}],
    ['mcp_status', { raw: { status: 503, type: 'text/plain', body: '' } }, {}],
    [
      'response_too_large',
      { raw: { status: 200, type: 'application/json', body: ' '.repeat(1_100_000) } },
      {},
    ],
    [
      'mcp_unsupported',
      {
        raw: {
          status: 200,
          type: 'application/json',
          body: '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1999-01-01"}}',
        },
      },
      {},
    ],
  ])('%s', async (code, options, more) => {
    const before = model.requests.length;
    const { execution } = await run(await start(options), more);
    expect(execution.error).toMatchObject({ code, node_id: 'ask' });
    expect(model.requests).toHaveLength(before);
  });

  it('when two tools have one name', async () => {
    const server = await start();
    const servers = ['shop', 'shop'].map((name) => ({ name, url: server.url, tools: ['stock.count'] }));
    const { execution } = await run(server, {}, { mcp_servers: servers });
    expect(execution.error).toMatchObject({ code: 'invalid_config' });
  });

  it('when the credential is not for that host', async () => {
    const server = await start();
    const url = server.url.replace('127.0.0.1', 'localhost');
    const { execution } = await run(server, { url, credential_id: tokenId });
    expect(execution.error).toMatchObject({ code: 'credential_host_not_allowed' });
    expect(server.requests).toEqual([]);
  });
});
