import { expect, test } from 'vitest';
import type { CanvasNode, StepData, StepNode } from './display.ts';
import type { NodeRun } from './editor-state.ts';
import { createFarNodes, drawFarNode } from './far-nodes.ts';
import { boundsOf, createMapNodes } from './map-nodes.ts';

const DATA: StepData = {
  node: { id: 'node', type: 'core.set', data: {} },
  type: undefined,
  title: 'Node',
  about: null,
  handles: ['out'],
  problems: [],
  run: undefined,
  mark: undefined,
};

function step(id: string, x: number, members: Partial<StepData> = {}, parentId?: string): StepNode {
  return {
    id,
    type: 'step',
    position: { x, y: 100 },
    width: 184,
    height: 52,
    data: { ...DATA, ...members },
    ...(parentId === undefined ? {} : { parentId }),
  };
}

const loop = (id: string, x: number): CanvasNode => ({
  id,
  type: 'loop',
  position: { x, y: 100 },
  width: 400,
  height: 300,
  data: DATA,
});

/** Where each box of a path begins: right of its upper left corner. */
const startsOf = (path: string): readonly string[] =>
  [...path.matchAll(/M([^h]+)h/g)].map(([, at]) => at ?? '');

test('of each node there is a frame, a square and a bar', () => {
  const drawn = createFarNodes()([step('a', 0), step('b', 300)]);
  expect(drawn.map(({ className, path }) => [className, startsOf(path)])).toEqual([
    ['flow-far-node', ['6.5,100.5', '306.5,100.5']],
    ['flow-far-icon flow-kind-unknown', ['16,112', '316,112']],
    ['flow-far-bar', ['50,120', '350,120']],
  ]);
});

test('frames tell what the frame of a single node tells', () => {
  const run: NodeRun = { status: 'failed', started_at: null, completed_at: null, attempts: 1 };
  const [failed, selected] = createFarNodes()([
    step('a', 0, { run, mark: 'changed' }),
    { ...step('b', 0), selected: true },
  ]);
  expect(failed?.className).toBe('flow-far-node is-failed is-mark-changed');
  expect(selected?.className).toBe('flow-far-node is-selected');
});

test('nodes in a loop are moved with it, and loops are drawn elsewhere', () => {
  const [frames, ...others] = createFarNodes()([loop('loop', 1000), step('a', 24, {}, 'loop')]);
  expect(startsOf(frames?.path ?? '')).toEqual(['1030.5,200.5']);
  expect(others).toHaveLength(2);
});

test('only elements with a node that has changed differ from before', () => {
  const nodes = Array.from({ length: 100 }, (_, index) => step(`${index}`, 300 * index));
  const draw = createFarNodes();
  const before = draw(nodes);
  expect(before).toHaveLength(12);
  const after = draw([...nodes.slice(0, 40), step('40', 12_004), ...nodes.slice(41)]);
  expect(after.map((shape, at) => shape === before[at])).toEqual([
    ...[true, true, true],
    ...[false, false, false],
    ...[true, true, true, true, true, true],
  ]);
});

test('the map shows every node, loops and their contents too', () => {
  const nodes = [loop('loop', 1000), step('a', 24, {}, 'loop'), step('b', 0)];
  const drawn = createMapNodes()(nodes);
  expect(drawn.map(({ className, path }) => [className, startsOf(path)])).toEqual([
    ['flow-map-loop', ['1005,100']],
    ['flow-map-step flow-kind-unknown', ['1029,200', '5,100']],
  ]);
  expect(boundsOf(nodes)).toEqual({ x: 0, y: 100, width: 1400, height: 300 });
  expect(boundsOf([])).toBeNull();
});

test('what is lifted is left out, and only the elements it was drawn in change', () => {
  const nodes = Array.from({ length: 100 }, (_, index) => step(`${index}`, 300 * index));
  const draw = createFarNodes();
  const before = draw(nodes);
  const lifted = new Set(['40']);
  const during = draw(nodes, lifted);
  expect(during.flatMap((shape, at) => (shape === before[at] ? [] : [at]))).toEqual([3, 4, 5]);
  expect(startsOf(during[3]?.path ?? '')).toHaveLength(31);
  expect(startsOf(during[3]?.path ?? '')).not.toContain('12006.5,100.5');
  // Wherever it is dragged meanwhile.
  const moved = nodes.with(40, step('40', 12_004));
  expect(draw(moved, lifted).every((shape, at) => shape === during[at])).toBe(true);
  expect(startsOf(draw(moved)[3]?.path ?? '')).toContain('12010.5,100.5');
});

test('a lifted node has the same boxes, at the origin', () => {
  const node = step('a', 300);
  const [frame, ...others] = drawFarNode(node);
  expect(startsOf(frame?.path ?? '')).toEqual(['6.5,0.5']);
  expect([frame, ...others].map((box) => box?.className)).toEqual(
    createFarNodes()([node]).map(({ className }) => className),
  );
});
