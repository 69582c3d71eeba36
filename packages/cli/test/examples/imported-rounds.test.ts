import type { JsonObject, JsonValue } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runImported } from './imported-run.ts';
import { type OriginalLink, type OriginalNode, originalOf } from './n8n-original.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.outside.forget());

const VERSIONS = { httpRequest: 4.2, set: 3.4, if: 2.2, code: 2, wait: 1.1 };

const run = (nodes: readonly OriginalNode[], links: readonly OriginalLink[], input?: JsonValue) =>
  runImported(world, originalOf('Imported', VERSIONS, nodes, links), input);

function post(path: string, body: string): JsonObject {
  const url = `${world.outside.url}${path}`;
  return { method: 'POST', url, sendBody: true, specifyBody: 'json', jsonBody: body };
}

function isText(left: string, right: string): JsonObject {
  const operator = { type: 'string', operation: 'equals' };
  return {
    conditions: {
      combinator: 'and',
      options: { caseSensitive: true },
      conditions: [{ leftValue: left, rightValue: right, operator }],
    },
  };
}

const bodies = (line: string) => world.outside.to(line).map(({ body }) => body);

describe('an imported n8n workflow that goes back', () => {
  it('asks until a job is done, and goes on with the last answer', async () => {
    let asked = 0;
    world.outside.on('POST /job', { body: { id: 7 } });
    world.outside.on('POST /state', () => {
      asked += 1;
      return { body: asked < 3 ? { state: 'busy', id: 7 } : { state: 'done', id: 7, url: '/out' } };
    });
    world.outside.on('POST /report', { body: {} });
    await run(
      [
        ['Start', 'manualTrigger'],
        ['Job', 'httpRequest', post('/job', '={"a": 1}')],
        ['State', 'httpRequest', post('/state', '={"id": {{ $json.id }}}')],
        ['Done?', 'if', isText('={{ $json.state }}', 'done')],
        ['Wait', 'wait', { amount: 0 }],
        [
          'Report',
          'httpRequest',
          post(
            '/report',
            '={"url": "{{ $json.url }}", "state": "{{ $(\'State\').item.json.state }}", "job": {{ $(\'Job\').item.json.id }}}',
          ),
        ],
      ],
      ['Start > Job', 'Job > State', 'State > Done?', 'Done?.0 > Report', 'Done?.1 > Wait', 'Wait > State'],
    );
    expect(bodies('POST /state')).toEqual([{ id: 7 }, { id: 7 }, { id: 7 }]);
    expect(bodies('POST /report')).toEqual([{ url: '/out', state: 'done', job: 7 }]);
  });

  it('goes back with what it has changed, and leaves one of two ways', async () => {
    for (const path of ['/call', '/found', '/gone'])
      world.outside.on(`POST ${path}`, ({ body }) => ({ body }));
    const nodes = (): OriginalNode[] => [
      ['Start', 'manualTrigger'],
      ['Try', 'code', { jsCode: 'return [{ json: { at: ($json.at ?? 0) + 1, run: $runIndex } }];' }],
      ['Call', 'httpRequest', post('/call', '={"at": {{ $json.at }}, "run": {{ $json.run }}}')],
      ['Found?', 'if', isText('={{ String($json.at) }}', "={{ String($('Start').item.json.wanted) }}")],
      ['Enough?', 'if', isText('={{ String($json.at) }}', '3')],
      ['Found', 'httpRequest', post('/found', '={"at": {{ $json.at }}}')],
      ['Gone', 'httpRequest', post('/gone', '={"at": {{ $json.at }}}')],
    ];
    const links = ['Start > Try', 'Try > Call', 'Call > Found?', 'Found?.0 > Found', 'Found?.1 > Enough?'];
    const all = [...links, 'Enough?.0 > Gone', 'Enough?.1 > Try'];
    await run(nodes(), all, { wanted: 2 });
    expect(bodies('POST /call')).toEqual([
      { at: 1, run: 0 },
      { at: 2, run: 1 },
    ]);
    expect([bodies('POST /found'), bodies('POST /gone')]).toEqual([[{ at: 2 }], []]);
    world.outside.forget();
    for (const path of ['/call', '/found', '/gone'])
      world.outside.on(`POST ${path}`, ({ body }) => ({ body }));
    await run(nodes(), all, { wanted: 9 });
    expect([bodies('POST /found'), bodies('POST /gone')]).toEqual([[], [{ at: 3 }]]);
  });

  it('does so for each item of a list', async () => {
    const asked = new Map<number, number>();
    world.outside.on('POST /turn', ({ body }) => {
      const { id } = body as { id: number };
      asked.set(id, (asked.get(id) ?? 0) + 1);
      return { body: { id, state: asked.get(id) === id ? 'done' : 'busy' } };
    });
    world.outside.on('POST /turns', { body: {} });
    await run(
      [
        ['Start', 'manualTrigger'],
        ['List', 'splitOut', { fieldToSplitOut: 'list' }],
        ['State', 'httpRequest', post('/turn', '={"id": {{ $json.id }}}')],
        ['Done?', 'if', isText('={{ $json.state }}', 'done')],
        ['All', 'aggregate', { aggregate: 'aggregateAllItemData', destinationFieldName: 'rows' }],
        [
          'Report',
          'httpRequest',
          post('/turns', '={"ids": {{ JSON.stringify($json.rows.map((row) => row.id)) }}}'),
        ],
      ],
      ['Start > List', 'List > State', 'State > Done?', 'Done?.0 > All', 'Done?.1 > State', 'All > Report'],
      { list: [{ id: 1 }, { id: 3 }] },
    );
    expect(bodies('POST /turn')).toEqual([{ id: 1 }, { id: 3 }, { id: 3 }, { id: 3 }]);
    expect(bodies('POST /turns')).toEqual([{ ids: [1, 3] }]);
  });
});
