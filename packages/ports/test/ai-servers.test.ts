import { type AiProvider, type JsonObject, stringifyJson } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import {
  ADD,
  answerOf,
  ask,
  credentialFor,
  makeService,
  PROVIDERS,
  requestFor,
  startServer,
} from './ai-harness.ts';

/** A response sent whole, and what the model's server put between the events of a streamed one. */
const WHOLE: Record<AiProvider, { readonly answer: JsonObject; readonly strange: readonly string[] }> = {
  openai_compatible: {
    answer: {
      id: 'c1',
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Adding.',
            tool_calls: [
              { id: 't1', type: 'function', function: { name: 'add', arguments: { a: 1, b: [2] } } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 4 },
    },
    strange: ['{"type":"ping"}', '{"object":"queue","position":3}', '[1]', '7', '{"choices":null}'],
  },
  anthropic: {
    answer: {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [
        { type: 'text', text: 'Adding.' },
        { type: 'hologram', data: 'x' },
        { type: 'tool_use', id: 't1', name: 'add', input: { a: 1, b: [2] } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 7, output_tokens: 4 },
    },
    strange: [
      '{"type":"server_status","load":3}',
      '{"type":"content_block_start","index":77,"content_block":{"type":"hologram"}}',
      '{"type":"content_block_delta","index":77,"delta":{"type":"text_delta","text":"no"}}',
      '{"type":"content_block_stop","index":77}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"mood_delta","mood":"good"}}',
    ],
  },
  google: {
    answer: {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [{ text: 'Adding.' }, { functionCall: { name: 'add', args: { a: 1, b: [2] } } }],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 4, totalTokenCount: 11 },
    },
    strange: ['{"heartbeat":true}', 'null', '[]'],
  },
};

describe.each(PROVIDERS)('%s: a server with deviations', (provider) => {
  it('responds at once instead of streaming', async () => {
    const { answer } = WHOLE[provider];
    const body = JSON.stringify(provider === 'google' ? [answer] : answer);
    const { result } = await ask(provider, () => ({ raw: { type: 'application/json', body } }), {
      tools: [ADD],
    });
    expect(answerOf(result)).toMatchObject({
      text: 'Adding.',
      finishReason: 'tool_calls',
      toolCalls: [{ name: 'add', arguments: { a: 1, b: [2] } }],
      usage: { inputTokens: 7, outputTokens: 4, totalTokens: 11 },
    });
  });

  it('sends its own events between those of the format', async () => {
    const { strange } = WHOLE[provider];
    const { result } = await ask(provider, () => ({ text: ['a', 'b'], strange }));
    expect(answerOf(result)).toMatchObject({ text: 'ab', finishReason: 'stop' });
  });

  it('requires a query with every request', async () => {
    const server = await startServer({ answer: () => 'Hi.' });
    const credential = credentialFor(server, provider);
    const asked = { ...credential, base_url: `${credential.base_url}/?api-version=2026-01-01&x=a%20b` };
    const answer = await makeService().generate(asked, requestFor(provider), new AbortController().signal);
    expect(answer.text).toBe('Hi.');
    const url = new URL(server.requests[0]?.path ?? '', 'http://x');
    expect([url.searchParams.get('api-version'), url.searchParams.get('x')]).toEqual(['2026-01-01', 'a b']);
  });
});

it('calls a tool with an object instead of text, also when streamed in pieces', async () => {
  const call = { index: 0, id: 't1', type: 'function', function: { name: 'add', arguments: { id: '#' } } };
  const chunk = (delta: object, finish: string | null) =>
    `event: delta\ndata: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const body = `${chunk({ tool_calls: [call] }, null)}${chunk({}, 'tool_calls')}`.replace(
    '"#"',
    '9007199254740993',
  );
  const { result } = await ask('openai_compatible', () => ({ raw: { type: 'text/plain', body } }), {
    tools: [ADD],
  });
  expect(stringifyJson(answerOf(result).toolCalls[0]?.arguments ?? null)).toBe('{"id":9007199254740993}');
});

it('that needs no key gets none', async () => {
  const server = await startServer({ answer: () => 'Hi.', key: null });
  const credential = { ...credentialFor(server, 'openai_compatible'), api_key: null };
  const request = requestFor('openai_compatible');
  const answer = await makeService().generate(credential, request, new AbortController().signal);
  expect(answer.text).toBe('Hi.');
  expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
});
