import type { JsonObject, JsonValue } from '@millrace/engine';
import { send } from '@millrace/testing/api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runImported, storeImported } from './imported-run.ts';
import { type OriginalLink, type OriginalNode, originalOf } from './n8n-original.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.outside.forget());

/** A workflow as n8n exports it. */
function original(nodes: readonly OriginalNode[], links: readonly OriginalLink[]): JsonObject {
  return originalOf('Imported', VERSIONS, nodes, links);
}

const VERSIONS: { readonly [type: string]: number } = {
  httpRequest: 4.2,
  set: 3.4,
  if: 2.2,
  code: 2,
  splitInBatches: 3,
  merge: 3,
  webhook: 2,
};

function post(path: string, body: string): JsonObject {
  return {
    method: 'POST',
    url: `${world.outside.url}${path}`,
    sendBody: true,
    specifyBody: 'json',
    jsonBody: body,
  };
}

function isMore(left: string, right: number): JsonObject {
  return {
    conditions: {
      combinator: 'and',
      options: { caseSensitive: true },
      conditions: [{ leftValue: left, rightValue: right, operator: { type: 'number', operation: 'gt' } }],
    },
  };
}

const store = (workflow: JsonObject) => storeImported(world, workflow);
const run = (workflow: JsonObject, input?: JsonValue) => runImported(world, workflow, input);
const bodies = (line: string) => world.outside.to(line).map(({ body }) => body);

