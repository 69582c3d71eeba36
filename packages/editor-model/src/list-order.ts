import type { FlowEdge, FlowNode } from '@millrace/engine';

export interface ListedNode {
  readonly node: FlowNode;
  /** Number of loops around it. */
  readonly depth: number;
}

/** Nodes in reading order: along the edges, with a loop's contents right after the loop. */
export function buildOrder(nodes: readonly FlowNode[], edges: readonly FlowEdge[]): readonly ListedNode[] {
  const ids = new Set(nodes.map(({ id }) => id));
  const bodies = Map.groupBy(nodes, ({ parentId }) =>
    typeof parentId === 'string' && ids.has(parentId) ? parentId : '',
  );
  const listed: ListedNode[] = [];
  const seen = new Set<string>();
  const list = (body: readonly FlowNode[], depth: number): void => {
    for (const node of alongEdges(body, edges)) {
      if (seen.has(node.id)) continue;
      seen.add(node.id);
      listed.push({ node, depth });
      list(bodies.get(node.id) ?? [], depth + 1);
    }
  };
  list(bodies.get('') ?? [], 0);
  return listed;
}

/** A topological order; ties from left to right, then top to bottom. */
function alongEdges(nodes: readonly FlowNode[], edges: readonly FlowEdge[]): readonly FlowNode[] {
  const place = ({ position }: FlowNode) => (position?.x ?? 0) + (position?.y ?? 0) / 1e6;
  const sorted = nodes.toSorted((a, b) => place(a) - place(b));
  const byId = new Map(sorted.map((node) => [node.id, node]));
  const waiting = new Map(sorted.map(({ id }) => [id, 0]));
  const next = Map.groupBy(
    edges.filter(({ source, target }) => byId.has(source) && byId.has(target)),
    ({ source }) => source,
  );
  for (const { target } of [...next.values()].flat()) waiting.set(target, (waiting.get(target) ?? 0) + 1);
  const ready = sorted.filter(({ id }) => waiting.get(id) === 0);
  const ordered = new Set<FlowNode>();
  for (let node = ready.shift(); node !== undefined; node = ready.shift()) {
    ordered.add(node);
    const followers = (next.get(node.id) ?? []).flatMap(({ target }) => {
      const left = (waiting.get(target) ?? 0) - 1;
      waiting.set(target, left);
      return left === 0 ? (byId.get(target) ?? []) : [];
    });
    // Depth first: finish a branch before starting the next.
    ready.unshift(...followers);
  }
  // Nodes on a cycle, which no saved flow has, come last.
  return [...ordered, ...sorted.filter((node) => !ordered.has(node))];
}
