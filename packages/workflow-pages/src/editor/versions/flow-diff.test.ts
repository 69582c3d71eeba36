import type { Flow } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { diffFlows, flowText } from './flow-diff.ts';

const node = (id: string, more: object = {}) => ({ id, type: 'core.set', position: { x: 0, y: 0 }, ...more });
const flow = (nodes: Flow['nodes'], edges: Flow['edges'] = [], settings?: object): Flow => ({
  nodes,
  edges,
  ...(settings === undefined ? {} : { settings }),
});

describe('diffFlows', () => {
  test('lists what was added, removed and changed, and by which member', () => {
    const before = flow([node('a'), node('b', { data: { label: 'B', config: { x: 1 } } })]);
    const after = flow([node('b', { data: { label: 'B', config: { x: 2 } } }), node('c')]);
    const difference = diffFlows(before, after);
    expect(difference.marks).toEqual({ a: 'removed', b: 'changed', c: 'added' });
    expect(difference.changed.map(({ changes }) => changes)).toEqual([
      [{ path: 'config.x', before: 1, after: 2 }],
    ]);
    expect(difference.union.nodes.map(({ id }) => id)).toEqual(['b', 'c', 'a']);
  });

  test('descends into objects and into lists of the same length', () => {
    const config = (right: number, more: object = {}) => ({
      data: { config: { conditions: [{ left: 'a', right }], tags: ['x'], ...more } },
    });
    const { changed } = diffFlows(flow([node('a', config(1))]), flow([node('a', config(2, { tags: [] }))]));
    expect(changed[0]?.changes).toEqual([
      { path: 'config.conditions.1.right', before: 1, after: 2 },
      { path: 'config.tags', before: ['x'], after: [] },
    ]);
  });

  test('a node that is only elsewhere is moved, not changed', () => {
    const difference = diffFlows(
      flow([node('a')]),
      flow([node('a', { position: { x: 9, y: 0 }, measured: { width: 1 } })]),
    );
    expect(difference).toMatchObject({ marks: {}, moved: 1, isSame: false });
  });

  test('edges are identified by their ends, whatever their ids', () => {
    const nodes = [node('a'), node('b')];
    const before = flow(nodes, [{ id: 'x', source: 'a', target: 'b' }]);
    const same = flow(nodes, [{ source: 'a', target: 'b', sourceHandle: 'out' }]);
    const other = flow(nodes, [{ id: 'x', source: 'a', target: 'b', sourceHandle: 'error' }]);
    expect(diffFlows(before, same)).toMatchObject({ addedEdges: [], removedEdges: [] });
    expect(diffFlows(before, other).addedEdges).toHaveLength(1);
    expect(diffFlows(before, other).union.edges).toHaveLength(2);
  });

  test('names the settings that changed', () => {
    const difference = diffFlows(
      flow([], [], { timeout_s: 5, vars: { a: 1 } }),
      flow([], [], { vars: { a: 1 }, timezone: 'UTC' }),
    );
    expect(difference.settings).toEqual([
      { path: 'timeout_s', before: 5, after: undefined },
      { path: 'timezone', before: undefined, after: 'UTC' },
    ]);
    expect(diffFlows(flow([]), flow([])).isSame).toBe(true);
  });

  test('member order makes no difference to the text', () => {
    const a = { nodes: [{ type: 't', id: 'a', data: { config: { b: 1, a: [2, 1] } } }], edges: [] };
    const b = { edges: [], nodes: [{ data: { config: { a: [2, 1], b: 1 } }, id: 'a', type: 't' }] };
    expect(flowText(a)).toBe(flowText(b));
  });
});
