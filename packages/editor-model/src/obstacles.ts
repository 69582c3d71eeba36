import type { Point, Size } from './editor-state.ts';

/** A rectangle that edges should keep clear of. */
export interface Obstacle extends Point, Size {
  readonly id: string;
}

/** Pixels an edge keeps away from nodes; half of what lies between two nodes is more. */
export const CLEARANCE = 14;
/** Pixels. The side of a cell of the grid by which obstacles are found. */
const CELL = 320;
/** Points looked at along a curve: at usual lengths one every few pixels. */
const SAMPLES = 32;

/** Finds the nodes near an edge without looking at all of them. */
export interface Obstacles {
  /** Obstacles that touch the box between two corners. */
  readonly within: (from: Point, to: Point) => readonly Obstacle[];
}

/** What the obstacles are made from. */
export interface PlacedNode {
  readonly id: string;
  readonly type?: string | undefined;
  readonly parentId?: string | undefined;
  readonly position: Point;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** Obstacles by the loop they are in, relative to it; those of the top level by an empty string. */
export function obstaclesOf(nodes: readonly PlacedNode[]): ReadonlyMap<string, Obstacles> {
  // Edges may run over notes.
  const byLoop = Map.groupBy(
    nodes.filter(({ type }) => type !== 'note'),
    ({ parentId }) => parentId ?? '',
  );
  return new Map(
    [...byLoop].map(([loop, members]) => [
      loop,
      findableObstacles(
        members.map(({ id, position, width = 0, height = 0 }) => ({ id, ...position, width, height })),
      ),
    ]),
  );
}

export function findableObstacles(obstacles: readonly Obstacle[]): Obstacles {
  const cells = new Map<string, Obstacle[]>();
  const eachCell = (from: Point, to: Point, act: (key: string) => void) => {
    for (let x = Math.floor(from.x / CELL); x <= Math.floor(to.x / CELL); x += 1) {
      for (let y = Math.floor(from.y / CELL); y <= Math.floor(to.y / CELL); y += 1) act(`${x} ${y}`);
    }
  };
  for (const obstacle of obstacles) {
    const { x, y, width, height } = obstacle;
    eachCell({ x, y }, { x: x + width, y: y + height }, (key) => {
      const cell = cells.get(key);
      if (cell === undefined) cells.set(key, [obstacle]);
      else cell.push(obstacle);
    });
  }
  return {
    within: (from, to) => {
      const found = new Set<Obstacle>();
      eachCell(from, to, (key) => {
        for (const obstacle of cells.get(key) ?? []) {
          const { x, y, width, height } = obstacle;
          if (x <= to.x && y <= to.y && x + width >= from.x && y + height >= from.y) found.add(obstacle);
        }
      });
      return [...found];
    },
  };
}

/** Whether the usual curve between two handles runs over a node. */
export function isCurveBlocked(from: Point, to: Point, obstacles: Obstacles): boolean {
  const bend = bendOf(from, to);
  const [left, right] = [Math.min(from.x, to.x - bend), Math.max(to.x, from.x + bend)];
  const near = obstacles.within(
    { x: left, y: Math.min(from.y, to.y) },
    { x: right, y: Math.max(from.y, to.y) },
  );
  // The ends touch the nodes they belong to; a curve to the right never runs over those.
  if (near.length === 0 || (near.length <= 2 && to.x > from.x && near.every(isEnd))) return false;
  for (let step = 1; step < SAMPLES; step += 1) {
    const at = step / SAMPLES;
    const rest = 1 - at;
    const x =
      rest ** 3 * from.x +
      3 * rest * rest * at * (from.x + bend) +
      3 * rest * at * at * (to.x - bend) +
      at ** 3 * to.x;
    const y = (rest ** 3 + 3 * rest * rest * at) * from.y + (3 * rest * at * at + at ** 3) * to.y;
    if (near.some((each) => isInside({ x, y }, each))) return true;
  }
  return false;

  function isEnd({ x, y, width, height }: Obstacle): boolean {
    const isAt = (point: Point, side: number) =>
      Math.abs(point.x - side) < CLEARANCE && point.y >= y && point.y <= y + height;
    return isAt(from, x + width) || isAt(to, x);
  }
}

/** How far the control points of React Flow's curve are from its ends. */
function bendOf(from: Point, to: Point): number {
  const distance = to.x - from.x;
  return distance >= 0 ? distance / 2 : 0.25 * 25 * Math.sqrt(-distance);
}

function isInside({ x, y }: Point, { x: left, y: top, width, height }: Obstacle): boolean {
  return x > left + 1 && x < left + width - 1 && y > top + 1 && y < top + height - 1;
}
