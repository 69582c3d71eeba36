import type { JsonValue } from '@millrace/engine';
import { importWorkflow } from '@millrace/importer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Sketch as DifySketch, dify } from '../../../importer-chatflows/src/dify/testing.ts';
import { agentflow, type Sketch } from '../../../importer-chatflows/src/flowise/testing.ts';
import { runImported } from './imported-run.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.outside.forget();
  world.outside.on('POST /*', ({ body }) => ({ body: { got: body } }));
});

const run = (original: JsonValue, input: JsonValue) => runImported(world, original, input);
const bodies = (line: string) => world.outside.to(line).map(({ body }) => body);

describe('an imported workflow of Dify', () => {
  const post = (path: string, data: string, parent?: string): DifySketch[string] => [
    'http-request',
    { method: 'post', url: `${world.outside.url}${path}`, body: { type: 'json', data } },
    parent,
  ];

  it('calls once per item of an iteration, and joins what they give', async () => {
    await run(
      dify(
        {
          start: ['start', {}],
          each: ['iteration', { iterator_selector: ['start', 'lines'], output_selector: ['text', 'output'] }],
          begin: ['iteration-start', {}, 'each'],
          large: [
            'if-else',
            {
              cases: [
                {
                  case_id: 'true',
                  logical_operator: 'and',
                  conditions: [
                    {
                      variable_selector: ['each', 'item', 'total'],
                      comparison_operator: '>',
                      varType: 'number',
                      value: '40',
                    },
                  ],
                },
              ],
            },
            'each',
          ],
          big: post('/large', '{"id": {{#each.item.id#}}, "shop": "{{#start.shop#}}"}', 'each'),
          small: post('/small', '{"id": {{#each.item.id#}}, "at": "no. {{#each.index#}}"}', 'each'),
          first: [
            'variable-aggregator',
            {
              variables: [
                ['big', 'body'],
                ['small', 'body'],
              ],
            },
            'each',
          ],
          text: [
            'template-transform',
            {
              template: '{% if n > 0 %}{{ n }}: {% endif %}{{ body | length }}',
              variables: [
                { variable: 'n', value_selector: ['each', 'index'] },
                { variable: 'body', value_selector: ['first', 'output'] },
              ],
            },
            'each',
          ],
          report: [
            'template-transform',
            {
              template: "{{ all | join(', ') }}",
              variables: [{ variable: 'all', value_selector: ['each', 'output'] }],
            },
          ],
          tell: post('/report', '{"all": "{{#report.output#}}"}'),
        },
        [
          'start > each',
          'begin > large',
          'large.true > big',
          'large.false > small',
          'big > first',
          'small > first',
          'first > text',
          'each > report',
          'report > tell',
        ],
      ),
      {
        shop: 'Quay "7"',
        lines: [
          { id: 1, total: 50 },
          { id: 2, total: 5 },
        ],
      },
    );
    expect(bodies('POST /large')).toEqual([{ id: 1, shop: 'Quay "7"' }]);
    expect(bodies('POST /small')).toEqual([{ id: 2, at: 'no. 1' }]);
    expect(bodies('POST /report')).toEqual([{ all: '36, 1: 29' }]);
  });

  it('repeats a loop until its condition holds, with variables that change in it', async () => {
    await run(
      dify(
        {
          start: ['start', {}],
          again: [
            'loop',
            {
              loop_count: 10,
              logical_operator: 'and',
              loop_variables: [
                { label: 'n', var_type: 'number', value_type: 'variable', value: ['start', 'first'] },
                { label: 'seen', var_type: 'array[number]', value_type: 'constant', value: [] },
              ],
              break_conditions: [
                {
                  variable_selector: ['again', 'n'],
                  comparison_operator: '≥',
                  varType: 'number',
                  value: '7',
                },
              ],
            },
          ],
          begin: ['loop-start', {}, 'again'],
          call: post('/round', '{"n": {{#again.n#}}, "seen": {{#again.seen#}}}', 'again'),
          more: [
            'assigner',
            {
              version: '2',
              items: [
                {
                  variable_selector: ['again', 'seen'],
                  operation: 'append',
                  input_type: 'variable',
                  value: ['again', 'n'],
                },
                { variable_selector: ['again', 'n'], operation: '+=', input_type: 'constant', value: 2 },
              ],
            },
            'again',
          ],
          twice: [
            'code',
            {
              code_language: 'javascript',
              code: 'function main({ n }) { return { twice: n * 2 }; }',
              variables: [{ variable: 'n', value_selector: ['again', 'n'] }],
            },
          ],
          tell: post('/end', '{"n": {{#again.n#}}, "seen": {{#again.seen#}}, "twice": {{#twice.twice#}}}'),
        },
        ['start > again', 'begin > call', 'call > more', 'again > twice', 'twice > tell'],
      ),
      { first: 3 },
    );
    expect(bodies('POST /round')).toEqual([
      { n: 3, seen: [] },
      { n: 5, seen: [3] },
    ]);
    expect(bodies('POST /end')).toEqual([{ n: 7, seen: [3, 5], twice: 14 }]);
  });

  it('keeps variables of a conversation, and takes the branch for a request that fails', async () => {
    world.outside.on('POST /flaky', { status: 503, body: 'no' });
    const chat = () =>
      dify(
        {
          start: ['start', {}],
          count: [
            'assigner',
            {
              version: '2',
              items: [
                {
                  variable_selector: ['conversation', 'n'],
                  operation: '+=',
                  input_type: 'constant',
                  value: 1,
                },
              ],
            },
          ],
          call: [
            'http-request',
            {
              method: 'post',
              url: 'http://127.0.0.1:1/closed',
              body: { type: 'none' },
              error_strategy: 'fail-branch',
            },
          ],
          flaky: [
            'http-request',
            { method: 'post', url: `${world.outside.url}/flaky`, body: { type: 'none' } },
          ],
          say: ['answer', { answer: 'no. {{#conversation.n#}}, {{#flaky.status_code#}}' }],
          tell: post(
            '/said',
            '{"n": {{#conversation.n#}}, "turn": {{#sys.dialogue_count#}}, "why": "{{#call.error_type#}}"}',
          ),
        },
        ['start > count', 'count > call', 'call.fail-branch > flaky', 'flaky > tell', 'tell > say'],
        { mode: 'advanced-chat', conversation_variables: [{ name: 'n', value_type: 'number', value: 40 }] },
      );
    const read = importWorkflow(chat(), { limits: { nodes: 200, depth: 100 }, name: 'x' });
    if ('fault' in read) throw new Error(read.fault.code);
    const { key, service } = world;
    const created = await service.api('POST', '/workflows', { key, body: { ...read.result.workflow } });
    expect(created.json.problems).toEqual([]);
    const say = async (session_id: string, number: number) =>
      world.finished(await world.execute(created.json.id, { message: 'a', session_id, number }));
    await say('c1', 1);
    await say('c1', 2);
    await say('c2', 1);
    expect(bodies('POST /said')).toMatchObject([
      { n: 41, turn: 0 },
      { n: 42, turn: 1 },
      { n: 41, turn: 0 },
    ]);
  });
});

