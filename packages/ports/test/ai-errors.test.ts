import type { AiProvider } from '@millrace/engine';
import type { ModelError } from '@millrace/testing/model-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  ask,
  credentialFor,
  errorOf,
  KEY,
  makeService,
  PROVIDERS,
  requestFor,
  startServer,
} from './ai-harness.ts';

type Refusal = readonly [
  name: string,
  error: ModelError,
  expected: {
    readonly code: string;
    readonly retryable: boolean;
    readonly retryAfterMs?: number | undefined;
  },
  only?: AiProvider,
];

const REFUSALS: readonly Refusal[] = [
  ['a wrong key', { status: 401 }, { code: 'ai_unauthorized', retryable: false }],
  ['a key without the right', { status: 403 }, { code: 'ai_unauthorized', retryable: false }],
  [
    'too many requests, for seconds',
    { status: 429, headers: { 'retry-after': '7' } },
    { code: 'ai_rate_limited', retryable: true, retryAfterMs: 7_000 },
  ],
  [
    'too many requests, until a date',
    { status: 429, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' } },
    { code: 'ai_rate_limited', retryable: true, retryAfterMs: 9_000 },
  ],
  [
    'too many requests',
    { status: 429 },
    { code: 'ai_rate_limited', retryable: true, retryAfterMs: undefined },
  ],
  [
    'too many requests, in milliseconds',
    { status: 429, headers: { 'retry-after-ms': '1250', 'retry-after': '2' } },
    { code: 'ai_rate_limited', retryable: true, retryAfterMs: 1_250 },
    'openai_compatible',
  ],
  [
    'too many requests, told in the body',
    { status: 429, retryDelay: '34.5s' },
    { code: 'ai_rate_limited', retryable: true, retryAfterMs: 34_500 },
    'google',
  ],
  [
    'an empty account',
    { status: 429, type: 'insufficient_quota', message: 'You exceeded your current quota.' },
    { code: 'ai_quota_exceeded', retryable: false },
    'openai_compatible',
  ],
  [
    'an empty account',
    { status: 400, message: 'Your credit balance is too low to access the Anthropic API.' },
    { code: 'ai_quota_exceeded', retryable: false },
    'anthropic',
  ],
  [
    'an empty account',
    {
      status: 402,
      body: '{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}',
    },
    { code: 'ai_quota_exceeded', retryable: false },
    'openai_compatible',
  ],
  ['a fault', { status: 500 }, { code: 'ai_overloaded', retryable: true }],
  [
    'a short outage',
    { status: 503, headers: { 'retry-after': '3' } },
    { code: 'ai_overloaded', retryable: true, retryAfterMs: 3_000 },
  ],
  ['overload', { status: 529 }, { code: 'ai_overloaded', retryable: true }, 'anthropic'],
  ['a gateway without words', { status: 502, body: '' }, { code: 'ai_overloaded', retryable: true }],
  [
    'a gateway with HTML',
    { status: 504, body: '<html>Gateway timeout</html>' },
    { code: 'ai_overloaded', retryable: true },
  ],
  ['an unknown model', { status: 404 }, { code: 'ai_model_not_found', retryable: false }],
  ['a request it cannot take', { status: 400 }, { code: 'ai_bad_request', retryable: false }],
  [
    'a prompt that is too long',
    {
      status: 400,
      type: 'context_length_exceeded',
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 150001 tokens.",
    },
    { code: 'ai_context_too_long', retryable: false },
    'openai_compatible',
  ],
  [
    'a prompt that is too long',
    { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    { code: 'ai_context_too_long', retryable: false },
    'anthropic',
  ],
  [
    'a request that is too large',
    { status: 413 },
    { code: 'ai_context_too_long', retryable: false },
    'anthropic',
  ],
  [
    'a prompt that is too long',
    {
      status: 400,
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    },
    { code: 'ai_context_too_long', retryable: false },
    'google',
  ],
  [
    'a prompt against its rules',
    {
      status: 400,
      type: 'content_filter',
      message: 'The response was filtered due to the prompt triggering the content management policy.',
    },
    { code: 'ai_refused', retryable: false },
    'openai_compatible',
  ],
];

describe.each(PROVIDERS)('%s: refusals', (provider) => {
  const cases = REFUSALS.filter(([, , , only]) => only === undefined || only === provider).map(
    ([name, error, expected]) => [name, error, expected] as const,
  );
  it.each(cases)('%s (%j)', async (_name, error, expected) => {
    const { result, server } = await ask(
      provider,
      () => ({ error }),
      {},
      { now: () => Date.parse('2026-01-01T00:00:00Z') },
    );
    expect(errorOf(result)).toMatchObject({ ...expected, consumedAiTokens: 0 });
    // The node decides about retries; the library makes none of its own.
    expect(server.requests).toHaveLength(1);
  });

  it("don't reveal the key, even if the provider repeats it", async () => {
    for (const status of [400, 401, 403, 404, 429, 500]) {
      const { result } = await ask(provider, () => ({
        error: { status, message: `The key ${KEY} is not good enough` },
      }));
      const error = errorOf(result);
      expect(`${error.message} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(KEY);
    }
  });

  it('repeat what the provider says, shortened to one line', async () => {
    const { result } = await ask(provider, () => ({
      error: { status: 500, message: `A\n\nB ${'x'.repeat(2_000)}` },
    }));
    expect(errorOf(result).message).toContain(' It says: A B xxx');
    expect(errorOf(result).message.length).toBeLessThan(700);
  });
});

describe.each(PROVIDERS)('%s: an answer that breaks off', (provider) => {
  const pieces = ['one ', 'two ', 'three ', 'four'];
  const usage = { input: 40, output: 12 };
  // The tokens each provider has reported after four events.
  const reportedTokens = { openai_compatible: 0, anthropic: 41, google: 40 + Math.floor((12 * 3) / 4) };

  it('because the connection is cut', async () => {
    const { result } = await ask(provider, () => ({ text: pieces, usage, cutAfter: 4 }));
    expect(errorOf(result)).toMatchObject({
      code: 'ai_stream_cut',
      retryable: true,
      consumedAiTokens: reportedTokens[provider],
    });
  });

  it('because it ends early', async () => {
    const { result } = await ask(provider, () => ({ text: pieces, usage, endAfter: 4 }));
    expect(errorOf(result)).toMatchObject({
      code: 'ai_stream_cut',
      retryable: true,
      consumedAiTokens: reportedTokens[provider],
    });
  });

  it('before its first word', async () => {
    const raw = { type: 'text/event-stream', body: ': working on it\n\n' };
    const { result } = await ask(provider, () => ({ raw }));
    expect(errorOf(result)).toMatchObject({ code: 'ai_stream_cut', retryable: true, consumedAiTokens: 0 });
  });

  it('because the provider reports an error', async () => {
    const { result } = await ask(provider, () => ({
      text: pieces,
      usage,
      errorAfter: { events: 4, error: { status: provider === 'anthropic' ? 529 : 503 } },
    }));
    expect(errorOf(result)).toMatchObject({
      code: 'ai_overloaded',
      retryable: true,
      consumedAiTokens: reportedTokens[provider],
    });
  });

  it('with an error as its first event', async () => {
    const { result } = await ask(provider, () => ({ errorAfter: { events: 0, error: { status: 429 } } }));
    expect(errorOf(result)).toMatchObject({ code: 'ai_rate_limited', retryable: true });
  });

  it('with something in another format', async () => {
    const { result } = await ask(provider, () => ({ text: pieces, usage, garbageAfter: 4 }));
    expect(errorOf(result)).toMatchObject({
      code: 'ai_invalid_response',
      retryable: true,
      consumedAiTokens: reportedTokens[provider],
    });
  });

  it('with garbage from the start', async () => {
    const { result } = await ask(provider, () => ({ text: pieces, garbageAfter: 0 }));
    expect(errorOf(result)).toMatchObject({ code: 'ai_invalid_response', retryable: true });
  });

  it('inside the arguments of a tool', async () => {
    const { result } = await ask(
      provider,
      () => ({
        toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }],
        endAfter: provider === 'google' ? 1 : 2,
      }),
      { tools: [{ name: 'add', description: '', parameters: { type: 'object' } }] },
    );
    expect(errorOf(result).code).toBe('ai_stream_cut');
  });
});

describe.each(PROVIDERS)('%s: not an answer', (provider) => {
  it.each([
    ['nothing', 'text/event-stream', '', 'response is empty'],
    ['nothing, as JSON', 'application/json', ' \n', 'response is empty'],
    ['a web page', 'text/html', '\ufeff\n<!doctype html><title>Sign in</title>', 'a web page'],
    ['other JSON', 'application/json', '{"ok":true}', 'JSON that is not an answer'],
    ['a list', 'application/json', '[]', 'JSON that is not an answer'],
    ['a text', 'text/plain', 'It works!', 'something that is not an answer'],
  ])('%s is reported as such', async (_what, type, body, reported) => {
    const { result } = await ask(provider, () => ({ raw: { type, body } }));
    expect(errorOf(result)).toMatchObject({ code: 'ai_invalid_response', retryable: true });
    expect(errorOf(result).message).toContain(reported);
  });

  it('is an error, even if complete', async () => {
    const raw = {
      type: 'application/json',
      body: '{"error":{"message":"Out of order","type":"overloaded_error"}}',
    };
    const { result } = await ask(provider, () => ({
      raw: { ...raw, body: provider === 'anthropic' ? `{"type":"error",${raw.body.slice(1)}` : raw.body },
    }));
    expect(errorOf(result).code).not.toBe('ai_stream_cut');
    expect(errorOf(result).message).toMatch(/Out of order|does not have the format/);
  });
});

describe.each(PROVIDERS)('%s: refusing to answer', (provider) => {
  it('is final and costs its tokens', async () => {
    const { result } = await ask(provider, () => ({
      text: 'I cannot',
      finish: 'content_filter',
      usage: { input: 9, output: 2 },
    }));
    expect(errorOf(result)).toMatchObject({ code: 'ai_refused', retryable: false, consumedAiTokens: 11 });
  });

  it('before the first word', async () => {
    const { result } = await ask(provider, () => ({
      finish: 'prompt_blocked',
      usage: { input: 9, output: 0 },
    }));
    expect(errorOf(result)).toMatchObject({ code: 'ai_refused', retryable: false, consumedAiTokens: 9 });
  });
});

describe.each(PROVIDERS)('%s: limits', (provider) => {
  it('an endless answer stops at the maximum size', async () => {
    const { result, server } = await ask(
      provider,
      () => ({ text: 'again and again ', isEndless: true, usage: { input: 3, output: 100 } }),
      {},
      { maxAnswerBytes: 200_000 },
    );
    expect(errorOf(result)).toMatchObject({ code: 'ai_answer_too_large', retryable: false });
    expect(await server.requests[0]?.ended).toBe('closed_by_client');
  });

  it('the time is over before the first word', async () => {
    // The time passes once the request has arrived, however busy the machine is.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { result, server } = await ask(
      provider,
      () => {
        vi.advanceTimersByTime(100);
        return { text: 'late', pauseAfter: { events: 0, until: new Promise(() => undefined) } };
      },
      { timeoutMs: 100 },
    );
    expect(errorOf(result)).toMatchObject({ code: 'ai_timeout', retryable: true });
    expect(errorOf(result).message).toBe('The model did not finish its answer within 100 ms.');
    expect(await server.requests[0]?.ended).toBe('closed_by_client');
  });

  it('the call is aborted while it answers', async () => {
    const controller = new AbortController();
    const { result, server } = await ask(
      provider,
      () => {
        return {
          text: ['a', 'b', 'c'],
          usage: { input: 8, output: 3 },
          pauseAfter: {
            events: 2,
            until: new Promise(() => undefined),
            onReached: () => controller.abort(new Error('cancelled')),
          },
        };
      },
      {},
      { signal: controller.signal },
    );
    expect(errorOf(result)).toMatchObject({ code: 'ai_aborted', retryable: true });
    expect(await server.requests[0]?.ended).toBe('closed_by_client');
  });

  it('nothing is sent if it was aborted before', async () => {
    const { result, server } = await ask(provider, () => 'Hi.', {}, { signal: AbortSignal.abort() });
    expect(errorOf(result).code).toBe('ai_aborted');
    expect(server.requests).toHaveLength(0);
  });
});

describe.each(PROVIDERS)('%s: unreachable targets', (provider) => {
  const generate = (base_url: string, allowHosts: readonly string[]) =>
    makeService({ allowHosts })
      .generate(
        { type: 'ai', provider, base_url, api_key: KEY },
        requestFor(provider),
        new AbortController().signal,
      )
      .then(
        () => 'answered',
        (error: { code: string; retryable: boolean }) => ({ code: error.code, retryable: error.retryable }),
      );

  it('an internal address that is not allowed', async () => {
    const server = await startServer({ answer: () => 'Hi.' });
    const { base_url } = credentialFor(server, provider);
    expect(await generate(base_url ?? '', [])).toEqual({ code: 'target_not_allowed', retryable: false });
    expect(server.requests).toHaveLength(0);
  });

  it('a port without a listener', async () => {
    const server = await startServer({ answer: () => 'Hi.' });
    await server.close();
    expect(await generate(server.baseUrl(provider), ['127.0.0.1'])).toEqual({
      code: 'ai_unreachable',
      retryable: true,
    });
  });

  it('an invalid address', async () => {
    expect(await generate('ftp://example.com/v1', [])).toEqual({ code: 'invalid_url', retryable: false });
  });

  it('a path that is not the API', async () => {
    const server = await startServer({ answer: () => 'Hi.' });
    expect(await generate(`http://${server.host}/elsewhere`, ['127.0.0.1'])).toEqual({
      code: 'ai_model_not_found',
      retryable: false,
    });
  });
});
