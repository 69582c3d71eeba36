import { type AiAnswer, type AiRequest, type JsonObject, ServiceError } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { memoryFiles } from '@millrace/node-kit/testing-files';
import { describe, expect, it } from 'vitest';
import { aiGenerate } from './ai-generate.ts';
import { exampleAnswer, exampleCredential } from './model/examples.ts';

const CONFIG = { credential_id: 4, model: 'gpt-4.1-mini', prompt: 'Hello' };
const PERSON = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

async function generate(config: JsonObject, options: Omit<RunOptions, 'config'> = {}) {
  const asked: AiRequest[] = [];
  const answers = options.ai ?? [exampleAnswer('Hi.', 10, 2)];
  const { result } = await runNode(aiGenerate, {
    credential: exampleCredential('openai_compatible'),
    ...options,
    config: { ...CONFIG, ...config },
    ai: (request) => {
      asked.push(request);
      return typeof answers === 'function' ? answers(request) : (answers[asked.length - 1] as AiAnswer);
    },
  });
  return { result, asked, request: asked[0] };
}

describe('ai.generate: the request', () => {
  it('is the prompt, with default limits', async () => {
    const { request } = await generate({});
    expect(request).toEqual({
      model: 'gpt-4.1-mini',
      system: null,
      messages: [{ role: 'user', text: 'Hello' }],
      tools: [],
      outputSchema: null,
      temperature: null,
      maxOutputTokens: null,
      timeoutMs: 120_000,
    });
  });

  it('has everything that is set', async () => {
    const { request } = await generate({
      system: 'Be short.',
      output: 'json',
      schema: PERSON,
      temperature: 0,
      max_tokens: 99,
      timeout_ms: 5_000,
    });
    expect(request).toMatchObject({
      system: 'Be short.',
      outputSchema: PERSON,
      temperature: 0,
      maxOutputTokens: 99,
      timeoutMs: 5_000,
    });
  });

  it('inserts values into prompts as JSON, without rounding numbers', async () => {
    const { request } = await generate(
      { prompt: '{{trigger.data}}', system: 'For {{trigger.data.name}}' },
      { trigger: { name: 'Ada', tags: ['x'] } },
    );
    expect(request?.messages).toEqual([{ role: 'user', text: '{"name":"Ada","tags":["x"]}' }]);
    expect(request?.system).toBe('For Ada');
  });

  it('has no schema for text', async () => {
    expect((await generate({ schema: PERSON })).request?.outputSchema).toBeNull();
  });
});

describe('ai.generate: the output', () => {
  it('is the answer with its tokens, which are counted', async () => {
    const { result } = await generate({});
    expect(result).toEqual({
      kind: 'success',
      output: {
        text: 'Hi.',
        finish_reason: 'stop',
        usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
        model: 'gpt-4.1-mini',
      },
      handles: ['out'],
      consumedAiTokens: 12,
    });
  });

  it('has the value of a JSON answer, even if it is null', async () => {
    const { result } = await generate({ output: 'json' }, { ai: [exampleAnswer('null', 1, 1)] });
    expect(result).toMatchObject({ output: { json: null, text: 'null' } });
    expect((await generate({})).result).not.toHaveProperty('output.json');
  });

  it('is a failure with its tokens and what is known', async () => {
    const error = new ServiceError('ai_rate_limited', verbatim('Too much.'), {
      retryable: true,
      retryAfterMs: 7_000,
      consumedAiTokens: 33,
      details: { text: 'So f' },
    });
    const { result } = await generate({}, { ai: () => Promise.reject(error) });
    expect(result).toEqual({
      kind: 'failure',
      code: 'ai_rate_limited',
      message: verbatim('Too much.'),
      retryable: true,
      retryAfterMs: 7_000,
      fatal: false,
      consumedAiTokens: 33,
      output: { text: 'So f' },
    });
  });

  it('is not a failure if the service has a defect', async () => {
    await expect(generate({}, { ai: () => Promise.reject(new TypeError('x is undefined')) })).rejects.toThrow(
      'x is undefined',
    );
  });
});

