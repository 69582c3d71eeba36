import { type Flow, type FlowEdge, type FlowNode, LOOP_TYPES, own } from '@millrace/engine';
import type { EditorState, KnownType, Size, StickyNote } from './editor-state.ts';

/** What undo restores: the whole flow, in parts that change independently. */
export interface FlowValue {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly settings: EditorState['settings'];
  /** The flow as loaded; its unknown members are preserved. */
  readonly base: Flow;
}

/** A node as React Flow writes it, with a loop's size beside the position. */
type SizedNode = FlowNode & { readonly width?: unknown; readonly height?: unknown };

/** Splits a flow into its parts. */
export function takeApart(flow: Flow): FlowValue {
  return { nodes: flow.nodes, edges: flow.edges, settings: flow.settings ?? {}, base: flow };
}

/** Reassembles the flow; unchanged parts are the loaded objects. */
export function putTogether({ nodes, edges, settings, base }: FlowValue): Flow {
  const isWithout = base.settings === undefined && Object.keys(settings).length === 0;
  return { ...base, nodes, edges, ...(isWithout ? {} : { settings }) };
}

/** An edge's key on the canvas; not every edge has an id. */
export function edgeKeyOf(edge: FlowEdge, index: number): string {
  return edge.id === undefined ? `edge:#${index}` : `edge:${edge.id}`;
}

export function noteKeyOf(note: StickyNote): string {
  return `note:${note.id}`;
}

export function isLoop(node: FlowNode): boolean {
  return LOOP_TYPES.has(node.type);
}

/** Ids of these nodes and of everything inside them. */
export function withBodies(nodes: readonly FlowNode[], ids: Iterable<string>): ReadonlySet<string> {
  const found = new Set(ids);
  const children = new Map<string, string[]>();
  for (const { id, parentId } of nodes) {
    if (typeof parentId === 'string') children.set(parentId, [...(children.get(parentId) ?? []), id]);
  }
  // The set grows while it is iterated: each node is visited once.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child);
  return found;
}

/** The explicit size of a loop's frame or a note; null if none was set. */
export function givenSize(node: FlowNode): Size | null {
  const { width, height } = node as SizedNode;
  return typeof width === 'number' && typeof height === 'number' ? { width, height } : null;
}

/** A node's display name: its label, else its type's title. */
export function titleOf(node: FlowNode, nodeTypes: ReadonlyMap<string, KnownType>): string {
  const label = node.data?.label;
  if (label !== undefined && label !== '') return label;
  return nodeTypes.get(node.type)?.title ?? node.id;
}

/** A node's source handles: those the service reported, else its type's; always including those in use. */
export function handlesOf(
  node: FlowNode,
  knownHandles: EditorState['handles'],
  nodeTypes: ReadonlyMap<string, KnownType>,
  inUse: readonly string[] = [],
): readonly string[] {
  const handles = [...(own(knownHandles, node.id) ?? nodeTypes.get(node.type)?.handles ?? ['out'])];
  // The service reports with a delay; show the change at once.
  if (node.data?.on_error === 'continue' && !handles.includes('out')) handles.push('out');
  if (node.data?.on_error === 'branch' && !handles.includes('error')) handles.push('error');
  if (node.data?.on_error !== 'branch') remove(handles, 'error');
  for (const handle of inUse) if (!handles.includes(handle)) handles.push(handle);
  return handles;
}

function remove(list: string[], item: string): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}
