import type { JsonObject, JsonValue } from '@millrace/engine';
import { type OriginalNode as Node, originalOf } from './n8n-original.ts';

const VERSIONS: { readonly [type: string]: number } = {
  httpRequest: 4.2,
  set: 3.4,
  if: 2.2,
  switch: 3.2,
  filter: 2.2,
  merge: 3,
  splitInBatches: 3,
  removeDuplicates: 2,
  summarize: 1,
  dateTime: 2,
};

/** A workflow as n8n exports it. A link is `A.1 > B.2`: from the second output of A into the third input of B. */
function original(nodes: readonly Node[], links: readonly string[]): JsonObject {
  return originalOf('Compared', VERSIONS, nodes, links);
}

/** The nodes one after the other. */
function line(...nodes: readonly Node[]): JsonObject {
  return original(
    nodes,
    nodes.slice(1).map(([name], index) => `${nodes[index]?.[0] ?? ''} > ${name}`),
  );
}

const START: Node = ['Start', 'manualTrigger'];

/** One item with this content. */
function given(value: JsonObject): Node {
  return ['Given', 'set', { mode: 'raw', jsonOutput: JSON.stringify(value), options: {} }];
}

const SPLIT: Node = ['Split', 'splitOut', { fieldToSplitOut: 'rows', options: {} }];

function fields(name: string, values: { readonly [name: string]: JsonValue }, more: JsonObject = {}): Node {
  const assignments = Object.entries(values).map(([key, value], index) => ({
    id: String(index),
    name: key,
    value,
    type: typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'string',
  }));
  return [name, 'set', { assignments: { assignments }, options: {}, ...more }];
}

function compare(left: JsonValue, operation: string, right: JsonValue, type: string): JsonObject {
  const options = { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 };
  const operator = { type, operation };
  return {
    options,
    combinator: 'and',
    conditions: [{ id: '1', leftValue: left, rightValue: right, operator }],
  };
}

const ROWS = [
  { id: 1, name: 'Ada', group: 'a', total: 5 },
  { id: 2, name: 'bo', group: 'b', total: 50 },
  { id: 3, name: 'Cy', group: 'a', total: 80 },
];