describe('ai.generate: refused without a request', () => {
  it.each([
    [{ credential_id: 0 }, /config\.credential_id selects no credential/],
    [{ model: '' }, /config\.model/],
    [{ model: '../../v1/files' }, /config\.model/],
    [{ model: 'a/../b' }, /config\.model/],
    [{ model: 'gpt?key=1' }, /config\.model/],
    [{ prompt: '' }, /config\.prompt is empty/],
    [{ prompt: null }, /prompt/],
    [{ prompt: '   ' }, /config\.prompt is empty/],
    [{ output: 'xml' }, /output/],
    [{ temperature: 3 }, /temperature/],
    [{ max_tokens: 0 }, /max_tokens/],
    [{ timeout_ms: 600_001 }, /timeout_ms/],
    [{ output: 'json', schema: { $ref: 'https://example.com/s' } }, /config\.schema cannot be used/],
  ])('%j', async (config, message) => {
    const { result, asked } = await generate(config);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', retryable: false });
    expect(result).toHaveProperty('message', saying(message));
    expect(asked).toEqual([]);
  });

  it.each([
    'gpt-4.1-mini',
    'claude-sonnet-4-5@20250929',
    'meta-llama/Llama-3.3-70B-Instruct',
    'qwen3:8b',
    'models/gemini-2.5-pro',
  ])('the model %s', async (model) => {
    expect((await generate({ model })).request?.model).toBe(model);
  });

  it('a missing credential', async () => {
    const { result } = await runNode(aiGenerate, { config: CONFIG });
    expect(result).toMatchObject({ kind: 'failure', code: 'credential_not_found' });
  });
});

describe('ai.generate: the token budget of the execution', () => {
  it.each([0, -5])('with %j left, nothing is requested', async (aiTokensLeft) => {
    const { result, asked } = await generate({}, { aiTokensLeft });
    expect(result).toMatchObject({ kind: 'failure', code: 'token_budget_exceeded', consumedAiTokens: 0 });
    expect(asked).toEqual([]);
  });

  it.each([
    [{ max_tokens: 500 }, 200, 200],
    [{ max_tokens: 500 }, 500, 500],
    [{ max_tokens: 500 }, 100_000, 500],
    [{}, 300, 300],
    [{}, 1_000_000, null],
  ])('%j with %j left requests at most %j', async (config, aiTokensLeft, expected) => {
    expect((await generate(config, { aiTokensLeft })).request?.maxOutputTokens).toBe(expected);
  });

  it('ending in the middle of the answer is a failure that keeps the answer', async () => {
    const cut = { ...exampleAnswer('Once upon', 20, 30), finishReason: 'length' };
    const { result } = await generate({ max_tokens: 100 }, { aiTokensLeft: 30, ai: [cut] });
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'token_budget_exceeded',
      consumedAiTokens: 50,
      output: { text: 'Once upon' },
    });
  });

  it("doesn't apply to an answer limited by the author", async () => {
    const cut = { ...exampleAnswer('Once upon', 20, 30), finishReason: 'length' };
    const { result } = await generate({ max_tokens: 30 }, { aiTokensLeft: 1_000, ai: [cut] });
    expect(result).toMatchObject({ kind: 'success', output: { finish_reason: 'length' } });
  });

  it('is named if it ended in the middle of JSON', async () => {
    const error = new ServiceError('ai_invalid_output', verbatim('cut'), {
      consumedAiTokens: 40,
      details: { text: '{"a' },
    });
    const options = { aiTokensLeft: 30, ai: () => Promise.reject(error) };
    const { result } = await generate({ output: 'json' }, options);
    expect(result).toMatchObject({
      code: 'token_budget_exceeded',
      consumedAiTokens: 40,
      output: { text: '{"a' },
    });
  });
});

describe('ai.generate: test mode', () => {
  it('shows the request without the key, and sends nothing', async () => {
    const { result, asked } = await generate(
      { system: 'Be short.', output: 'json', schema: PERSON, max_tokens: 9 },
      { isTestMode: true },
    );
    expect(asked).toEqual([]);
    expect(result).toMatchObject({
      kind: 'success',
      consumedAiTokens: 0,
      output: {
        dry_run: true,
        request: {
          provider: 'openai_compatible',
          model: 'gpt-4.1-mini',
          system: 'Be short.',
          messages: [{ role: 'user', text: 'Hello' }],
          output_schema: PERSON,
          max_tokens: 9,
        },
      },
    });
    expect(JSON.stringify(result)).not.toContain('your-key');
  });
});

