import { type AiEmbedRequest, type JsonObject, ServiceError, type VectorService } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { memoryVectors } from '@millrace/node-kit/testing-vectors';
import { describe, expect, it } from 'vitest';
import { aiVectors } from './ai-vectors.ts';
import { exampleCredential } from './model/examples.ts';

const BASE = { collection: 'docs', credential_id: 4, model: 'embed-1' };

/** Vectors that say what a text is about: apples, boats. */
function vectorOf(text: string): readonly number[] {
  return [text.split('apple').length - 1, text.split('boat').length - 1, 0.1];
}

function world(vectors: VectorService = memoryVectors()) {
  const asked: AiEmbedRequest[] = [];
  let failsAt = 0;
  const run = async (config: JsonObject, options: Omit<RunOptions, 'config'> = {}) => {
    const { result } = await runNode(aiVectors, {
      credential: exampleCredential('openai_compatible'),
      ...options,
      config: { ...BASE, ...config },
      services: {
        vectors,
        ai: {
          generate: () => Promise.reject(new Error('not asked')),
          embed: async (_credential, request) => {
            asked.push(request);
            if (asked.length === failsAt)
              throw new ServiceError('ai_rate_limited', verbatim('Later.'), { retryable: true });
            const { length } = request.texts;
            return {
              vectors: request.texts.map(vectorOf),
              usage: { inputTokens: length, outputTokens: 0, totalTokens: length },
            };
          },
        },
      },
    });
    return result;
  };
  return { run, asked, failAt: (call: number) => (failsAt = call) };
}

const put = (items: JsonObject['x']) => ({ operation: 'put', items: items ?? null });

describe('ai.vectors: storing and searching', () => {
  it('finds the texts nearest to the query, with their metadata', async () => {
    const { run, asked } = world();
    const items = [
      { key: 'a', text: 'an apple', metadata: { page: 1 } },
      { key: 2, text: 'a boat' },
      'apple on a boat',
    ];
    expect(await run(put(items))).toEqual({
      kind: 'success',
      handles: ['out'],
      consumedAiTokens: 3,
      output: {
        collection: 'docs',
        stored: 3,
        unchanged: 0,
        usage: { input_tokens: 3, output_tokens: 0, total_tokens: 3 },
        model: 'embed-1',
      },
    });
    const found = await run({ operation: 'search', query: 'apples', limit: 2 });
    expect(found).toMatchObject({
      kind: 'success',
      consumedAiTokens: 1,
      output: {
        count: 2,
        matches: [
          { key: 'a', text: 'an apple', metadata: { page: 1 }, score: expect.closeTo(1, 5) },
          { key: expect.stringMatching(/^[0-9a-f]{32}$/), text: 'apple on a boat', metadata: {} },
        ],
      },
    });
    expect(asked.map(({ purpose }) => purpose)).toEqual(['document', 'query']);
    expect(await run({ operation: 'search', query: vectorOf('boat') })).toMatchObject({
      output: { matches: [{ key: '2' }, {}, {}] },
      consumedAiTokens: 0,
    });
    expect(await run({ operation: 'search', query: 'apples', filter: { page: [1, 2] } })).toMatchObject({
      output: { matches: [{ key: 'a' }], count: 1 },
    });
    expect(await run({ operation: 'search', query: 'apples', min_score: 0.9 })).toMatchObject({
      output: { count: 1 },
    });
  });

  it('makes no vector of a text that is unchanged, nor of an item with one', async () => {
    const { run, asked } = world();
    await run(put([{ key: 'a', text: 'apple' }, 'boat']));
    const again = [{ key: 'a', text: 'apple', metadata: { n: 1 } }, 'boat', { key: 'c', vector: [0, 1, 0] }];
    expect(await run(put(again))).toMatchObject({
      output: { stored: 1, unchanged: 2 },
      consumedAiTokens: 0,
    });
    expect(asked).toHaveLength(1);
    expect(await run({ operation: 'search', query: [1, 0, 0], limit: 1 })).toMatchObject({
      output: { matches: [{ key: 'a', metadata: { n: 1 } }] },
    });
  });

  it('goes on where an attempt failed', async () => {
    const { run, asked, failAt } = world();
    const items = Array.from({ length: 70 }, (_, at) => `apple ${at}`);
    failAt(3);
    expect(await run(put(items))).toMatchObject({
      code: 'ai_rate_limited',
      retryable: true,
      consumedAiTokens: 64,
    });
    expect(await run(put(items))).toMatchObject({
      output: { stored: 6, unchanged: 64 },
      consumedAiTokens: 6,
    });
    expect(asked.map(({ texts }) => texts.length)).toEqual([32, 32, 6, 6]);
  });

  it('stops where the budget is used up', async () => {
    const { run } = world();
    const items = Array.from({ length: 70 }, (_, at) => `apple ${at}`);
    expect(await run(put(items), { aiTokensLeft: 32 })).toMatchObject({
      code: 'token_budget_exceeded',
      consumedAiTokens: 32,
    });
  });

  it('asks no model for a collection that is not there or has vectors of another model', async () => {
    const { run, asked } = world();
    expect(await run({ operation: 'search', query: 'x' })).toMatchObject({ code: 'vectors_not_found' });
    await run(put(['apple']));
    for (const config of [put(['boat']), { operation: 'search', query: 'x' }])
      expect(await run({ ...config, model: 'embed-2' })).toMatchObject({
        code: 'vectors_mismatch',
        message: saying('were made by embed-1'),
      });
    expect(asked).toHaveLength(1);
  });
});

