import { runs } from '@millrace/testing/property-runs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { areAncestors, buildGraph, findCycle, topologicalOrder } from '../src/graph.ts';

/** Edges between `size` nodes; forward only unless cycles are allowed. */
function arbitraryEdges(
  size: number,
  isAcyclic: boolean,
): fc.Arbitrary<{ source: string; target: string }[]> {
  return fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: size * 2 }).map((pairs) =>
    pairs.flatMap(([a, b]) => {
      if (isAcyclic && a === b) return [];
      const [source, target] = isAcyclic && a > b ? [b, a] : [a, b];
      return [{ source: `n${source}`, target: `n${target}` }];
    }),
  );
}

/** More than the ancestors that are followed at a time. */
const SIZE = 40;
const ids = Array.from({ length: SIZE }, (_, n) => `n${n}`);

describe('graph', () => {
  it('P7: ancestors agree with a search for each pair', () => {
    fc.assert(
      fc.property(arbitraryEdges(SIZE, true), (edges) => {
        const graph = buildGraph(ids, edges);
        const pairs = ids.flatMap((_, ancestor) => ids.map((__, node) => ({ ancestor, node })));
        const reached = ids.map((id) => {
          const found = new Set<string>();
          const queue = [id];
          for (let from = queue.pop(); from !== undefined; from = queue.pop()) {
            for (const { source, target } of edges) {
              if (source !== from || found.has(target)) continue;
              found.add(target);
              queue.push(target);
            }
          }
          return found;
        });
        expect(areAncestors(graph, pairs)).toEqual(
          pairs.map(({ ancestor, node }) => reached[ancestor]?.has(`n${node}`) ?? false),
        );
      }),
      { numRuns: runs(20) },
    );
  });

  it('F4: a cycle is found exactly if there is one, and is one', () => {
    fc.assert(
      fc.property(
        fc.boolean().chain((isAcyclic) => arbitraryEdges(12, isAcyclic)),
        (edges) => {
          const graph = buildGraph(ids.slice(0, 12), edges);
          const order = topologicalOrder(graph);
          const cycle = findCycle(graph);
          expect(cycle === null).toBe(order.length === 12);
          if (cycle === null) return;
          cycle.forEach((edge, at) => {
            const next = cycle[(at + 1) % cycle.length] ?? -1;
            expect(graph.edges[edge]?.target).toBe(graph.edges[next]?.source);
          });
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it('J1: every edge points forward in the order', () => {
    fc.assert(
      fc.property(arbitraryEdges(SIZE, true), (edges) => {
        const graph = buildGraph(ids, edges);
        const place = new Map(topologicalOrder(graph).map((node, at) => [node, at]));
        expect(place.size).toBe(SIZE);
        for (const { source, target } of graph.edges) {
          expect(place.get(source) ?? 0).toBeLessThan(place.get(target) ?? 0);
        }
      }),
    );
  });
});
