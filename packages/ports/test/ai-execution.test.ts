import { randomBytes } from 'node:crypto';
import { success } from '@millrace/engine';
import { addModelCredential } from '@millrace/testing/model-credential';
import {
  type ModelRequest,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from '@millrace/testing/model-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';
import { KEY } from './ai-harness.ts';

let service: WorkingService;
let server: ModelServer;
let credentialId: number;
let answer: ModelServerOptions['answer'];
let asked: ModelRequest[] = [];

beforeAll(async () => {
  server = await startModelServer({
    answer: (request) => {
      asked.push(request);
      return answer(request);
    },
    key: KEY,
  });
  const secretKeys = { current: randomBytes(32), previous: [] };
  service = await startWorkingService({ config: { allowHosts: [server.host], secretKeys } });
  service.behaviours.set('weigh', ({ config }) => success({ grams: Number(config.of) * 10 }));
  const fields = { provider: 'anthropic', base_url: server.baseUrl('anthropic'), api_key: KEY };
  credentialId = await addModelCredential(service, service.key.organisationId, fields);
});

afterAll(async () => {
  await service.stop();
  await server.close();
});

beforeEach(() => {
  asked = [];
});

function flow(type: string, config: object, more: { data?: object; settings?: object } = {}): object {
  const own = { credential_id: credentialId, model: 'claude-sonnet-4-5', prompt: 'Go: {{trigger.data}}' };
  return {
    nodes: [
      { id: 'start', type: 'trigger.manual', data: { config: {} } },
      { id: 'ask', type, data: { config: { ...own, ...config }, ...more.data } },
    ],
    edges: [{ source: 'start', target: 'ask' }],
    settings: more.settings ?? {},
  };
}

const resultsIn = ({ messages }: ModelRequest): readonly string[] =>
  messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));

async function run(flowData: object, input: object = {}) {
  const id = await service.execute(await service.createWorkflow(flowData), input);
  const execution = await service.finished(id);
  return { execution, node: execution.node_outputs.ask };
}

describe('an execution that asks a model', () => {
  it('adds up the tokens of all attempts', async () => {
    answer = () => {
      if (asked.length === 1) return { text: ['a', 'b'], usage: { input: 40, output: 9 }, cutAfter: 4 };
      if (asked.length === 2) return { text: 'not JSON', usage: { input: 40, output: 3 } };
      return { text: '{"n":1}', usage: { input: 40, output: 5 } };
    };
    const { execution, node } = await run(
      flow(
        'ai.generate',
        {
          output: 'json',
          schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
        },
        { data: { retry: { max_attempts: 3, backoff_ms: 1, max_backoff_ms: 1 } } },
      ),
      { a: 1 },
    );
    expect(execution.status).toBe('completed');
    // Broken off: 40 in, and the 1 out that was reported at the start.
    expect([node?.attempts, node?.consumed_ai_tokens, execution.consumed_ai_tokens]).toEqual([3, 129, 129]);
    expect(node?.output).toMatchObject({ json: { n: 1 }, usage: { total_tokens: 45 } });
    expect(asked[0]?.messages).toMatchObject([{ role: 'user', text: 'Go: {"a":1}' }]);
  });

  it('counts them when it fails permanently', async () => {
    answer = () => ({ text: 'No.', finish: 'content_filter', usage: { input: 12, output: 3 } });
    const { execution } = await run(flow('ai.generate', {}));
    expect(execution).toMatchObject({
      status: 'failed',
      error: { code: 'ai_refused', node_id: 'ask' },
      consumed_ai_tokens: 15,
    });
  });

  it('lets an agent call nodes and workflows, and shows each step', async () => {
    const child = await service.createWorkflow({
      nodes: [
        { id: 'start', type: 'trigger.manual', data: { config: {} } },
        { id: 'price', type: 'core.set', data: { config: { values: { euros: '{{trigger.data.grams}}' } } } },
      ],
      edges: [{ source: 'start', target: 'price' }],
    });
    const parameters = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'integer' } },
      required: [name],
    });
    answer = (request) => {
      const results = resultsIn(request);
      if (results.length === 0) return { toolCalls: [{ name: 'weigh', arguments: { of: 7 } }] };
      if (results.length === 1) return { toolCalls: [{ name: 'price', arguments: { grams: 70 } }] };
      return `Told: ${results.join(' ')}`;
    };
    const { execution, node } = await run(
      flow('ai.agent', {
        tools: [
          {
            kind: 'node',
            name: 'weigh',
            description: 'Weighs.',
            parameters: parameters('of'),
            type: 'test.effect',
            config: { do: 'weigh', of: '{{args.of}}' },
          },
          {
            kind: 'workflow',
            name: 'price',
            description: 'Says the price.',
            parameters: parameters('grams'),
            workflow_id: child,
          },
        ],
      }),
    );
    expect(execution.error).toBeUndefined();
    expect(node?.output.text).toMatch(/^Told: \{"grams":70\} \{.*"euros":70.*\}$/);
    expect(node?.output.steps).toMatchObject([
      { tool_calls: [{ name: 'weigh', arguments: { of: 7 }, result: { grams: 70 } }] },
      { tool_calls: [{ name: 'price', arguments: { grams: 70 } }] },
      { tool_calls: [] },
    ]);
    expect(execution.consumed_ai_tokens).toBe(45);
  });

  it('stops at the token budget of the workflow', async () => {
    answer = () => ({ toolCalls: [{ name: 'nothing', arguments: {} }], usage: { input: 90, output: 10 } });
    const { execution } = await run(flow('ai.agent', { max_steps: 50 }, { settings: { token_budget: 250 } }));
    expect(execution).toMatchObject({
      status: 'failed',
      error: { code: 'token_budget_exceeded' },
      consumed_ai_tokens: 300,
    });
    expect(asked).toHaveLength(3);
  });

  it('never reveals the key', async () => {
    answer = () => ({ error: { status: 400, message: `bad key ${KEY}` } });
    const { execution } = await run(flow('ai.generate', {}));
    expect(execution.error?.code).toBe('ai_bad_request');
    expect(JSON.stringify(execution)).not.toContain(KEY);
    expect(service.logs.join('')).not.toContain(KEY);
  });

  it('sends nothing in test mode', async () => {
    answer = () => 'Hi.';
    const id = await service.createWorkflow(flow('ai.agent', {}), { is_test_mode: true });
    const execution = await service.finished(await service.execute(id));
    expect(execution.node_outputs.ask?.output).toMatchObject({
      dry_run: true,
      request: { provider: 'anthropic', model: 'claude-sonnet-4-5' },
    });
    expect(asked).toEqual([]);
  });
});
