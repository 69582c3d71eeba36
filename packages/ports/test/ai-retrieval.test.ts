import { randomBytes } from 'node:crypto';
import { addModelCredential } from '@millrace/testing/model-credential';
import { type ModelServer, startModelServer } from '@millrace/testing/model-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';
import { KEY } from './ai-harness.ts';

let service: WorkingService;
let server: ModelServer;
let credentialId: number;

/** What a text is about: grease, belts. */
const vectorOf = (text: string): readonly number[] => [
  text.toLowerCase().split('grease').length - 1,
  text.toLowerCase().split('belt').length - 1,
  0.01,
];

beforeAll(async () => {
  server = await startModelServer({
    key: KEY,
    embed: ({ texts }) => texts.map(vectorOf),
    answer({ messages }) {
      const results = messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
      return results.length === 0
        ? { toolCalls: [{ name: 'search_manuals', arguments: { question: 'When do I grease it?' } }] }
        : `Found: ${results.join(' ')}`;
    },
  });
  const secretKeys = { current: randomBytes(32), previous: [] };
  service = await startWorkingService({ config: { allowHosts: [server.host], secretKeys } });
  const fields = {
    provider: 'openai_compatible',
    base_url: server.baseUrl('openai_compatible'),
    api_key: KEY,
  };
  credentialId = await addModelCredential(service, service.key.organisationId, fields);
});

afterAll(async () => {
  await service.stop();
  await server.close();
});

it('an agent searches what the workflow has stored, and all tokens are counted', async () => {
  const store = { collection: 'manuals', credential_id: credentialId, model: 'embed-1' };
  const items = [
    { key: 'grease', text: 'Grease it twice a year.', metadata: { product: 'A-17' } },
    { key: 'belt', text: 'The belt lasts for 5,000 hours.', metadata: { product: 'A-17' } },
    { key: 'other', text: 'Grease, grease, grease!', metadata: { product: 'B-1' } },
  ];
  const tool = {
    kind: 'node',
    name: 'search_manuals',
    description: 'Searches the manuals.',
    parameters: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
    type: 'ai.vectors',
    config: {
      ...store,
      operation: 'search',
      query: '{{args.question}}',
      filter: { product: '{{trigger.data.product}}' },
      limit: 1,
    },
  };
  const ask = { credential_id: credentialId, model: 'gpt-test', prompt: 'When?', tools: [tool] };
  const id = await service.createWorkflow({
    nodes: [
      { id: 'start', type: 'trigger.manual', data: { config: {} } },
      { id: 'store', type: 'ai.vectors', data: { config: { ...store, operation: 'put', items } } },
      { id: 'ask', type: 'ai.agent', data: { config: ask } },
    ],
    edges: [
      { source: 'start', target: 'store' },
      { source: 'store', target: 'ask' },
    ],
  });
  const execution = await service.finished(await service.execute(id, { product: 'A-17' }));
  expect(execution.error).toBeUndefined();
  const { store: stored, ask: answered } = execution.node_outputs;
  // 5, 6 and 3 words.
  expect(stored).toMatchObject({ output: { stored: 3 }, consumed_ai_tokens: 14 });
  expect(answered?.output.steps).toMatchObject([
    {
      tool_calls: [
        {
          name: 'search_manuals',
          result: { count: 1, matches: [{ key: 'grease', text: 'Grease it twice a year.' }] },
          consumed_ai_tokens: 5,
        },
      ],
    },
    { tool_calls: [] },
  ]);
  // Two answers of 15 tokens and the query of 5.
  expect(answered?.consumed_ai_tokens).toBe(35);
  expect(execution.consumed_ai_tokens).toBe(49);
  expect(JSON.stringify(execution)).not.toContain(KEY);
});
