import { type Flow, LOOP_TYPES } from '@millrace/engine';

/** What of a flow says which nodes run before which. */
export type FlowPart = Pick<Flow, 'nodes' | 'edges' | 'settings'>;

/** Ids of the nodes that have ended when a node starts: its predecessors, including those of the loops around it. */
export function upstreamOf({ nodes, edges }: FlowPart, nodeId: string): readonly string[] {
  const found = new Set<string>();
  const open = [nodeId];
  const parentOf = new Map(nodes.map((node) => [node.id, node.parentId ?? null]));
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const before = edges.filter(({ target }) => target === id).map(({ source }) => source);
    const parent = parentOf.get(id) ?? null;
    for (const next of parent === null ? before : [...before, parent]) {
      if (found.has(next) || next === nodeId) continue;
      found.add(next);
      open.push(next);
    }
  }
  // An enclosing loop hasn't ended, so its output can't be read; that of its predecessors can.
  const around = new Set(loopsAround({ nodes, edges }, nodeId));
  return nodes.map(({ id }) => id).filter((id) => found.has(id) && !around.has(id));
}

/** Ids of the loops around a node, innermost first. */
export function loopsAround({ nodes }: FlowPart, nodeId: string): readonly string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const loops: string[] = [];
  for (let node = byId.get(nodeId); node?.parentId != null; node = byId.get(node.parentId)) {
    const parent = byId.get(node.parentId);
    if (parent === undefined || loops.includes(parent.id)) break;
    if (LOOP_TYPES.has(parent.type)) loops.push(parent.id);
  }
  return loops;
}
