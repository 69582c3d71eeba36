import { type AiRequest, type JsonObject, type MemoryTurn, ServiceError } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { runNode } from '@millrace/node-kit/testing';
import { memoryFiles } from '@millrace/node-kit/testing-files';
import { fakeMemory } from '@millrace/node-kit/testing-memory';
import { describe, expect, it } from 'vitest';
import { aiAgent } from '../ai-agent.ts';
import { aiGenerate } from '../ai-generate.ts';
import { exampleAnswer, exampleCredential } from './examples.ts';

const turns = (count: number, size = 1): MemoryTurn[] =>
  Array.from({ length: count }, (_, n) => ({
    user: `q${n} `.repeat(size),
    assistant: `a${n} `.repeat(size),
  }));

/** Asks once, with what is remembered. */
async function ask(
  memory: ReturnType<typeof fakeMemory>,
  config: JsonObject = {},
  more: Parameters<typeof runNode>[1] = {},
  node = aiGenerate,
) {
  const requests: AiRequest[] = [];
  const { result } = await runNode(node, {
    config: { credential_id: 1, model: 'm', prompt: 'now', memory_key: 'k', ...config },
    credential: exampleCredential('anthropic'),
    ai: (request) => {
      requests.push(request);
      return exampleAnswer(request.isInternal === true ? 'the notes' : 'an answer', 5, 5);
    },
    services: { memory },
    ...more,
  });
  return { result, requests };
}

const said = ({ messages }: AiRequest): string[] => messages.map((each) => ('text' in each ? each.text : ''));

describe.each([
  ['ai.generate', aiGenerate],
  ['ai.agent', aiAgent],
])('%s with a memory', (_name, node) => {
  it('gives the model the last turns, and remembers this one', async () => {
    const memory = fakeMemory({ k: turns(3) });
    const { requests, result } = await ask(memory, { memory_turns: 2 }, {}, node);
    expect(result).toMatchObject({ kind: 'success', consumedAiTokens: 10 });
    expect(requests.map(said)).toEqual([['q1 ', 'a1 ', 'q2 ', 'a2 ', 'now']]);
    expect((await memory.read('k')).turns.at(-1)).toEqual({ user: 'now', assistant: 'an answer' });
  });

  it('sees files with the prompt, not with what was said before', async () => {
    const files = memoryFiles();
    const value = await files.save({ name: 'a.png', type: 'image/png' }, [Buffer.from('x')] as never);
    const note = await files.save({ name: 'note.txt', type: 'text/plain' }, [Buffer.from('Flour')] as never);
    const memory = fakeMemory({ k: turns(1) });
    const services = { memory, files };
    const { requests } = await ask(memory, { files: [value, note] }, { services }, node);
    expect(requests[0]?.messages.map((each) => ('files' in each ? each.files?.length : undefined))).toEqual([
      undefined,
      undefined,
      1,
    ]);
    expect(requests.map(said)).toEqual([['q0 ', 'a0 ', 'File "note.txt":\n```\nFlour\n```\n\nnow']]);
    expect((await memory.read('k')).turns.at(-1)).toEqual({ user: 'now', assistant: 'an answer' });
  });

  it('has none without a name', async () => {
    const memory = fakeMemory({ '': turns(1) });
    const { requests } = await ask(memory, { memory_key: ' ' }, {}, node);
    expect(requests.map(said)).toEqual([['now']]);
    expect((await memory.read('')).turns).toHaveLength(1);
  });

  it('leaves out the oldest turns that take too many tokens', async () => {
    const { requests } = await ask(fakeMemory({ k: turns(4, 100) }), { memory_tokens: 400 }, {}, node);
    expect(requests.map(said)[0]).toHaveLength(5);
  });

  it('summarises what is above the window, and counts its tokens', async () => {
    const memory = fakeMemory({ k: turns(4) });
    const config = { memory_turns: 2, memory_summary: true, system: 'Be kind.' };
    const { requests, result } = await ask(memory, config, {}, node);
    expect(requests).toHaveLength(2);
    expect(requests[1]).toMatchObject({ isInternal: true, maxOutputTokens: 1_000 });
    expect(requests[1]?.messages[0]).toMatchObject({ text: expect.stringContaining('User: q2 ') });
    expect(requests[1]?.messages[0]).not.toMatchObject({ text: expect.stringContaining('q3') });
    expect(result).toMatchObject({ consumedAiTokens: 20 });
    expect((await memory.read('k')).turns.map(({ user }) => user)).toEqual(['q3 ', 'now']);
    const next = await ask(memory, config, {}, node);
    expect(next.requests[0]?.system).toMatch(/^Be kind\.\n\nSummary of the conversation[\s\S]*\nthe notes$/);
  });

  it('spends nothing on a summary that the budget does not allow', async () => {
    const config = { memory_turns: 2, memory_summary: true };
    const { requests } = await ask(fakeMemory({ k: turns(9) }), config, { aiTokensLeft: 1_500 }, node);
    expect(requests).toHaveLength(1);
  });

  it('keeps its answer, and the turns, when the summary fails', async () => {
    const memory = fakeMemory({ k: turns(4) });
    const failing = (request: AiRequest) => {
      if (request.isInternal !== true) return exampleAnswer('an answer', 5, 5);
      throw new ServiceError('ai_overloaded', verbatim('Busy.'), { consumedAiTokens: 3 });
    };
    const { result } = await ask(memory, { memory_turns: 2, memory_summary: true }, { ai: failing }, node);
    expect(result).toMatchObject({ kind: 'success', output: { text: 'an answer' }, consumedAiTokens: 13 });
    expect((await memory.read('k')).turns).toHaveLength(5);
  });

  it('remembers nothing in test mode, nor of an answer that failed', async () => {
    const memory = fakeMemory({ k: turns(1) });
    const { result } = await ask(memory, {}, { isTestMode: true }, node);
    expect(JSON.stringify(result)).toContain('q0 ');
    const refuse = () => {
      throw new ServiceError('ai_refused', verbatim('No.'));
    };
    expect((await ask(memory, {}, { ai: refuse }, node)).result).toMatchObject({ kind: 'failure' });
    expect((await memory.read('k')).turns).toHaveLength(1);
  });
});
