import type { FlowEdge, FlowNode, JsonObject } from '@millrace/engine';
import { expect, test } from 'vitest';
import type { KnownType } from './editor-state.ts';
import { namesIn } from './known-names.ts';
import { listHints, listSources, previewOf } from './template-scope.ts';

const example = (type: string, output_example: JsonObject) => [type, { output_example }] as const;
const types = new Map([
  example('trigger.schedule', { data: { scheduled_at: '2026-01-01', input: { report: 'sales' } } }),
  example('trigger.webhook', { data: { event: 'order.paid' } }),
  example('trigger.github.new_issue', { data: { number: 2, user: { login: 'ada' } } }),
  example('core.set', { subject: 'Order 17' }),
  example('http.request', { status: 200, body: { id: 17 } }),
  example('connector.stripe.list_customers', { items: [{ id: 'cus_2' }, { id: 'cus_1' }], count: 2 }),
  example('ai.extract', { json: { article: 'A-17' }, usage: { input_tokens: 1 } }),
  example('ai.generate', { text: 'Yes.', usage: { input_tokens: 1 } }),
]) as unknown as ReadonlyMap<string, KnownType>;

interface Drawn {
  readonly nodes: readonly (readonly [id: string, type: string, config?: JsonObject, parentId?: string])[];
  readonly edges?: readonly (readonly [source: string, target: string])[];
  readonly schema?: JsonObject;
  readonly outputs?: { readonly [id: string]: JsonObject };
}

function draw({ nodes, edges = [], schema, outputs = {} }: Drawn) {
  const flow = {
    nodes: nodes.map(
      ([id, type, config = {}, parentId]): FlowNode => ({
        ...{ id, type, data: { config } },
        ...(parentId === undefined ? {} : { parentId }),
      }),
    ),
    edges: edges.map(([source, target]): FlowEdge => ({ source, target })),
    settings: schema === undefined ? {} : { input_schema: schema },
  };
  return { flow, namesOf: namesIn(flow, types, outputs), outputs };
}

/** What a template of the last node can read, before anything has run. */
function hintsOf(drawn: Drawn, sample: JsonObject | null = null): readonly string[] {
  const { flow, ...known } = draw(drawn);
  const [id = ''] = drawn.nodes.at(-1) ?? [];
  return listHints(flow, id, { sample, ...known }).map(({ path }) => path);
}

const below = (root: string, paths: readonly string[]) => paths.filter((path) => path.startsWith(`${root}.`));
const after = (type: string, config: JsonObject = {}): Drawn => ({
  nodes: [
    ['start', type, config],
    ['last', 'core.set'],
  ],
  edges: [['start', 'last']],
});

test.each([
  ['trigger.schedule', { input: { region: 'eu' } }, ['scheduled_at', 'input', 'input.region']],
  ['trigger.github.new_issue', {}, ['number', 'user', 'user.login']],
  [
    'trigger.form',
    {
      fields: [
        { name: 'email', type: 'email' },
        { name: '', type: 'page' },
        { name: 'cv', type: 'file', multiple: true },
      ],
    },
    ['email', 'cv', 'cv[0]', 'cv[0].name', 'cv[0].type', 'cv[0].size'],
  ],
  // Its data is whatever somebody sends.
  ['trigger.webhook', {}, []],
])('before a run, the names in the data of %s', (type, config, names) => {
  expect(below('trigger.data', hintsOf(after(type, config)))).toEqual(
    names.map((name) => `trigger.data.${name}`),
  );
});

test('the schema of the input names the data of any trigger', () => {
  const schema = {
    type: 'object',
    properties: {
      customer: { type: 'object', properties: { name: { type: 'string' } } },
      lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } } } },
    },
  };
  const names = ['customer', 'lines', 'customer.name', 'lines[0]', 'lines[0].sku'];
  expect(below('trigger.data', hintsOf({ ...after('trigger.webhook'), schema }))).toEqual(
    names.map((name) => `trigger.data.${name}`),
  );
});

test('what has come in stands before what will', () => {
  const drawn = after('trigger.schedule');
  expect(below('trigger.data', hintsOf(drawn, { real: 1 }))).toEqual(['trigger.data.real']);
  const { flow, ...known } = draw(drawn);
  const dataOf = (sample: JsonObject | null) =>
    listSources(flow, 'last', { sample, ...known })[1].find(({ path }) => path === 'trigger.data');
  expect(dataOf({ real: 1 })).toMatchObject({ isExample: false });
  expect(dataOf(null)).toMatchObject({ isExample: true, value: { scheduled_at: null, input: null } });
  expect(previewOf('{{trigger.data.scheduled_at}}', flow, 'last', { sample: null, ...known })).toEqual({
    kind: 'unknown',
  });
});