/** Workflows that need no service, as they call it at an address. Their calls are compared with those that n8n makes. */
export function comparedWorkflows(url: string): { readonly [name: string]: JsonObject } {
  const post = (name: string, path: string, body: string, more: JsonObject = {}): Node => [
    name,
    'httpRequest',
    {
      method: 'POST',
      url: `${url}${path}`,
      sendBody: true,
      specifyBody: 'json',
      jsonBody: body,
      options: {},
    },
    more,
  ];
  const each = (path: string) => post('Call', path, '={"id": {{ $json.id }}, "name": "{{ $json.name }}"}');
  const got = (path: string): Node => ['Got', 'httpRequest', { url: `${url}${path}`, options: {} }];
  const id = (path: string) => post('Call', path, '={"id": {{ $json.id }}}');
  const rows = given({ shop: 'Quay', rows: ROWS });
  return {
    'a call per item': line(START, rows, SPLIT, each('/each')),
    'a branch by item': original(
      [
        START,
        rows,
        SPLIT,
        ['Large', 'if', { conditions: compare('={{ $json.total }}', 'gt', 40, 'number'), options: {} }],
        post('Yes', '/yes', '={"id": {{ $json.id }}}'),
        post('No', '/no', '={"id": {{ $json.id }}}'),
      ],
      ['Start > Given', 'Given > Split', 'Split > Large', 'Large.0 > Yes', 'Large.1 > No'],
    ),
    'several branches': original(
      [
        START,
        rows,
        SPLIT,
        [
          'Which',
          'switch',
          {
            rules: {
              values: [
                { conditions: compare('={{ $json.name }}', 'equals', 'Ada', 'string') },
                { conditions: compare('={{ $json.group }}', 'equals', 'b', 'string') },
              ],
            },
            options: { fallbackOutput: 'extra' },
          },
        ],
        post('A', '/a', '={"id": {{ $json.id }}}'),
        post('B', '/b', '={"id": {{ $json.id }}}'),
        post('Other', '/other', '={"id": {{ $json.id }}}'),
      ],
      ['Start > Given', 'Given > Split', 'Split > Which', 'Which.0 > A', 'Which.1 > B', 'Which.2 > Other'],
    ),
    'a filter': line(
      START,
      rows,
      SPLIT,
      ['Keep', 'filter', { conditions: compare('={{ $json.group }}', 'equals', 'a', 'string'), options: {} }],
      each('/kept'),
    ),
    'a filter that keeps nothing': line(
      START,
      rows,
      SPLIT,
      ['Keep', 'filter', { conditions: compare('={{ $json.total }}', 'gt', 900, 'number'), options: {} }],
      each('/kept'),
    ),
    'all items in one': line(
      START,
      rows,
      SPLIT,
      ['All', 'aggregate', { aggregate: 'aggregateAllItemData', destinationFieldName: 'list', options: {} }],
      post('Call', '/all', '={"count": {{ $json.list.length }}, "list": {{ JSON.stringify($json.list) }}}'),
    ),
    'a field of all items': line(
      START,
      rows,
      SPLIT,
      [
        'All',
        'aggregate',
        { fieldsToAggregate: { fieldToAggregate: [{ fieldToAggregate: 'name' }] }, options: {} },
      ],
      post('Call', '/names', '={"names": {{ JSON.stringify($json.name) }}}'),
    ),
    'sorted and cut': line(
      START,
      rows,
      SPLIT,
      [
        'Sort',
        'sort',
        { sortFieldsUi: { sortField: [{ fieldName: 'total', order: 'descending' }] }, options: {} },
      ],
      ['Two', 'limit', { maxItems: 2 }],
      each('/top'),
    ),
    batches: original(
      [
        START,
        rows,
        SPLIT,
        ['Batches', 'splitInBatches', { batchSize: 2, options: {} }],
        each('/batch'),
        post('End', '/end', '={"done": true}', { executeOnce: true }),
      ],
      [
        'Start > Given',
        'Given > Split',
        'Split > Batches',
        'Batches.1 > Call',
        'Call > Batches',
        'Batches.0 > End',
      ],
    ),
    'two branches after each other': original(
      [
        START,
        given({ rows: ROWS }),
        SPLIT,
        fields('One', { id: 10, name: 'x' }),
        ['Both', 'merge', {}],
        each('/both'),
      ],
      ['Start > Given', 'Given > Split', 'Given > One', 'Split > Both.0', 'One > Both.1', 'Both > Call'],
    ),
    'once for equal items': line(
      START,
      given({
        rows: [
          { id: 1, name: 'a' },
          { id: 1, name: 'a' },
          { id: 2, name: 'b' },
        ],
      }),
      SPLIT,
      ['Once', 'removeDuplicates', { compare: 'selectedFields', fieldsToCompare: 'id', options: {} }],
      each('/once'),
    ),
    'sums by group': line(
      START,
      rows,
      SPLIT,
      [
        'Sum',
        'summarize',
        {
          fieldsToSummarize: { values: [{ aggregation: 'sum', field: 'total' }] },
          fieldsToSplitBy: 'group',
          options: {},
        },
      ],
      post('Call', '/sums', '={"group": "{{ $json.group }}", "sum": {{ $json.sum_total }}}'),
    ),
    'other names': line(
      START,
      rows,
      SPLIT,
      [
        'Rename',
        'renameKeys',
        { keys: { key: [{ currentKey: 'name', newKey: 'label' }] }, additionalOptions: {} },
      ],
      post('Call', '/renamed', '={{ JSON.stringify($json) }}'),
    ),
    'fields besides others': line(
      START,
      rows,
      SPLIT,
      fields(
        'More',
        { 'extra.flag': true, 'extra.note': '=no. {{ $json.id }}' },
        { includeOtherFields: true },
      ),
      post('Call', '/more', '={{ JSON.stringify($json) }}'),
    ),
    dates: line(
      START,
      given({ at: '2026-01-31T22:30:00.000Z' }),
      fields('Dates', {
        next: "={{ DateTime.fromISO($json.at).toUTC().plus({ days: 1 }).toFormat('yyyy-MM-dd') }}",
        month: "={{ DateTime.fromISO($json.at).toUTC().startOf('month').toISODate() }}",
      }),
      post('Call', '/dates', '={{ JSON.stringify($json) }}'),
    ),
    texts: line(
      START,
      rows,
      SPLIT,
      fields('Texts', {
        upper: '={{ $json.name.toUpperCase() }}',
        parts: '={{ $json.name.split("").join("-") }}',
        size: '={{ $json.total > 40 ? "large" : "small" }}',
        cut: '={{ $json.name.replace(/[aeiou]/g, "*") }}',
      }),
      post('Call', '/texts', '={{ JSON.stringify($json) }}'),
    ),
    'what a call returns': original(
      [
        START,
        [
          'List',
          'httpRequest',
          {
            url: `${url}/list`,
            sendQuery: true,
            queryParameters: { parameters: [{ name: 'page', value: '={{ 1 + 1 }}' }] },
            options: {},
          },
        ],
        ['Each', 'splitOut', { fieldToSplitOut: 'items', options: {} }],
        [
          'Put',
          'httpRequest',
          {
            method: 'PUT',
            url: `=${url}/items/{{ $json.id }}`,
            sendBody: true,
            bodyParameters: { parameters: [{ name: 'title', value: '={{ $json.title }}' }] },
            options: {},
          },
        ],
      ],
      ['Start > List', 'List > Each', 'Each > Put'],
    ),
    'a form': line(START, rows, SPLIT, [
      'Call',
      'httpRequest',
      {
        method: 'POST',
        url: `${url}/form`,
        sendBody: true,
        contentType: 'form-urlencoded',
        bodyParameters: {
          parameters: [
            { name: 'id', value: '={{ $json.id }}' },
            { name: 'a b', value: 'c&d' },
          ],
        },
        options: {},
      },
    ]),
    'what earlier nodes had': line(
      START,
      rows,
      SPLIT,
      post('First', '/first', '={"id": {{ $json.id }}}'),
      post(
        'Call',
        '/second',
        '={"of": {{ $(\'Split\').item.json.id }}, "shop": "{{ $(\'Given\').first().json.shop }}"}',
      ),
    ),
    'an error that goes on': original(
      [
        START,
        rows,
        SPLIT,
        [
          'Bad',
          'httpRequest',
          { url: `=${url}/status/{{ $json.id === 2 ? 500 : 200 }}`, options: {} },
          { onError: 'continueErrorOutput' },
        ],
        post('Good', '/good', '={"ok": true}'),
        post('Failed', '/failed', '={"failed": true}'),
      ],
      ['Start > Given', 'Given > Split', 'Split > Bad', 'Bad.0 > Good', 'Bad.1 > Failed'],
    ),
    'a list that a call returns': line(START, got('/plain-list'), id('/of-list')),
    'an empty list that a call returns': line(START, got('/empty-list'), id('/of-list')),
    'an object where a list is likely': line(START, got('/orders'), id('/of-order')),
    'a list that becomes one item': line(
      START,
      got('/thing'),
      ['All', 'aggregate', { aggregate: 'aggregateAllItemData', destinationFieldName: 'list', options: {} }],
      post('Call', '/of-all', '={"list": {{ JSON.stringify($json.list) }}}'),
    ),
  };
}
