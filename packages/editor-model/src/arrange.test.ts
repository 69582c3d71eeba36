import type { Flow } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { lineUp, tidyUp } from './arrange.ts';
import { createEditorStore } from './store.ts';

const set = (id: string, x: number, y: number) => ({ id, type: 'core.set', position: { x, y } });
const FLOW: Flow = {
  nodes: [set('a', 500, 40), set('b', 0, 0), set('c', 30, 300)],
  edges: [{ source: 'a', target: 'b' }],
};
const NOTE = {
  id: 'n',
  text: 'About c',
  position: { x: 30, y: 370 },
  size: { width: 100, height: 50 },
  colour: 'blue',
} as const;

function open(selected: readonly string[]) {
  const store = createEditorStore({ flow: { ...FLOW, settings: { notes: [NOTE] } } as Flow });
  store.getState().select(selected);
  return () => store.getState();
}
const places = (state: ReturnType<ReturnType<typeof open>>) =>
  Object.fromEntries(state.nodes.map(({ id, position }) => [id, position]));

describe('arrange', () => {
  test('only arranges the selected nodes, in place', () => {
    const state = open(['a', 'b'])();
    const moved = tidyUp(state);
    expect(Object.keys(moved).toSorted()).toEqual(['a', 'b']);
    expect(moved.a).toEqual({ x: 0, y: 0 });
    expect(moved.b?.x).toBeGreaterThan(184);
  });

  test('moves a note along with the node beside it', () => {
    const moved = tidyUp(open([])());
    expect(moved['note:n']).toEqual({ x: moved.c?.x, y: (moved.c?.y ?? 0) + 70 });
  });
});

describe('lineUp', () => {
  test('puts nodes side by side without overlap', () => {
    const state = open(['b', 'c']);
    lineUp(state(), 'row');
    expect(places(state())).toEqual({ a: { x: 500, y: 40 }, b: { x: 0, y: 0 }, c: { x: 256, y: 0 } });
    state().undo();
    expect(places(state()).c).toEqual({ x: 30, y: 300 });
  });

  test('puts nodes one below the other', () => {
    const state = open(['a', 'b', 'c']);
    lineUp(state(), 'column');
    expect(places(state())).toEqual({ b: { x: 0, y: 0 }, a: { x: 0, y: 88 }, c: { x: 0, y: 300 } });
  });
});
