import { describe, expect, test } from 'vitest';
import { createEdgeRouting } from './edge-routing.ts';
import { CLEARANCE, findableObstacles, isCurveBlocked, type Obstacle, obstaclesOf } from './obstacles.ts';
import { findRoute, middleOfRoute, roundedPath } from './route.ts';

const node = (id: string, x: number, y: number): Obstacle => ({ id, x, y, width: 184, height: 52 });
const source = node('source', 0, 0);
const between = node('between', 280, 0);
const target = node('target', 560, 0);
/** Where edges of these nodes begin and end. */
const out = ({ x, y, width }: Obstacle) => ({ x: x + width + 6, y: y + 26 });
const into = ({ x, y }: Obstacle) => ({ x: x - 6, y: y + 26 });

function crosses(
  corners: readonly { readonly x: number; readonly y: number }[],
  { x, y, width, height }: Obstacle,
) {
  return corners.slice(1).some((corner, at) => {
    const before = corners[at] ?? corner;
    return (
      Math.min(corner.x, before.x) < x + width &&
      Math.max(corner.x, before.x) > x &&
      Math.min(corner.y, before.y) < y + height &&
      Math.max(corner.y, before.y) > y
    );
  });
}

describe('whether a curve runs over a node', () => {
  test('it does if a node is between its ends, or its target is behind its source', () => {
    const row = findableObstacles([source, between, target]);
    expect(isCurveBlocked(out(source), into(between), row)).toBe(false);
    expect(isCurveBlocked(out(source), into(target), row)).toBe(true);
    expect(isCurveBlocked(out(target), into(source), row)).toBe(true);
  });

  test('far nodes and notes are none of its business', () => {
    const far = node('far', 280, 4000);
    expect(isCurveBlocked(out(source), into(target), findableObstacles([source, far, target]))).toBe(false);
    const note = { id: 'note', type: 'note', position: { x: 280, y: 0 }, width: 184, height: 52 };
    expect(obstaclesOf([note]).get('')).toBeUndefined();
  });
});

describe('the way around', () => {
  test('goes past a node in between, at a distance, with its ends where they were', () => {
    const route = findRoute(out(source), into(target), findableObstacles([source, between, target])) ?? [];
    expect([route[0], route.at(-1)]).toEqual([out(source), into(target)]);
    for (const each of [source, between, target]) expect(crosses(route, each), each.id).toBe(false);
    expect(Math.min(...route.map(({ y }) => Math.abs(y - 26)).filter((y) => y > 0))).toBe(26 + CLEARANCE);
  });

  test('goes back around both ends, and between two rows that leave room', () => {
    const rows = [0, 1, 2, 3].flatMap((column) =>
      [0, 1, 2].map((row) => node(`${column} ${row}`, column * 256, row * 88)),
    );
    const obstacles = findableObstacles(rows);
    const [first, last] = [rows[0] as Obstacle, rows.at(-1) as Obstacle];
    for (const [from, to] of [
      [first, last],
      [last, first],
    ] as const) {
      const route = findRoute(out(from), into(to), obstacles) ?? [];
      expect(route.length).toBeGreaterThan(2);
      for (const each of rows) expect(crosses(route, each), each.id).toBe(false);
    }
  });

  test('reaches a handle that another node is too close to, and says if it can get nowhere', () => {
    const close = node('close', 190, 20);
    expect(findRoute(out(source), into(target), findableObstacles([source, close, target]))).not.toBeNull();
    const walls = [
      { id: 'top', x: -200, y: -200, width: 600, height: 40 },
      { id: 'bottom', x: -200, y: 200, width: 600, height: 40 },
      { id: 'left', x: -200, y: -200, width: 40, height: 440 },
      { id: 'right', x: 360, y: -200, width: 40, height: 440 },
    ];
    expect(findRoute(out(source), into(target), findableObstacles([source, ...walls, target]))).toBeNull();
  });

  test('is drawn with rounded turns, and its longest part has the buttons', () => {
    const corners = [
      { x: 0, y: 0 },
      { x: 40, y: 0 },
      { x: 40, y: 200 },
      { x: 60, y: 200 },
    ];
    expect(roundedPath(corners)).toBe('M0 0L28 0Q40 0 40 12L40 188Q40 200 50 200L60 200');
    expect(middleOfRoute(corners)).toEqual({ x: 40, y: 100 });
  });
});

test('an edge in a loop keeps its way when the loop is moved', () => {
  const inLoop = [source, between, target].map(({ id, x, y, width, height }) => ({
    id,
    parentId: 'loop',
    position: { x, y },
    width,
    height,
  }));
  const routeEdge = createEdgeRouting(inLoop);
  const moved = ({ x, y }: { readonly x: number; readonly y: number }) => ({ x: x + 1000, y: y + 40 });
  expect(routeEdge('', { x: 0, y: 0 }, out(source), into(target))).toBeNull();
  expect(routeEdge('loop', { x: 0, y: 0 }, out(source), into(between))).toBeNull();
  const line = routeEdge('loop', { x: 0, y: 0 }, out(source), into(target));
  const after = routeEdge('loop', { x: 1000, y: 40 }, moved(out(source)), moved(into(target)));
  expect(after?.middle).toEqual(moved(line?.middle ?? { x: 0, y: 0 }));
});
