import type { JsonObject, JsonValue } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runImported } from './imported-run.ts';
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

const VERSIONS = { httpRequest: 4.2, code: 2, set: 3.4, merge: 3, splitOut: 1, if: 2.2, splitInBatches: 3 };

const get = (path: string, more: JsonObject = {}): OriginalNode => [
  'Get',
  'httpRequest',
  { url: `${world.outside.url}${path}`, options: {} },
  more,
];
const post = (jsonBody: string, more: JsonObject = {}): OriginalNode => [
  'Post',
  'httpRequest',
  { method: 'POST', url: `${world.outside.url}/posted`, sendBody: true, specifyBody: 'json', jsonBody },
  more,
];
const EACH = '={"id": {{ $json.id }}}';

/** What was posted, by a workflow whose call gets this response. */
async function postedFor(
  response: JsonValue,
  path: string,
  original: JsonObject,
): Promise<readonly unknown[]> {
  world.outside.on(`GET ${path}`, { body: response as never });
  await runImported(world, original);
  return world.outside.to('POST /posted').map(({ body }) => body);
}

const line = (...nodes: readonly OriginalNode[]) => chainOf('Lists', VERSIONS, [BY_HAND, ...nodes]);
const ONE = { id: 1 };
const TWO = [{ id: 1 }, { id: 2 }];

describe('a response that an imported workflow gets', () => {
  it.each([
    ['a list', TWO, [{ id: 1 }, { id: 2 }]],
    ['an object', ONE, [{ id: 1 }]],
    ['an empty list', [], []],
  ])('of a collection: %s', async (_what, response, expected) => {
    expect(await postedFor(response, '/orders', line(get('/orders'), post(EACH)))).toEqual(expected);
  });

  it.each([
    ['a list', TWO, [{ id: 10 }, { id: 20 }]],
    ['an object', ONE, [{ id: 10 }]],
  ])('that code takes: %s', async (_what, response, expected) => {
    const jsCode = 'return $input.all().map(({ json }) => ({ json: { id: json.id * 10 } }));';
    const original = line(get('/thing'), ['Code', 'code', { jsCode }], post(EACH));
    expect(await postedFor(response, '/thing', original)).toEqual(expected);
  });

  it.each([
    ['an empty list', [], []],
    ['an object', ONE, [{ count: 1 }]],
  ])('that nothing is known of, before code: %s', async (_what, response, expected) => {
    const jsCode = 'return [{ json: { count: $input.all().length } }];';
    const original = line(get('/thing'), ['Code', 'code', { jsCode }], post('={{ JSON.stringify($json) }}'));
    expect(await postedFor(response, '/thing', original)).toEqual(expected);
  });

  it.each([
    ['a text', 'plain', [{ data: 'PLAIN', whole: { data: 'plain' } }]],
    ['an object', { data: 'x' }, [{ data: 'X', whole: { data: 'x' } }]],
  ])('of which `data` is read: %s', async (_what, response, expected) => {
    const body = '={"data": "{{ $json.data.toUpperCase() }}", "whole": {{ JSON.stringify($json) }}}';
    expect(await postedFor(response, '/thing', line(get('/thing'), post(body)))).toEqual(expected);
  });

  it('is a text that code reads as `data`', async () => {
    const jsCode = "return [{ json: { data: $input.first().json.data, named: $('Get').item.json.data } }];";
    const original = line(get('/thing'), ['Code', 'code', { jsCode }], post('={{ JSON.stringify($json) }}'));
    expect(await postedFor('plain', '/thing', original)).toEqual([{ data: 'plain', named: 'plain' }]);
  });

  it.each([
    ['a list', TWO, [{ first: 1, all: [1, 2], named: 2 }]],
    ['an object', ONE, [{ first: 1, all: [1], named: 1 }]],
  ])('that code reads the first item of: %s', async (_what, response, expected) => {
    const jsCode = `const all = $input.all().map(({ json }) => json.id);
return [{ json: { first: $input.first().json.id, all, named: $('Get').all().length } }];`;
    const original = line(get('/thing'), ['Code', 'code', { jsCode }], post('={{ JSON.stringify($json) }}'));
    expect(await postedFor(response, '/thing', original)).toEqual(expected);
  });

  it.each([
    ['a list', TWO, [{ list: [{ id: 1 }, { id: 2 }] }]],
    ['an object', ONE, [{ list: [{ id: 1 }] }]],
  ])('that becomes one item: %s', async (_what, response, expected) => {
    const all = { aggregate: 'aggregateAllItemData', destinationFieldName: 'list', options: {} };
    const original = line(get('/thing'), ['All', 'aggregate', all], post('={{ JSON.stringify($json) }}'));
    expect(await postedFor(response, '/thing', original)).toEqual(expected);
  });

  it.each([
    ['a list', TWO, [1, 2, 9]],
    ['an object', ONE, [1, 9]],
  ])('that is one of two inputs: %s', async (_what, response, expected) => {
    const other = { mode: 'raw', jsonOutput: '{"id": 9}', options: {} };
    const original = originalOf(
      'Lists',
      VERSIONS,
      [BY_HAND, get('/thing'), ['Other', 'set', other], ['Both', 'merge', {}], post(EACH)],
      ['Start > Get', 'Start > Other', 'Get > Both.0', 'Other > Both.1', 'Both > Post'],
    );
    const posted = (await postedFor(response, '/thing', original)) as readonly { readonly id: number }[];
    expect(posted.map(({ id }) => id).toSorted((left, right) => left - right)).toEqual(expected);
  });

  it.each([
    ['lists', (id: string) => [{ id: `${id}a` }, { id: `${id}b` }], ['1a', '1b', '2a', '2b']],
    ['objects', (id: string) => ({ id: `${id}a` }), ['1a', '2a']],
  ])('in a loop: %s', async (_what, respond, expected) => {
    const rows = { mode: 'raw', jsonOutput: '{"rows": [{"n": 1}, {"n": 2}]}', options: {} };
    world.outside.on('GET /part/*', ({ line: asked }) => ({ body: respond(asked.slice(-1)) as never }));
    const original = originalOf(
      'Lists',
      VERSIONS,
      [
        BY_HAND,
        ['Rows', 'set', rows],
        ['Split', 'splitOut', { fieldToSplitOut: 'rows', options: {} }],
        ['Loop', 'splitInBatches', { options: {} }],
        ['Get', 'httpRequest', { url: `=${world.outside.url}/part/{{ $json.n }}`, options: {} }],
        [
          'All',
          'aggregate',
          { aggregate: 'aggregateAllItemData', destinationFieldName: 'list', options: {} },
        ],
        post('={"ids": {{ JSON.stringify($json.list.map((each) => each.id)) }}}'),
      ],
      [
        'Start > Rows',
        'Rows > Split',
        'Split > Loop',
        'Loop.1 > Get',
        'Get > Loop',
        'Loop.0 > All',
        'All > Post',
      ],
    );
    await runImported(world, original);
    expect(world.outside.to('POST /posted').map(({ body }) => body)).toEqual([{ ids: expected }]);
  });

  it('is one item in old versions, unless they are told to divide it', async () => {
    const old = (options: JsonObject): OriginalNode => [
      'Get',
      'httpRequest',
      { url: `${world.outside.url}/things`, options },
    ];
    const versions = { ...VERSIONS, httpRequest: 1 };
    const original = (options: JsonObject) => {
      const file = chainOf('Lists', versions, [
        BY_HAND,
        old(options),
        post('={"is": {{ Array.isArray($json) }}}'),
      ]);
      const nodes = file.nodes as readonly JsonObject[];
      return {
        ...file,
        nodes: nodes.map((node) => (node.name === 'Post' ? { ...node, typeVersion: 4.2 } : node)),
      };
    };
    expect(await postedFor(TWO, '/things', original({}))).toEqual([{ is: true }]);
    expect(await postedFor(TWO, '/things', original({ splitIntoItems: true }))).toEqual([
      { is: true },
      { is: false },
      { is: false },
    ]);
  });
});

