import {
  type FlowEdge,
  type FlowNode,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  renameNodeReferences,
} from '@millrace/engine';
import { freeId, insideFrame, newEdge, rounded } from './change-nodes.ts';
import type { EditorState, FlowClip, Point, StickyNote } from './editor-state.ts';
import { type FlowValue, noteKeyOf, withBodies } from './flow-value.ts';
import { foreignProductOf } from './foreign-product.ts';
import { absolutePosition, byIdOf, GAP, NODE_WIDTH, positionOf } from './geometry.ts';

/** The nodes with these ids and their contents, the edges between them, and the notes with these keys. */
export function cutOut(value: FlowValue, ids: readonly string[], placed: EditorState['placed']): FlowClip {
  const named = new Set(ids);
  const byId = byIdOf(value.nodes);
  const taken = withBodies(
    value.nodes,
    ids.filter((id) => byId.has(id)),
  );
  const nodes = value.nodes
    .filter(({ id }) => taken.has(id))
    .map((node) => {
      if (typeof node.parentId !== 'string' || taken.has(node.parentId)) {
        return { ...node, position: positionOf(node, placed) };
      }
      const { parentId: _outside, ...rest } = node;
      return { ...rest, position: absolutePosition(node, byId, placed) };
    });
  const edges = value.edges.filter(({ source, target }) => taken.has(source) && taken.has(target));
  const notes = (value.settings.notes ?? []).filter((note) => named.has(noteKeyOf(note)));
  return { nodes, edges, ...(notes.length === 0 ? {} : { notes }) };
}

/** Offset of a copy from its original. */
const STEP = 32;

/** The result of parsing pasted text. */
export type Clipping =
  /** `leftOut`: number of entries that aren't a node, edge or note. `settings`: those of a whole workflow, without notes. */
  | { readonly clip: FlowClip; readonly leftOut: number; readonly settings: JsonObject }
  /** `noJson`: never meant to be JSON; `noNodes`: JSON of something else; `brokenJson`: JSON with a syntax error. */
  | { readonly fault: 'noJson' }
  | { readonly fault: 'noNodes' }
  /** From another product, whose nodes work differently. */
  | { readonly fault: 'foreign'; readonly product: string; readonly json: string }
  | { readonly fault: 'brokenJson'; readonly json: string };

/** Parses copied text: `{nodes, edges}`, a list of nodes, a single node, or an exported workflow. */
export function readClip(text: string): Clipping {
  const json = withoutFence(text);
  if (!/^\s*[[{]/.test(json)) return { fault: 'noJson' };
  let value: JsonValue;
  try {
    value = parseJson(json);
  } catch {
    return { fault: 'brokenJson', json };
  }
  const product = foreignProductOf(value);
  if (product !== null) return { fault: 'foreign', product, json };
  const { nodes, edges, notes, settings } = partsOf(value);
  const goodNodes = nodes.filter(isNode);
  const ids = new Set(goodNodes.map(({ id }) => id));
  const goodEdges = edges.filter(isEdge).filter(({ source, target }) => ids.has(source) && ids.has(target));
  const goodNotes = notes.filter(isNote);
  if (goodNodes.length === 0 && goodNotes.length === 0) return { fault: 'noNodes' };
  const count = nodes.length + edges.length + notes.length;
  return {
    clip: {
      nodes: goodNodes,
      edges: goodEdges,
      ...(goodNotes.length === 0 ? {} : { notes: goodNotes }),
    },
    leftOut: count - goodNodes.length - goodEdges.length - goodNotes.length,
    settings,
  };
}

/** Strips the Markdown code fence (three backticks) around text copied from manuals and chats. */
function withoutFence(text: string): string {
  return /^\s*```\w*\n(.*?)\n?```\s*$/s.exec(text)?.[1] ?? text;
}

function partsOf(value: JsonValue): { readonly [P in 'nodes' | 'edges' | 'notes']: readonly JsonValue[] } & {
  readonly settings: JsonObject;
} {
  const none = { nodes: [], edges: [], notes: [], settings: {} };
  if (isJsonArray(value)) return { ...none, nodes: value };
  if (!isJsonObject(value)) return none;
  const flow = isJsonObject(value.flow_data ?? null) ? (value.flow_data as JsonObject) : value;
  if (isNode(flow)) return { ...none, nodes: [flow] };
  const { notes, ...settings } = isJsonObject(flow.settings ?? null) ? (flow.settings as JsonObject) : {};
  return {
    nodes: listOf(flow.nodes),
    edges: listOf(flow.edges),
    notes: listOf(flow.notes ?? notes),
    settings,
  };
}

/** A clip as clipboard text. */
export function writeClip(clip: FlowClip): string {
  return JSON.stringify(clip, null, 2);
}

/**
 * Inserts a clip. Ids in use are replaced, also in the clip's edges, `parentId` and templates.
 * @param at position of its top left corner (relative to `parentId`); default: slightly offset from the original
 */
export function pasteClip(
  value: FlowValue,
  clip: FlowClip,
  at: Point | undefined,
  parentId: string | undefined,
): { readonly value: FlowValue; readonly ids: readonly string[] } {
  const taken = new Set(value.nodes.map(({ id }) => id));
  // Avoid ids in the flow as well as those in the clip.
  const reserved = new Set([...taken, ...clip.nodes.map(({ id }) => id)]);
  const names = new Map<string, string>();
  const nodesOnce = clip.nodes.filter(({ id }) => {
    if (names.has(id)) return false;
    const fresh = taken.has(id) ? freeId(id, reserved, '_') : id;
    reserved.add(fresh);
    names.set(id, fresh);
    return true;
  });
  const shift = besideOthers(shiftOf(clip, at), clip, value, parentId);
  const nodes = nodesOnce.map((node, index) =>
    // Hand-written nodes may have no position: lay them out in a row.
    pasteNode({ position: { x: index * (NODE_WIDTH + GAP.x), y: 0 }, ...node }, names, shift, parentId),
  );
  const edges = [...value.edges];
  for (const edge of clip.edges) edges.push(pasteEdge(edge, names, edges));
  const noteIds = new Set((value.settings.notes ?? []).map(({ id }) => id));
  const notes = (clip.notes ?? []).map((note) => {
    const id = freeId(note.id, noteIds);
    noteIds.add(id);
    const position = rounded({ x: note.position.x + shift.x, y: note.position.y + shift.y });
    return { ...note, id, position };
  });
  const settings =
    notes.length === 0
      ? value.settings
      : { ...value.settings, notes: [...(value.settings.notes ?? []), ...notes] };
  const isTop = (node: FlowNode) => node.parentId == null || node.parentId === parentId;
  return {
    value: { ...value, nodes: [...value.nodes, ...nodes], edges, settings },
    ids: [...nodes.filter(isTop).map(({ id }) => id), ...notes.map(noteKeyOf)],
  };
}

function pasteNode(
  node: FlowNode,
  names: ReadonlyMap<string, string>,
  shift: Point,
  parentId: string | undefined,
): FlowNode {
  const { parentId: former, ...rest } = node;
  const id = names.get(node.id) ?? node.id;
  const data =
    node.data === undefined
      ? {}
      : { data: renameReferences(node.data as JsonValue, names) as typeof node.data };
  const loop = typeof former === 'string' ? names.get(former) : undefined;
  if (loop !== undefined) return { ...rest, id, ...data, parentId: loop };
  const from = node.position ?? { x: 0, y: 0 };
  const position = rounded({ x: from.x + shift.x, y: from.y + shift.y });
  if (parentId === undefined) return { ...rest, id, ...data, position };
  return { ...rest, id, ...data, parentId, position: insideFrame(position) };
}

function pasteEdge(edge: FlowEdge, names: ReadonlyMap<string, string>, edges: readonly FlowEdge[]): FlowEdge {
  const source = names.get(edge.source) ?? edge.source;
  const target = names.get(edge.target) ?? edge.target;
  const isTaken = edges.some(({ id }) => id !== undefined && id === edge.id);
  const fresh = newEdge(edges, { source, target, sourceHandle: edge.sourceHandle ?? null });
  const isRenamed = source !== edge.source || target !== edge.target;
  const { id, ...rest } = edge;
  if (id === undefined || isTaken || isRenamed) return { ...rest, id: fresh.id ?? '', source, target };
  return { ...rest, id, source, target };
}

/** Updates templates that reference a node by its former id, in any notation. */
function renameReferences(value: JsonValue, names: ReadonlyMap<string, string>): JsonValue {
  if (typeof value === 'string') return renameNodeReferences(value, names);
  if (isJsonArray(value)) return value.map((item) => renameReferences(item, names));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, renameReferences(member, names)]),
  );
}

