import type { JsonObject, JsonValue } from '@millrace/engine';
import { problemsOf } from '@millrace/importer';
import { configOf, faultOf, flowOf, outcomeOf, read } from '@millrace/importer/testing';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { dify } from './testing.ts';

const START = [
  'start',
  { variables: [{ variable: 'topic', type: 'text-input', label: 'Topic', required: true }] },
] as const;
const MODEL = { provider: 'openai', name: 'gpt-4o', mode: 'chat', completion_params: { temperature: 0.2 } };
const ask = (text: string, more = {}) =>
  ['llm', { model: MODEL, prompt_template: [{ role: 'user', text }], ...more }] as const;

/** Ids of problems other than values to be chosen. */
function problems(value: JsonValue) {
  return problemsOf(read(value)).filter(({ code }) => code !== 'empty_config');
}

describe('a workflow of Dify', () => {
  const app = dify(
    {
      start: START,
      write: [
        'llm',
        {
          model: MODEL,
          prompt_template: [
            { role: 'system', text: 'Be short.' },
            { role: 'user', text: 'About {{#start.topic#}} {{braces}}' },
          ],
        },
      ],
      finish: ['end', { outputs: [{ variable: 'text', value_selector: ['write', 'text'] }] }],
    },
    ['start > write', 'write > finish'],
  );

  test('becomes one with the same nodes, read from its YAML', () => {
    const result = read(stringify(app));
    expect(result.product).toBe('dify');
    expect(result.outcomes.map(({ node, kind }) => [node, kind])).toEqual([
      ['start', 'mapped'],
      ['write', 'approximated'],
      ['finish', 'mapped'],
    ]);
    expect(flowOf(result).nodes.map(({ type }) => type)).toEqual([
      'trigger.manual',
      'ai.generate',
      'core.set',
    ]);
    expect(configOf(result, 'write')).toMatchObject({
      model: 'gpt-4o',
      temperature: 0.2,
      system: 'Be short.',
      prompt: 'About {{trigger.data.topic}} \\{{braces}}',
    });
    expect(configOf(result, 'finish')).toEqual({ values: { text: '{{nodes.write.output.text}}' } });
    expect(flowOf(result).settings).toMatchObject({
      input_schema: { properties: { topic: { type: 'string', title: 'Topic' } }, required: ['topic'] },
    });
    expect(problems(app)).toEqual([]);
  });

  test('is not read from broken YAML, and says where', () => {
    expect(faultOf(`${stringify(app)}\n  - broken: [`)).toBe('not_yaml');
    expect(faultOf('just text')).toBe('unknown_product');
    expect(faultOf(`app: ${'['.repeat(200)}`)).toBe('too_deep');
    expect(faultOf({ app: { mode: 'chat' }, kind: 'app' })).toBe('no_nodes');
  });

  test('branches, and joins what the branches give', () => {
    const value = dify(
      {
        start: START,
        check: [
          'if-else',
          {
            cases: [
              {
                case_id: 'true',
                logical_operator: 'or',
                conditions: [
                  { variable_selector: ['start', 'topic'], comparison_operator: 'contains', value: 'tea' },
                ],
              },
              {
                case_id: 'b',
                logical_operator: 'and',
                conditions: [
                  {
                    variable_selector: ['start', 'topic'],
                    comparison_operator: '≥',
                    varType: 'number',
                    value: '3',
                  },
                ],
              },
            ],
          },
        ],
        one: [
          'template-transform',
          { template: 'Tea: {{ x }}', variables: [{ variable: 'x', value_selector: ['start', 'topic'] }] },
        ],
        two: [
          'template-transform',
          {
            template: '{% for c in x %}{{ c }}{% endfor %}',
            variables: [{ variable: 'x', value_selector: ['start', 'topic'] }],
          },
        ],
        joined: [
          'variable-aggregator',
          {
            variables: [
              ['one', 'output'],
              ['two', 'output'],
            ],
          },
        ],
      },
      ['start > check', 'check.true > one', 'check.b > two', 'one > joined', 'two > joined'],
    );
    const result = read(value);
    expect(configOf(result, 'check')).toEqual({
      cases: [
        {
          name: 'case 1',
          combine: 'any',
          conditions: [{ left: '{{trigger.data.topic}}', operator: 'contains', right: 'tea' }],
        },
        {
          name: 'case 2',
          combine: 'all',
          conditions: [{ left: '{{trigger.data.topic}}', operator: 'greater_or_equal', right: 3 }],
        },
      ],
    });
    expect(configOf(result, 'one')).toEqual({ values: { output: 'Tea: {{trigger.data.topic}}' } });
    expect(configOf(result, 'two: text')).toMatchObject({ input: { x: '{{trigger.data.topic}}' } });
    expect(configOf(result, 'joined')).toEqual({
      values: { output: '{{nodes.one.output.output ?? nodes.two.output.output}}' },
    });
    expect(flowOf(result).edges).toContainEqual(
      expect.objectContaining({ source: 'check', sourceHandle: 'case 1', target: 'one' }),
    );
    expect(problems(value)).toEqual([]);
  });

  test('keeps requests, with what is secret left to a credential', () => {
    const value = dify(
      {
        start: START,
        call: [
          'http-request',
          {
            method: 'post',
            url: 'https://api.example.com/{{#start.topic#}}',
            headers: 'X-A: 1\nX-B:{{#start.topic#}}',
            params: 'q:{{#start.topic#}}',
            authorization: { type: 'api-key', config: { type: 'bearer', api_key: 'abcdefghijkl' } },
            body: {
              type: 'json',
              data: [{ type: 'text', value: '{"a": {{#start.topic#}}, "b": "x {{#start.topic#}}"}' }],
            },
            retry_config: { retry_enabled: true, max_retries: 2, retry_interval: 500 },
            error_strategy: 'fail-branch',
          },
        ],
        bad: ['end', { outputs: [{ variable: 'why', value_selector: ['call', 'error_message'] }] }],
        good: ['end', { outputs: [{ variable: 'body', value_selector: ['call', 'body'] }] }],
      },
      ['start > call', 'call.success-branch > good', 'call.fail-branch > bad'],
    );
    const result = read(value);
    expect(configOf(result, 'call')).toMatchObject({
      method: 'POST',
      url: 'https://api.example.com/{{trigger.data.topic}}',
      headers: { 'X-A': '1', 'X-B': '{{trigger.data.topic}}' },
      query: { q: '{{trigger.data.topic}}' },
      body: { a: '{{trigger.data.topic}}', b: 'x {{trigger.data.topic}}' },
      auth: { type: 'credential', credential_id: 0 },
    });
    const call = flowOf(result).nodes.find(({ id }) => id === 'call');
    expect(call?.data).toMatchObject({ retry: { max_attempts: 3, backoff_ms: 500 }, on_error: 'branch' });
    expect(JSON.stringify(result)).not.toContain('abcdefghijkl');
    expect(flowOf(result).edges).toContainEqual(
      expect.objectContaining({ source: 'call', sourceHandle: 'error', target: 'bad' }),
    );
    expect(configOf(result, 'bad')).toEqual({ values: { why: '{{nodes.call.output.error.message}}' } });
    expect(problems(value)).toEqual([]);
  });

  test('runs an iteration as a loop, whose nodes read the item', () => {
    const value = dify(
      {
        start: START,
        each: [
          'iteration',
          {
            iterator_selector: ['start', 'list'],
            output_selector: ['say', 'text'],
            is_parallel: true,
            parallel_nums: 4,
            error_handle_mode: 'remove-abnormal-output',
          },
        ],
        begin: ['iteration-start', {}, 'each'],
        say: [...ask('{{#each.index#}}: {{#each.item.name#}}'), 'each'],
        finish: ['end', { outputs: [{ variable: 'all', value_selector: ['each', 'output'] }] }],
      },
      ['start > each', 'begin > say', 'each > finish'],
    );
    const result = read(value);
    expect(configOf(result, 'each')).toEqual({
      items: '{{trigger.data.list}}',
      concurrency: 4,
      on_item_error: 'collect',
      result: '{{nodes.say.output.text}}',
    });
    expect(flowOf(result).nodes.find(({ id }) => id === 'say')).toMatchObject({ parentId: 'each' });
    expect(configOf(result, 'say')).toMatchObject({ prompt: '{{index}}: {{item.name}}' });
    expect(configOf(result, 'finish')).toEqual({
      values: { all: '{{nodes.each.output.items | where: (it != null)}}' },
    });
    expect(problems(value)).toEqual([]);
  });

  test('passes the variables of a loop from round to round', () => {
    const value = dify(
      {
        start: START,
        again: [
          'loop',
          {
            loop_count: 5,
            logical_operator: 'and',
            loop_variables: [{ label: 'n', var_type: 'number', value_type: 'constant', value: 0 }],
            break_conditions: [
              { variable_selector: ['again', 'n'], comparison_operator: '≥', varType: 'number', value: '3' },
            ],
          },
        ],
        begin: ['loop-start', {}, 'again'],
        more: [
          'assigner',
          {
            version: '2',
            items: [{ variable_selector: ['again', 'n'], operation: '+=', input_type: 'constant', value: 1 }],
          },
          'again',
        ],
        finish: ['end', { outputs: [{ variable: 'n', value_selector: ['again', 'n'] }] }],
      },
      ['start > again', 'begin > more', 'again > finish'],
    );
    const result = read(value);
    const label = (name: string) => flowOf(result).nodes.find(({ data }) => data?.label === name)?.id ?? '';
    expect(configOf(result, 'more')).toEqual({
      values: { v1: `{{nodes.${label('again: current')}.output.v1 + 1}}` },
    });
    expect(configOf(result, 'again')).toMatchObject({
      max_iterations: 5,
      on_limit: 'continue',
      result: { v1: `{{nodes.more.output.v1 ?? nodes.${label('again: current')}.output.v1}}` },
      until: [{ operator: 'greater_or_equal', right: 3 }],
    });
    expect(configOf(result, 'finish')).toEqual({ values: { n: '{{nodes.again.output.last.v1}}' } });
    expect(problems(value)).toEqual([]);
  });

  test('what has no equivalent shows the original, and keeps the workflow from being activated', () => {
    const value = dify(
      {
        start: START,
        calc: ['code', { code_language: 'python3', code: 'import numpy\ndef main(): return {}' }],
        add: ['code', { code_language: 'python3', code: 'def main(a): return {"b": a}', variables: [] }],
        search: ['knowledge-retrieval', { dataset_ids: ['a'], metadata_filtering_mode: 'automatic' }],
        js: [
          'code',
          {
            code_language: 'javascript',
            code: 'function main({a}) { return { b: `{{${a}}}` } }',
            variables: [{ variable: 'a', value_selector: ['calc', 'x'] }],
          },
        ],
      },
      ['start > calc', 'calc > add', 'add > search', 'search > js'],
    );
    const result = read(value);
    expect(outcomeOf(result, 'calc')).toMatchObject({
      kind: 'dropped',
      reason: { key: 'import.only_in_original', params: { part: 'numpy' } },
    });
    expect(configOf(result, 'add')).toMatchObject({
      language: 'python',
      code: 'def main(a): return {"b": a}\n\nreturn main(**input)',
    });
    expect(outcomeOf(result, 'search')).toMatchObject({ kind: 'dropped' });
    expect(configOf(result, 'search')).toMatchObject({
      product: 'dify',
      type: 'knowledge-retrieval',
      parameters: { dataset_ids: ['a'], metadata_filtering_mode: 'automatic' },
    });
    expect(configOf(result, 'js')).toMatchObject({
      code: expect.stringContaining('return { b: `\\{{${a}}}` }'),
      input: { a: '{{nodes.calc.output.x}}' },
    });
    expect(problems(value).map(({ code }) => code)).toEqual(['placeholder', 'placeholder']);
  });
});

