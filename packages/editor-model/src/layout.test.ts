import type { Flow } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { FRAME, NODE_WIDTH } from './geometry.ts';
import { layOut } from './layout.ts';
import { buildOrder } from './list-order.ts';

const FLOW: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual' },
    { id: 'check', type: 'core.if' },
    { id: 'no', type: 'core.set' },
    { id: 'yes', type: 'core.set' },
    { id: 'each', type: 'core.for_each' },
    { id: 'inner', type: 'core.repeat', parentId: 'each' },
    { id: 'deep', type: 'core.set', parentId: 'inner' },
    { id: 'lost', type: 'core.set', parentId: 'nowhere' },
  ],
  edges: [
    { source: 'check', sourceHandle: 'false', target: 'no' },
    { source: 'check', sourceHandle: 'true', target: 'yes' },
    { source: 'start', target: 'check' },
    { source: 'yes', target: 'each' },
    { source: 'gone', target: 'each' },
  ],
};
const place = () =>
  layOut(FLOW.nodes, FLOW.edges, ({ type }) => (type === 'core.if' ? ['true', 'false'] : ['out']));

describe('layOut', () => {
  test('goes from left to right along the edges, without overlapping nodes', () => {
    const { start, check, yes, each } = place();
    const xs = [start, check, yes, each].map((at) => at?.x ?? Number.NaN);
    for (const [at, x] of xs.slice(1).entries()) expect(x).toBeGreaterThanOrEqual((xs[at] ?? 0) + NODE_WIDTH);
  });

  test('orders successors by the handles they follow from', () => {
    const { yes, no } = place();
    expect(yes?.y).toBeLessThan(no?.y ?? Number.NaN);
  });

  test('places the body of a loop below its header', () => {
    const { inner, deep } = place();
    for (const at of [inner, deep]) {
      expect(at?.x).toBeGreaterThanOrEqual(FRAME.padding);
      expect(at?.y).toBeGreaterThanOrEqual(FRAME.header);
    }
  });

  test('leaves room for an enlarged frame', () => {
    const wide = { id: 'each', type: 'core.for_each', width: 900, height: 400 } as Flow['nodes'][number];
    const { each, end } = layOut(
      [wide, { id: 'end', type: 'core.set' }],
      [{ source: 'each', target: 'end' }],
      () => ['out'],
    );
    expect(end?.x).toBeGreaterThanOrEqual((each?.x ?? Number.NaN) + 900);
  });

  test('places every node, and nothing if there are none', () => {
    expect(Object.keys(place()).sort()).toEqual(FLOW.nodes.map(({ id }) => id).sort());
    expect(layOut([], [], () => ['out'])).toEqual({});
  });
});

describe('buildOrder', () => {
  test('lists successors after their predecessors, and the body of a loop right after it', () => {
    const listed = buildOrder(FLOW.nodes, FLOW.edges).map(({ node, depth }) => `${node.id} ${depth}`);
    expect(listed).toHaveLength(FLOW.nodes.length);
    const at = (line: string) => listed.indexOf(line);
    expect(at('start 0')).toBeLessThan(at('check 0'));
    expect(at('check 0')).toBeLessThan(at('no 0'));
    expect(listed.slice(at('each 0'), at('each 0') + 3)).toEqual(['each 0', 'inner 1', 'deep 2']);
  });

  test('lists nodes on a cycle, too', () => {
    const edges = [
      { source: 'a', target: 'b' },
      { source: 'b', target: 'a' },
    ];
    const nodes = ['a', 'b', 'c'].map((id) => ({ id, type: 'core.set' }));
    expect(buildOrder(nodes, edges).map(({ node }) => node.id)).toEqual(['c', 'a', 'b']);
  });
});
