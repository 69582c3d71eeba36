import {
  type AiProvider,
  isWork,
  type JsonObject,
  type NodeContext,
  type NodeResult,
} from '@millrace/engine';
import { registry } from '@millrace/nodes';
import type { ModelRequest, ModelServerOptions } from '@millrace/testing/model-server';
import { describe, expect, it } from 'vitest';
import { credentialFor, KEY, MODELS, makeService, PROVIDERS, startServer } from './ai-harness.ts';

/** Runs a node as the worker does, with the real service and a scripted model. */
async function runNode(
  type: string,
  provider: AiProvider,
  config: JsonObject,
  answer: ModelServerOptions['answer'],
): Promise<{ result: NodeResult; requests: readonly ModelRequest[] }> {
  const server = await startServer({ answer, key: KEY });
  const context = {
    config: { credential_id: 1, model: MODELS[provider], ...config },
    execution: { id: 1, workflowId: 1, organisationId: 1, isTestMode: false },
    aiTokensLeft: null,
    signal: new AbortController().signal,
    ai: makeService(),
    credentials: { open: async () => credentialFor(server, provider) },
  } as unknown as NodeContext;
  const result = await registry(type)?.run(context);
  if (result === undefined || isWork(result)) throw new Error(`there is no ${type}`);
  return { result, requests: server.requests };
}

const FIELDS = [
  { name: 'article', type: 'string', description: 'Its number.', required: true },
  { name: 'pieces', type: 'integer', description: '' },
];
const CLASSES = [
  { name: 'order', description: 'About an order.' },
  { name: 'complaint', description: '' },
];

describe.each(PROVIDERS)('on %s', (provider) => {
  it('ai.classify takes the branch of the class', async () => {
    const config = { text: 'It is broken.', classes: CLASSES, with_reason: true };
    const { result, requests } = await runNode('ai.classify', provider, config, () =>
      JSON.stringify({ reason: 'Broken.', class: 'complaint' }),
    );
    expect(requests).toHaveLength(1);
    expect(requests[0]?.outputSchema).toMatchObject({ properties: { class: {} } });
    expect(result).toMatchObject({
      kind: 'success',
      handles: ['complaint'],
      output: { class: 'complaint', reason: 'Broken.' },
      consumedAiTokens: 15,
    });
  });

  it('ai.extract sends back what does not match, and takes the corrected answer', async () => {
    const config = { text: '3 of A-1', fields: FIELDS };
    const answers = ['{"article":"A-1"}', '{"article":"A-1","pieces":3}'];
    const { result, requests } = await runNode(
      'ai.extract',
      provider,
      config,
      ({ number }) => answers[number - 1] ?? '',
    );
    expect(requests).toHaveLength(2);
    expect(requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(requests[1]?.messages[1]?.text).toBe('{"article":"A-1"}');
    expect(requests[1]?.messages[2]?.text).toContain('pieces');
    expect(result).toMatchObject({
      kind: 'success',
      output: { json: { article: 'A-1', pieces: 3 }, repairs: 1 },
      consumedAiTokens: 30,
    });
  });

  it('ai.extract asks in words where a schema is refused', async () => {
    const config = { text: '3 of A-1', fields: FIELDS };
    const { result } = await runNode('ai.extract', provider, config, ({ outputSchema }) =>
      outputSchema === null
        ? '{"article":"A-1","pieces":null}'
        : { error: { status: 400, message: 'response_format json_schema output_config is not supported' } },
    );
    expect(result).toMatchObject({
      kind: 'success',
      output: { json: { article: 'A-1', pieces: null }, repairs: 0 },
    });
  });
});
