import type { Point } from './editor-state.ts';
import { CLEARANCE, type Obstacle, type Obstacles } from './obstacles.ts';

/** Pixels a turn costs: a longer way with fewer turns is easier to follow. */
const TURN = 40;
/** Pixels around both ends in which a way is looked for. */
const DETOUR = 480;
/** With more nodes around, only the nearest count: the search takes time with their square. */
const MAX_OBSTACLES = 40;
/** Pixels. Radius of a rounded turn. */
const RADIUS = 12;

interface Rect {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * The shortest way with few turns between two handles that keeps clear of nodes, along the lines beside them.
 * @param from a handle at the right side of a node
 * @param to a handle at the left side of a node
 * @returns its corners, with both ends; null if there is no way
 */
export function findRoute(from: Point, to: Point, obstacles: Obstacles): readonly Point[] | null {
  const start = { x: from.x + CLEARANCE, y: from.y };
  const end = { x: to.x - CLEARANCE, y: to.y };
  const rects = nearest(obstacles, start, end)
    .map(inflate)
    // A handle too close to another node is reached anyway.
    .filter((rect) => !contains(rect, start) && !contains(rect, end));
  const xs = sortedUnique([start.x, end.x, ...rects.flatMap(({ left, right }) => [left, right])]);
  const ys = sortedUnique([start.y, end.y, ...rects.flatMap(({ top, bottom }) => [top, bottom])]);
  const corners = search(start, end, xs, ys, rects);
  return corners === null ? null : withoutStraight([from, ...corners, to]);
}

/** An SVG path through these corners, which are rounded. */
export function roundedPath(corners: readonly Point[]): string {
  const [first, ...rest] = corners;
  if (first === undefined) return '';
  let path = `M${first.x} ${first.y}`;
  rest.forEach((corner, at) => {
    const before = corners[at] ?? first;
    const after = rest[at + 1];
    if (after === undefined) {
      path += `L${corner.x} ${corner.y}`;
      return;
    }
    const enter = towards(corner, before);
    const leave = towards(corner, after);
    path += `L${enter.x} ${enter.y}Q${corner.x} ${corner.y} ${leave.x} ${leave.y}`;
  });
  return path;
}

/** The middle of the longest part, where an edge's buttons have room. */
export function middleOfRoute(corners: readonly Point[]): Point {
  let middle = corners[0] ?? { x: 0, y: 0 };
  let longest = -1;
  corners.slice(1).forEach((corner, at) => {
    const before = corners[at] ?? corner;
    const length = Math.abs(corner.x - before.x) + Math.abs(corner.y - before.y);
    if (length <= longest) return;
    longest = length;
    middle = { x: (corner.x + before.x) / 2, y: (corner.y + before.y) / 2 };
  });
  return middle;
}

function nearest(obstacles: Obstacles, start: Point, end: Point): readonly Obstacle[] {
  const found = obstacles.within(
    { x: Math.min(start.x, end.x) - DETOUR, y: Math.min(start.y, end.y) - DETOUR },
    { x: Math.max(start.x, end.x) + DETOUR, y: Math.max(start.y, end.y) + DETOUR },
  );
  if (found.length <= MAX_OBSTACLES) return found;
  const distance = (each: Obstacle) => {
    const [x, y] = [each.x + each.width / 2, each.y + each.height / 2];
    return Math.hypot(x - start.x, y - start.y) + Math.hypot(x - end.x, y - end.y);
  };
  return found
    .map((each) => ({ each, far: distance(each) }))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, MAX_OBSTACLES)
    .map(({ each }) => each);
}

function inflate({ x, y, width, height }: Obstacle): Rect {
  return {
    left: x - CLEARANCE,
    top: y - CLEARANCE,
    right: x + width + CLEARANCE,
    bottom: y + height + CLEARANCE,
  };
}

/** Its border is free. */
function contains({ left, top, right, bottom }: Rect, { x, y }: Point): boolean {
  return x > left && x < right && y > top && y < bottom;
}

function isFree(a: Point, b: Point, rects: readonly Rect[]): boolean {
  const [left, right] = [Math.min(a.x, b.x), Math.max(a.x, b.x)];
  const [top, bottom] = [Math.min(a.y, b.y), Math.max(a.y, b.y)];
  return !rects.some(
    (rect) => rect.left < right && rect.right > left && rect.top < bottom && rect.bottom > top,
  );
}

