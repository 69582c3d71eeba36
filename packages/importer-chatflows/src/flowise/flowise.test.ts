import type { JsonValue } from '@millrace/engine';
import { problemsOf } from '@millrace/importer';
import { configOf, faultOf, flowOf, outcomeOf, read } from '@millrace/importer/testing';
import { describe, expect, test } from 'vitest';
import { agentflow, chatflow } from './testing.ts';

const START = ['start', { startInputType: 'chatInput' }] as const;
const MODEL = {
  llmModel: 'chatOpenAI',
  llmModelConfig: { modelName: 'gpt-4o-mini', temperature: 0.4, maxTokens: '200' },
};
const mention = (name: string) =>
  `<span class="variable" data-type="mention" data-id="${name}">{{ ${name} }}</span>`;

/** Problems other than values to be chosen. */
function problems(value: JsonValue) {
  return problemsOf(read(value)).filter(({ code }) => code !== 'empty_config');
}

describe('a flow of agents of Flowise', () => {
  test('becomes a workflow with the same nodes, its texts without HTML', () => {
    const value = agentflow(
      {
        start: START,
        ask: [
          'llm',
          {
            ...MODEL,
            llmMessages: [
              { role: 'system', content: '<p>Be <strong>short</strong> &amp; kind.</p><p>{{ no end</p>' },
            ],
            llmUserMessage: `<p>About ${mention('question')}:</p>`,
          },
        ],
        reply: ['directReply', { directReplyMessage: `<p>${mention('ask')}</p>` }],
      },
      ['start > ask', 'ask > reply'],
    );
    const result = read({ name: 'Asked', ...value });
    expect(result).toMatchObject({ product: 'flowise', name: 'Asked' });
    expect(flowOf(result).nodes.map(({ type }) => type)).toEqual(['trigger.chat', 'ai.generate', 'core.set']);
    expect(configOf(result, 'ask')).toEqual({
      credential_id: 0,
      model: 'gpt-4o-mini',
      temperature: 0.4,
      max_tokens: 200,
      system: 'Be **short** & kind.\n\\{{ no end',
      prompt: 'About {{trigger.data.message}}:',
    });
    expect(configOf(result, 'reply')).toEqual({ values: { text: '{{nodes.ask.output.text}}' } });
    expect(configOf(result, 'start')).toEqual({ title: 'Asked', answer: '{{nodes.reply.output.text}}' });
    expect(problems(value)).toEqual([]);
  });

  test('is recognised by its nodes, also as the text of an export', () => {
    const value = agentflow({ start: START, reply: ['directReply', { directReplyMessage: 'Hi' }] }, [
      'start > reply',
    ]);
    expect(read({ name: 'x', flowData: JSON.stringify(value) }).product).toBe('flowise');
    expect(read({ name: 'x', type: 'AGENTFLOW', flowData: value }).name).toBe('x');
    expect(read(JSON.stringify(value)).product).toBe('flowise');
    expect(faultOf({ nodes: [{ id: 'a', type: 'core.set', data: { label: 'A' } }], edges: [] })).toBe(
      'unknown_product',
    );
  });

  test('branches by conditions and by what a model chooses', () => {
    const value = agentflow(
      {
        start: START,
        check: [
          'condition',
          {
            conditions: [
              { type: 'number', value1: mention('$flow.state.n'), operation: 'larger', value2: '<p>3</p>' },
              { type: 'string', value1: mention('question'), operation: 'isEmpty' },
            ],
          },
        ],
        pick: [
          'conditionAgent',
          {
            conditionAgentModel: 'chatAnthropic',
            conditionAgentModelConfig: { modelName: 'claude' },
            conditionAgentInstructions: '<p>Sort.</p>',
            conditionAgentInput: mention('question'),
            conditionAgentScenarios: [{ scenario: 'Refund' }, { scenario: 'Other' }],
          },
        ],
        a: ['directReply', { directReplyMessage: 'A' }],
        b: ['directReply', { directReplyMessage: 'B' }],
      },
      ['start > check', 'check.0 > a', 'check.2 > pick', 'pick.0 > a', 'pick.1 > b'],
    );
    const result = read(value);
    expect(configOf(result, 'check')).toMatchObject({
      cases: [
        { conditions: [{ operator: 'greater_than', right: 3 }] },
        { conditions: [{ left: '{{trigger.data.message}}', operator: 'is_empty' }] },
      ],
    });
    expect(configOf(result, 'pick')).toMatchObject({
      system: expect.stringContaining('1: Refund\n2: Other'),
      prompt: '{{trigger.data.message}}',
    });
    const edges = flowOf(result).edges.map(
      ({ source, sourceHandle, target }) => `${source} ${sourceHandle} ${target}`,
    );
    expect(edges).toEqual(
      expect.arrayContaining([
        'check case 1 a',
        'check default pick',
        'pick_branch choice 1 a',
        'pick_branch choice 2 b',
      ]),
    );
    expect(outcomeOf(result, 'check')).toMatchObject({
      kind: 'approximated',
      what: [{ key: 'import.reads_unknown' }],
    });
    expect(problems(value)).toEqual([]);
  });

  test('goes back in a loop, which passes on the state and tells what was put out in it', () => {
    const value = agentflow(
      {
        start: ['start', { startInputType: 'chatInput', startState: [{ key: 'n', value: '0' }] }],
        count: [
          'customFunction',
          {
            customFunctionInputVariables: [{ variableName: 'n', variableValue: mention('$flow.state.n') }],
            customFunctionJavascriptFunction: 'return String(Number($n) + 1);',
            customFunctionUpdateState: [{ key: 'n', value: '<p>{{ output }}</p>' }],
          },
        ],
        check: [
          'condition',
          {
            conditions: [
              { type: 'number', value1: mention('$flow.state.n'), operation: 'smaller', value2: '3' },
            ],
          },
        ],
        again: ['loop', { loopBackToNode: 'count-Count', maxLoopCount: 7 }],
        reply: ['directReply', { directReplyMessage: `${mention('count')} ${mention('$flow.state.n')}` }],
      },
      ['start > count', 'count > check', 'check.0 > again', 'check.1 > reply'],
    );
    const result = read(value);
    const { nodes } = flowOf(result);
    const repeat = nodes.find(({ type }) => type === 'core.repeat');
    expect(nodes.filter(({ parentId }) => parentId === repeat?.id).map(({ data }) => data?.label)).toEqual(
      expect.arrayContaining(['count', 'check', 'again']),
    );
    expect(repeat?.data?.config).toMatchObject({
      max_iterations: 8,
      on_limit: 'continue',
      until: [{ left: '{{nodes.again.output.taken}}', operator: 'not_exists' }],
      result: {
        s1: expect.stringContaining('nodes.count_state.output.v1 ?? nodes.again_repeat_state.output.s1'),
      },
    });
    expect(configOf(result, 'count')).toMatchObject({
      code: 'const $n = input.n;\nreturn String(Number($n) + 1);',
      input: { n: '{{nodes.again_repeat_state.output.s1}}' },
    });
    expect(configOf(result, 'reply')?.values).toEqual({
      text: expect.stringMatching(
        /^\{\{nodes\.again_repeat\.output\.last\.r\d\}\} \{\{nodes\.again_repeat\.output\.last\.s1 \?\? /,
      ),
    });
    expect(result.outcomes.map(({ node }) => node).toSorted()).toEqual([
      'again',
      'check',
      'count',
      'reply',
      'start',
    ]);
    expect(result.outcomes.every(({ kind }) => kind !== 'dropped')).toBe(true);
    expect(problems(value)).toEqual([]);
  });

  test('repeats the nodes in an iteration, and passes on the answers to a node that remembers', () => {
    const value = agentflow(
      {
        start: START,
        each: ['iteration', { iterationInput: '<p>[{"city": "Oslo"}, {"city": "Bergen"}]</p>' }],
        say: ['llm', { ...MODEL, llmUserMessage: mention('$iteration.city') }, 'each'],
        sum: ['llm', { ...MODEL, llmEnableMemory: true, llmUserMessage: mention('each') }],
        last: [
          'llm',
          {
            ...MODEL,
            llmEnableMemory: true,
            llmMemoryType: 'windowSize',
            llmMemoryWindowSize: '6',
            llmStructuredOutput: [
              { key: 'ok', type: 'boolean' },
              { key: 'kind', type: 'enum', enumValues: 'a, b' },
            ],
          },
        ],
        reply: ['directReply', { directReplyMessage: '{{ last.output.kind }}' }],
      },
      ['start > each', 'each > sum', 'sum > last', 'last > reply'],
    );
    const result = read(value);
    expect(configOf(result, 'each')).toEqual({
      items: [{ city: 'Oslo' }, { city: 'Bergen' }],
      result: '{{nodes.say.output.text}}',
    });
    expect(configOf(result, 'say')).toMatchObject({ prompt: '{{item.city}}' });
    expect(configOf(result, 'sum')).toMatchObject({
      prompt: '{{nodes.each.output.items}}',
      memory_key: '{{trigger.data.session_id}}/sum',
      memory_turns: 50,
    });
    expect(configOf(result, 'last')).toMatchObject({
      output: 'json',
      schema: { properties: { ok: { type: 'boolean' }, kind: { enum: ['a', 'b'] } } },
      prompt: { message: '{{trigger.data.message}}', earlier_answers: ['{{nodes.sum.output.text}}'] },
      memory_key: '{{trigger.data.session_id}}/last',
      memory_turns: 6,
    });
    expect(configOf(result, 'reply')).toEqual({ values: { text: '{{nodes.last.output.json.kind}}' } });
    expect(problems(value)).toEqual([]);
  });

  test('calls URLs, tools, people and other flows', () => {
    const value = agentflow(
      {
        start: [
          'start',
          {
            startInputType: 'formInput',
            formTitle: 'Order',
            formInputTypes: [
              {
                type: 'options',
                label: 'Size',
                name: 'size',
                addOptions: [{ option: 'S' }, { option: 'L' }],
              },
            ],
          },
        ],
        call: [
          'http',
          {
            method: 'POST',
            url: 'https://api.example.com/x',
            headers: [{ key: 'X-A', value: mention('$form.size') }],
            bodyType: 'json',
            body: '{"size": {{ $form.size }}, "t": "a {{ $form.size }}"}',
          },
        ],
        agent: [
          'agent',
          {
            agentModel: 'chatOpenAI',
            agentModelConfig: { modelName: 'gpt-4o' },
            agentUserMessage: '{{ call.output.http.data.id }}',
            agentTools: [{ agentSelectedTool: 'serper', agentSelectedToolConfig: {} }],
          },
        ],
        ok: ['humanInput', { humanInputDescription: '<p>Go on?</p>', humanInputDescriptionType: 'fixed' }],
        other: ['executeFlow', { executeFlowSelectedFlow: 'abc', executeFlowInput: '{{ agent }}' }],
        bad: ['tool', { toolAgentflowSelectedTool: 'gmail' }],
        search: ['retriever', {}],
        code: ['customFunction', { customFunctionJavascriptFunction: "const x = require('fs'); return 1" }],
      },
      [
        'start > call',
        'call > agent',
        'agent > ok',
        'ok.0 > other',
        'ok.1 > bad',
        'bad > search',
        'search > code',
      ],
    );
    const result = read(value);
    expect(configOf(result, 'start')).toMatchObject({
      title: 'Order',
      fields: [{ name: 'size', type: 'choice', choices: ['S', 'L'] }],
    });
    expect(configOf(result, 'call')).toMatchObject({
      headers: { 'X-A': '{{trigger.data.size}}' },
      body: { size: '{{trigger.data.size}}', t: 'a {{trigger.data.size}}' },
    });
    expect(configOf(result, 'agent')).toMatchObject({
      prompt: '{{nodes.call.output.body.id}}',
      tools: [{ name: 'serper', type: 'http.request', config: { body: { q: '{{args.input}}' } } }],
    });
    expect(configOf(result, 'other')).toMatchObject({ input: { question: '{{nodes.agent.output.text}}' } });
    const dropped = result.outcomes.filter(({ kind }) => kind === 'dropped').map(({ node }) => node);
    expect(dropped).toEqual(['bad', 'search', 'code']);
    expect(problems(value).every(({ code }) => code === 'placeholder')).toBe(true);
  });

  test('that nobody has checked becomes one that says what is wrong', () => {
    const value = agentflow(
      {
        start: START,
        a: ['llm', { ...MODEL, llmUserMessage: '{{ b }} {{ nowhere.x }} {{ $flow.nothing }}' }],
        b: ['llm', MODEL],
        outside: ['loop', { loopBackToNode: 'nowhere' }],
        early: ['loop', { loopBackToNode: 'start' }],
        inner: ['llm', MODEL, 'inner'],
      },
      ['start > a', 'a > b', 'b > a', 'b > outside', 'b > early'],
    );
    const result = read(value);
    expect(outcomeOf(result, 'outside')).toMatchObject({
      kind: 'dropped',
      reason: { key: 'import.goes_back' },
    });
    expect(outcomeOf(result, 'inner')).toMatchObject({
      kind: 'approximated',
      what: [{ key: 'import.never_runs' }],
    });
    expect(problems(value).every(({ code }) => code === 'placeholder')).toBe(true);
    expect(read(agentflow({ a: ['llm', MODEL] }, [])).workflow).toBeNull();
  });
});

describe('a flow of components of Flowise', () => {
  const MEMORY = ['bufferWindowMemory', 'Memory', { k: '3' }] as const;
  const CHAT = ['chatOpenAI', 'Chat Models', { modelName: 'gpt-4o', temperature: '0.2' }] as const;

  test('becomes a node for each chain and agent, with what is connected to it', () => {
    const value = chatflow(
      {
        model: CHAT,
        memory: MEMORY,
        calculator: ['calculator', 'Tools'],
        agent: ['toolAgent', 'Agents', { systemMessage: 'You compute {{x}}.', maxIterations: '4' }],
      },
      ['model > agent.model', 'memory > agent.memory', 'calculator > agent.tools'],
    );
    const result = read(value);
    expect(result.outcomes.map(({ node, kind }) => [node, kind])).toEqual([
      ['agent', 'approximated'],
      ['memory', 'mapped'],
      ['model', 'mapped'],
      ['calculator', 'mapped'],
    ]);
    expect(configOf(result, 'agent')).toMatchObject({
      model: 'gpt-4o',
      temperature: 0.2,
      system: 'You compute \\{{x}}.',
      max_steps: 4,
      tools: [{ name: 'calculator', type: 'core.code' }],
      prompt: '{{trigger.data.message}}',
      memory_key: '{{trigger.data.session_id}}',
      memory_turns: 3,
    });
    expect(problems(value)).toEqual([]);
  });

  test('lets a chain read what another has answered', () => {
    const value = chatflow(
      {
        model: CHAT,
        p1: [
          'promptTemplate',
          'Prompts',
          { template: 'Name {thing}', promptValues: '{"thing":"{{question}}"}' },
        ],
        one: ['llmChain', 'Chains'],
        p2: [
          'promptTemplate',
          'Prompts',
          { template: 'Rate {name}', promptValues: '{"name":"{{one.data.instance}}"}' },
        ],
        two: ['llmChain', 'Chains'],
      },
      [
        'model > one.model',
        'model > two.model',
        'p1 > one.prompt',
        'one > p2.promptValues',
        'p2 > two.prompt',
      ],
    );
    const result = read(value);
    expect(configOf(result, 'one')).toMatchObject({ prompt: 'Name {{trigger.data.message}}' });
    expect(configOf(result, 'two')).toMatchObject({ prompt: 'Rate {{nodes.one.output.text}}' });
    expect(configOf(result, 'Start')).toEqual({ title: 'Chat', answer: '{{nodes.two.output.text}}' });
    expect(problems(value)).toEqual([]);
  });

  test('what reads documents is dropped with its parts', () => {
    const value = chatflow(
      { model: CHAT, store: ['pinecone', 'Vector Stores'], qa: ['conversationalRetrievalQAChain', 'Chains'] },
      ['model > qa.model', 'store > qa.vectorStoreRetriever'],
    );
    const result = read(value);
    expect(result.outcomes.map(({ node, kind }) => [node, kind])).toEqual([
      ['qa', 'dropped'],
      ['model', 'dropped'],
      ['store', 'dropped'],
    ]);
    expect(problems(value).map(({ code }) => code)).toEqual(['placeholder']);
  });
});
