import { createRequire } from 'node:module';
import { nodesOf } from '@millrace/connectors/connectors';
import type { OwnConnectorFile } from '@millrace/connectors/format';
import { complete } from '@millrace/connectors/own-file';
import { rowSet } from '@millrace/database/row-set';
import {
  canonicalWork,
  compileWork,
  type JsonObject,
  type JsonValue,
  Meter,
  measureWork,
  type NodeResult,
  parseTemplate,
  parseWork,
  renderWork,
  stringifyJson,
  stringifyWork,
  success,
} from '@millrace/engine';
import { importWork } from '@millrace/importer';
import { registry } from '@millrace/nodes';
import { checkConnectorInThread } from '@millrace/ports/connector-checks';
import { checkInput } from '@millrace/ports/input-checks';
import { drive } from '@millrace/runtime/drive';
import { maskSecrets } from '@millrace/runtime/mask';
import { NodeRun } from '@millrace/runtime/node-run';
import { finishInTurns } from '@millrace/runtime/turns';

/** What the driver does with a parameter; it has no types for it. */
const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  readonly prepareValue: (value: unknown) => unknown;
};

/** One thing that a tenant's data makes the service do, with the worst data it may be given. */
export interface Operation {
  readonly name: string;
  readonly size: string;
  /** Makes the data, which isn't measured, and returns what is. */
  prepare(): () => unknown;
}

const MANY = 40_000;
const MAX_BYTES = 16 * 1024 * 1024;

const range = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

const row = (index: number): JsonObject => ({
  id: index,
  key: `k${(index * 7919) % MANY}`,
  group: index % 100,
  price: `${index % 977}.${index % 89}`,
  at: '2026-03-08T23:30:00Z',
  tags: ['a', `t${index % 1_000}`],
  note: 'x'.repeat(250),
});

/** A connector's file as large as one may be, with as many operations. */
function largeConnector(): string {
  const settings = Object.fromEntries(
    range(12, (index) => [
      `setting_${index}`,
      { type: 'string', title: `Setting ${index}`, description: 'x'.repeat(30), pattern: '^[a-z]*$' },
    ]),
  );
  const names = Object.keys(settings);
  return JSON.stringify({
    ...{ id: 'large', title: 'Large', base_url: 'https://large.example.com', hosts: ['large.example.com'] },
    reason: '{{args.response.body.error}}',
    operations: range(100, (index) => ({
      ...{ id: `get_${index}`, title: `Get ${index}`, description: 'Gets a thing.', effect: false },
      ...{ settings, required: [] },
      request: {
        ...{ method: 'GET', path: '/things' },
        query: Object.fromEntries(names.map((name) => [name, `{{args.${name}}}`])),
      },
      output: { thing: '{{args.response.body}}' },
    })),
  });
}

/** Runs a node as a worker does. */
function runNode(
  type: string,
  config: JsonObject,
  inputs: { readonly [id: string]: JsonObject } = {},
): unknown {
  const definition = registry(type);
  if (definition === undefined) throw new Error(`there is no node ${type}`);
  const claimed = {
    lease: { executionId: 1, workerId: 'w', claim: 1 },
    ...{ organisationId: 1, workflowId: 1, workflowVersion: 1, isTestMode: false, input: null },
    ...{ startedAtMs: 0, deadlineAtMs: null, records: [], signals: [] },
  };
  const attempt = {
    node: { id: 'n', label: 'n', type, definition, types: registry },
    ...{ iteration: [], attempt: 1, config, inputs, inputOrder: Object.keys(inputs) },
    ...{ previousOutput: null, aiTokensLeft: null, timezone: null, render: () => null },
  };
  const http = () => ({ send: () => Promise.reject(new Error('no network')) });
  const limits = { inlineWaitMs: 0, maxOutputBytes: MAX_BYTES };
  const deps = { http, clock: Date, services: {} as never, maxSteps: 50_000_000, limits };
  return new NodeRun(claimed, attempt, deps, null).begin();
}

