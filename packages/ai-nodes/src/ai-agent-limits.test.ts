import { ServiceError, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { TEST_NOW_MS } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { calling, converse, done } from './agent/testing.ts';
import { exampleAnswer } from './model/examples.ts';

describe('ai.agent: a tool that can never run ends the node', () => {
  it('and keeps what was done', async () => {
    const { result, asked } = await converse(
      {},
      {
        ai: [calling({}, {})],
        runTool: () =>
          Promise.reject(new ServiceError('tool_not_allowed', verbatim('wait.callback cannot be a tool.'))),
      },
    );
    expect(asked).toHaveLength(1);
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'tool_not_allowed',
      retryable: false,
      consumedAiTokens: 110,
      output: {
        steps: [
          {
            tool_calls: [
              { error: 'wait.callback cannot be a tool.' },
              { error: 'Not run: the node has ended.' },
            ],
          },
        ],
      },
    });
  });
});

describe('ai.agent: limits', () => {
  it('a model that never finishes stops at the last step, whose calls are not run', async () => {
    const { result, orders, asked } = await converse({ max_steps: 3 }, { ai: () => calling({}) });
    expect(asked).toHaveLength(3);
    expect(orders).toHaveLength(2);
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'agent_step_limit',
      retryable: false,
      consumedAiTokens: 330,
      output: {
        usage: { total_tokens: 330 },
        steps: [{}, {}, { tool_calls: [{ error: 'Not run: this is the last step.' }] }],
      },
    });
  });

  it.each([
    [{ token_budget: 200 }, undefined],
    [{}, 200],
    [{ token_budget: 200 }, 5_000],
    [{ token_budget: 5_000 }, 200],
  ])('the tokens of %j with %j left in the execution', async (config, aiTokensLeft) => {
    const options = aiTokensLeft === undefined ? {} : { aiTokensLeft };
    const { result, asked } = await converse(config, { ai: () => calling({}), ...options });
    expect(asked.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([200, 90]);
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'token_budget_exceeded',
      retryable: false,
      consumedAiTokens: 220,
    });
    expect(result).toHaveProperty('output.steps.length', 2);
  });

  it('with nothing left before the first step, makes no request', async () => {
    const { result, asked } = await converse({}, { ai: () => calling({}), aiTokensLeft: 0 });
    expect(asked).toEqual([]);
    expect(result).toMatchObject({
      code: 'token_budget_exceeded',
      consumedAiTokens: 0,
      output: { steps: [] },
    });
  });

  it('tokens of tools count, and tools get what is left', async () => {
    const { result, orders } = await converse(
      { token_budget: 150 },
      { ai: () => calling({}), runTool: async () => success({}, { consumedAiTokens: 45 }) as never },
    );
    expect(result).toMatchObject({ code: 'token_budget_exceeded', consumedAiTokens: 155 });
    expect(result).toHaveProperty('output.steps.length', 1);
    expect(orders.map(({ aiTokensLeft }) => aiTokensLeft)).toEqual([40]);
  });

  it("an answer cut by the budget doesn't count as one", async () => {
    const cut = { ...exampleAnswer('The answer i', 50, 20), finishReason: 'length' };
    const { result } = await converse({ token_budget: 60 }, { ai: [cut] });
    expect(result).toMatchObject({
      code: 'token_budget_exceeded',
      consumedAiTokens: 70,
      output: { text: 'The answer i' },
    });
  });

  it('time', async () => {
    let now = TEST_NOW_MS;
    const { result, asked } = await converse(
      { total_timeout_ms: 10_000, timeout_ms: 8_000 },
      {
        now: () => now,
        ai: () => {
          now += 4_000;
          return calling({});
        },
      },
    );
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([8_000, 6_000, 2_000]);
    expect(result).toMatchObject({ kind: 'failure', code: 'agent_timeout', consumedAiTokens: 330 });
  });

  it('cancelling', async () => {
    const controller = new AbortController();
    const { result, asked, orders } = await converse(
      {},
      {
        signal: controller.signal,
        ai: () => calling({}, {}),
        runTool: async () => {
          controller.abort();
          return success({}) as never;
        },
      },
    );
    expect(asked).toHaveLength(1);
    expect(orders).toHaveLength(1);
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'aborted',
      retryable: true,
      consumedAiTokens: 110,
    });
  });

  it('cancelling while waiting for a workflow', async () => {
    const controller = new AbortController();
    const { result } = await converse(
      {},
      {
        signal: controller.signal,
        ai: [calling({ name: 'refund', arguments: { order: 1 } })],
        child: () => {
          controller.abort(new Error('cancelled'));
          return Promise.reject(new Error('cancelled'));
        },
      },
    );
    expect(result).toMatchObject({ kind: 'failure', code: 'aborted', consumedAiTokens: 110 });
  });
});