test('a node that several triggers may start reads the names of each, and of no other', () => {
  const drawn: Drawn = {
    nodes: [
      ['daily', 'trigger.schedule'],
      ['issue', 'trigger.github.new_issue'],
      ['asked', 'trigger.form', { fields: [{ name: 'email', type: 'email' }] }],
      ['last', 'core.set'],
    ],
    edges: [
      ['daily', 'last'],
      ['issue', 'last'],
    ],
  };
  const paths = hintsOf(drawn);
  expect(paths).toEqual(expect.arrayContaining(['trigger.data.scheduled_at', 'trigger.data.user.login']));
  expect(paths).not.toContain('trigger.data.email');
});

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };

test.each<[string, JsonObject, JsonObject | undefined]>([
  [
    'core.set',
    { values: { subject: 'Order {{trigger.data.id}}', to: { name: 'Ada' } } },
    { subject: null, to: { name: null } },
  ],
  ['core.set', { values: '{{trigger.data}}' }, undefined],
  ['core.set', {}, undefined],
  // What is within an answer of somebody's service is up to the service.
  ['http.request', {}, { status: null, body: null }],
  ['connector.stripe.list_customers', {}, { items: [{ id: null }], count: null }],
  [
    'ai.extract',
    {
      fields: [
        { name: 'pieces', type: 'integer' },
        { name: 'tags', type: 'string', list: true },
      ],
    },
    { json: { pieces: null, tags: [null] }, usage: { input_tokens: null } },
  ],
  [
    'ai.extract',
    { define: 'schema', schema: SCHEMA },
    { json: { total: null }, usage: { input_tokens: null } },
  ],
  ['ai.generate', {}, { text: null, usage: { input_tokens: null } }],
  [
    'ai.generate',
    { output: 'json', schema: SCHEMA },
    { json: { total: null }, usage: { input_tokens: null } },
  ],
  [
    'wait.approval',
    { fields: [{ name: 'quantity', type: 'number' }] },
    { decision: null, comment: null, decided_by: null, decided_at: null, values: { quantity: null } },
  ],
  ['unknown.type', {}, undefined],
])('the names in an output of %s with %j', (type, config, names) => {
  expect(draw({ nodes: [['it', type, config]] }).namesOf('it')).toEqual(names);
});

test.each<[string, JsonObject]>([
  ['all', { left: { a: null }, right: { b: null }, aside: null }],
  ['combine', { a: null, b: null }],
  ['first', { a: null, b: null }],
])('branches that are joined by %s pass their names on', (mode, names) => {
  const { namesOf } = draw({
    nodes: [
      ['left', 'core.set', { values: { a: 1 } }],
      ['right', 'core.code'],
      ['aside', 'core.code'],
      ['it', 'core.merge', { mode }],
    ],
    edges: [
      ['left', 'it'],
      ['right', 'it'],
      ['aside', 'it'],
    ],
    outputs: { right: { b: 'real' } },
  });
  expect(namesOf('it')).toEqual(names);
});

test('a draft may join branches in a circle', () => {
  const { namesOf } = draw({
    nodes: [
      ['one', 'core.merge', { mode: 'combine' }],
      ['two', 'core.merge', { mode: 'combine' }],
    ],
    edges: [
      ['one', 'two'],
      ['two', 'one'],
    ],
  });
  expect(namesOf('one')).toBeUndefined();
});

test('before a run, the items of a loop have the names of the list it goes through', () => {
  const drawn: Drawn = {
    nodes: [
      ['list', 'connector.stripe.list_customers'],
      ['each', 'core.for_each', { items: '{{nodes.list.output.items}}' }],
      ['in', 'core.set', {}, 'each'],
    ],
    edges: [['list', 'each']],
  };
  expect(hintsOf(drawn).slice(0, 3)).toEqual(['item', 'item.id', 'index']);
  const { flow, ...known } = draw(drawn);
  const [[item]] = listSources(flow, 'in', { sample: null, ...known });
  expect(item).toMatchObject({ path: 'item', isExample: true });
});
