import type { FlowNode, JsonObject, JsonValue } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { loopsAround, upstreamOf } from './flow-scope.ts';
import { type KnownValues, listHints, listSources, previewOf } from './template-scope.ts';

const nodes: FlowNode[] = [
  { id: 'start', type: 'trigger.manual' },
  { id: 'fetch', type: 'http.request' },
  { id: 'aside', type: 'core.set' },
  { id: 'each', type: 'core.for_each', data: { config: { items: '{{nodes.fetch.output.rows}}' } } },
  { id: 'in', type: 'core.set', parentId: 'each' },
  { id: 'in2', type: 'core.set', parentId: 'each' },
  { id: 'after', type: 'core.set' },
];
const edges = [
  { source: 'start', target: 'fetch' },
  { source: 'start', target: 'aside' },
  { source: 'fetch', target: 'each' },
  { source: 'in', target: 'in2' },
  { source: 'each', target: 'after' },
];
const flow = { nodes, edges, settings: { vars: { 'two words': 1 } } };
const known: KnownValues = {
  sample: { user: { name: 'Ada' }, tags: ['a', 'b'], none: null } as JsonValue,
  outputs: { fetch: { rows: [{ id: 1 }, { id: 2 }], status: 200 } },
};

test('before a run, the names in an output are known from the example of its type, its values are not', () => {
  const namesOf = (id: string) => (id === 'fetch' ? { status: null, body: null } : undefined);
  const unknown = { sample: null, outputs: {}, namesOf };
  const hints = listHints(flow, 'after', unknown);
  expect(hints.find(({ path }) => path === 'nodes.fetch.output.body')).toEqual({
    path: 'nodes.fetch.output.body',
    value: undefined,
  });
  expect(previewOf('{{nodes.fetch.output.body}}', flow, 'after', unknown)).toEqual({ kind: 'unknown' });
  // What is known stands before it.
  const [sources] = listSources(flow, 'after', { ...known, namesOf });
  const fetch = sources.find(({ nodeId }) => nodeId === 'fetch');
  expect(fetch).toMatchObject({ isExample: false, value: { status: 200 } });
});

describe('upstreamOf', () => {
  test.each([
    ['start', []],
    ['fetch', ['start']],
    ['in2', ['start', 'fetch', 'in']],
    ['after', ['start', 'fetch', 'each']],
  ])('%s', (id, expected) => {
    expect(upstreamOf(flow, id)).toEqual(expected);
  });

  test('ends on a cycle, which a draft may contain', () => {
    const cycle = {
      nodes: nodes.slice(0, 3),
      edges: [
        { source: 'fetch', target: 'aside' },
        { source: 'aside', target: 'fetch' },
      ],
    };
    expect(upstreamOf(cycle, 'fetch')).toEqual(['aside']);
  });
});

test('loopsAround ends if loops contain each other, which is possible in a draft', () => {
  const inside: FlowNode[] = [
    { id: 'a', type: 'core.for_each', parentId: 'b' },
    { id: 'b', type: 'core.for_each', parentId: 'a' },
  ];
  expect(loopsAround({ nodes: inside, edges: [] }, 'a')).toEqual(['b', 'a']);
});