function ofNode(name: string, size: string, type: string, config: () => JsonObject): Operation {
  return {
    name: `${type}: ${name}`,
    size,
    prepare() {
      const made = config();
      return () => runNode(type, made);
    },
  };
}

function ofData(
  step: JsonObject,
  size = `${MANY} items, 14 MB`,
  data = () => range(MANY, row) as JsonValue,
): Operation {
  return ofNode(typeof step.operation === 'string' ? step.operation : '', size, 'core.data', () => ({
    data: data(),
    steps: [step],
  }));
}

function ofTemplate(name: string, size: string, text: string, data: () => JsonValue): Operation {
  return {
    name: `template: ${name}`,
    size,
    prepare() {
      const parsed = parseTemplate(text);
      if (!parsed.ok) throw new Error(`${name} doesn't parse`);
      const scope = { triggerData: data(), executionId: 1, vars: {}, nodeOutput: () => null };
      return async () => {
        try {
          await finishInTurns(renderWork(parsed.template, scope, MAX_BYTES));
        } catch {
          // Beyond its budget.
        }
      };
    },
  };
}

function ofSchema(name: string, size: string, schema: () => JsonObject, value: () => JsonValue): Operation {
  return {
    name: `schema: ${name}`,
    size,
    prepare() {
      const [made, given] = [schema(), value()];
      return () => checkInput(made, given, 1);
    },
  };
}

function ofMask(name: string, size: string, output: () => JsonObject): Operation {
  return {
    name: `mask: ${name}`,
    size,
    prepare() {
      const result: NodeResult = success(output());
      const holder = { executionId: 1, nodeId: 'n' };
      return () =>
        drive(maskSecrets(result, ['a-secret-of-the-tenant', 'another-one-12345']), {
          holder,
          maxSteps: 50_000_000,
          isAborted: () => false,
        });
    },
  };
}

/** Takes the longest to find in a text of one letter. */
const hardNeedle = (length: number): string => `${'a'.repeat(length / 2)}b${'a'.repeat(length / 2)}`;
const flow = (): JsonObject => ({
  nodes: range(2_000, (index) => ({
    ...{ id: `n${index}`, type: index === 0 ? 'trigger.manual' : 'core.set', position: { x: 0, y: 0 } },
    data: { config: index === 0 ? {} : { values: { text: `{{nodes.n${index - 1}.output}}` } } },
  })),
  edges: range(1_999, (index) => ({ source: `n${index}`, target: `n${index + 1}` })),
});

/** As n8n exports a workflow. */
const exported = (): JsonObject => ({
  name: 'n',
  nodes: range(2_000, (index) => ({
    ...{ id: `${index}`, name: `Node ${index}`, position: [index, 0], typeVersion: 3.4 },
    type: index === 0 ? 'n8n-nodes-base.manualTrigger' : 'n8n-nodes-base.set',
    parameters: {
      assignments: {
        assignments: range(5, (n) => ({
          ...{ id: `${n}`, name: `v${n}`, type: 'string' },
          value: `={{ $json.v${n}.toUpperCase() + $('Node ${index - 1}').item.json.a }}`,
        })),
      },
    },
  })),
  connections: Object.fromEntries(
    range(1_999, (index) => [
      `Node ${index}`,
      { main: [[{ node: `Node ${index + 1}`, type: 'main', index: 0 }]] },
    ]),
  ),
});

