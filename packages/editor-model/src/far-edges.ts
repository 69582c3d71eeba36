import { getBezierPath, Position } from '@xyflow/react';
import type { CanvasEdge, CanvasNode } from './display.ts';
import type { Point } from './editor-state.ts';

/** Edges drawn as one element. */
export interface FarEdges {
  readonly id: string;
  readonly state: '' | 'is-taken' | 'is-dead';
  readonly path: string;
}

/** Edges of one element. All in one, each part of the canvas would be painted with every edge; one by one, they are too many elements. */
const TOGETHER = 32;

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

function inParts(edges: readonly CanvasEdge[]): readonly (readonly CanvasEdge[])[] {
  return Array.from({ length: Math.ceil(edges.length / TOGETHER) }, (_, at) =>
    edges.slice(at * TOGETHER, (at + 1) * TOGETHER),
  );
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}

/** A node and the loops around it, on which its place depends. */
function withLoops(nodes: ReadonlyMap<string, CanvasNode>, id: string): (CanvasNode | undefined)[] {
  const node = nodes.get(id);
  return node?.parentId === undefined ? [node] : [node, ...withLoops(nodes, node.parentId)];
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
  const inNode = { x: type === 'source' ? x + width : x, y: y + height / 2 };
  return withLoops(nodes, nodeId).reduce(
    (at, node) => ({ x: at.x + (node?.position.x ?? 0), y: at.y + (node?.position.y ?? 0) }),
    inNode,
  );
}
