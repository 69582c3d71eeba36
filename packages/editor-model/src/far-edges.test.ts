import { Position } from '@xyflow/react';
import { expect, test } from 'vitest';
import type { CanvasEdge, CanvasNode } from './display.ts';
import { createFarEdges } from './far-edges.ts';

const at = { y: 20, width: 12, height: 12 };

function node(id: string, x: number, parentId?: string): CanvasNode {
  return {
    id,
    type: 'note',
    position: { x, y: 100 },
    data: {
      note: { id, text: '', position: { x, y: 100 }, size: { width: 184, height: 52 }, colour: 'grey' },
    },
    handles: [
      { type: 'target', position: Position.Left, x: -6, ...at },
      { id: 'out', type: 'source', position: Position.Right, x: 178, ...at },
      { id: 'error', type: 'source', position: Position.Right, x: 178, ...at, y: 44 },
    ],
    ...(parentId === undefined ? {} : { parentId }),
  };
}

function edge(source: string, target: string, sourceHandle = 'out', isTaken = false): CanvasEdge {
  const data = { isTaken, isDead: false, loop: '' };
  return { id: `${source}-${target}-${sourceHandle}`, type: 'flow', source, target, sourceHandle, data };
}

/** Where each line begins and ends. */
function endsOf(path: string): readonly string[] {
  return path
    .split('M')
    .slice(1)
    .map((line) => {
      const [start, , end] = [line.split(' ')[0], '', line.split(' ').at(-1)];
      return `${start} to ${end}`;
    });
}

test('lines begin and end at the middle of the outer side of the handles', () => {
  const nodes = [node('a', 0), node('b', 300)];
  const [drawn] = createFarEdges()(nodes, [edge('a', 'b'), edge('a', 'b', 'error')]);
  expect(endsOf(drawn?.path ?? '')).toEqual(['190,126 to 294,126', '190,150 to 294,126']);
});

test('lines in a loop are moved with it', () => {
  const nodes = [node('loop', 1000), node('a', 0, 'loop'), node('b', 300, 'loop')];
  const [drawn] = createFarEdges()(nodes, [edge('a', 'b')]);
  expect(endsOf(drawn?.path ?? '')).toEqual(['1190,226 to 1294,226']);
});

test('only elements with a line that has changed differ from before', () => {
  const nodes = Array.from({ length: 100 }, (_, index) => node(`${index}`, 300 * index));
  const edges = nodes.slice(1).map(({ id }, index) => edge(`${index}`, id));
  const draw = createFarEdges();
  const before = draw(nodes, edges);
  expect(before).toHaveLength(4);
  const after = draw([node('0', 40), ...nodes.slice(1)], edges);
  expect(after.map(({ path }, index) => path === before[index]?.path)).toEqual([false, true, true, true]);
});

test('what a run has taken is separate, and an edge without a node is left out', () => {
  const nodes = [node('a', 0), node('b', 300)];
  const drawn = createFarEdges()(nodes, [edge('a', 'b', 'out', true), edge('a', 'gone')]);
  expect(drawn.map(({ state, path }) => [state, endsOf(path).length])).toEqual([
    ['is-taken', 1],
    ['', 0],
  ]);
});

test('lines of lifted nodes are left out, wherever those are meanwhile', () => {
  const nodes = [node('a', 0), node('b', 300), node('c', 600), node('d', 900)];
  const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'd')];
  const draw = createFarEdges();
  draw(nodes, edges);
  const lifted = new Set(['b']);
  const [during] = draw(nodes, edges, lifted);
  expect(endsOf(during?.path ?? '')).toEqual(['790,126 to 894,126']);
  expect(draw(nodes.with(1, node('b', 340)), edges, lifted)).toEqual([during]);
});
