import type { EditorState, NewConnection } from './editor-state.ts';
import { edgeKeyOf } from './flow-value.ts';

/** Why two nodes can't be connected; each has a text (`editor.connect.<fault>`). */
export type ConnectionFault = 'self' | 'cycle' | 'across' | 'intoTrigger' | 'twice' | 'missing';

type Known = Pick<EditorState, 'nodes' | 'edges' | 'nodeTypes'>;

/**
 * Returns why a connection would be invalid or meaningless; null if it is allowed.
 * @param inPlaceOf key of the edge that would become this connection
 */
export function findConnectionFault(
  state: Known,
  connection: NewConnection,
  inPlaceOf: string | null = null,
): ConnectionFault | null {
  const edges =
    inPlaceOf === null
      ? state.edges
      : state.edges.filter((edge, index) => edgeKeyOf(edge, index) !== inPlaceOf);
  const source = state.nodes.find(({ id }) => id === connection.source);
  const target = state.nodes.find(({ id }) => id === connection.target);
  if (source === undefined || target === undefined) return 'missing';
  if (source.id === target.id) return 'self';
  if (state.nodeTypes.get(target.type)?.kind === 'trigger') return 'intoTrigger';
  if ((source.parentId ?? null) !== (target.parentId ?? null)) return 'across';
  const handle = connection.sourceHandle ?? 'out';
  const isThere = edges.some(
    (edge) =>
      edge.source === source.id && edge.target === target.id && (edge.sourceHandle ?? 'out') === handle,
  );
  if (isThere) return 'twice';
  return leadsTo(edges, target.id, source.id) ? 'cycle' : null;
}

/** Nodes reachable from a node along edges, including itself. */
export function reachedFrom(edges: EditorState['edges'], start: string): ReadonlySet<string> {
  const next = Map.groupBy(edges, ({ source }) => source);
  const reached = new Set([start]);
  for (const id of reached) for (const { target } of next.get(id) ?? []) reached.add(target);
  return reached;
}

function leadsTo(edges: EditorState['edges'], start: string, end: string): boolean {
  return reachedFrom(edges, start).has(end);
}