describe('an imported n8n workflow', () => {
  it('calls once per item, branches by item, and goes on with all of them', async () => {
    world.outside.on('POST /*', ({ body }) => ({ body: { stored: (body as { id: number }).id } }));
    await run(
      original(
        [
          ['Start', 'manualTrigger'],
          [
            'Orders',
            'set',
            {
              mode: 'raw',
              jsonOutput:
                '{"shop":"Quay","lines":[{"id":1,"total":5},{"id":2,"total":50},{"id":3,"total":80}]}',
            },
          ],
          ['Each line', 'splitOut', { fieldToSplitOut: 'lines' }],
          ['Large?', 'if', isMore('={{ $json.total }}', 40)],
          [
            'Large',
            'httpRequest',
            post('/large', '={"id": {{ $json.id }}, "shop": "{{ $(\'Orders\').item.json.shop }}"}'),
          ],
          [
            'Small',
            'httpRequest',
            post('/small', '={"id": {{ $json.id }}, "note": "{{ \'below \' + (40).toString() }}"}'),
          ],
          ['All large', 'aggregate', { aggregate: 'aggregateAllItemData', destinationFieldName: 'rows' }],
          [
            'Report',
            'httpRequest',
            post(
              '/report',
              '={"id": 0, "rows": {{ JSON.stringify($json.rows) }}, "count": {{ $json.rows.length }}}',
            ),
          ],
        ],
        [
          'Start > Orders',
          'Orders > Each line',
          'Each line > Large?',
          'Large?.0 > Large',
          'Large?.1 > Small',
          'Large > All large',
          'All large > Report',
        ],
      ),
    );
    expect(bodies('POST /large')).toEqual([
      { id: 2, shop: 'Quay' },
      { id: 3, shop: 'Quay' },
    ]);
    expect(bodies('POST /small')).toEqual([{ id: 1, note: 'below 40' }]);
    expect(bodies('POST /report')).toMatchObject([{ count: 2 }]);
  });

  it('runs nothing after a list without items', async () => {
    world.outside.on('POST /*', { body: {} });
    await run(
      original(
        [
          ['Start', 'manualTrigger'],
          ['Rows', 'code', { jsCode: 'return [1, 2].filter((n) => n > 5).map((n) => ({ json: { n } }));' }],
          ['All', 'aggregate', { aggregate: 'aggregateAllItemData' }],
          ['Report', 'httpRequest', post('/report', '={"all": {{ $json.data.length }}}')],
        ],
        ['Start > Rows', 'Rows > All', 'All > Report'],
      ),
    );
    expect(world.outside.received).toEqual([]);
  });

  it('repeats the body of a loop over batches, then goes on', async () => {
    world.outside.on('POST /*', ({ body }) => ({ body: { saw: (body as { id: number }).id } }));
    await run(
      original(
        [
          ['Start', 'manualTrigger'],
          ['Rows', 'code', { jsCode: 'return [1, 2, 3].map((id) => ({ json: { id } }));' }],
          ['Loop', 'splitInBatches', {}],
          ['Send', 'httpRequest', post('/each', '={"id": {{ $json.id }}}')],
          ['Pause', 'wait', { amount: 0, unit: 'seconds' }],
          [
            'Done',
            'code',
            {
              jsCode:
                "return [{ json: { seen: $input.all().map((item) => item.json.saw), of: $('Rows').all().length } }];",
            },
          ],
          ['Report', 'httpRequest', post('/done', '={{ { seen: $json.seen, of: $json.of } }}')],
        ],
        [
          'Start > Rows',
          'Rows > Loop',
          'Loop.1 > Send',
          'Send > Pause',
          'Pause > Loop',
          'Loop.0 > Done',
          'Done > Report',
        ],
      ),
    );
    expect(bodies('POST /each')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(bodies('POST /done')).toEqual([{ seen: [1, 2, 3], of: 3 }]);
  });

  it('merges lists by a field', async () => {
    world.outside.on('POST /report', { body: {} });
    const rows = (list: string): JsonObject => ({ jsCode: `return ${list}.map((json) => ({ json }));` });
    await run(
      original(
        [
          ['Start', 'manualTrigger'],
          ['Left', 'code', rows('[{id: 1, name: "Ada"}, {id: 2, name: "Bo"}]')],
          ['Right', 'code', rows('[{id: 2, city: "Oslo"}, {id: 3, city: "Rome"}]')],
          ['Both', 'merge', { mode: 'combine', fieldsToMatchString: 'id', joinMode: 'keepMatches' }],
          ['Report', 'httpRequest', post('/report', '={{ $json }}')],
        ],
        ['Start > Left', 'Start > Right', 'Left > Both.0', 'Right > Both.1', 'Both > Report'],
      ),
    );
    expect(bodies('POST /report')).toEqual([{ id: 2, name: 'Bo', city: 'Oslo' }]);
  });

  it('goes on from whichever branch was taken, and from the error output', async () => {
    world.outside.on('POST /*', { body: { ok: true } });
    world.outside.on('POST /broken', { status: 422, body: { reason: 'closed' } });
    const workflow = original(
      [
        ['Start', 'manualTrigger'],
        ['Late?', 'if', isMore('={{ $json.days }}', 3)],
        [
          'Late',
          'set',
          {
            assignments: {
              assignments: [{ name: 'text', type: 'string', value: '=late by {{ $json.days - 3 }}' }],
            },
          },
        ],
        [
          'On time',
          'set',
          { assignments: { assignments: [{ name: 'text', type: 'string', value: 'on time' }] } },
        ],
        ['Tell', 'httpRequest', post('/tell', '={"text": "{{ $json.text.toUpperCase() }}"}')],
        ['Break', 'httpRequest', post('/broken', '{"a": 1}'), { onError: 'continueErrorOutput' }],
        ['Failed', 'httpRequest', post('/failed', '={"why": "{{ $json.error.message }}"}')],
        ['Fine', 'httpRequest', post('/fine', '{}')],
      ],
      [
        'Start > Late?',
        'Late?.0 > Late',
        'Late?.1 > On time',
        'Late > Tell',
        'On time > Tell',
        'Tell > Break',
        'Break.0 > Fine',
        'Break.1 > Failed',
      ],
    );
    await run(workflow, { days: 5 });
    await run(workflow, { days: 1 });
    expect(bodies('POST /tell')).toEqual([{ text: 'LATE BY 2' }, { text: 'ON TIME' }]);
    expect(bodies('POST /failed')).toEqual([
      { why: expect.stringContaining('422') },
      { why: expect.stringContaining('422') },
    ]);
    expect(bodies('POST /fine')).toEqual([]);
  });

  it('responds to the caller of its webhook', async () => {
    const id = await store(
      original(
        [
          ['Hook', 'webhook', { httpMethod: 'POST', path: 'x', responseMode: 'responseNode' }],
          [
            'Greet',
            'set',
            {
              assignments: {
                assignments: [{ name: 'hello', type: 'string', value: '=Hello {{ $json.body.name }}' }],
              },
            },
          ],
          [
            'Answer',
            'respondToWebhook',
            {
              respondWith: 'json',
              responseBody: '={"greeting": "{{ $json.hello }}"}',
              options: { responseCode: 201 },
            },
          ],
        ],
        ['Hook > Greet', 'Greet > Answer'],
      ),
    );
    const { key, service } = world;
    const { json } = await service.api('GET', `/workflows/${id}/webhook-info`, { key });
    const answer = await send(`${service.url}/api/v1/webhooks/${String(json.hash)}`, 'POST', {
      body: { name: 'Ada' },
    });
    expect([answer.status, answer.json]).toEqual([201, { greeting: 'Hello Ada' }]);
  });

  it('finds in code what n8n has there', async () => {
    world.outside.on('POST /report', { body: {} });
    await run(
      original(
        [
          ['Start', 'manualTrigger'],
          [
            'Day',
            'set',
            {
              assignments: {
                assignments: [
                  {
                    name: 'at',
                    type: 'string',
                    value:
                      "={{ DateTime.fromISO('2026-01-31T10:00:00Z').plus({ months: 1 }).toFormat('yyyy-MM-dd') }}",
                  },
                ],
              },
            },
          ],
          [
            'Make',
            'code',
            {
              mode: 'runOnceForEachItem',
              jsCode:
                "const all = ['a', 'b', 'a'];\nreturn { unique: all.unique(), key: Buffer.from($json.at).toString('base64'), from: $node['Day'].json.at };",
            },
          ],
          ['Report', 'httpRequest', post('/report', '={{ $json }}')],
        ],
        ['Start > Day', 'Day > Make', 'Make > Report'],
      ),
    );
    expect(bodies('POST /report')).toEqual([
      { unique: ['a', 'b'], key: 'MjAyNi0wMi0yOA==', from: '2026-02-28' },
    ]);
  });
});
