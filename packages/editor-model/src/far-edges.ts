import { getBezierPath, Position } from '@xyflow/react';
import type { CanvasEdge, CanvasNode } from './display.ts';
import type { Point } from './editor-state.ts';
import { inParts, isSame, onCanvas, withLoops } from './far-places.ts';

/** Edges drawn as one element. */
export interface FarEdges {
  readonly id: string;
  readonly state: '' | 'is-taken' | 'is-dead';
  readonly path: string;
}

interface KnownLine {
  readonly ends: readonly (CanvasNode | undefined)[];
  readonly path: string;
}

/** Draws the edges of a large flow that is seen from far away. Lines between nodes that haven't changed are kept. */
export function createFarEdges(): (
  nodes: readonly CanvasNode[],
  edges: readonly CanvasEdge[],
) => readonly FarEdges[] {
  let known = new Map<CanvasEdge, KnownLine>();
  return (nodes, edges) => {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const kept = new Map<CanvasEdge, KnownLine>();
    const pathOf = (edge: CanvasEdge): string => {
      const ends = [...withLoops(byId, edge.source), ...withLoops(byId, edge.target)];
      const old = known.get(edge);
      const line = old !== undefined && isSame(old.ends, ends) ? old : { ends, path: drawLine(byId, edge) };
      kept.set(edge, line);
      return line.path;
    };
    const drawn = [...Map.groupBy(edges, stateOf)].flatMap(([state, alike]) =>
      inParts(alike).map((part, at) => ({ id: `${state} ${at}`, state, path: part.map(pathOf).join('') })),
    );
    known = kept;
    return drawn;
  };
}

function stateOf({ data }: CanvasEdge): FarEdges['state'] {
  return data?.isTaken === true ? 'is-taken' : data?.isDead === true ? 'is-dead' : '';
}

function drawLine(nodes: ReadonlyMap<string, CanvasNode>, edge: CanvasEdge): string {
  const from = endOf(nodes, edge.source, 'source', edge.sourceHandle);
  const to = endOf(nodes, edge.target, 'target', edge.targetHandle);
  if (from === null || to === null) return '';
  const [path] = getBezierPath({
    sourceX: from.x,
    sourceY: from.y,
    sourcePosition: Position.Right,
    targetX: to.x,
    targetY: to.y,
    targetPosition: Position.Left,
  });
  return path;
}

/** Where an edge begins or ends: the middle of the outer side of its handle; null if there is none. */
function endOf(
  nodes: ReadonlyMap<string, CanvasNode>,
  nodeId: string,
  type: 'source' | 'target',
  handleId: string | null | undefined,
): Point | null {
  const handle = nodes
    .get(nodeId)
    ?.handles?.find((each) => each.type === type && (handleId == null || each.id === handleId));
  if (handle === undefined) return null;
  const { x, y, width = 0, height = 0 } = handle;
  return onCanvas(nodes, nodeId, { x: type === 'source' ? x + width : x, y: y + height / 2 });
}
