import type { Point } from './editor-state.ts';
import { isCurveBlocked, obstaclesOf, type PlacedNode } from './obstacles.ts';
import { findRoute, middleOfRoute, roundedPath } from './route.ts';

/** How an edge is drawn. */
export interface EdgeLine {
  readonly path: string;
  /** Where its buttons are. */
  readonly middle: Point;
}

/**
 * The line of an edge between two handles; null if the usual curve is as good.
 * @param loop canvas id of the loop around it; empty at top level
 * @param origin the loop's position
 */
export type RouteEdge = (loop: string, origin: Point, from: Point, to: Point) => EdgeLine | null;

/** Routes edges around these nodes. Routes are kept: an edge is drawn again when it comes into sight. */
export function createEdgeRouting(nodes: readonly PlacedNode[]): RouteEdge {
  const obstacles = obstaclesOf(nodes);
  const known = new Map<string, readonly Point[] | null>();
  return (loop, origin, from, to) => {
    const near = obstacles.get(loop);
    if (near === undefined) return null;
    // Obstacles in a loop are relative to it, and move with it.
    const [start, end] = [minus(from, origin), minus(to, origin)];
    const key = [loop, start.x, start.y, end.x, end.y].join(' ');
    let route = known.get(key);
    if (route === undefined) {
      route = isCurveBlocked(start, end, near) ? findRoute(start, end, near) : null;
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(key, route);
    }
    if (route === null) return null;
    const corners = route.map(({ x, y }) => ({ x: x + origin.x, y: y + origin.y }));
    return { path: roundedPath(corners), middle: middleOfRoute(corners) };
  };
}

/** Each step of a drag adds the edges of what is dragged. */
const MAX_KNOWN = 5000;

function minus(a: Point, b: Point): Point {
  return { x: a.x - b.x, y: a.y - b.y };
}
