import { expect, test } from 'vitest';
import { type Box, isWithin, reachOf, type View } from './reach.ts';

const SIZE = { width: 800, height: 600 };
const FAR = 4000;

const box = (left: number, top: number): Box => ({ left, top, right: left + 100, bottom: top + 50 });

test('a box beyond one side limits the way to that side', () => {
  const view = { x: 10, y: 20, zoom: 1 };
  expect(reachOf([box(-150, 100)], view, SIZE).most).toEqual({ x: 50, y: 20 + FAR });
  expect(reachOf([box(830, 100)], view, SIZE).least).toEqual({ x: -30, y: 20 - FAR });
  expect(reachOf([box(100, -100)], view, SIZE).most).toEqual({ x: 10 + FAR, y: 50 });
  expect(reachOf([box(100, 610)], view, SIZE).least).toEqual({ x: 10 - FAR, y: -10 });
});

test('a box in sight limits nothing, not even if it is half outside', () => {
  const reach = reachOf([box(100, 100), box(-50, -20), box(750, 580)], { x: 0, y: 0, zoom: 1 }, SIZE);
  expect(reach).toEqual({ zoom: 1, least: { x: -FAR, y: -FAR }, most: { x: FAR, y: FAR } });
});

test('the zoom counts, and another one is never within reach', () => {
  const view = { x: 0, y: 0, zoom: 0.5 };
  const reach = reachOf([box(1700, 100)], view, SIZE);
  expect(reach.least.x).toBe(-50);
  expect(isWithin(reach, view)).toBe(true);
  expect(isWithin(reach, { ...view, zoom: 0.51 })).toBe(false);
});

test('wherever the view is moved within reach, nothing comes into sight', () => {
  let seed = 7;
  const random = (most: number) => {
    seed = (seed * 16_807) % 2_147_483_647;
    return (seed / 2_147_483_647) * most;
  };
  const isSeen = ({ left, top, right, bottom }: Box, { x, y, zoom }: View) =>
    right * zoom + x > 0 &&
    left * zoom + x < SIZE.width &&
    bottom * zoom + y > 0 &&
    top * zoom + y < SIZE.height;
  let moves = 0;
  for (let turn = 0; turn < 200; turn += 1) {
    const boxes = Array.from({ length: 40 }, () => box(random(4000) - 2000, random(3000) - 1500));
    const view = { x: random(800) - 400, y: random(600) - 300, zoom: 0.5 + random(1) };
    const reach = reachOf(boxes, view, SIZE);
    const hidden = boxes.filter((each) => !isSeen(each, view));
    for (let step = 0; step < 20; step += 1) {
      const moved = { ...view, x: view.x + random(400) - 200, y: view.y + random(400) - 200 };
      if (!isWithin(reach, moved)) continue;
      moves += 1;
      expect(hidden.some((each) => isSeen(each, moved))).toBe(false);
    }
  }
  expect(moves).toBeGreaterThan(100);
});
