import { type AiEmbedding, type AiEmbedRequest, type AiProvider, ServiceError } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import type { ModelServerOptions } from '@millrace/testing/model-server';
import { describe, expect, it } from 'vitest';
import { credentialFor, KEY, makeService, startServer } from './ai-harness.ts';

const MAKERS: readonly AiProvider[] = ['openai_compatible', 'google'];

async function embed(
  provider: AiProvider,
  answer: NonNullable<ModelServerOptions['embed']>,
  changes: Partial<AiEmbedRequest> = {},
  key: string = KEY,
) {
  const server = await startServer({ answer: () => '', embed: answer, key: KEY });
  const request: AiEmbedRequest = {
    model: 'embed-1',
    texts: ['one text', 'another'],
    dimensions: null,
    purpose: 'document',
    timeoutMs: 30_000,
    ...changes,
  };
  const credential = { ...credentialFor(server, provider), api_key: key };
  const result: AiEmbedding | ServiceError = await makeService()
    .embed(credential, request, new AbortController().signal)
    .catch((error: unknown) => {
      if (error instanceof ServiceError) return error;
      throw error;
    });
  return { result, server };
}

const lengths: NonNullable<ModelServerOptions['embed']> = ({ texts }) =>
  texts.map((text) => [text.length, 0.125]);

describe.each(MAKERS)('vectors from %s', (provider) => {
  it('are in the order of the texts', async () => {
    const { result, server } = await embed(provider, lengths, { dimensions: 2 });
    expect(result).toMatchObject({
      vectors: [
        [8, 0.125],
        [7, 0.125],
      ],
    });
    expect(server.embeddings).toMatchObject([
      { model: 'embed-1', texts: ['one text', 'another'], dimensions: 2, key: KEY },
    ]);
  });

  it.each([
    ['too few', () => [[1, 2]]],
    ['of different lengths', () => [[1, 2], [1]]],
    ['empty', () => [[], []]],
    [
      'no numbers',
      () => ({ body: '{"data":[{"embedding":["1"]},{"embedding":[2]}],"embeddings":[{"values":"x"},{}]}' }),
    ],
    ['a page', () => ({ body: '<html>Hello</html>' })],
    ['something else', () => ({ body: '{"choices":[]}' })],
  ])('that are %s are a failure that another attempt may mend', async (_what, answer) => {
    const { result } = await embed(provider, answer);
    expect(result).toMatchObject({ code: 'ai_invalid_response', retryable: true });
  });

  it('are refused without the right key, and the key is in no message', async () => {
    const { result } = await embed(provider, lengths, {}, 'sk-wrong-canary');
    expect(result).toMatchObject({ code: 'ai_unauthorized', retryable: false });
    expect(inEnglish((result as ServiceError).explanation)).not.toContain('sk-wrong-canary');
  });

  it('come later where there are too many requests', async () => {
    const { result } = await embed(provider, () => ({
      error: { status: 429, headers: { 'retry-after': '7' } },
    }));
    expect(result).toMatchObject({ code: 'ai_rate_limited', retryable: true, retryAfterMs: 7_000 });
  });

  it('larger than a response may be are a failure', async () => {
    const { result } = await embed(provider, () => ({ body: ' '.repeat(5 * 1024 * 1024) }));
    expect(result).toMatchObject({ code: 'ai_answer_too_large' });
  });
});

describe('the formats', () => {
  it('count tokens as OpenAI reports them, and tell Google what the vectors are for', async () => {
    const { result } = await embed('openai_compatible', lengths);
    expect(result).toMatchObject({ usage: { inputTokens: 3, outputTokens: 0, totalTokens: 3 } });
    const { server } = await embed('google', lengths, { purpose: 'query', model: 'models/embed-1' });
    expect(server.embeddings).toMatchObject([
      { model: 'embed-1', taskType: 'RETRIEVAL_QUERY', path: '/v1beta/models/embed-1:batchEmbedContents' },
    ]);
  });

  it('of Anthropic has none, so nothing is sent', async () => {
    const { result, server } = await embed('anthropic', lengths);
    expect(result).toMatchObject({ code: 'ai_unsupported', retryable: false });
    expect([...server.embeddings, ...server.requests]).toEqual([]);
  });
});

it('a request that takes too long ends with its time limit', async () => {
  const { result } = await embed('openai_compatible', () => new Promise(() => undefined), { timeoutMs: 1 });
  expect(result).toMatchObject({ code: 'ai_timeout', retryable: true });
});