export const OPERATIONS: readonly Operation[] = [
  ofNode('in a list', `${MANY} items, ${MANY} values`, 'core.filter', () => ({
    items: range(MANY, row),
    conditions: [{ field: 'key', operator: 'not_in', right: range(MANY, (index) => `v${index}`) }],
  })),
  ofNode('in a list of objects', `${MANY} items, ${MANY} values`, 'core.filter', () => ({
    items: range(MANY, row),
    conditions: [{ operator: 'in', right: range(MANY, (index) => ({ ...row(index), note: 'y' })) }],
  })),
  ofNode('100 comparisons of numbers', `${MANY} items`, 'core.filter', () => ({
    items: range(MANY, row),
    conditions: range(100, () => ({ field: 'price', operator: 'less_than', right: '1000000.5' })),
  })),
  ofNode('text that contains', '100,000 times one text of 1 MB', 'core.filter', () => {
    const text = 'a'.repeat(1_000_000);
    return { items: range(100_000, () => text), conditions: [{ operator: 'contains', right: 'b' }] };
  }),
  ofNode('text that contains, the worst text', '1 MB, 0.5 MB', 'core.if', () => ({
    conditions: [{ left: 'a'.repeat(1_000_000), operator: 'contains', right: hardNeedle(500_000) }],
  })),
  ofNode('equal objects', '14 MB', 'core.if', () => ({
    conditions: [{ left: range(MANY, row), operator: 'equals', right: range(MANY, row) }],
  })),
  ofNode('in a list', `10,000 conditions, ${MANY} values`, 'core.switch', () => {
    const right = range(MANY, (index) => `v${index}`);
    const conditions = range(100, () => ({ left: 'x', operator: 'not_in', right }));
    return { cases: range(100, (index) => ({ name: `c${index}`, conditions })), mode: 'all_matches' };
  }),
  ofData({ operation: 'sort', by: [{ field: 'price', as: 'number' }, { field: 'key' }] }),
  ofData({ operation: 'sort', by: [{}] }, '1,000,000 numbers', () =>
    range(1_000_000, (index) => (index * 7919) % 999_983),
  ),
  ofData({ operation: 'unique' }),
  ofData({ operation: 'group', by: ['group', 'key'] }),
  ofData({
    operation: 'aggregate',
    by: ['group'],
    values: range(100, (index) => ({ function: 'sum', field: 'price', name: `s${index}` })),
  }),
  ofData({ operation: 'aggregate', values: [{ function: 'sum' }] }, `${MANY} numbers of 900 digits`, () =>
    range(MANY, (index) => `${index}.${'7'.repeat(900)}`),
  ),
  ofData({ operation: 'join', with: range(MANY, row), on: [{ left: 'key', right: 'key' }], as: 'other' }),
  ofData(
    { operation: 'join', with: range(1_000, row), on: [{ left: 'group', right: 'group' }] },
    '1,000,000 results',
    () => range(100_000, (index) => ({ group: index % 100, n: index })),
  ),
  ofData(
    { operation: 'pick', fields: range(100, (index) => `f${index}`) },
    `${MANY} items of 100 fields`,
    () => range(MANY, () => Object.fromEntries(range(100, (index) => [`f${index}`, index]))),
  ),
  ofData(
    { operation: 'omit', fields: range(100, (index) => `f${index}`) },
    `${MANY} items of 100 fields`,
    () => range(MANY, () => Object.fromEntries(range(100, (index) => [`f${index}`, index]))),
  ),
  ofData(
    { operation: 'rename', fields: range(100, (index) => ({ from: `f${index}`, to: `a.g${index}` })) },
    `${MANY} items of 100 fields`,
    () => range(MANY, () => Object.fromEntries(range(100, (index) => [`f${index}`, index]))),
  ),
  ofData({ operation: 'flatten', field: 'tags' }),
  ofData({ operation: 'chunk', size: 1 }, '1,000,000 numbers', () => range(1_000_000, (index) => index)),
  ofData({ operation: 'split', separator: ',' }, '16 MB', () => 'a,'.repeat(8_000_000)),
  ofData({ operation: 'format_number', field: 'price' }),
  ofData({ operation: 'format_date', field: 'at', zone: 'Asia/Tokyo' }),
  {
    name: 'core.merge: combine',
    size: `50 outputs of ${MANY} fields`,
    prepare() {
      const output = Object.fromEntries(range(MANY, (index) => [`f${index}`, index]));
      const inputs = Object.fromEntries(range(50, (index) => [`n${index}`, output]));
      return () => runNode('core.merge', { mode: 'combine' }, inputs);
    },
  },
  ofTemplate('sort', `${MANY} items`, '{{trigger.data | sort: "key"}}', () => range(MANY, row)),
  ofTemplate('sort, 20 times', `${MANY} items`, `{{trigger.data ${'| sort: "key" '.repeat(20)}}}`, () =>
    range(MANY, row),
  ),
  ofTemplate('unique', `${MANY} items, 14 MB`, '{{trigger.data | unique}}', () => range(MANY, row)),
  ofTemplate('where', `${MANY} items`, '{{trigger.data | where: "key", "k1"}}', () => range(MANY, row)),
  ofTemplate('contains', `${MANY} items`, '{{trigger.data | contains: "12"}}', () =>
    range(MANY, (index) => index),
  ),
  ofTemplate(
    'contains, the worst text',
    '1 MB, 0.5 MB',
    '{{trigger.data.text | contains: trigger.data.part}}',
    () => ({
      ...{ text: 'a'.repeat(1_000_000), part: hardNeedle(500_000) },
    }),
  ),
  ofTemplate(
    'replace, the worst text',
    '1 MB, 0.5 MB',
    '{{trigger.data.text | replace: trigger.data.part, "x"}}',
    () => ({
      ...{ text: 'a'.repeat(1_000_000), part: hardNeedle(500_000) },
    }),
  ),
  ofTemplate('split', '8 MB', '{{trigger.data | split: ","}}', () => 'a,'.repeat(4_000_000)),
  ofTemplate('sum', `${MANY} numbers of 900 digits`, '{{trigger.data | sum}}', () =>
    range(MANY, (index) => `${index}.${'7'.repeat(900)}`),
  ),
  ofTemplate('json', '14 MB', '{{trigger.data | json}}', () => range(MANY, row)),
  ofTemplate('json of each', '14 MB', '{{trigger.data | map: (it | json)}}', () => range(MANY, row)),
  ofTemplate('json, parse_json', '7 MB', '{{trigger.data | json | parse_json}}', () => range(MANY / 2, row)),
  ofTemplate(
    'json, parse_json, 10 times',
    '14 MB',
    `{{trigger.data ${'| json | parse_json '.repeat(10)}}}`,
    () => range(MANY, row),
  ),
  ofSchema(
    'enum',
    `${MANY} items, 10,000 values`,
    () => ({ items: { enum: range(10_000, (index) => `v${index}`) } }),
    () => range(MANY, () => 'v9999'),
  ),
  ofSchema(
    'anyOf',
    `${MANY} items, 1,000 schemas`,
    () => ({ items: { anyOf: range(1_000, (index) => ({ const: index })) } }),
    () => range(MANY, () => 999),
  ),
  ofSchema(
    'uniqueItems',
    `${MANY} objects`,
    () => ({ uniqueItems: true }),
    () => range(MANY, row),
  ),
  ofSchema(
    'nested contains',
    'lists in lists',
    () => ({ items: { contains: { items: { contains: { const: 2 } } } } }),
    () => range(200, () => range(200, () => range(50, () => 1))),
  ),
  ofSchema(
    'pattern',
    '4,000 texts of 250 letters',
    () => ({ items: { pattern: '^(a|b|ab)*c(x|y|z){1,40}$' } }),
    () => range(4_000, () => 'ab'.repeat(125)),
  ),
  ofSchema(
    'plain',
    `${MANY} items, 14 MB`,
    () => ({ items: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } }),
    () => range(MANY, row),
  ),
  ofMask('one text of base64', '16 MB', () => ({
    text: Buffer.alloc(12_000_000, 'secrets of others ').toString('base64'),
  })),
  ofMask('one text of base64 with a secret in it', '16 MB', () => ({
    text: Buffer.alloc(12_000_000, 'a-secret-of-the-tenant and others, ').toString('base64'),
  })),
  ofMask('one text of references', '16 MB', () => ({ text: '&#x41;&b'.repeat(2_000_000) })),
  ofMask('one text of JSON', '14 MB', () => ({ text: stringifyJson(range(MANY, row) as JsonValue) })),
  ofMask('many texts', `${MANY} items, 14 MB`, () => ({ items: range(MANY, row) })),
  {
    name: 'parse JSON',
    size: '14 MB',
    prepare() {
      const text = stringifyJson(range(MANY, row) as JsonValue);
      return () => finishInTurns(parseWork(text, new Meter()));
    },
  },
  {
    name: 'parse JSON with one exponent',
    size: '1 MB of numbers',
    prepare() {
      const text = `[${'1,'.repeat(500_000)}1e2]`;
      return () => finishInTurns(parseWork(text, new Meter()));
    },
  },
  {
    name: 'parse JSON of exponents',
    size: '1 MB of numbers',
    prepare() {
      const text = `[${'1e400,'.repeat(170_000)}1e400]`;
      return () => finishInTurns(parseWork(text, new Meter()));
    },
  },
  {
    name: 'parse JSON of one number',
    size: '1 MB',
    prepare() {
      const text = `[${'7'.repeat(1_000_000)}e2]`;
      return () => finishInTurns(parseWork(text, new Meter()));
    },
  },
  {
    name: 'write JSON',
    size: '14 MB',
    prepare() {
      const rows: JsonValue = range(MANY, row);
      return () => finishInTurns(stringifyWork(rows, new Meter()));
    },
  },
  {
    name: 'measure JSON',
    size: '14 MB',
    prepare() {
      const rows: JsonValue = range(MANY, row);
      return () => finishInTurns(measureWork(rows, MAX_BYTES, new Meter()));
    },
  },
  {
    name: 'parameter of a statement',
    size: '14 MB',
    prepare() {
      const set = rowSet<string>({ records: ['text', (text) => text] });
      const text = stringifyJson(range(MANY, row) as JsonValue);
      return () => set.values([text]).map((value) => prepareValue(value));
    },
  },
  ofNode('hash', '16 MB', 'core.crypto', () => ({
    ...{ operation: 'hash', algorithm: 'sha256', encoding: 'hex' },
    data: 'x'.repeat(MAX_BYTES),
  })),
  ofNode('hash of a value', '14 MB', 'core.crypto', () => ({
    ...{ operation: 'hash', algorithm: 'sha256', encoding: 'hex' },
    data: range(MANY, row),
  })),
  {
    name: 'canonical JSON',
    size: '14 MB',
    prepare() {
      const rows: JsonValue = range(MANY, row);
      return () => finishInTurns(canonicalWork(rows, new Meter()));
    },
  },
  {
    name: 'import a workflow',
    size: 'n8n, 2,000 nodes',
    prepare() {
      const value = exported();
      return () =>
        finishInTurns(importWork(value, { limits: { nodes: 2_000, depth: 100 }, name: 'imported' }));
    },
  },
  {
    name: 'connector: check of a file, the first of a process',
    size: '100 operations, 1,200 settings',
    prepare() {
      const text = largeConnector();
      return () => checkConnectorInThread(text, 1);
    },
  },
  {
    name: 'connector: node types of a file',
    size: '100 operations, 1,200 settings',
    prepare() {
      const text = largeConnector();
      return () => nodesOf([complete(JSON.parse(text) as OwnConnectorFile)]);
    },
  },
  {
    name: 'check a flow',
    size: '2,000 nodes',
    prepare() {
      const data = flow();
      return () => finishInTurns(compileWork(data, registry));
    },
  },
];
