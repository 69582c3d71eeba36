import { loopsAround, upstreamOf } from '@millrace/editor-model/flow-scope.ts';
import { withBodies } from '@millrace/editor-model/flow-value.ts';
import type { Flow } from '@millrace/engine';

/** The flow without what isn't needed to run to a node; to a node in a loop, the loop runs as a whole. */
export function flowToNode(flow: Flow, nodeId: string): Flow {
  const last = loopsAround(flow, nodeId).at(-1) ?? nodeId;
  const kept = withBodies(flow.nodes, [...upstreamOf(flow, last), last]);
  return {
    ...flow,
    nodes: flow.nodes.filter(({ id }) => kept.has(id)),
    edges: flow.edges.filter(({ source, target }) => kept.has(source) && kept.has(target)),
  };
}
