import type { Flow, FlowNode } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { findChoices, mergeFlows } from './merge-flows.ts';

const node = (id: string, label = id, more: object = {}): FlowNode => ({
  id,
  type: 'core.set',
  position: { x: 0, y: 0 },
  data: { label },
  ...more,
});
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });
const flow = (nodes: readonly FlowNode[], edges: Flow['edges'] = [], settings?: object): Flow => ({
  nodes,
  edges,
  ...(settings === undefined ? {} : { settings }),
});

const BASE = flow([node('a'), node('b'), node('c')], [edge('a', 'b'), edge('b', 'c')]);
const labels = (merged: Flow) => merged.nodes.map(({ data }) => data?.label);
const ways = (merged: Flow) => merged.edges.map(({ source, target }) => `${source}${target}`).toSorted();

describe('merging two flows with a common base', () => {
  test('what only one side changed is taken from it', () => {
    const mine = flow([node('a', 'A'), node('b'), node('c')], BASE.edges);
    const theirs = flow([node('a'), node('b', 'B'), node('c'), node('d')], [...BASE.edges, edge('c', 'd')]);
    expect(findChoices(BASE, mine, theirs)).toMatchObject([
      { key: 'node a', mine: 'changed', theirs: null, suggested: 'mine' },
      { key: 'node b', mine: null, theirs: 'changed', suggested: 'theirs' },
      { key: 'node d', mine: null, theirs: 'added', suggested: 'theirs' },
    ]);
    const merged = mergeFlows(BASE, mine, theirs, {});
    expect([labels(merged), ways(merged)]).toEqual([
      ['A', 'B', 'c', 'd'],
      ['ab', 'bc', 'cd'],
    ]);
  });

  test("nodes that both added at one place don't overlap", () => {
    const mine = flow([...BASE.nodes, node('x', 'x', { position: { x: 500, y: 0 } })]);
    const theirs = flow([...BASE.nodes, node('y', 'y', { position: { x: 500, y: 0 } })]);
    const merged = mergeFlows(BASE, mine, theirs, {});
    expect(merged.nodes.slice(-2).map(({ position }) => position)).toEqual([
      { x: 500, y: 0 },
      { x: 500, y: 80 },
    ]);
  });

  test('what both changed is mine unless decided otherwise', () => {
    const mine = flow([node('a', 'mine'), node('b'), node('c')], BASE.edges);
    const theirs = flow([node('a', 'theirs'), node('b'), node('c')], BASE.edges);
    expect(findChoices(BASE, mine, theirs)).toMatchObject([{ key: 'node a', suggested: 'mine' }]);
    expect(labels(mergeFlows(BASE, mine, theirs, {}))).toEqual(['mine', 'b', 'c']);
    expect(labels(mergeFlows(BASE, mine, theirs, { 'node a': 'theirs' }))).toEqual(['theirs', 'b', 'c']);
  });

  test('a node they removed goes with its edges, and stays with them if mine is kept', () => {
    const mine = flow([node('a'), node('b', 'B'), node('c')], BASE.edges);
    const theirs = flow([node('a'), node('c')], [edge('a', 'c')]);
    const [choice] = findChoices(BASE, mine, theirs);
    expect(choice).toMatchObject({ key: 'node b', mine: 'changed', theirs: 'removed', suggested: 'mine' });
    expect(ways(mergeFlows(BASE, mine, theirs, {}))).toEqual(['ab', 'ac', 'bc']);
    const gone = mergeFlows(BASE, mine, theirs, { 'node b': 'theirs' });
    expect([labels(gone), ways(gone)]).toEqual([['a', 'c'], ['ac']]);
  });

  test('an edge that one side removed is gone; a node left without its loop moves to the top level', () => {
    const mine = flow(BASE.nodes, [edge('a', 'b')]);
    expect(ways(mergeFlows(BASE, mine, BASE, {}))).toEqual(['ab']);
    const inside = flow([node('a', 'A', { parentId: 'b' }), node('b'), node('c')]);
    const without = flow([node('c')]);
    const merged = mergeFlows(BASE, inside, without, { 'node b': 'theirs' });
    expect(merged.nodes.map(({ id, parentId }) => [id, parentId])).toEqual([
      ['a', undefined],
      ['c', undefined],
    ]);
  });

  test('settings are chosen by name; positions are not a choice', () => {
    const base = flow([node('a')], [], { timeout_s: 1, timezone: 'UTC' });
    const mine = flow([node('a', 'a', { position: { x: 9, y: 9 } })], [], { timeout_s: 2, timezone: 'UTC' });
    const theirs = flow([node('a', 'a', { position: { x: 5, y: 5 } })], [], { timeout_s: 3 });
    expect(findChoices(base, mine, theirs).map(({ key, suggested }) => [key, suggested])).toEqual([
      ['setting timeout_s', 'mine'],
      ['setting timezone', 'theirs'],
    ]);
    const merged = mergeFlows(base, mine, theirs, { 'setting timeout_s': 'theirs' });
    expect([merged.settings, merged.nodes[0]?.position]).toEqual([{ timeout_s: 3 }, { x: 9, y: 9 }]);
  });
});
