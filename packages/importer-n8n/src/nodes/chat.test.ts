import { findProblems } from '@millrace/engine';
import type { ImportResult } from '@millrace/importer';
import { registry } from '@millrace/nodes';
import { expect, test } from 'vitest';
import { n8n, read } from '../testing.ts';

interface Flow {
  readonly nodes: readonly { readonly type: string; readonly data: { readonly config: object } }[];
}

const flowOf = ({ workflow }: ImportResult) => workflow?.flow_data as unknown as Flow;
const nodeOf = (result: ImportResult, type: string) =>
  flowOf(result).nodes.find((node) => node.type === type);

function importChat(parameters: object, memory: object = {}): ImportResult {
  const langchain = '@n8n/n8n-nodes-langchain';
  return read(
    n8n(
      {
        Chat: { type: `${langchain}.chatTrigger`, version: 1.1, parameters: { ...parameters } },
        Agent: { type: `${langchain}.agent`, version: 1.7 },
        Model: { type: `${langchain}.lmChatOpenAi`, parameters: { model: { value: 'gpt-4o-mini' } } },
        Memory: { type: `${langchain}.memoryBufferWindow`, version: 1.3, parameters: { ...memory } },
      },
      [
        ['Chat', 'Agent'],
        ['Model', 'Agent', 'ai_languageModel'],
        ['Memory', 'Agent', 'ai_memory'],
      ],
    ),
  );
}

test('a chat page keeps its texts, and its agent answers and remembers', () => {
  const result = importChat(
    {
      public: true,
      initialMessages: 'Hello!',
      options: { title: 'Ask us', inputPlaceholder: 'Type', allowedOrigins: 'https://a.example' },
    },
    { contextWindowLength: 20 },
  );
  expect(nodeOf(result, 'trigger.chat')?.data.config).toEqual({
    title: 'Ask us',
    greeting: 'Hello!',
    placeholder: 'Type',
    allowed_origins: ['https://a.example'],
    answer: '{{nodes.agent.output.text}}',
  });
  expect(nodeOf(result, 'ai.agent')?.data.config).toMatchObject({
    prompt: '{{trigger.data.message}}',
    memory_key: '{{trigger.data.session_id}}',
    memory_turns: 20,
  });
  expect(JSON.stringify(result.outcomes)).not.toContain('chat_page');
  const codes = new Set(findProblems(flowOf(result) as never, registry).map(({ code }) => code));
  expect([...codes]).toEqual(['empty_config']);
});

test('a chat that was not public, or allowed every website, says what is different', () => {
  const result = importChat({ options: { allowedOrigins: '*' } });
  expect(JSON.stringify(result.outcomes)).toContain('import.chat_page');
  expect(nodeOf(result, 'trigger.chat')?.data.config).toMatchObject({ title: 'Chat' });
});

test('a second chat becomes a webhook, as a workflow has one at most', () => {
  const chat = { type: '@n8n/n8n-nodes-langchain.chatTrigger', version: 1.1, parameters: { public: true } };
  const set = { type: 'n8n-nodes-base.set', version: 3.4, parameters: {} };
  const result = read(
    n8n({ One: chat, Two: chat, Set: set }, [
      ['One', 'Set'],
      ['Two', 'Set'],
    ]),
  );
  const types = flowOf(result).nodes.map(({ type }) => type);
  expect(types.filter((type) => type.startsWith('trigger.'))).toEqual(['trigger.chat', 'trigger.webhook']);
  expect(result.outcomes).toContainEqual(expect.objectContaining({ node: 'Two', kind: 'approximated' }));
  const codes = findProblems(flowOf(result) as never, registry).map(({ code }) => code);
  expect(codes).not.toContain('same_address');
});

test('a chat that a page of its own asks stays a webhook', () => {
  const result = importChat({ mode: 'webhook', public: true });
  expect(nodeOf(result, 'trigger.webhook')?.data.config).toMatchObject({
    respond: 'when_done',
    response: { body: { output: '{{nodes.agent.output.text}}' } },
  });
  expect(nodeOf(result, 'ai.agent')?.data.config).toMatchObject({ prompt: '{{trigger.data.chatInput}}' });
});
