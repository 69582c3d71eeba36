import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type AiProvider, type AiRequest, type JsonSchema, stringifyJson } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import {
  ADD,
  answerOf,
  ask,
  credentialFor,
  errorOf,
  KEY,
  MODELS,
  makeService,
  PROVIDERS,
  requestFor,
  startServer,
} from './ai-harness.ts';

const KEY_HEADERS: Record<AiProvider, [name: string, value: string]> = {
  openai_compatible: ['authorization', `Bearer ${KEY}`],
  anthropic: ['x-api-key', KEY],
  google: ['x-goog-api-key', KEY],
};
const PERSON: JsonSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};
describe.each(PROVIDERS)('%s: the request', (provider) => {
  it('has model, instructions, conversation and limits', async () => {
    const { result, server } = await ask(provider, () => 'Hi.', {
      system: 'Be short.',
      messages: [
        { role: 'user', text: 'One' },
        { role: 'assistant', text: 'Two', toolCalls: [] },
        { role: 'user', text: 'Three' },
      ],
      temperature: 0.25,
      maxOutputTokens: 77,
    });
    expect(answerOf(result).text).toBe('Hi.');
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      provider,
      model: MODELS[provider],
      system: 'Be short.',
      messages: [
        { role: 'user', text: 'One' },
        { role: 'assistant', text: 'Two' },
        { role: 'user', text: 'Three' },
      ],
      temperature: 0.25,
      maxTokens: 77,
      outputSchema: null,
      tools: [],
    });
  });

  it("has the key in the provider's header, and nowhere else", async () => {
    const { server } = await ask(provider, () => 'Hi.', {}, { key: KEY });
    const [request] = server.requests;
    const [name, value] = KEY_HEADERS[provider];
    expect(request?.headers[name]).toBe(value);
    const others = Object.entries(request?.headers ?? {}).filter(([each]) => each !== name);
    expect(JSON.stringify([others, request?.path, request?.body])).not.toContain(KEY);
  });

  it('omits what is not set', async () => {
    const { server } = await ask(provider, () => 'Hi.');
    expect(server.requests[0]).toMatchObject({ system: '', temperature: null });
    if (provider !== 'anthropic') expect(server.requests[0]?.maxTokens).toBeNull();
  });
});

describe.each(PROVIDERS)('%s: the answer', (provider) => {
  it('is assembled from its pieces, with the tokens', async () => {
    const { result } = await ask(provider, () => ({
      text: ['Grü', 'ße, ', '世界 🌍'],
      usage: { input: 123, output: 45 },
    }));
    expect(result).toMatchObject({
      text: 'Grüße, 世界 🌍',
      object: null,
      toolCalls: [],
      finishReason: 'stop',
      usage: { inputTokens: 123, outputTokens: 45, totalTokens: 168 },
    });
  });

  it('survives being split into single bytes', async () => {
    const { result } = await ask(provider, () => ({
      text: 'Grüße, 世界 🌍',
      pieceBytes: 1,
      usage: { input: 3, output: 4 },
    }));
    expect(result).toMatchObject({ text: 'Grüße, 世界 🌍', usage: { totalTokens: 7 } });
  });

  it('counts tokens read from the cache as input', async () => {
    const { result } = await ask(provider, () => ({
      text: 'x',
      usage: { input: 100, output: 1, cached: 60 },
    }));
    expect(answerOf(result).usage).toEqual({ inputTokens: 100, outputTokens: 1, totalTokens: 101 });
  });

  it('says if it was cut at the token limit', async () => {
    const { result } = await ask(provider, () => ({ text: 'So', finish: 'length' }));
    expect(result).toMatchObject({ text: 'So', finishReason: 'length' });
  });

  it('may be empty', async () => {
    const { result } = await ask(provider, () => ({}));
    expect(result).toMatchObject({ text: '', finishReason: 'stop' });
  });

  it('excludes thinking from the text', async () => {
    const { result } = await ask(provider, () => ({ reasoning: 'Hmm.', text: 'Yes.' }));
    expect(answerOf(result).text).toBe('Yes.');
  });

  it('may arrive after a pause', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { result } = await ask(provider, () => {
      setImmediate(resolve);
      return { text: ['a', 'b'], pauseAfter: { events: 1, until: promise } };
    });
    expect(answerOf(result).text).toBe('ab');
  });
});