describe('the knowledge of an app of Dify', () => {
  const knowledge = (more: JsonObject) =>
    read(
      dify(
        {
          start: START,
          search: ['knowledge-retrieval', { query_variable_selector: ['start', 'text'], ...more }],
          tell: [
            'llm',
            {
              prompt_template: [{ role: 'user', text: 'By {{#context#}}: {{#search.result#}}' }],
              context: { enabled: true, variable_selector: ['search', 'result'] },
            },
          ],
        },
        ['start > search', 'search > tell'],
      ),
    );
  const said = (result: ReturnType<typeof read>) => {
    const outcome = outcomeOf(result, 'search');
    return outcome?.kind === 'approximated' ? outcome.what.map(({ key }) => key) : [];
  };

  test('is searched, and gives a model the content of the texts', () => {
    const vector_setting = { embedding_model_name: 'bge-m3' };
    const result = knowledge({
      dataset_ids: ['first', 'second'],
      retrieval_mode: 'multiple',
      multiple_retrieval_config: { top_k: 6, score_threshold: 0.4, weights: { vector_setting } },
    });
    expect(configOf(result, 'search')).toEqual({
      ...{ operation: 'search', collection: 'first', credential_id: 0, model: 'bge-m3' },
      ...{ query: '{{trigger.data.text}}', limit: 6, min_score: 0.4 },
    });
    expect(configOf(result, 'search: 2')).toMatchObject({ collection: 'second' });
    expect(configOf(result, 'search: texts')?.input).toEqual({
      found: ['{{nodes.search.output.matches}}', '{{nodes.search_2.output.matches}}'],
      limit: 6,
    });
    const texts = 'nodes.search_texts.output.result';
    expect(configOf(result, 'tell')?.prompt).toBe(
      `By {{${texts} | map: "content" | join: "\\n"}}: {{${texts}}}`,
    );
    expect(said(result)).toEqual([
      'import.vectors_kept_here',
      'import.choose_model_credential',
      'import.not_reranked',
    ]);
  });

  test('of which a model chose one is searched as a whole, and says so', () => {
    const result = knowledge({ dataset_ids: ['a'], retrieval_mode: 'single' });
    expect(configOf(result, 'search')).toMatchObject({ limit: 4, model: 'text-embedding-3-small' });
    expect(said(result)).toContain('import.all_bases_searched');
  });

  test.each([{ dataset_ids: [] }, { dataset_ids: ['a'], metadata_filtering_mode: 'manual' }])(
    'is not searched without what narrows it: %o',
    (more: JsonObject) => {
      expect(outcomeOf(knowledge(more), 'search')?.kind).toBe('dropped');
    },
  );
});

