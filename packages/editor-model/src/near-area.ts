import type { CanvasEdge, CanvasNode } from './display.ts';
import type { Size } from './editor-state.ts';
import { onCanvas } from './far-places.ts';

/** A part of the flow, in the flow's own units. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Where the canvas is looked at, as React Flow has it: an offset in pixels, and the pixels of a unit. */
interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** Pixels of the screen around what is seen for which nodes are rendered once the canvas rests. */
const MARGIN = 256;
/** Pixels by which the rendered part grows at a time: a row or a column of nodes, which takes about a frame. */
const STEP = 64;
/** A rendered part of more than this many times what is seen is given up while the canvas is moved on. */
const MAX_TIMES_SEEN = 6;

/** What is seen of the flow. */
export function areaOf({ x, y, zoom }: View, { width, height }: Size): Area {
  return { left: -x / zoom, top: -y / zoom, right: (width - x) / zoom, bottom: (height - y) / zoom };
}

/** The part to render while the canvas moves: the same as before as long as that contains what is seen. */
export function followView(rendered: Area | null, seen: Area, zoom: number): Area {
  if (rendered !== null && contains(rendered, seen)) return rendered;
  const next = around(seen, STEP / zoom);
  if (rendered === null) return next;
  const both = union(rendered, next);
  return sizeOf(both) > MAX_TIMES_SEEN * sizeOf(seen) ? next : both;
}

/**
 * The part to render next while the canvas rests: grows step by step to what is seen with a margin, so that a pan finds its nodes rendered, and
 * then loses what is beyond.
 *
 * @returns the same area once it is reached
 */
export function settleAround(rendered: Area, seen: Area, zoom: number): Area {
  const [wanted, step] = [around(seen, MARGIN / zoom), STEP / zoom];
  if (contains(rendered, wanted)) return isSame(rendered, wanted) ? rendered : wanted;
  return {
    left: Math.min(rendered.left, Math.max(wanted.left, rendered.left - step)),
    top: Math.min(rendered.top, Math.max(wanted.top, rendered.top - step)),
    right: Math.max(rendered.right, Math.min(wanted.right, rendered.right + step)),
    bottom: Math.max(rendered.bottom, Math.min(wanted.bottom, rendered.bottom + step)),
  };
}

/**
 * The flow with the nodes outside an area hidden and without the edges that don't touch it. Nodes are never left out: positions, selections and
 * moves concern all of them.
 *
 * @param kept ids of nodes that stay wherever they are, such as those being dragged
 */
export function partIn(
  area: Area,
  { nodes, edges }: { readonly nodes: readonly CanvasNode[]; readonly edges: readonly CanvasEdge[] },
  kept: ReadonlySet<string>,
): { readonly nodes: CanvasNode[]; readonly edges: CanvasEdge[] } {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const boxes = new Map<string, Area>();
  const shown = nodes.map((node) => {
    const { x, y } = onCanvas(byId, node.id, { x: 0, y: 0 });
    const box = { left: x, top: y, right: x + (node.width ?? 0), bottom: y + (node.height ?? 0) };
    boxes.set(node.id, box);
    const isShown = touches(box, area) || node.dragging === true || kept.has(node.id);
    return isShown ? node : hiddenTwin(node);
  });
  return {
    nodes: shown,
    edges: edges.filter(({ source, target }) => {
      const [from, to] = [boxes.get(source), boxes.get(target)];
      return from !== undefined && to !== undefined && touches(union(from, to), area);
    }),
  };
}

/** The same object for the same node, so that React Flow sees that nothing has changed. */
function hiddenTwin(node: CanvasNode): CanvasNode {
  const known = hiddenTwins.get(node);
  if (known !== undefined) return known;
  const twin = { ...node, hidden: true };
  hiddenTwins.set(node, twin);
  return twin;
}
const hiddenTwins = new WeakMap<CanvasNode, CanvasNode>();

function around({ left, top, right, bottom }: Area, by: number): Area {
  return { left: left - by, top: top - by, right: right + by, bottom: bottom + by };
}

function union(a: Area, b: Area): Area {
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right),
    bottom: Math.max(a.bottom, b.bottom),
  };
}

function contains(a: Area, b: Area): boolean {
  return a.left <= b.left && a.top <= b.top && a.right >= b.right && a.bottom >= b.bottom;
}

function touches(a: Area, b: Area): boolean {
  return a.left <= b.right && a.right >= b.left && a.top <= b.bottom && a.bottom >= b.top;
}

function isSame(a: Area, b: Area): boolean {
  return contains(a, b) && contains(b, a);
}

function sizeOf({ left, top, right, bottom }: Area): number {
  return (right - left) * (bottom - top);
}