const STEPS = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
] as const;

interface Visit {
  readonly column: number;
  readonly row: number;
  readonly heading: number;
  readonly cost: number;
  readonly estimate: number;
  readonly before: Visit | null;
}

/** A* over the crossings of all lines; leaves to the right and arrives from the left. */
function search(
  start: Point,
  end: Point,
  xs: readonly number[],
  ys: readonly number[],
  rects: readonly Rect[],
): readonly Point[] | null {
  const at = (column: number, row: number): Point => ({ x: xs[column] ?? 0, y: ys[row] ?? 0 });
  const [endColumn, endRow] = [xs.indexOf(end.x), ys.indexOf(end.y)];
  const open = new Heap();
  const closed = new Set<number>();
  const visit = (column: number, row: number, heading: number, cost: number, before: Visit | null) => {
    const { x, y } = at(column, row);
    const estimate = cost + Math.abs(end.x - x) + Math.abs(end.y - y);
    open.push({ column, row, heading, cost, estimate, before });
  };
  visit(xs.indexOf(start.x), ys.indexOf(start.y), 0, 0, null);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { column, row, heading, cost } = next;
    const key = (column * ys.length + row) * STEPS.length + heading;
    if (closed.has(key)) continue;
    closed.add(key);
    if (column === endColumn && row === endRow && heading === 0) return cornersTo(next, at);
    if (column === endColumn && row === endRow) {
      visit(column, row, 0, cost + TURN, next);
      continue;
    }
    const here = at(column, row);
    STEPS.forEach(({ x, y }, direction) => {
      // Never straight back.
      if ((direction + 2) % STEPS.length === heading) return;
      const [toColumn, toRow] = [column + x, row + y];
      if (toColumn < 0 || toRow < 0 || toColumn >= xs.length || toRow >= ys.length) return;
      const there = at(toColumn, toRow);
      if (!isFree(here, there, rects)) return;
      const length = Math.abs(there.x - here.x) + Math.abs(there.y - here.y);
      visit(toColumn, toRow, direction, cost + length + (direction === heading ? 0 : TURN), next);
    });
  }
  return null;
}

function cornersTo(last: Visit, at: (column: number, row: number) => Point): readonly Point[] {
  const corners: Point[] = [];
  for (let visit: Visit | null = last; visit !== null; visit = visit.before) {
    // The last turn is at the end itself.
    if (visit.before === null || visit.column !== visit.before.column || visit.row !== visit.before.row) {
      corners.unshift(at(visit.column, visit.row));
    }
  }
  return corners;
}

/** Only the ends and the turns. */
function withoutStraight(points: readonly Point[]): readonly Point[] {
  return points.filter((point, at) => {
    const [before, after] = [points[at - 1], points[at + 1]];
    if (before === undefined || after === undefined) return true;
    const isAlong = (side: 'x' | 'y') => before[side] === point[side] && point[side] === after[side];
    return !isAlong('x') && !isAlong('y');
  });
}

function towards(corner: Point, to: Point): Point {
  const length = Math.abs(to.x - corner.x) + Math.abs(to.y - corner.y);
  const part = length === 0 ? 0 : Math.min(RADIUS, length / 2) / length;
  return { x: corner.x + (to.x - corner.x) * part, y: corner.y + (to.y - corner.y) * part };
}

function sortedUnique(values: readonly number[]): readonly number[] {
  return [...new Set(values)].toSorted((a, b) => a - b);
}

/** A binary heap by estimate. */
class Heap {
  readonly #items: Visit[] = [];

  push(item: Visit): void {
    const items = this.#items;
    items.push(item);
    let at = items.length - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if ((items[up] as Visit).estimate <= item.estimate) break;
      items[at] = items[up] as Visit;
      at = up;
    }
    items[at] = item;
  }

  pop(): Visit | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let down = at * 2 + 1;
      if (down >= items.length) break;
      const right = items[down + 1];
      if (right !== undefined && right.estimate < (items[down] as Visit).estimate) down += 1;
      if ((items[down] as Visit).estimate >= last.estimate) break;
      items[at] = items[down] as Visit;
      at = down;
    }
    items[at] = last;
    return first;
  }
}
