import { select } from 'd3-selection';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { interrupt } from './transition-page.ts';

interface Animated {
  transition(): Animated;
  duration(ms: number): Animated;
  ease(ease: (t: number) => number): Animated;
  on(types: string, listener: () => void): Animated;
  tween(name: string, maker: () => (t: number) => void): Animated;
  interrupt(): Animated;
}

let frames: FrameRequestCallback[] = [];
beforeEach(() => {
  frames = [];
  vi.stubGlobal('requestAnimationFrame', (act: FrameRequestCallback) => frames.push(act));
  vi.stubGlobal('cancelAnimationFrame', (handle: number) => {
    frames[handle - 1] = () => undefined;
  });
});
afterEach(() => vi.unstubAllGlobals());

/** Draws what was asked for until now. */
function draw(now: number): void {
  const due = frames.map((act, index) => ({ act, index }));
  for (const { act, index } of due) {
    frames[index] = () => undefined;
    act(now);
  }
}

const node = {} as Element;
const view = () => select(node) as unknown as Animated;

function animate(name: string, said: string[]): Animated {
  return view()
    .transition()
    .duration(100)
    .ease((t) => t / 2)
    .on('start.zoom', () => said.push(`${name} starts`))
    .on('interrupt.zoom end.zoom', () => said.push(`${name} is over`))
    .on('end', () => said.push(`${name} ends`))
    .tween('zoom', () => (t) => said.push(`${name} ${t}`));
}

test('goes from start to end by its own measure of time', () => {
  const said: string[] = [];
  animate('a', said);
  expect(said).toEqual([]);
  for (const now of [1000, 1050, 1100, 1200]) draw(now);
  expect(said).toEqual(['a starts', 'a 0.25', 'a 1', 'a is over', 'a ends']);
});

test('is over where it is when somebody takes the view, and tells so', () => {
  const said: string[] = [];
  animate('a', said);
  draw(1000);
  draw(1050);
  view().interrupt();
  draw(1100);
  expect(said).toEqual(['a starts', 'a 0.25', 'a is over']);
  interrupt(node);
  expect(said).toHaveLength(3);
});

test('does not start when somebody has taken the view before', () => {
  const said: string[] = [];
  animate('a', said).on('interrupt', () => said.push('a is interrupted'));
  animate('b', said).on('cancel', () => said.push('b is cancelled'));
  interrupt(node);
  for (const now of [1000, 1050]) draw(now);
  expect(said).toEqual(['b is cancelled']);
});

test('gives way to the next one', () => {
  const said: string[] = [];
  animate('a', said);
  draw(1000);
  animate('b', said);
  draw(1050);
  draw(1100);
  draw(1150);
  expect(said).toEqual([
    'a starts',
    'a 0.25',
    'a is over',
    'b starts',
    'b 0.25',
    'b 1',
    'b is over',
    'b ends',
  ]);
});

test('a step that begins something else is the last', () => {
  const said: string[] = [];
  animate('a', said).tween('other', () => () => interrupt(node));
  for (const now of [1000, 1050, 1100]) draw(now);
  expect(said).toEqual(['a starts', 'a 0.25', 'a is over']);
});
