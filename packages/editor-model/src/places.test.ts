import { expect, test } from 'vitest';
import type { CanvasNode } from './display.ts';
import { createPlaces } from './places.ts';

function node(id: string, x: number, parentId?: string): CanvasNode {
  const position = { x, y: 10 };
  return {
    id,
    type: 'note',
    position,
    data: { note: { id, text: '', position, size: { width: 184, height: 52 }, colour: 'grey' } },
    ...(parentId === undefined ? {} : { parentId }),
  };
}

test('nodes are placed on the canvas, those of loops within loops too', () => {
  const placed = createPlaces()([node('outer', 100), node('inner', 20, 'outer'), node('a', 3, 'inner')]);
  expect(placed.map(({ style }) => [style?.left, style?.top, style?.transform])).toEqual([
    [100, 10, 'none'],
    [120, 20, 'none'],
    [123, 30, 'none'],
  ]);
});

test('only what has moved is another object than before: a loop takes its contents along', () => {
  const place = createPlaces();
  const nodes = [node('loop', 100), node('a', 20, 'loop'), node('b', 500)];
  const before = place(nodes);
  const after = place([node('loop', 104), ...nodes.slice(1)]);
  expect(after.map((each, at) => each === before[at])).toEqual([false, false, true]);
  expect(after[1]?.style?.left).toBe(124);
});