/** Pasted twice at the same position, the clip would exactly cover and hide the first copy. */
function besideOthers(shift: Point, clip: FlowClip, value: FlowValue, parentId: string | undefined): Point {
  const first = clip.nodes[0]?.position ?? clip.notes?.[0]?.position;
  if (first === undefined) return shift;
  const there = [
    ...value.nodes.filter((node) => (node.parentId ?? undefined) === parentId),
    ...(value.settings.notes ?? []),
  ].map(({ position }) => `${position?.x} ${position?.y}`);
  const taken = new Set(there);
  const isTaken = ({ x, y }: Point) => taken.has(`${Math.round(first.x + x)} ${Math.round(first.y + y)}`);
  let free = shift;
  while (isTaken(free)) free = { x: free.x + STEP, y: free.y + STEP };
  return free;
}

function shiftOf({ nodes, notes = [] }: FlowClip, at: Point | undefined): Point {
  if (at === undefined || nodes.length + notes.length === 0) return { x: STEP, y: STEP };
  const ids = new Set(nodes.map(({ id }) => id));
  const corners = [
    ...nodes
      .filter(({ parentId }) => typeof parentId !== 'string' || !ids.has(parentId))
      .map(({ position }) => position ?? { x: 0, y: 0 }),
    ...notes.map(({ position }) => position),
  ];
  return {
    x: at.x - Math.min(...corners.map(({ x }) => x)),
    y: at.y - Math.min(...corners.map(({ y }) => y)),
  };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}

function isPoint(value: JsonValue | undefined): boolean {
  return (
    value !== undefined &&
    isJsonObject(value) &&
    [value.x, value.y].every((axis) => typeof axis === 'number' && Number.isFinite(axis))
  );
}

function isNode(value: JsonValue): value is JsonValue & FlowNode {
  return (
    isJsonObject(value) &&
    typeof value.id === 'string' &&
    value.id !== '' &&
    typeof value.type === 'string' &&
    (value.position === undefined || isPoint(value.position)) &&
    (value.data === undefined || isJsonObject(value.data))
  );
}

function isEdge(value: JsonValue): value is JsonValue & FlowEdge {
  return isJsonObject(value) && typeof value.source === 'string' && typeof value.target === 'string';
}

function isNote(value: JsonValue): value is JsonValue & StickyNote {
  return (
    isJsonObject(value) &&
    typeof value.id === 'string' &&
    typeof value.text === 'string' &&
    isPoint(value.position) &&
    isJsonObject(value.size ?? null)
  );
}
