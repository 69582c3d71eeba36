import { type Flow, type FlowEdge, type FlowNode, LOOP_TYPES } from '@millrace/engine';
import type { EditorState, NodeType, Size, StickyNote } from './editor-state.ts';

/** What undo goes back to: everything of a flow, in parts that change on their own. */
export interface FlowValue {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly settings: EditorState['settings'];
  /** The flow as it was read: members that nobody here knows are kept from it. */
  readonly base: Flow;
}

/** A node as React Flow writes it: the size of a loop's frame stands beside the position. */
type SizedNode = FlowNode & { readonly width?: unknown; readonly height?: unknown };

/** Takes a flow apart. */
export function takeApart(flow: Flow): FlowValue {
  return { nodes: flow.nodes, edges: flow.edges, settings: flow.settings ?? {}, base: flow };
}

/** Puts it together again; what was not changed is what was read. */
export function putTogether({ nodes, edges, settings, base }: FlowValue): Flow {
  const isWithout = base.settings === undefined && Object.keys(settings).length === 0;
  return { ...base, nodes, edges, ...(isWithout ? {} : { settings }) };
}

/** How an edge is called on the canvas; not every edge has an id. */
export function edgeKeyOf(edge: FlowEdge, index: number): string {
  return edge.id === undefined ? `edge:#${index}` : `edge:${edge.id}`;
}

export function noteKeyOf(note: StickyNote): string {
  return `note:${note.id}`;
}

export function isLoop(node: FlowNode): boolean {
  return LOOP_TYPES.has(node.type);
}

/** Ids of these nodes and of all that are inside of them. */
export function withBodies(nodes: readonly FlowNode[], ids: Iterable<string>): ReadonlySet<string> {
  const found = new Set(ids);
  const children = new Map<string, string[]>();
  for (const { id, parentId } of nodes) {
    if (typeof parentId === 'string') children.set(parentId, [...(children.get(parentId) ?? []), id]);
  }
  // A set that grows while it is walked: each node is met once.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child);
  return found;
}

/** The size that a loop's frame or a note was given; null when none was. */
export function givenSize(node: FlowNode): Size | null {
  const { width, height } = node as SizedNode;
  return typeof width === 'number' && typeof height === 'number' ? { width, height } : null;
}

/** What the node is called where people read: its label, else what its type is called. */
export function titleOf(node: FlowNode, nodeTypes: ReadonlyMap<string, NodeType>): string {
  const label = node.data?.label;
  if (label !== undefined && label !== '') return label;
  return nodeTypes.get(node.type)?.title ?? node.id;
}

/** A member of an object by a name that came from outside; never one that objects inherit. */
export function own<Value>(object: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Handles that edges may leave the node from: those the service reported, else those of its type; always those in use. */
export function handlesOf(
  node: FlowNode,
  knownHandles: EditorState['handles'],
  nodeTypes: ReadonlyMap<string, NodeType>,
  inUse: readonly string[] = [],
): readonly string[] {
  const handles = [...(own(knownHandles, node.id) ?? nodeTypes.get(node.type)?.handles ?? ['out'])];
  // The service reports late; what was just chosen shows at once.
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