describe('what an imported workflow goes on with', () => {
  const split = (more: JsonObject = {}): OriginalNode => [
    'Split',
    'splitOut',
    { fieldToSplitOut: 'rows', options: {} },
    more,
  ];
  const rows = (list: JsonValue): OriginalNode => [
    'Rows',
    'set',
    { mode: 'raw', jsonOutput: JSON.stringify({ rows: list }), options: {} },
  ];
  const WHOLE = '={{ JSON.stringify($json) }}';

  it('is an empty item where nothing was found, if the original says so', async () => {
    await runImported(world, line(rows([]), split({ alwaysOutputData: true }), post(WHOLE)));
    await runImported(world, line(rows([{ id: 1 }]), split({ alwaysOutputData: true }), post(WHOLE)));
    await runImported(world, line(rows([]), split(), post('={"not": "sent"}')));
    expect(world.outside.to('POST /posted').map(({ body }) => body)).toEqual([{}, { id: 1 }]);
  });

  it.each([
    [
      'runOnceForAllItems',
      'if ($input.first().json.id > 1) return [];\nreturn [{ json: { id: $json.id } }];',
    ],
    ['runOnceForEachItem', 'if ($json.id > 1) return null;\nreturn { id: $json.id };'],
  ])('is nothing if code returns nothing: %s', async (mode, jsCode) => {
    const code: OriginalNode = ['Code', 'code', { mode, jsCode }];
    const one = (id: number): OriginalNode => [
      'One',
      'set',
      { mode: 'raw', jsonOutput: JSON.stringify({ id }), options: {} },
    ];
    await runImported(world, line(one(1), code, post(EACH)));
    await runImported(world, line(one(2), code, post(EACH)));
    expect(world.outside.to('POST /posted').map(({ body }) => body)).toEqual([{ id: 1 }]);
  });

  it.each([
    ['of one item', '/thing', 500, [{ why: true, code: 'http_status' }]],
    ['of a list', '/orders', 500, [{ why: true, code: 'http_status' }]],
    ['only if there is one', '/thing', 200, [{ why: false, code: 'none' }]],
  ])('is the error that the original reads: %s', async (_what, path, status, expected) => {
    world.outside.on(`GET ${path}`, { status, body: { id: 1 } });
    const original = line(
      get(path, { onError: 'continueRegularOutput' }),
      post('={"why": {{ Boolean($json.error) }}, "code": "{{ $json.error?.code ?? \'none\' }}"}'),
    );
    await runImported(world, original);
    expect(world.outside.to('POST /posted').map(({ body }) => body)).toEqual(expected);
  });
});