describe.each(PROVIDERS)('%s: tools', (provider) => {
  it('are offered, called and returned', async () => {
    const { result, server } = await ask(
      provider,
      () => ({
        text: 'Let me see.',
        toolCalls: [
          { name: 'add', arguments: { a: 1, b: 2 }, id: 'c1', signature: 'sig-1' },
          { name: 'add', arguments: { a: 3, b: 4 }, id: 'c2' },
        ],
        reasoning: 'Two sums.',
      }),
      { tools: [ADD] },
    );
    const answer = answerOf(result);
    expect(server.requests[0]?.tools).toMatchObject([
      { name: 'add', description: 'Adds two numbers.', parameters: { type: 'object', required: ['a', 'b'] } },
    ]);
    expect(answer).toMatchObject({
      finishReason: 'tool_calls',
      toolCalls: [
        { id: 'c1', name: 'add', arguments: { a: 1, b: 2 } },
        { id: 'c2', name: 'add', arguments: { a: 3, b: 4 } },
      ],
    });

    const messages: AiRequest['messages'] = [
      { role: 'user', text: 'Add.' },
      {
        role: 'assistant',
        text: answer.text,
        toolCalls: answer.toolCalls,
        continuation: answer.continuation,
      },
      { role: 'tool', toolCallId: 'c1', toolName: 'add', result: { sum: 3 }, isError: false },
      { role: 'tool', toolCallId: 'c2', toolName: 'add', result: 'no more numbers', isError: true },
    ];
    const request = requestFor(provider, { messages, tools: [ADD] });
    await makeService().generate(credentialFor(server, provider), request, new AbortController().signal);
    const second = server.requests[1];
    const results = (second?.messages ?? []).flatMap(({ toolResults }) => toolResults);
    expect(results.map(({ text }) => text)).toEqual(['{"sum":3}', 'no more numbers']);
    expect(second?.messages[1]).toMatchObject({
      role: 'assistant',
      text: 'Let me see.',
      toolCalls: [
        { name: 'add', arguments: { a: 1, b: 2 } },
        { name: 'add', arguments: { a: 3, b: 4 } },
      ],
    });
    // What each provider expects back with its own turn.
    const marks = { openai_compatible: 'Two sums.', anthropic: 'signature-1', google: 'sig-1' };
    expect(JSON.stringify(second?.body)).toContain(marks[provider]);
  });

  it("are distinguished from a turn the provider doesn't know", async () => {
    const messages: AiRequest['messages'] = [
      { role: 'user', text: 'Add.' },
      { role: 'assistant', text: '', toolCalls: [{ id: 'x1', name: 'add', arguments: { a: 1, b: 2 } }] },
      { role: 'tool', toolCallId: 'x1', toolName: 'add', result: 3, isError: false },
    ];
    const { result, server } = await ask(provider, () => '3', { messages, tools: [ADD] });
    expect(answerOf(result).text).toBe('3');
    expect(server.requests[0]?.messages[1]?.toolCalls).toMatchObject([
      { name: 'add', arguments: { a: 1, b: 2 } },
    ]);
  });

  it('may be called by a name that was not offered', async () => {
    const { result } = await ask(provider, () => ({ toolCalls: [{ name: 'nothing', arguments: {} }] }), {
      tools: [ADD],
    });
    expect(answerOf(result).toolCalls).toMatchObject([{ name: 'nothing', arguments: {} }]);
  });
});

it.each(['openai_compatible', 'anthropic'] as const)(
  '%s: reports arguments that are not JSON',
  async (provider) => {
    const { result } = await ask(provider, () => ({ toolCalls: [{ name: 'add', arguments: '{"a": 1, ' }] }), {
      tools: [ADD],
    });
    expect(answerOf(result).toolCalls).toMatchObject([
      { name: 'add', arguments: {}, problem: 'the arguments are not a JSON object' },
    ]);
  },
);

it.each(['openai_compatible', 'anthropic'] as const)(
  '%s: arguments keep numbers beyond a double',
  async (provider) => {
    const { result } = await ask(
      provider,
      () => ({ toolCalls: [{ name: 'add', arguments: '{"a":9007199254740993}' }] }),
      {
        tools: [ADD],
      },
    );
    expect(stringifyJson(answerOf(result).toolCalls[0]?.arguments ?? null)).toBe('{"a":9007199254740993}');
  },
);

