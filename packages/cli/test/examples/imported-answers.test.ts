import type { JsonObject, JsonValue } from '@millrace/engine';
import { send } from '@millrace/testing/api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeCaller, storeImported } from './imported-run.ts';
import { BY_HAND, chainOf, type OriginalNode, originalOf } from './n8n-original.ts';
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

const VERSIONS = {
  webhook: 2,
  httpRequest: 4.2,
  code: 2,
  set: 3.4,
  splitOut: 1,
  splitInBatches: 3,
  filter: 2.2,
  if: 2.2,
  executeWorkflow: 1.2,
  executeWorkflowTrigger: 1.1,
};

const hook = (more: JsonObject = {}): OriginalNode => [
  'Hook',
  'webhook',
  { httpMethod: 'POST', path: 'x', responseMode: 'lastNode', options: {}, ...more },
];
const SPLIT: OriginalNode = ['Split', 'splitOut', { fieldToSplitOut: 'body.rows', options: {} }];
const DOUBLE: OriginalNode = [
  'Double',
  'set',
  { mode: 'raw', jsonOutput: '={"n": {{ $json.n * 2 }}}', options: {} },
];
const ROWS = { rows: [{ n: 1 }, { n: 2 }] };

const only = (operation: string, rightValue: JsonValue): JsonObject => ({
  conditions: {
    options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
    combinator: 'and',
    conditions: [
      { id: '1', leftValue: '={{ $json.n }}', rightValue, operator: { type: 'number', operation } },
    ],
  },
  options: {},
});

describe('a webhook that answers with the last node', () => {
  /** What a call gets. */
  async function answerOf(original: JsonObject, body: JsonObject) {
    const { key, service } = world;
    const id = await storeImported(world, original);
    const { json } = await service.api('GET', `/workflows/${id}/webhook-info`, { key });
    const { status, text } = await send(`${service.url}/api/v1/webhooks/${String(json.hash)}`, 'POST', {
      body,
    });
    return [status, text === '' ? null : JSON.parse(text)];
  }
  const line = (given: OriginalNode, ...nodes: readonly OriginalNode[]) =>
    chainOf('Answers', VERSIONS, [given, ...nodes]);

  it('gets the first item', async () => {
    expect(await answerOf(line(hook(), SPLIT), ROWS)).toEqual([200, { n: 1 }]);
  });

  it('gets the first item of what runs for each', async () => {
    expect(await answerOf(line(hook(), SPLIT, DOUBLE), ROWS)).toEqual([200, { n: 2 }]);
  });

  it('gets all items', async () => {
    const all = hook({ responseData: 'allEntries' });
    expect(await answerOf(line(all, SPLIT, DOUBLE), ROWS)).toEqual([200, [{ n: 2 }, { n: 4 }]]);
    expect(await answerOf(line(all, SPLIT), { rows: [] })).toEqual([200, []]);
  });

  it('gets all items, of which there is one', async () => {
    const one: OriginalNode = ['One', 'set', { mode: 'raw', jsonOutput: '{"n": 5}', options: {} }];
    expect(await answerOf(line(hook({ responseData: 'allEntries' }), one), ROWS)).toEqual([200, [{ n: 5 }]]);
  });

  it('gets no body, the chosen status and headers', async () => {
    const options = { responseCode: { values: { responseCode: 202 } } };
    expect(await answerOf(line(hook({ responseData: 'noData', options }), SPLIT), ROWS)).toEqual([202, null]);
  });

  it('gets a member of the item', async () => {
    const given = hook({ options: { responsePropertyName: 'n' } });
    expect(await answerOf(line(given, SPLIT, DOUBLE), ROWS)).toEqual([200, 2]);
  });

  it('gets the result of a loop', async () => {
    const loop: OriginalNode = ['Loop', 'splitInBatches', { options: {} }];
    const original = originalOf(
      'Answers',
      VERSIONS,
      [hook({ responseData: 'allEntries' }), SPLIT, loop, DOUBLE],
      ['Hook > Split', 'Split > Loop', 'Loop.1 > Double', 'Double > Loop'],
    );
    expect(await answerOf(original, ROWS)).toEqual([200, [{ n: 2 }, { n: 4 }]]);
  });

  it.each([
    ['both branches', { rows: [{ n: 1 }, { n: 2 }, { n: 3 }] }, [{ n: 1 }]],
    ['one branch', { rows: [{ n: 2 }, { n: 3 }] }, [{ n: 4 }, { n: 6 }]],
  ])('gets the items of the branch that ran last, of %s', async (_what, body, expected) => {
    const original = originalOf(
      'Answers',
      VERSIONS,
      [
        hook({ responseData: 'allEntries' }),
        SPLIT,
        ['Which', 'if', only('gt', 1)],
        DOUBLE,
        ['Keep', 'set', { mode: 'raw', jsonOutput: '={"n": {{ $json.n }}}', options: {} }],
      ],
      ['Hook > Split', 'Split > Which', 'Which.0 > Double', 'Which.1 > Keep'],
    );
    expect(await answerOf(original, body)).toEqual([200, expected]);
  });
});

describe('a workflow that another one calls', () => {
  const CALLED: OriginalNode = ['Called', 'executeWorkflowTrigger', { inputSource: 'passthrough' }];
  const CALL: OriginalNode = [
    'Call',
    'executeWorkflow',
    { workflowId: { __rl: true, mode: 'list', value: '7' }, options: {} },
  ];
  const post = (jsonBody: string): OriginalNode => [
    'Post',
    'httpRequest',
    { method: 'POST', url: `${world.outside.url}/posted`, sendBody: true, specifyBody: 'json', jsonBody },
  ];

  /** What the caller posts after the call. */
  async function postedAfter(called: readonly OriginalNode[], ...after: readonly OriginalNode[]) {
    const id = await storeImported(world, chainOf('Called', VERSIONS, [CALLED, ...called]));
    const given: OriginalNode = [
      'Given',
      'set',
      { mode: 'raw', jsonOutput: JSON.stringify({ body: ROWS }), options: {} },
    ];
    const caller = await storeCaller(
      world,
      chainOf('Caller', VERSIONS, [BY_HAND, given, CALL, ...after]),
      id,
    );
    const { error } = await world.finished(await world.execute(caller, {}));
    expect(error).toBeUndefined();
    return world.outside.to('POST /posted').map(({ body }) => body);
  }

  it('hands back the body of a request', async () => {
    world.outside.on('GET /thing', { body: { id: 3 } });
    const got: OriginalNode = ['Got', 'httpRequest', { url: `${world.outside.url}/thing`, options: {} }];
    expect(await postedAfter([got], post('={"id": {{ $json.id }}}'))).toEqual([{ id: 3 }]);
  });

  it('hands back all items', async () => {
    const jsCode = 'return [{ json: { sum: $input.all().reduce((sum, { json }) => sum + json.n, 0) } }];';
    const sum: OriginalNode = ['Sum', 'code', { jsCode }];
    expect(await postedAfter([SPLIT, DOUBLE], sum, post('={"sum": {{ $json.sum }}}'))).toEqual([{ sum: 6 }]);
  });

  it('hands back nothing', async () => {
    const none: OriginalNode = ['None', 'filter', only('gt', 5)];
    const jsCode = 'return [{ json: { count: $input.all().length } }];';
    const count: OriginalNode = ['Count', 'code', { jsCode }];
    expect(await postedAfter([SPLIT, none], count, post('={"count": {{ $json.count }}}'))).toEqual([]);
  });
});