test('a node of Dify with a secret that nothing leads to is left out, too', () => {
  const data = { url: 'https://a.example', body: `sk-${'a'.repeat(30)}` };
  const result = read(dify({ start: START, alone: ['http-request', data] }, []));
  expect(outcomeOf(result, 'alone')).toMatchObject({
    what: [{ key: 'import.never_runs' }, { key: 'import.secret_removed' }],
  });
});

describe('a chatflow of Dify', () => {
  const chat = dify(
    {
      start: ['start', { variables: [{ variable: 'tone', type: 'text-input', default: 'warm' }] }],
      ask: ask('ignored', {
        prompt_template: [
          {
            role: 'system',
            text: 'Mood: {{#conversation.mood#}}, {{#start.tone#}} {{#sys.dialogue_count#}}',
          },
        ],
        memory: { window: { enabled: true, size: 3 }, query_prompt_template: '{{#sys.query#}}' },
      }),
      keep: [
        'assigner',
        {
          version: '2',
          items: [
            {
              variable_selector: ['conversation', 'mood'],
              operation: 'over-write',
              input_type: 'variable',
              value: ['ask', 'text'],
            },
          ],
        },
      ],
      say: ['answer', { answer: '{{#ask.text#}} ({{#conversation.mood#}})' }],
    },
    ['start > ask', 'ask > keep', 'keep > say'],
    {
      mode: 'advanced-chat',
      features: {
        opening_statement: 'Hello!',
        suggested_questions: ['Where?', ''],
        file_upload: { enabled: true },
      },
      conversation_variables: [{ name: 'mood', value_type: 'string', value: 'calm' }],
    },
  );

  test('is a chat that remembers, and keeps its variables', () => {
    const result = read(chat);
    expect(configOf(result, 'start')).toEqual({
      title: 'Sketch',
      greeting: 'Hello!',
      suggestions: ['Where?'],
      answer: '{{nodes.say.output.answer}}',
    });
    expect(outcomeOf(result, 'start')).toMatchObject({
      what: [
        { key: 'import.chat_app' },
        { key: 'import.chat_no_files' },
        { key: 'import.set_constant', params: { name: 'tone' } },
      ],
    });
    expect(flowOf(result).settings?.vars).toEqual({ tone: 'warm' });
    expect(configOf(result, 'start: variables')).toEqual({
      values: { mood: '{{nodes.start_kept_variables.output.value.mood ?? "calm"}}' },
    });
    expect(configOf(result, 'ask')).toMatchObject({
      system: 'Mood: {{nodes.start_variables.output.mood}}, {{vars.tone}} {{trigger.data.number - 1}}',
      prompt: '{{trigger.data.message}}',
      memory_key: '{{trigger.data.session_id}}',
      memory_turns: 3,
    });
    expect(outcomeOf(result, 'ask')).toMatchObject({
      what: [{ key: 'import.choose_model_credential' }, { key: 'import.own_memory' }],
    });
    expect(configOf(result, 'say')).toEqual({
      values: {
        answer: '{{nodes.ask.output.text}} ({{nodes.keep.output.v1 ?? nodes.start_variables.output.mood}})',
      },
    });
    expect(configOf(result, 'keep: remember')).toMatchObject({
      operation: 'set',
      value: { mood: '{{nodes.keep.output.v1 ?? nodes.start_variables.output.mood}}' },
    });
    expect(problems(chat)).toEqual([]);
  });
});

describe('a file that nobody has checked', () => {
  test('of links in circles, nodes in themselves and references to nowhere becomes a workflow that says so', () => {
    const value = dify(
      {
        start: START,
        a: ['llm', { prompt_template: [{ text: '{{#b.text#}} {{#nowhere.x#}} {{#sys.nothing#}}' }] }],
        b: ['answer', { answer: '{{#loop.output#}}' }],
        loop: ['iteration', {}, 'loop'],
        inner: ['llm', {}, 'gone'],
        alone: ['code', {}],
      },
      ['start > a', 'a > b', 'b > a', 'b > loop'],
    );
    const result = read(value);
    expect(flowOf(result).nodes.length).toBeGreaterThan(3);
    expect(outcomeOf(result, 'b')).toMatchObject({ kind: 'dropped', reason: { key: 'import.goes_back' } });
    expect(outcomeOf(result, 'alone')).toMatchObject({
      kind: 'approximated',
      what: [{ key: 'import.never_runs' }],
    });
    expect(problems(value).every(({ code }) => code === 'placeholder')).toBe(true);
  });
});
