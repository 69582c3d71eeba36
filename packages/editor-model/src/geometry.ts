import { type FlowNode, own } from '@millrace/engine';
import type { EditorState, Point, Size } from './editor-state.ts';
import { givenSize, isLoop } from './flow-value.ts';

/** Pixels. Examples and older flows space their nodes 220 apart. */
export const NODE_WIDTH = 184;
export const NODE_HEIGHT = 52;
/** Minimum distance between handles for touch: 24 pixels. */
export const HANDLE_ROW = 24;
/** Space between nodes: room for an edge with its buttons and draggable ends. */
export const GAP = { x: 72, y: 36 } as const;

/** Inside a loop's frame: the title, and padding around its contents. */
export const FRAME = { header: 44, padding: 24, minWidth: 264, minHeight: 148 } as const;

/** Input for computing sizes. */
export interface Measures {
  readonly nodes: readonly FlowNode[];
  readonly placed: EditorState['placed'];
  /** Number of handles at the node's right. */
  readonly handleCount: (node: FlowNode) => number;
}

export function positionOf(node: FlowNode, placed: EditorState['placed']): Point {
  return node.position ?? own(placed, node.id) ?? { x: 0, y: 0 };
}

/** Size of a node other than a loop: multiple handles each have a named row. */
export function plainSize(handleCount: number): Size {
  return { width: NODE_WIDTH, height: NODE_HEIGHT + (handleCount > 1 ? handleCount * HANDLE_ROW + 6 : 0) };
}

/** Sizes of all nodes; a loop's frame has its explicit size, but always fits its contents. */
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
    // Validation rejects loops inside themselves, but pasted text may still contain them.
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

/** A node's position on the whole canvas. */
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

/** The first position at or below `wanted` where a node overlaps no other in the same loop. */
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

export function overlaps(a: Point, aSize: Size, b: Point, bSize: Size): boolean {
  return (
    a.x < b.x + bSize.width && b.x < a.x + aSize.width && a.y < b.y + bSize.height && b.y < a.y + aSize.height
  );
}

/** A loop, and a point of the canvas as seen from its frame. */
export interface InLoop {
  readonly id: string;
  readonly at: Point;
}

/** The smallest of the frames that a point is in; null for none. */
export function innermostAt(
  frames: readonly { readonly id: string; readonly position: Point; readonly size: Size }[],
  { x, y }: Point,
): InLoop | null {
  const [inner] = frames
    .filter(
      ({ position, size }) =>
        x >= position.x && y >= position.y && x <= position.x + size.width && y <= position.y + size.height,
    )
    .toSorted((a, b) => a.size.width * a.size.height - b.size.width * b.size.height);
  if (inner === undefined) return null;
  return { id: inner.id, at: { x: x - inner.position.x, y: y - inner.position.y } };
}