describe('ai.agent: when the model fails', () => {
  const overloaded = new ServiceError('ai_overloaded', verbatim('Later.'), {
    retryable: true,
    retryAfterMs: 2_000,
    consumedAiTokens: 7,
  });

  it('keeps the steps and counts all tokens, including the last', async () => {
    let asked = 0;
    const { result } = await converse(
      {},
      {
        ai: () => {
          asked += 1;
          return asked === 1 ? calling({}) : Promise.reject(overloaded);
        },
      },
    );
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'ai_overloaded',
      retryable: true,
      retryAfterMs: 2_000,
      consumedAiTokens: 117,
      output: { steps: [{ tool_calls: [{ result: { found: 3 } }] }] },
    });
  });

  it('continues after the steps of the previous attempt, without acting again', async () => {
    const broken = await converse(
      {},
      { ai: (request) => (request.messages.length === 1 ? calling({}) : Promise.reject(overloaded)) },
    );
    if (broken.result.kind !== 'failure' || broken.result.output === undefined) throw new Error('no failure');
    const { result, asked, orders } = await converse(
      {},
      {
        attempt: 2,
        previousOutput: broken.result.output,
        ai: [calling({ arguments: { article: 'B' } }), done],
      },
    );
    expect(orders).toMatchObject([
      { callKey: expect.stringMatching(/^2\.1\./), config: { query: { q: 'B' } } },
    ]);
    expect(asked[0]?.messages).toEqual([
      { role: 'user', text: 'Help.' },
      {
        role: 'assistant',
        text: '',
        toolCalls: [{ id: 'call_1_1', name: 'look_up', arguments: { article: 'A-1' } }],
      },
      { role: 'tool', toolCallId: 'call_1_1', toolName: 'look_up', result: { found: 3 }, isError: false },
    ]);
    // The first attempt's usage has already been counted there.
    expect(result).toMatchObject({
      kind: 'success',
      consumedAiTokens: 265,
      output: { usage: { total_tokens: 375 } },
    });
    expect(result).toHaveProperty('output.steps.length', 3);
  });

  it.each([
    [
      {
        steps: [
          {
            text: 'An answer',
            tool_calls: [],
            usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
          },
        ],
      },
    ],
    [{ steps: 'none' }],
    [{ steps: [1, null] }],
    [{ text: 'x' }],
  ])('starts over after %j', async (previousOutput) => {
    const { asked } = await converse({}, { attempt: 2, previousOutput, ai: [done] });
    expect(asked[0]?.messages).toEqual([{ role: 'user', text: 'Help.' }]);
  });

  it("earlier steps count towards the node's budget and its step limit", async () => {
    const step = {
      text: '',
      tool_calls: [{ name: 'look_up', arguments: { article: 'A' }, result: 1, duration_ms: 3 }],
      usage: { input_tokens: 80, output_tokens: 20, total_tokens: 100 },
    };
    const options = { attempt: 2, previousOutput: { steps: [step, step] }, ai: () => calling({}) };
    expect((await converse({ token_budget: 200 }, options)).result).toMatchObject({
      code: 'token_budget_exceeded',
    });
    expect((await converse({ max_steps: 2 }, options)).result).toMatchObject({ code: 'agent_step_limit' });
  });
});
