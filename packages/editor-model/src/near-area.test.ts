import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanvasEdge, CanvasNode } from './display.ts';
import { type Area, areaOf, followView, partIn, settleAround } from './near-area.ts';

const CANVAS = { width: 1_000, height: 600 };

function contains(a: Area, b: Area): boolean {
  return a.left <= b.left && a.top <= b.top && a.right >= b.right && a.bottom >= b.bottom;
}

const views = fc.record({
  x: fc.integer({ min: -20_000, max: 20_000 }),
  y: fc.integer({ min: -20_000, max: 20_000 }),
  zoom: fc.double({ min: 0.3, max: 2, noNaN: true }),
});

test('while the canvas moves, what is seen is always rendered, and nothing else changes while it is', () => {
  fc.assert(
    fc.property(
      views,
      fc.integer({ min: -900, max: 900 }),
      fc.integer({ min: -900, max: 900 }),
      (view, dx, dy) => {
        const before = followView(null, areaOf(view, CANVAS), view.zoom);
        const seen = areaOf({ ...view, x: view.x + dx, y: view.y + dy }, CANVAS);
        const after = followView(before, seen, view.zoom);
        expect(contains(after, seen)).toBe(true);
        if (contains(before, seen)) expect(after).toBe(before);
        else expect(followView(after, seen, view.zoom)).toBe(after);
      },
    ),
  );
});

test('a long way leaves what was passed behind', () => {
  let rendered: Area | null = null;
  let seen = areaOf({ x: 0, y: 0, zoom: 1 }, CANVAS);
  for (let x = 0; x > -50_000; x -= 50) {
    seen = areaOf({ x, y: 0, zoom: 1 }, CANVAS);
    rendered = followView(rendered, seen, 1);
    expect(rendered.right - rendered.left).toBeLessThan(7 * CANVAS.width);
  }
});

test('at rest a margin is added in steps, and what is beyond is given up', () => {
  fc.assert(
    fc.property(views, fc.constantFrom(-3_000, 0, 150, 3_000), (view, dx) => {
      const seen = areaOf({ ...view, x: view.x + dx }, CANVAS);
      let rendered = followView(followView(null, areaOf(view, CANVAS), view.zoom), seen, view.zoom);
      for (let step = 0; step < 100; step += 1) {
        const next = settleAround(rendered, seen, view.zoom);
        expect(contains(next, seen)).toBe(true);
        if (next === rendered) break;
        const isLast = settleAround(next, seen, view.zoom) === next;
        if (!isLast) {
          expect(contains(next, rendered)).toBe(true);
          // A row or a column on each side, whatever the zoom.
          expect(rendered.left - next.left).toBeLessThanOrEqual(64 / view.zoom + 1e-6);
        }
        rendered = next;
      }
      expect(settleAround(rendered, seen, view.zoom)).toBe(rendered);
      const margin = 256 / view.zoom;
      expect(rendered.left).toBeCloseTo(seen.left - margin, 3);
      expect(rendered.bottom).toBeCloseTo(seen.bottom + margin, 3);
    }),
  );
});

function node(id: string, x: number, parentId?: string): CanvasNode {
  const position = { x, y: 0 };
  const size = { width: 184, height: 52 };
  return {
    id,
    type: 'note',
    position,
    ...size,
    data: { note: { id, text: '', position, size, colour: 'grey' } },
    ...(parentId === undefined ? {} : { parentId }),
  };
}

function edge(source: string, target: string): CanvasEdge {
  return {
    id: `${source}-${target}`,
    type: 'flow',
    source,
    target,
    data: { isTaken: false, isDead: false, loop: '' },
  };
}

const AREA = { left: 1_000, top: -100, right: 2_000, bottom: 500 };

test('nodes outside are hidden, but those that are kept or dragged, and within loops by their place on the canvas', () => {
  const nodes = [
    node('loop', 900),
    node('inside', 200, 'loop'),
    node('before', 100),
    node('kept', 200),
    { ...node('dragged', 300), dragging: true },
    node('border', 1_990),
  ];
  const part = partIn(AREA, { nodes, edges: [] }, new Set(['kept']));
  expect(part.nodes.map(({ id, hidden }) => [id, hidden ?? false])).toEqual([
    ['loop', false],
    ['inside', false],
    ['before', true],
    ['kept', false],
    ['dragged', false],
    ['border', false],
  ]);
  const again = partIn(AREA, { nodes, edges: [] }, new Set(['kept']));
  expect(again.nodes.every((each, at) => each === part.nodes[at])).toBe(true);
});

test('edges stay that cross the area, wherever they begin and end', () => {
  const nodes = [node('far', 0), node('near', 1_200), node('beyond', 5_000), node('further', 9_000)];
  const edges = [edge('far', 'near'), edge('far', 'beyond'), edge('beyond', 'further')];
  expect(partIn(AREA, { nodes, edges }, new Set()).edges).toEqual(edges.slice(0, 2));
});
