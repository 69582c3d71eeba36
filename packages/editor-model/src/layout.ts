import { Graph, layout } from '@dagrejs/dagre';
import type { FlowEdge, FlowNode } from '@millrace/engine';
import type { Point, Size } from './editor-state.ts';
import { givenSize, isLoop } from './flow-value.ts';
import { FRAME, GAP, plainSize } from './geometry.ts';

interface Placed {
  readonly positions: { [nodeId: string]: Point };
  readonly size: Size;
}

/**
 * Lays out all nodes from left to right along their edges, starting with the contents of loops.
 * @param handlesOf handles in display order; followers are placed in that order, so that edges don't cross
 */
export function layOut(
  nodes: readonly FlowNode[],
  edges: readonly FlowEdge[],
  handlesOf: (node: FlowNode) => readonly string[],
): { readonly [nodeId: string]: Point } {
  const ids = new Set(nodes.map(({ id }) => id));
  const bodies = Map.groupBy(nodes, ({ parentId }) =>
    typeof parentId === 'string' && ids.has(parentId) ? parentId : '',
  );
  return layOutBody(bodies.get('') ?? [], bodies, edges, handlesOf, { x: 0, y: 0 }).positions;
}

function layOutBody(
  nodes: readonly FlowNode[],
  bodies: ReadonlyMap<string, readonly FlowNode[]>,
  edges: readonly FlowEdge[],
  handlesOf: (node: FlowNode) => readonly string[],
  origin: Point,
): Placed {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', ranksep: GAP.x, nodesep: GAP.y, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  const positions: { [nodeId: string]: Point } = Object.create(null);
  for (const node of nodes) {
    if (isLoop(node)) {
      const inner = { x: FRAME.padding, y: FRAME.header + FRAME.padding / 2 };
      const body = layOutBody(bodies.get(node.id) ?? [], bodies, edges, handlesOf, inner);
      Object.assign(positions, body.positions);
      // A frame that was enlarged keeps its size.
      const given = givenSize(node);
      graph.setNode(node.id, {
        width: Math.max(FRAME.minWidth, given?.width ?? 0, body.size.width + inner.x + FRAME.padding),
        height: Math.max(FRAME.minHeight, given?.height ?? 0, body.size.height + inner.y + FRAME.padding),
      });
    } else {
      graph.setNode(node.id, { ...plainSize(handlesOf(node).length) });
    }
  }
  const here = new Set(nodes.map(({ id }) => id));
  for (const { source, target } of edges) {
    if (here.has(source) && here.has(target)) graph.setEdge(source, target);
  }
  if (nodes.length > 0) layout(graph, { constraints: handleOrder(nodes, edges, handlesOf) });
  let [width, height] = [0, 0];
  for (const { id } of nodes) {
    const box = graph.node(id) as { x: number; y: number; width: number; height: number };
    const [left, top] = [box.x - box.width / 2, box.y - box.height / 2];
    positions[id] = { x: Math.round(left + origin.x), y: Math.round(top + origin.y) };
    width = Math.max(width, left + box.width);
    height = Math.max(height, top + box.height);
  }
  return { positions, size: { width, height } };
}

/** The vertical order of nodes with the same single predecessor. */
function handleOrder(
  nodes: readonly FlowNode[],
  edges: readonly FlowEdge[],
  handlesOf: (node: FlowNode) => readonly string[],
): { readonly left: string; readonly right: string }[] {
  const before = Map.groupBy(edges, ({ target }) => target);
  const next = Map.groupBy(edges, ({ source }) => source);
  const here = new Set(nodes.map(({ id }) => id));
  return nodes.flatMap((node) => {
    const handles = handlesOf(node);
    if (handles.length < 2) return [];
    const followers = (next.get(node.id) ?? [])
      .filter(({ target }) => here.has(target) && before.get(target)?.length === 1)
      .toSorted((a, b) => handles.indexOf(a.sourceHandle ?? 'out') - handles.indexOf(b.sourceHandle ?? 'out'))
      .map(({ target }) => target);
    return followers.slice(1).map((right, at) => ({ left: followers[at] ?? '', right }));
  });
}
