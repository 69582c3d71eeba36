import type { Flow } from '@millrace/engine';
import { expect, test } from 'vitest';
import { flowToNode } from './flow-to-node.ts';

const FLOW: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual' },
    { id: 'each', type: 'core.for_each' },
    { id: 'in', type: 'core.set', parentId: 'each' },
    { id: 'in2', type: 'core.set', parentId: 'each' },
    { id: 'after', type: 'core.set' },
    { id: 'aside', type: 'core.set' },
  ],
  edges: [
    { source: 'start', target: 'each' },
    { source: 'in', target: 'in2' },
    { source: 'each', target: 'after' },
    { source: 'start', target: 'aside' },
  ],
  settings: { timezone: 'Asia/Tokyo' },
};

test.each([
  ['start', ['start'], 0],
  ['aside', ['start', 'aside'], 1],
  ['after', ['start', 'each', 'in', 'in2', 'after'], 3],
  // The loop runs as a whole.
  ['in', ['start', 'each', 'in', 'in2'], 2],
])('to %s', (id, nodes, edges) => {
  const flow = flowToNode(FLOW, id);
  expect(flow.nodes.map((node) => node.id)).toEqual(nodes);
  expect(flow.edges).toHaveLength(edges);
  expect(flow.settings).toEqual(FLOW.settings);
});
