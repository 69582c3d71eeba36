import type { FlowEdge } from './flow.ts';

/** Nodes and edges as numbers, which keeps 100,000 edges cheap. Edges are in the flow's order. */
export interface Graph {
  readonly size: number;
  readonly edges: readonly { readonly source: number; readonly target: number }[];
  /** Indexes of edges by the node they leave from. */
  readonly outgoing: readonly (readonly number[])[];
}

/** Edges whose ends aren't among the ids are omitted: an unfinished flow is still a graph. */
export function buildGraph(ids: readonly string[], edges: readonly FlowEdge[]): Graph {
  const indexes = new Map(ids.map((id, index) => [id, index]));
  const outgoing: number[][] = ids.map(() => []);
  const joined: { source: number; target: number }[] = [];
  for (const edge of edges) {
    const source = indexes.get(edge.source);
    const target = indexes.get(edge.target);
    if (source === undefined || target === undefined) continue;
    outgoing[source]?.push(joined.length);
    joined.push({ source, target });
  }
  return { size: ids.length, edges: joined, outgoing };
}

/** Nodes in an order in which every edge points forward; ties keep the flow's order. Nodes on or behind a cycle are omitted. */
export function topologicalOrder(graph: Graph): number[] {
  const missing = Array.from({ length: graph.size }, () => 0);
  for (const { target } of graph.edges) missing[target] = (missing[target] ?? 0) + 1;
  const order: number[] = [];
  for (let node = 0; node < graph.size; node++) if (missing[node] === 0) order.push(node);
  for (let at = 0; at < order.length; at++) {
    for (const edge of graph.outgoing[order[at] as number] ?? []) {
      const target = graph.edges[edge]?.target ?? 0;
      const left = (missing[target] ?? 0) - 1;
      missing[target] = left;
      if (left === 0) order.push(target);
    }
  }
  return order;
}

/** One cycle as indexes of its edges in their direction, or null. */
export function findCycle(graph: Graph): number[] | null {
  const order = topologicalOrder(graph);
  if (order.length === graph.size) return null;
  const sorted = new Set(order);
  // A remaining node is on a cycle or behind one, so walking backwards among those must reach a node twice.
  const incoming = new Map<number, number>();
  graph.edges.forEach(({ source, target }, edge) => {
    if (!sorted.has(source) && !incoming.has(target)) incoming.set(target, edge);
  });
  let node = graph.edges.find(({ target }) => !sorted.has(target))?.target ?? 0;
  const seenAt = new Map<number, number>();
  const walked: number[] = [];
  while (!seenAt.has(node)) {
    seenAt.set(node, walked.length);
    const edge = incoming.get(node) ?? 0;
    walked.push(edge);
    node = graph.edges[edge]?.source ?? 0;
  }
  return walked.slice(seenAt.get(node)).reverse();
}

/** Nodes reachable from any of `starts`, including these. */
export function reachableFrom(graph: Graph, starts: readonly number[]): readonly boolean[] {
  const reached = Array.from({ length: graph.size }, () => false);
  const queue = [...starts];
  for (const start of starts) reached[start] = true;
  for (let at = 0; at < queue.length; at++) {
    for (const edge of graph.outgoing[queue[at] as number] ?? []) {
      const target = graph.edges[edge]?.target ?? 0;
      if (reached[target] === true) continue;
      reached[target] = true;
      queue.push(target);
    }
  }
  return reached;
}

/**
 * For each pair, whether `ancestor` comes before `node` on some path. Follows 31 ancestors through the graph at a time, one per bit, so a
 * flow full of references costs edges * nodes / 31 rather than edges * references.
 */
export function areAncestors(
  graph: Graph,
  pairs: readonly { readonly ancestor: number; readonly node: number }[],
): boolean[] {
  const order = topologicalOrder(graph);
  const wanted = [...new Set(pairs.map(({ ancestor }) => ancestor))];
  const placeOf = new Map(wanted.map((ancestor, place) => [ancestor, place]));
  const byGroup = new Map<number, number[]>();
  pairs.forEach(({ ancestor }, pair) => {
    const group = Math.floor((placeOf.get(ancestor) ?? 0) / 31);
    const members = byGroup.get(group);
    if (members === undefined) byGroup.set(group, [pair]);
    else members.push(pair);
  });
  const answers = pairs.map(() => false);
  for (const [group, members] of byGroup) {
    const masks = propagate(graph, order, wanted.slice(group * 31, group * 31 + 31));
    for (const pair of members) {
      const { ancestor, node } = pairs[pair] as { ancestor: number; node: number };
      answers[pair] = (((masks[node] ?? 0) >> ((placeOf.get(ancestor) ?? 0) % 31)) & 1) === 1;
    }
  }
  return answers;
}

function propagate(graph: Graph, order: readonly number[], sources: readonly number[]): Int32Array {
  const masks = new Int32Array(graph.size);
  const own = new Int32Array(graph.size);
  sources.forEach((source, bit) => {
    own[source] = 1 << bit;
  });
  for (const node of order) {
    const mask = (masks[node] ?? 0) | (own[node] ?? 0);
    if (mask === 0) continue;
    for (const edge of graph.outgoing[node] ?? []) {
      const target = graph.edges[edge]?.target ?? 0;
      masks[target] = (masks[target] ?? 0) | mask;
    }
  }
  return masks;
}