describe('ai.generate: files', () => {
  const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
  const stored = async (...given: readonly (readonly [type: string, content: Buffer])[]) => {
    const files = memoryFiles();
    const values: JsonObject[] = [];
    for (const [index, [type, content]] of given.entries()) {
      values.push(await files.save({ name: `file ${index}`, type }, [content] as never));
    }
    return { files, values };
  };

  it('are seen before the prompt, in their order', async () => {
    const { files, values } = await stored(['image/png', PNG], ['application/pdf', Buffer.from('%PDF-1.7')]);
    const { request, result } = await generate({ files: values }, { services: { files } });
    expect(result.kind).toBe('success');
    expect(request?.messages).toEqual([
      {
        role: 'user',
        text: 'Hello',
        files: [
          { name: 'file 0', type: 'image/png', base64: PNG.toString('base64') },
          { name: 'file 1', type: 'application/pdf', base64: Buffer.from('%PDF-1.7').toString('base64') },
        ],
      },
    ]);
    expect(JSON.stringify(result)).not.toContain(PNG.toString('base64'));
  });

  it('that are texts are part of the prompt, where they end is clear', async () => {
    const { files, values } = await stored(
      ['text/markdown; charset=utf-8', Buffer.from('Use ```` here')],
      ['image/png', PNG],
      ['application/ld+json', Buffer.from('{"a":1}')],
    );
    const { request } = await generate({ files: values }, { services: { files } });
    expect(request?.messages).toEqual([
      {
        role: 'user',
        text: 'File "file 0":\n`````\nUse ```` here\n`````\n\nFile "file 2":\n```\n{"a":1}\n```\n\nHello',
        files: [{ name: 'file 1', type: 'image/png', base64: PNG.toString('base64') }],
      },
    ]);
    const broken = await stored(
      ['text/plain', Buffer.from('caf\xe9', 'latin1')],
      ['text/csv', Buffer.alloc(512 * 1024 + 1, 'a')],
    );
    for (const [at, message] of [
      [0, /isn't UTF-8/],
      [1, /512 KiB/],
    ] as const) {
      const services = { files: broken.files };
      const { result, asked } = await generate({ files: broken.values[at] ?? null }, { services });
      expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
      expect(result).toHaveProperty('message', saying(message));
      expect(asked).toEqual([]);
    }
  });

  it('can be one, or none', async () => {
    const { files, values } = await stored(['image/jpg; x=y', PNG]);
    const one = await generate({ files: values[0] ?? null }, { services: { files } });
    expect(one.request?.messages).toMatchObject([{ files: [{ type: 'image/jpeg' }] }]);
    const none = await generate({ files: '{{trigger.data.nothing}}' }, { services: { files }, trigger: {} });
    expect(none.request?.messages).toEqual([{ role: 'user', text: 'Hello' }]);
  });

  it('of other types, too many or too large are refused, and nothing is sent', async () => {
    const { files, values } = await stored(
      ['application/zip', PNG],
      ['image/png', Buffer.alloc(8 * 1024 * 1024 + 1)],
    );
    for (const [config, message] of [
      [values[0], /file 0 is of type application\/zip/],
      [values[1], /8 MiB/],
      [Array(21).fill(values[0]), /files/],
    ] as const) {
      const { result, asked } = await generate({ files: config as never }, { services: { files } });
      expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
      expect(result).toHaveProperty('message', saying(message));
      expect(asked).toEqual([]);
    }
  });

  it('are named in test mode, not shown', async () => {
    const { files, values } = await stored(['image/png', PNG]);
    const { result } = await generate({ files: values }, { services: { files }, isTestMode: true });
    expect(result).toMatchObject({
      output: { request: { files: [{ name: 'file 0', type: 'image/png', size: 8 }] } },
    });
    expect(JSON.stringify(result)).not.toContain(PNG.toString('base64'));
  });
});