describe.each(PROVIDERS)('%s: JSON by schema', (provider) => {
  it('is requested from the provider and checked', async () => {
    const { result, server } = await ask(provider, () => '{"name":"Ada","age":36}', { outputSchema: PERSON });
    expect(result).toMatchObject({ object: { name: 'Ada', age: 36 }, finishReason: 'stop' });
    expect(server.requests[0]?.outputSchema).toMatchObject({
      type: 'object',
      properties: { name: { type: 'string' } },
    });
    expect(server.requests[0]?.system).toBe('');
  });

  it.each([
    ['{"name":"Ada","age":"old"}', /does not match the schema: \/age must be/],
    ['{"name":"Ada"}', /\/age/],
    ['I would rather not.', /is not valid JSON/],
    ['', /is not valid JSON/],
  ])('a mismatch %j can be retried, and costs its tokens', async (text, message) => {
    const { result } = await ask(provider, () => ({ text, usage: { input: 20, output: 7 } }), {
      outputSchema: PERSON,
    });
    const error = errorOf(result);
    expect(error).toMatchObject({ code: 'ai_invalid_output', retryable: true, consumedAiTokens: 27 });
    expect(error.message).toMatch(message);
  });

  it('cut at the token limit is not retried', async () => {
    const { result } = await ask(provider, () => ({ text: '{"name":"A', finish: 'length' }), {
      outputSchema: PERSON,
    });
    expect(errorOf(result)).toMatchObject({ code: 'ai_invalid_output', retryable: false });
    expect(errorOf(result).message).toMatch(/max_tokens/);
  });

  it('can be of another type than object', async () => {
    const schema = { type: 'array', items: { $ref: '#/$defs/word' }, $defs: { word: { type: 'string' } } };
    const { result, server } = await ask(provider, () => '{"value":["a","b"]}', { outputSchema: schema });
    expect(answerOf(result).object).toEqual(['a', 'b']);
    const wired = server.requests[0]?.outputSchema ?? server.requests[0]?.tools[0]?.parameters;
    expect(wired).toMatchObject({ type: 'object' });
  });

  it('with optional members is requested as well', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' } } };
    const { result } = await ask(provider, () => '{"name":"Ada"}', { outputSchema: schema });
    expect(answerOf(result).object).toEqual({ name: 'Ada' });
  });

  it('is requested in words from a server that supports nothing better, once and for all', async () => {
    const server = await startServer({
      answer: ({ outputSchema, body, system }) => {
        if (outputSchema !== null) {
          return { error: { status: 400, message: 'response_format json_schema is not supported' } };
        }
        const isHeld = JSON.stringify(body).includes('json_object') || system.includes('"required"');
        return isHeld ? '```json\n{"name":"Ada","age":36}\n```' : 'What?';
      },
    });
    const service = makeService();
    const request = requestFor(provider, { outputSchema: PERSON, system: 'Be exact.' });
    const credential = credentialFor(server, provider);
    const { signal } = new AbortController();
    const answer = await service.generate(credential, request, signal);
    expect(answer.object).toEqual({ name: 'Ada', age: 36 });
    expect(server.requests.at(-1)?.system).toMatch(/^Be exact\.\n\nAnswer with one JSON value/);
    const asked = server.requests.length;
    await service.generate(credential, request, signal);
    expect(server.requests).toHaveLength(asked + 1);
  });

  it('waits while the model calls tools', async () => {
    const { result } = await ask(
      provider,
      () => ({ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }),
      {
        outputSchema: PERSON,
        tools: [ADD],
      },
    );
    expect(result).toMatchObject({ object: null, toolCalls: [{ name: 'add' }] });
  });
});

describe('openai_compatible: dialects', () => {
  it('renames the token limit for models that require it', async () => {
    const { result, server } = await ask(
      'openai_compatible',
      ({ body }) =>
        body.max_tokens === undefined
          ? 'Hi.'
          : {
              error: {
                status: 400,
                message:
                  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                type: 'unsupported_parameter',
              },
            },
      { maxOutputTokens: 50 },
    );
    expect(answerOf(result).text).toBe('Hi.');
    expect(server.requests[1]?.body).toMatchObject({ max_completion_tokens: 50 });
  });

  it('works without stream_options if they are unknown', async () => {
    const { result, server } = await ask('openai_compatible', ({ body }) =>
      body.stream_options === undefined
        ? 'Hi.'
        : {
            error: {
              status: 422,
              body: '{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}',
            },
          },
    );
    expect(answerOf(result)).toMatchObject({ text: 'Hi.', usage: { totalTokens: 0 } });
    expect(server.requests).toHaveLength(2);
  });

  it("doesn't retry after another refusal", async () => {
    const { result, server } = await ask('openai_compatible', () => ({ error: { status: 400 } }), {
      outputSchema: PERSON,
    });
    expect(errorOf(result).code).toBe('ai_bad_request');
    expect(server.requests).toHaveLength(1);
  });
});

it('loads the client libraries with the first call, not before', async () => {
  const service = fileURLToPath(new URL('../src/ai.ts', import.meta.url));
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { if (/node_modules\\/(ai|@ai-sdk)\\//.test(url)) loaded.push(url); return next(url, context); } });
    const { createAiService } = await import(${JSON.stringify(service)});
    const before = loaded.length;
    const answer = createAiService({ outbound: () => ({ fetch: () => Promise.reject(new Error('not sent')) }) })({});
    const request = { model: 'm', system: null, messages: [{ role: 'user', text: 'x' }], tools: [], outputSchema: null, temperature: null, maxOutputTokens: null, timeoutMs: 20000 };
    const credential = { type: 'ai', provider: 'google', base_url: null, api_key: 'k' };
    const code = await answer.generate(credential, request, new AbortController().signal).catch((error) => error.code);
    console.log(JSON.stringify({ before, after: loaded.length > 0, others: loaded.some((url) => url.includes('anthropic')), code }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(JSON.parse(stdout)).toEqual({ before: 0, after: true, others: false, code: 'ai_invalid_response' });
});
