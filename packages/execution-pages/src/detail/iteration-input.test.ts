import type { NodeRunDetail, NodeSummary } from '@millrace/admin-api';
import type { JsonObject } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { presentMessage } from '@millrace/messages/english';
import { expect, test } from 'vitest';
import { type KnownRun, readInput, TooLargeError } from './iteration-input.ts';

const node = (id: string, type: string, config: JsonObject, parentId?: string) => ({
  ...{ id, type, data: { config } },
  ...(parentId === undefined ? {} : { parentId }),
});
const FLOW = {
  nodes: [
    node('list', 'core.set', {}),
    node('rows', 'core.for_each', { items: '{{nodes.list.output.rows}}', result: '{{nodes.send.output}}' }),
    node('price', 'core.set', { values: { net: '{{item.net}}' } }, 'rows'),
    node('cells', 'core.for_each', { items: '{{item.cells}}' }, 'rows'),
    node('send', 'http.request', { url: '/{{index}}/{{item}}', body: '{{nodes.price.output.net}}' }, 'cells'),
    node('again', 'core.repeat', { until: '{{nodes.ask.output}}' }),
    node('ask', 'http.request', { url: '/{{item}}' }, 'again'),
  ],
  edges: [],
};

type Stored = { readonly [place: string]: Partial<NodeRunDetail> | undefined };

/** Stored runs, by `<node> <iteration path>`; all nodes have run. */
function knownOf(stored: Stored, summaries: { readonly [id: string]: Partial<NodeSummary> } = {}): KnownRun {
  return {
    ...{ executionId: 7, triggerData: {}, flow: FLOW },
    summaries: FLOW.nodes.map(({ id }) => ({
      ...({ node_id: id, status: 'success', output_size: 10, ...summaries[id] } as NodeSummary),
    })),
    keepsRuns: (type) => type === 'http.request',
    read: async (nodeId, place) => {
      const run = stored[`${nodeId} ${place.join()}`.trim()];
      return run === undefined ? null : ({ node_id: nodeId, status: 'success', ...run } as NodeRunDetail);
    },
  };
}

const out = (output: JsonObject) => ({ output });
const ROWS = out({
  rows: [
    { net: 1, cells: ['a'] },
    { net: 2, cells: ['b', 'c'] },
  ],
});

test('a run in nested loops has the innermost item and index, and what else it read', async () => {
  const known = knownOf({ list: ROWS, 'price 1': out({ net: 2 }) });
  expect(await readInput(known, 'send', [1, 1])).toEqual({
    config: { url: '/1/c', body: 2 },
    seen: { index: 1, item: 'c' },
    isPlaceUnknown: false,
    notKept: [],
  });
});

test('reports what was not kept, and leaves what reads it unrendered', async () => {
  const known = knownOf({ list: ROWS });
  expect(await readInput(known, 'send', [0, 0])).toMatchObject({
    config: { url: '/0/a', body: '{{nodes.price.output.net}}' },
    notKept: ['price'],
  });
});

test('an iteration as a whole has its item', async () => {
  const known = knownOf({ list: ROWS });
  expect(await readInput(known, 'rows', [1])).toMatchObject({
    config: null,
    seen: { index: 1, item: { net: 2 } },
  });
});

test('the loop itself shows its starting input, and unrendered what is evaluated after each iteration', async () => {
  expect((await readInput(knownOf({ list: ROWS }), 'rows', [])).config).toEqual({
    items: ROWS.output.rows,
    result: '{{nodes.send.output}}',
  });
});

test('the one run that represents an ended loop was in its last iteration', async () => {
  const known = knownOf(
    { list: ROWS, price: out({ net: 2 }) },
    { cells: { iterations: 2 }, send: { iterations: 2 } },
  );
  expect(await readInput(known, 'send', [])).toMatchObject({ config: { url: '/1/c', body: 2 } });
});

test('or in the one that made the loop fail', async () => {
  const error = { code: 'x', ...presentMessage(verbatim('no')), iteration: [0, 0] };
  const failed = { status: 'failed', error } as const;
  const inner = failed;
  const known = knownOf({ list: ROWS, price: out({ net: 1 }) }, { rows: failed, cells: inner });
  expect(await readInput(known, 'send', [])).toMatchObject({ config: { url: '/0/a', body: 1 } });
});

test('or in an unknown one', async () => {
  const known = knownOf({ list: ROWS }, { rows: { status: 'cancelled' } });
  expect(await readInput(known, 'price', [])).toEqual({
    config: { values: { net: '{{item.net}}' } },
    seen: null,
    isPlaceUnknown: true,
    notKept: [],
  });
});

test('a loop without a list passes on the result of the previous iteration', async () => {
  const known = knownOf({ 'again 0': { output: { result: 'first' }, result: 'first' } });
  expect(await readInput(known, 'ask', [0])).toMatchObject({
    config: { url: '/' },
    seen: { index: 0, item: null },
  });
  expect(await readInput(known, 'ask', [1])).toMatchObject({ config: { url: '/first' } });
  // Not every run is stored.
  expect(await readInput(known, 'ask', [2])).toMatchObject({
    config: { url: '/{{item}}' },
    seen: { index: 2 },
  });
});

test("doesn't read more than a page can handle", async () => {
  const known = knownOf({ list: ROWS }, { list: { output_size: 5_000_000 } });
  await expect(readInput(known, 'send', [0, 0])).rejects.toThrow(TooLargeError);
});
