import { getBezierPath, Position } from '@xyflow/react';
import type { CanvasEdge, CanvasNode } from './display.ts';
import type { Point } from './editor-state.ts';
import { inParts, isSame, NONE_LIFTED, onCanvas, withLoops } from './far-places.ts';

/** Edges drawn as one element. */
export interface FarEdges {
  readonly id: string;
  readonly state: EdgeState;
  readonly path: string;
}

type EdgeState = '' | 'is-taken' | 'is-dead';

interface KnownLine {
  readonly ends: readonly (CanvasNode | undefined)[];
  readonly path: string;
}

/**
 * Draws the edges of a large flow that is seen from far away. Lines between nodes that haven't changed are kept. Those of `lifted` nodes are left out:
 * they are drawn elsewhere while the nodes are dragged.
 */
export function createFarEdges(): (
  nodes: readonly CanvasNode[],
  edges: readonly CanvasEdge[],
  lifted?: ReadonlySet<string>,
) => readonly FarEdges[] {
  let known = new Map<CanvasEdge, KnownLine>();
  return (nodes, edges, lifted = NONE_LIFTED) => {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const kept = new Map<CanvasEdge, KnownLine>();
    const pathOf = (edge: CanvasEdge): string => {
      if (lifted.has(edge.source) || lifted.has(edge.target)) return '';
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

/** The class of an edge of an execution. */
export function stateOf({ data }: CanvasEdge): EdgeState {
  return data?.isTaken === true ? 'is-taken' : data?.isDead === true ? 'is-dead' : '';
}

function drawLine(nodes: ReadonlyMap<string, CanvasNode>, edge: CanvasEdge): string {
  const ends = endsOf(nodes, edge);
  return ends === null ? '' : drawCurve(ends);
}

/** Where an edge begins and ends. */
export interface EdgeEnds {
  readonly from: Point;
  readonly to: Point;
}

/** Null if there is no such handle. */
export function endsOf(nodes: ReadonlyMap<string, CanvasNode>, edge: CanvasEdge): EdgeEnds | null {
  const from = endOf(nodes, edge.source, 'source', edge.sourceHandle);
  const to = endOf(nodes, edge.target, 'target', edge.targetHandle);
  return from === null || to === null ? null : { from, to };
}

/** The usual curve, as an SVG path. */
export function drawCurve({ from, to }: EdgeEnds): string {
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
