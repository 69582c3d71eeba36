import type { FlowNode } from '@millrace/engine';
import type { EditorState, Point, Size } from './editor-state.ts';
import { givenSize, isLoop, own } from './flow-value.ts';

/** Pixels. Examples and older flows put their nodes 220 apart. */
export const NODE_WIDTH = 184;
export const NODE_HEIGHT = 52;
/** A finger hits one of several handles: none is nearer to the next than 24 pixels. */
export const HANDLE_ROW = 24;
/** Between nodes: room for an edge with its buttons, and ends that can be pulled. */
export const GAP = { x: 72, y: 36 } as const;

/** Inside of a loop's frame: its title above, and room around what it holds. */
export const FRAME = { header: 44, padding: 24, minWidth: 264, minHeight: 148 } as const;

/** What sizes are found from. */
export interface Measures {
  readonly nodes: readonly FlowNode[];
  readonly placed: EditorState['placed'];
  /** How many handles the node shows at its right. */
  readonly handleCount: (node: FlowNode) => number;
}

export function positionOf(node: FlowNode, placed: EditorState['placed']): Point {
  return node.position ?? own(placed, node.id) ?? { x: 0, y: 0 };
}

/** Size of a node other than a loop: with several handles, each has a row with its name. */
export function plainSize(handleCount: number): Size {
  return { width: NODE_WIDTH, height: NODE_HEIGHT + (handleCount > 1 ? handleCount * HANDLE_ROW + 6 : 0) };
}

/** Sizes of all nodes; a loop's frame is as large as it was made, and never smaller than what it holds. */
export function measureAll({ nodes, placed, handleCount }: Measures): ReadonlyMap<string, Size> {
  const sizes = new Map<string, Size>();
  const bodies = Map.groupBy(
    nodes.filter(({ parentId }) => typeof parentId === 'string'),
    ({ parentId }) => parentId as string,
  );
  const measure = (node: FlowNode, isAround: ReadonlySet<string>): Size => {
    const known = sizes.get(node.id);
    if (known !== undefined) return known;
    const size = isLoop(node) ? measureFrame(node, isAround) : plainSize(handleCount(node));
    sizes.set(node.id, size);
    return size;
  };
  const measureFrame = (node: FlowNode, isAround: ReadonlySet<string>): Size => {
    const given = givenSize(node);
    let width = Math.max(FRAME.minWidth, given?.width ?? 0);
    let height = Math.max(FRAME.minHeight, given?.height ?? 0);
    // Structure rules refuse loops inside themselves, pasted text may still hold them.
    const around = new Set([...isAround, node.id]);
    for (const child of bodies.get(node.id) ?? []) {
      if (around.has(child.id)) continue;
      const at = positionOf(child, placed);
      const size = measure(child, around);
      width = Math.max(width, at.x + size.width + FRAME.padding);
      height = Math.max(height, at.y + size.height + FRAME.padding);
    }
    return { width, height };
  };
  for (const node of nodes) measure(node, new Set());
  return sizes;
}

/** Where a node is on the whole canvas. */
export function absolutePosition(
  node: FlowNode,
  byId: ReadonlyMap<string, FlowNode>,
  placed: EditorState['placed'],
): Point {
  let { x, y } = positionOf(node, placed);
  const seen = new Set([node.id]);
  for (let at = parentOf(node, byId); at !== undefined && !seen.has(at.id); at = parentOf(at, byId)) {
    seen.add(at.id);
    const position = positionOf(at, placed);
    x += position.x;
    y += position.y;
  }
  return { x, y };
}

function parentOf(node: FlowNode, byId: ReadonlyMap<string, FlowNode>): FlowNode | undefined {
  return typeof node.parentId === 'string' ? byId.get(node.parentId) : undefined;
}

export function byIdOf(nodes: readonly FlowNode[]): ReadonlyMap<string, FlowNode> {
  return new Map(nodes.map((node) => [node.id, node]));
}

/** The first place at or below `wanted` where a node covers no other of the same loop. */
export function freePlace(
  wanted: Point,
  size: Size,
  others: readonly { readonly position: Point; readonly size: Size }[],
): Point {
  let place = wanted;
  for (let attempt = 0; attempt < others.length; attempt++) {
    const covered = others.find(({ position, size: other }) => overlaps(place, size, position, other));
    if (covered === undefined) break;
    place = { x: place.x, y: covered.position.y + covered.size.height + GAP.y };
  }
  return place;
}

function overlaps(a: Point, aSize: Size, b: Point, bSize: Size): boolean {
  return (
    a.x < b.x + bSize.width && b.x < a.x + aSize.width && a.y < b.y + bSize.height && b.y < a.y + aSize.height
  );
}