describe('listHints', () => {
  const paths = (id: string) => listHints(flow, id, known).map(({ path }) => path);

  test('nearest first, with the contents of known outputs', () => {
    expect(paths('after').slice(0, 2)).toEqual(['nodes.each.output', 'nodes.fetch.output']);
    expect(paths('after')).toEqual(
      expect.arrayContaining([
        'nodes.fetch.output.rows[0].id',
        'trigger.data.user.name',
        'trigger.data.tags[0]',
        'vars["two words"]',
        'execution.id',
      ]),
    );
    expect(paths('after').join()).not.toContain('aside');
  });

  test('inside a loop: the item, like the first one', () => {
    expect(paths('in').slice(0, 3)).toEqual(['item', 'item.id', 'index']);
    expect(paths('fetch')).not.toContain('item');
  });

  test('of the loop itself: what its iterations read and output, for its result', () => {
    expect(paths('each')).toEqual(expect.arrayContaining(['item.id', 'index', 'nodes.in.output']));
  });

  test('an output with very many members leaves room for others', () => {
    const members = Array.from({ length: 2_000 }, (_, at): [string, JsonValue] => [
      `m${at}`,
      { inside: { at } },
    ]);
    const large = { ...known, outputs: { fetch: Object.fromEntries(members) as JsonObject } };
    const paths = listHints(flow, 'after', large).map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['trigger.data.user.name', 'vars["two words"]']));
    // Breadth first: all top-level members before nested ones.
    expect(paths).toContain('nodes.fetch.output.m99');
  });

  test('of a call: what the settings of the webhook keep, before there is a sample', () => {
    const read = (config: JsonObject) => {
      const called = [{ id: 'start', type: 'trigger.webhook', data: { config } }, ...nodes.slice(1)];
      return listHints({ ...flow, nodes: called }, 'after', { ...known, sample: null })
        .map(({ path }) => path)
        .filter((path) => path.startsWith('trigger.request'));
    };
    expect(read({ headers: ['X-Topic'], query: ['page'], path: 'orders/:id', methods: ['GET'] })).toEqual(
      expect.arrayContaining([
        'trigger.request.method',
        'trigger.request.headers.x-topic',
        'trigger.request.query.page',
        'trigger.request.params.id',
      ]),
    );
    expect(read({ body: 'any' })).toEqual([]);
  });

  test('each path can be read by a template', () => {
    for (const { path, value } of listHints(flow, 'in2', known)) {
      if (value === undefined) continue;
      expect(previewOf(`{{${path}}}`, flow, 'in2', known)).toEqual({ kind: 'value', value });
    }
  });
});

describe('previewOf', () => {
  test("without a sample, the trigger's data is unknown", () => {
    const unknown = { ...known, sample: null };
    expect(previewOf('{{trigger.data.user.name}}', flow, 'after', unknown)).toEqual({ kind: 'unknown' });
    expect(previewOf('{{nodes.fetch.output.status}}', flow, 'after', unknown)).toEqual({
      kind: 'value',
      value: 200,
    });
  });

  test('of a loop: the result of its first item', () => {
    expect(previewOf('{{index}}: {{item.id}}', flow, 'each', known)).toEqual({
      kind: 'value',
      value: '0: 1',
    });
    const unknown = { ...known, outputs: {} };
    expect(previewOf('{{item.id}}', flow, 'each', unknown)).toEqual({ kind: 'unknown' });
  });

  test("an unknown argument of a filter makes the whole unknown, an escaped template doesn't", () => {
    const unknown = { ...known, sample: null };
    const preview = (text: string) => previewOf(text, flow, 'after', unknown);
    expect(preview('{{vars.none | default: trigger.data.user.name}}')).toEqual({ kind: 'unknown' });
    expect(preview('\\{{trigger.data}} {{vars["two words"]}}')).toEqual({
      kind: 'value',
      value: '{{trigger.data}} 1',
    });
  });

  test("what exceeds the display limit isn't reported as unknown", () => {
    const large = { ...known, sample: 'x'.repeat(150_000) };
    expect(previewOf('{{trigger.data}}!', flow, 'after', large)).toEqual({ kind: 'large' });
  });

  test.each([
    ['{{nodes.constructor.output}}', { kind: 'unknown' }],
    ['no template', null],
    ['Hello {{trigger.data.user.name}}', { kind: 'value', value: 'Hello Ada' }],
    ['{{nodes.fetch.output.status}}', { kind: 'value', value: 200 }],
    ['{{nodes.each.output}}', { kind: 'unknown' }],
    [
      '{{trigger.data | nope}}',
      { kind: 'mistake', mistake: expect.objectContaining({ key: 'flow.unknown_filter' }) },
    ],
    ['{{trigger.data', { kind: 'mistake', mistake: expect.objectContaining({ key: 'flow.at_character' }) }],
    ['{{constructor}}', expect.anything()],
  ])('%s', (text, expected) => {
    expect(previewOf(text, flow, 'after', known)).toEqual(expected);
  });
});
