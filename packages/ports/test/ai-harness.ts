import { createGuardedFetch } from '@millrace/egress/guarded-fetch';
import {
  AI_PROVIDERS,
  type AiAnswer,
  type AiProvider,
  type AiRequest,
  type CredentialOf,
  ServiceError,
} from '@millrace/engine';
import { type ModelServer, type ModelServerOptions, startModelServer } from '@millrace/testing/model-server';
import { afterEach } from 'vitest';
import { createAiService } from '../src/ai.ts';

export const KEY = 'sk-test-4f9c2e7b1a';
export const PROVIDERS = [...AI_PROVIDERS];
export const MODELS: Record<AiProvider, string> = {
  openai_compatible: 'gpt-test',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

export async function startServer(options: ModelServerOptions): Promise<ModelServer> {
  const server = await startModelServer(options);
  closers.push(() => server.close());
  return server;
}

const CALLER = {
  organisationId: 1,
  workflowId: 1,
  executionId: 1,
  nodeId: 'ask',
  iteration: [],
  idempotencyKey: 'k',
  isTestMode: false,
  onSecret: () => undefined,
};

export function makeService(
  options: { allowHosts?: readonly string[]; maxAnswerBytes?: number; now?: () => number } = {},
): ReturnType<ReturnType<typeof createAiService>> {
  const { allowHosts = ['127.0.0.1'], ...rest } = options;
  const outbound = createGuardedFetch({ allowHosts });
  closers.push(() => outbound.close());
  return createAiService({ outbound: () => outbound, ...rest })(CALLER);
}

export function credentialFor(server: ModelServer, provider: AiProvider): CredentialOf<'ai'> {
  return { type: 'ai', provider, base_url: server.baseUrl(provider), api_key: KEY };
}

export function requestFor(provider: AiProvider, changes: Partial<AiRequest> = {}): AiRequest {
  return {
    model: MODELS[provider],
    system: null,
    messages: [{ role: 'user', text: 'Hello' }],
    tools: [],
    outputSchema: null,
    temperature: null,
    maxOutputTokens: null,
    timeoutMs: 30_000,
    ...changes,
  };
}

/** Starts a server with this script and sends it one request. */
export async function ask(
  provider: AiProvider,
  answer: ModelServerOptions['answer'],
  changes: Partial<AiRequest> = {},
  options: Parameters<typeof makeService>[0] & { key?: string | null; signal?: AbortSignal } = {},
): Promise<{ result: AiAnswer | ServiceError; server: ModelServer }> {
  const { key, signal = new AbortController().signal, ...rest } = options;
  const server = await startServer({ answer, ...(key === undefined ? {} : { key }) });
  const service = makeService(rest);
  const result = await service
    .generate(credentialFor(server, provider), requestFor(provider, changes), signal)
    .catch((error: unknown) => {
      if (error instanceof ServiceError) return error;
      throw error;
    });
  return { result, server };
}

export function answerOf(result: AiAnswer | ServiceError): AiAnswer {
  if (result instanceof ServiceError) throw result;
  return result;
}

export function errorOf(result: AiAnswer | ServiceError): ServiceError {
  if (result instanceof ServiceError) return result;
  throw new Error(`expected an error, got ${JSON.stringify(result)}`);
}

export const ADD = {
  name: 'add',
  description: 'Adds two numbers.',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
};
