import { type AiEmbedRequest, type JsonObject, ServiceError } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { aiEmbed } from './ai-embed.ts';
import { exampleCredential } from './model/examples.ts';

const CONFIG = { credential_id: 4, model: 'embed-1', texts: ['a', 'b'] };

async function embed(
  config: JsonObject,
  options: Omit<RunOptions, 'config'> & { readonly failsAt?: number } = {},
) {
  const asked: AiEmbedRequest[] = [];
  const { failsAt, ...rest } = options;
  const { result } = await runNode(aiEmbed, {
    credential: exampleCredential('openai_compatible'),
    ...rest,
    config: { ...CONFIG, ...config },
    services: {
      ai: {
        generate: () => Promise.reject(new Error('not asked')),
        embed: async (_credential, request) => {
          asked.push(request);
          if (asked.length === failsAt)
            throw new ServiceError('ai_rate_limited', verbatim('Later.'), { retryable: true });
          const { length } = request.texts;
          return {
            vectors: request.texts.map((text) => [text.length, 1]),
            usage: { inputTokens: length, outputTokens: 0, totalTokens: length },
          };
        },
      },
    },
  });
  return { result, asked };
}

describe('ai.embed', () => {
  it('sends a text of its own, lists, and values as JSON', async () => {
    const { result, asked } = await embed({ texts: ['x', { a: 1 }, 7], purpose: 'query', dimensions: 2 });
    expect(asked).toEqual([
      { model: 'embed-1', texts: ['x', '{"a":1}', '7'], dimensions: 2, purpose: 'query', timeoutMs: 60_000 },
    ]);
    expect(result).toMatchObject({ output: { count: 3, dimension: 2 }, consumedAiTokens: 3 });
    expect((await embed({ texts: 'just one' })).asked[0]?.texts).toEqual(['just one']);
  });

  it('sends at most 32 texts and 200,000 characters in one request', async () => {
    const many = await embed({ texts: Array(70).fill('x') });
    expect(many.asked.map(({ texts }) => texts.length)).toEqual([32, 32, 6]);
    expect(many.result).toMatchObject({ output: { count: 70 }, consumedAiTokens: 70 });
    const long = await embed({ texts: Array(5).fill('x'.repeat(90_000)) });
    expect(long.asked.map(({ texts }) => texts.length)).toEqual([2, 2, 1]);
  });

  it('counts what was consumed before a failure', async () => {
    const { result } = await embed({ texts: Array(70).fill('x') }, { failsAt: 3 });
    expect(result).toMatchObject({ code: 'ai_rate_limited', retryable: true, consumedAiTokens: 64 });
  });

  it('stops where the budget is used up', async () => {
    const { result, asked } = await embed({ texts: Array(70).fill('x') }, { aiTokensLeft: 40 });
    expect(asked).toHaveLength(2);
    expect(result).toMatchObject({ code: 'token_budget_exceeded', consumedAiTokens: 64 });
  });

  it.each([
    [{ credential_id: 0 }, /credential_id/],
    [{ model: 'a b' }, /config\.model/],
    [{ texts: [] }, /empty list/],
    [{ texts: ['a', ' '] }, /Text 1 is empty/],
    [{ texts: ['x'.repeat(100_001)] }, /Text 0 is empty or longer than 100000/],
    [{ texts: Array(201).fill('x') }, /config\.texts/],
    [{ dimensions: 5000 }, /dimensions/],
  ])('refuses %j', async (config, message) => {
    const { result, asked } = await embed(config as JsonObject);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', retryable: false });
    expect(result).toHaveProperty('message', saying(message));
    expect(asked).toEqual([]);
  });

  it('in test mode, shows the request without the key and sends nothing', async () => {
    const { result, asked } = await embed({}, { isTestMode: true });
    expect(asked).toEqual([]);
    expect(result).toMatchObject({ output: { dry_run: true, request: { texts: ['a', 'b'] } } });
    expect(JSON.stringify(result)).not.toContain('your-key');
  });
});
