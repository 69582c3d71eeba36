import type { CanvasNode } from './display.ts';
import type { Point } from './editor-state.ts';

/**
 * Nodes or edges drawn as one element. All in one, each part of the canvas would be painted with every one of them; one by one, they are too
 * many elements.
 */
const TOGETHER = 32;

export function inParts<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / TOGETHER) }, (_, at) =>
    items.slice(at * TOGETHER, (at + 1) * TOGETHER),
  );
}

export function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}

/** A node and the loops around it, on which its place depends. */
export function withLoops(nodes: ReadonlyMap<string, CanvasNode>, id: string): (CanvasNode | undefined)[] {
  const node = nodes.get(id);
  return node?.parentId === undefined ? [node] : [node, ...withLoops(nodes, node.parentId)];
}

/** A point of a node as a point of the canvas. */
export function onCanvas(nodes: ReadonlyMap<string, CanvasNode>, id: string, inNode: Point): Point {
  return withLoops(nodes, id).reduce(
    (at, node) => ({ x: at.x + (node?.position.x ?? 0), y: at.y + (node?.position.y ?? 0) }),
    inNode,
  );
}

/** What is drawn as one element: boxes of one look. */
export interface FarShape {
  readonly id: string;
  readonly className: string;
  readonly path: string;
}

/** How to draw a box of each node: what it looks like, and its outline with the node at this place. */
export interface Look<N extends CanvasNode> {
  readonly classOf: (node: N) => string;
  readonly outline: (node: N, place: Point) => string;
}

interface KnownPart {
  /** What it was drawn from. */
  readonly from: readonly unknown[];
  readonly shapes: readonly FarShape[];
}

/** No nodes are left out. */
export const NONE_LIFTED: ReadonlySet<string> = new Set();

/**
 * Draws boxes of many nodes in few elements, one look after the other. Elements of which no node has changed stay as they are. Those of `lifted`
 * nodes are left out: they are drawn elsewhere while they are dragged.
 */
export function createShapes<N extends CanvasNode>(
  looks: readonly Look<N>[],
): (drawn: readonly N[], nodes: readonly CanvasNode[], lifted?: ReadonlySet<string>) => readonly FarShape[] {
  let known: readonly KnownPart[] = [];
  return (drawn, nodes, lifted = NONE_LIFTED) => {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const before = known;
    known = inParts(drawn).map((part, at) => {
      const from = part.flatMap(({ id }): readonly unknown[] =>
        lifted.has(id) ? [id] : withLoops(byId, id),
      );
      const old = before[at];
      return old !== undefined && isSame(old.from, from)
        ? old
        : {
            from,
            shapes: drawPart(
              at,
              part.filter(({ id }) => !lifted.has(id)),
              byId,
            ),
          };
    });
    return known.flatMap(({ shapes }) => shapes);
  };

  function drawPart(at: number, part: readonly N[], byId: ReadonlyMap<string, CanvasNode>): FarShape[] {
    return looks.flatMap(({ classOf, outline }) =>
      [...Map.groupBy(part, classOf)].map(([className, alike]) => ({
        id: `${at} ${className}`,
        className,
        path: alike.map((node) => outline(node, onCanvas(byId, node.id, { x: 0, y: 0 }))).join(''),
      })),
    );
  }
}

/** The outline of a box, as a part of an SVG path. */
export function boxPath(x: number, y: number, width: number, height: number, radius: number): string {
  const [across, down] = [width - 2 * radius, height - 2 * radius];
  const corner = `a${radius},${radius} 0 0 1 `;
  return `M${x + radius},${y}h${across}${corner}${radius},${radius}v${down}${corner}${-radius},${radius}h${-across}${corner}${-radius},${-radius}v${-down}${corner}${radius},${-radius}z`;
}