describe('an imported flow of Flowise', () => {
  const post = (path: string, body: string, parent?: string): Sketch[string] => [
    'http',
    { method: 'POST', url: `${world.outside.url}${path}`, bodyType: 'json', body },
    parent,
  ];

  it('goes back until a condition holds, with the state of the round before', async () => {
    await run(
      agentflow(
        {
          start: ['start', { startInputType: 'chatInput', startState: [{ key: 'n', value: '1' }] }],
          before: post('/before', '{"n": {{ $flow.state.n }}}'),
          double: [
            'customFunction',
            {
              customFunctionInputVariables: [{ variableName: 'n', variableValue: '{{ $flow.state.n }}' }],
              customFunctionJavascriptFunction: 'return Number($n) * 2;',
              customFunctionUpdateState: [{ key: 'n', value: '<p>{{ output }}</p>' }],
            },
          ],
          call: post('/round', '{"n": {{ $flow.state.n }}, "asked": "{{ question }}"}'),
          check: [
            'condition',
            {
              conditions: [
                { type: 'number', value1: '{{ $flow.state.n }}', operation: 'smaller', value2: '8' },
              ],
            },
          ],
          again: ['loop', { loopBackToNode: 'double-Double', maxLoopCount: 5 }],
          tell: post('/end', '{"n": {{ $flow.state.n }}, "last": {{ call.output.http.data.got.n }}}'),
        },
        [
          'start > before',
          'before > double',
          'double > call',
          'call > check',
          'check.0 > again',
          'check.1 > tell',
        ],
      ),
      { message: 'how "many"?', session_id: 's', number: 1 },
    );
    expect(bodies('POST /before')).toEqual([{ n: '1' }]);
    expect(bodies('POST /round').map((body) => (body as { n: number }).n)).toEqual([2, 4, 8]);
    expect(bodies('POST /round')[0]).toEqual({ n: 2, asked: 'how "many"?' });
    expect(bodies('POST /end')).toEqual([{ n: 8, last: 8 }]);
  });

  it('stops going back after as many rounds as are allowed', async () => {
    await run(
      agentflow(
        {
          start: ['start', { startInputType: 'chatInput' }],
          call: post('/round', '{}'),
          check: [
            'condition',
            { conditions: [{ type: 'string', value1: 'a', operation: 'equal', value2: 'a' }] },
          ],
          again: ['loop', { loopBackToNode: 'call-Call', maxLoopCount: 2 }],
          tell: post('/end', '{}'),
        },
        ['start > call', 'call > check', 'check.0 > again', 'check.1 > tell'],
      ),
      { message: 'x', session_id: 's', number: 1 },
    );
    expect(bodies('POST /round')).toHaveLength(3);
    expect(bodies('POST /end')).toEqual([]);
  });

  it('repeats the nodes in an iteration', async () => {
    await run(
      agentflow(
        {
          start: [
            'start',
            { startInputType: 'chatInput', startState: [{ key: 'list', value: '["a", "b"]' }] },
          ],
          each: ['iteration', { iterationInput: '<p>{{ $flow.state.list }}</p>' }],
          call: post('/each', '{"item": "{{ $iteration }}"}', 'each'),
          tell: post('/end', '{"all": {{ each }}}'),
        },
        ['start > each', 'each > tell'],
      ),
      { message: 'x', session_id: 's', number: 1 },
    );
    expect(bodies('POST /each')).toEqual([{ item: 'a' }, { item: 'b' }]);
    expect(bodies('POST /end')).toEqual([{ all: [{ got: { item: 'a' } }, { got: { item: 'b' } }] }]);
  });
});