describe('ai.vectors: deleting', () => {
  it('by key, by filter, or all of it', async () => {
    const { run } = world();
    await run(put(['a', 'b', 'c'].map((key) => ({ key, text: `apple ${key}`, metadata: { key } }))));
    expect(await run({ operation: 'delete', keys: ['a', 'x'] })).toMatchObject({ output: { deleted: 1 } });
    expect(await run({ operation: 'delete', filter: { key: 'b' } })).toMatchObject({
      output: { deleted: 1 },
    });
    expect(await run({ operation: 'delete', whole: true })).toMatchObject({ output: { deleted: 1 } });
    expect(await run({ operation: 'search', query: 'x' })).toMatchObject({ code: 'vectors_not_found' });
  });

  it.each([
    [{}],
    [{ keys: ['a'], whole: true }],
    [{ keys: ['a'], filter: { a: 1 } }],
    [{ filter: { a: 1 }, whole: true }],
  ])('says exactly what: %j is refused', async (what) => {
    const { run } = world();
    expect(await run({ operation: 'delete', ...what } as JsonObject)).toMatchObject({
      code: 'invalid_config',
      message: saying('exactly one of'),
    });
  });
});

describe('ai.vectors: refused without a request', () => {
  it.each([
    [{ operation: 'put', items: [] }, /1 to 1000 texts/],
    [{ operation: 'put', items: [7] }, /Item 0 of config\.items/],
    [{ operation: 'put', items: ['a', { text: 'b', colour: 1 }] }, /Item 1 of config\.items/],
    [{ operation: 'put', items: [{ text: 'b', vector: ['1'] }] }, /Item 0 of config\.items/],
    [{ operation: 'put', items: [{ text: 'b', metadata: [] }] }, /Item 0 of config\.items/],
    [{ operation: 'put', items: ['a', ''] }, /Text 1 is empty/],
    [{ operation: 'put', items: Array(1001).fill('a') }, /config\.items/],
    [{ operation: 'put', items: ['a'], credential_id: 0 }, /credential_id/],
    [{ operation: 'search', query: ' ' }, /config\.query is empty/],
    [{ operation: 'search', query: 'x', model: '' }, /config\.model/],
    [{ operation: 'search', query: 'x', filter: { a: { b: 1 } } }, /config\.filter/],
    [{ operation: 'search', query: 'x', limit: 101 }, /limit/],
  ])('%j', async (config, message) => {
    const { run, asked } = world();
    const result = await run(config as JsonObject);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', retryable: false });
    expect(result).toHaveProperty('message', saying(message));
    expect(asked).toEqual([]);
  });

  it.each([[put(['apple'])], [{ operation: 'search', query: 'x' }], [{ operation: 'delete', whole: true }]])(
    'in test mode: %j',
    async (config) => {
      const { run, asked } = world();
      await run(put(['apple']));
      const result = await run(config as JsonObject, { isTestMode: true });
      expect(result).toMatchObject({ output: { dry_run: true, request: { collection: 'docs' } } });
      expect(asked).toHaveLength(1);
      expect(await run({ operation: 'search', query: [1, 0, 0] })).toMatchObject({ output: { count: 1 } });
    },
  );
});
