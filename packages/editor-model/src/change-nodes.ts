import { type FlowEdge, type FlowNode, type JsonObject, own } from '@millrace/engine';
import { reachedFrom } from './connection-rules.ts';
import type {
  AddPlace,
  EditorState,
  KnownType,
  NewConnection,
  NodePreset,
  Point,
  Size,
} from './editor-state.ts';
import { edgeKeyOf, type FlowValue, handlesOf, isLoop, noteKeyOf, withBodies } from './flow-value.ts';
import {
  absolutePosition,
  byIdOf,
  FRAME,
  freePlace,
  GAP,
  measureAll,
  plainSize,
  positionOf,
} from './geometry.ts';

/** Context of a change besides the flow. */
export interface Surroundings {
  readonly nodeTypes: ReadonlyMap<string, KnownType>;
  readonly handles: EditorState['handles'];
  readonly placed: EditorState['placed'];
}

/** An id that reads well in templates: `http_request`, `http_request_2`. */
export function freeNodeId(type: string, taken: ReadonlySet<string>): string {
  return freeId(type.slice(type.lastIndexOf('.') + 1) || 'node', taken, '_');
}

/** `wanted`, with the lowest number that makes it unique appended if needed. */
export function freeId(wanted: string, taken: ReadonlySet<string>, separator = '-'): string {
  if (!taken.has(wanted)) return wanted;
  const stem = wanted.replace(new RegExp(`${separator}\\d+$`), '');
  let number = 2;
  while (taken.has(`${stem}${separator}${number}`)) number += 1;
  return `${stem}${separator}${number}`;
}

/** The service allows 255; this leaves room for a numeric suffix. */
const EDGE_ID_LENGTH = 240;

/** An edge between these ends with a unique id. */
export function newEdge(
  edges: readonly FlowEdge[],
  { source, target, sourceHandle }: NewConnection,
): FlowEdge {
  const taken = new Set(edges.map(({ id }) => id ?? ''));
  const handle = sourceHandle ?? 'out';
  const wanted = handle === 'out' ? `${source}-${target}` : `${source}-${handle}-${target}`;
  const id = freeId(wanted.slice(0, EDGE_ID_LENGTH), taken);
  // Like hand-written flows, omit the handle when it is the only one.
  return { id, source, target, ...(handle === 'out' ? {} : { sourceHandle: handle }) };
}

/** Reconnects an edge; it keeps its id and its position in the list. */
export function reconnectEdge(
  value: FlowValue,
  key: string,
  { source, target, sourceHandle }: NewConnection,
): FlowValue {
  const at = value.edges.findIndex((edge, index) => edgeKeyOf(edge, index) === key);
  const edge = value.edges[at];
  if (edge === undefined) return value;
  const handle = sourceHandle ?? 'out';
  const isSame = edge.source === source && edge.target === target && (edge.sourceHandle ?? 'out') === handle;
  if (isSame) return value;
  const { sourceHandle: _from, targetHandle, ...rest } = edge;
  const changed: FlowEdge = {
    ...rest,
    source,
    target,
    ...(handle === 'out' ? {} : { sourceHandle: handle }),
    ...(target === edge.target && targetHandle !== undefined ? { targetHandle } : {}),
  };
  return { ...value, edges: value.edges.with(at, changed) };
}

/** Adds a node of this type and connects it according to its place. */
export function addNode(
  value: FlowValue,
  type: string,
  place: AddPlace,
  about: Surroundings,
  { label, config: given }: NodePreset = {},
): { readonly value: FlowValue; readonly id: string } {
  const id = freeNodeId(type, new Set(value.nodes.map((node) => node.id)));
  const config = { ...firstConfig(type, value.settings, about), ...given };
  const data = { ...(label === undefined ? {} : { label }), config };
  const bare: FlowNode = { id, type, position: { x: 0, y: 0 }, data };
  if ('onEdge' in place) return { value: insertOnEdge(value, bare, place.onEdge, about), id };
  if ('after' in place) return { value: addAfter(value, bare, place, about), id };
  const node = {
    ...bare,
    position: rounded(place.at),
    ...(place.parentId === undefined ? {} : { parentId: place.parentId }),
  };
  return { value: { ...value, nodes: [...value.nodes, node] }, id };
}

/** Where the next node goes: after this one, or, as a loop without a body does nothing, into it. */
export function placeNextTo(nodes: readonly FlowNode[], id: string): AddPlace {
  const node = nodes.find((each) => each.id === id);
  const isEmptyLoop = node !== undefined && isLoop(node) && !nodes.some(({ parentId }) => parentId === id);
  return isEmptyLoop ? { at: { x: FRAME.padding, y: FRAME.header }, parentId: id } : { after: id };
}

/** The flow with another trigger in the place of one. What was configured belonged to the former, except its name. */
export function replaceTrigger(value: FlowValue, id: string, type: string, about: Surroundings): FlowValue {
  const at = value.nodes.findIndex((node) => node.id === id);
  const node = value.nodes[at];
  const isTrigger = (name: string) => about.nodeTypes.get(name)?.kind === 'trigger';
  if (node === undefined || node.type === type || !isTrigger(node.type) || !isTrigger(type)) return value;
  const { label } = node.data ?? {};
  const config = firstConfig(type, value.settings, about);
  const replaced = { ...node, type, data: { ...(label === undefined ? {} : { label }), config } };
  return { ...value, nodes: value.nodes.with(at, replaced) };
}

function addAfter(
  value: FlowValue,
  bare: FlowNode,
  place: Extract<AddPlace, { readonly after: string }>,
  about: Surroundings,
): FlowValue {
  const source = value.nodes.find((node) => node.id === place.after);
  if (source === undefined) return { ...value, nodes: [...value.nodes, bare] };
  const sizes = sizesOf(value, about);
  const from = positionOf(source, about.placed);
  const size = newSize(bare, about);
  const beside = { x: from.x + (sizes.get(source.id)?.width ?? 0) + GAP.x, y: from.y };
  const others = value.nodes
    .filter((node) => (node.parentId ?? null) === (source.parentId ?? null))
    .map((node) => ({
      position: positionOf(node, about.placed),
      size: sizes.get(node.id) ?? plainSize(1),
    }));
  const node = {
    ...bare,
    position: rounded(place.at ?? freePlace(beside, size, others)),
    ...(source.parentId == null ? {} : { parentId: source.parentId }),
  };
  const handle = place.handle ?? handlesOf(source, about.handles, about.nodeTypes)[0];
  const isJoined = handle !== undefined && about.nodeTypes.get(bare.type)?.kind !== 'trigger';
  const edges = isJoined
    ? [...value.edges, newEdge(value.edges, { source: source.id, target: node.id, sourceHandle: handle })]
    : value.edges;
  return { ...value, nodes: [...value.nodes, node], edges };
}

/** Splits the edge at the new node; the nodes after it move to make room. */
function insertOnEdge(value: FlowValue, bare: FlowNode, key: string, about: Surroundings): FlowValue {
  const at = value.edges.findIndex((edge, index) => edgeKeyOf(edge, index) === key);
  const edge = value.edges[at];
  const byId = byIdOf(value.nodes);
  const [source, target] = [byId.get(edge?.source ?? ''), byId.get(edge?.target ?? '')];
  if (edge === undefined || source === undefined || target === undefined) {
    return { ...value, nodes: [...value.nodes, bare] };
  }
  const from = positionOf(source, about.placed);
  const to = positionOf(target, about.placed);
  const size = newSize(bare, about);
  const x = from.x + (sizesOf(value, about).get(source.id)?.width ?? 0) + GAP.x;
  const missing = x + size.width + GAP.x - to.x;
  const node = {
    ...bare,
    position: rounded({ x: missing > 0 ? x : (x + to.x - GAP.x - size.width) / 2, y: to.y }),
    ...(source.parentId == null ? {} : { parentId: source.parentId }),
  };
  const moved = missing > 0 && to.x > from.x ? reachedFrom(value.edges, target.id) : new Set<string>();
  const nodes = value.nodes.map((each) => {
    if (!moved.has(each.id)) return each;
    const position = positionOf(each, about.placed);
    return { ...each, position: rounded({ x: position.x + missing, y: position.y }) };
  });
  const { targetHandle, ...kept } = edge;
  const edges = [...value.edges];
  edges[at] = { ...kept, target: node.id };
  const [handle] = about.nodeTypes.get(bare.type)?.handles ?? ['out'];
  if (handle !== undefined) {
    const onward = newEdge(edges, { source: node.id, target: target.id, sourceHandle: handle });
    edges.splice(at + 1, 0, targetHandle === undefined ? onward : { ...onward, targetHandle });
  }
  return { ...value, nodes: [...nodes, node], edges };
}

/** Removes nodes and their contents and edges, and the edges and notes given by key. */
export function removeAll(value: FlowValue, ids: readonly string[]): FlowValue {
  const named = new Set(ids);
  const gone = withBodies(
    value.nodes,
    value.nodes.filter(({ id }) => named.has(id)).map(({ id }) => id),
  );
  const nodes = value.nodes.filter(({ id }) => !gone.has(id));
  const edges = value.edges.filter(
    (edge, index) => !(gone.has(edge.source) || gone.has(edge.target) || named.has(edgeKeyOf(edge, index))),
  );
  const notes = value.settings.notes;
  const keptNotes = notes?.filter((note) => !named.has(noteKeyOf(note)));
  const isSame =
    nodes.length === value.nodes.length &&
    edges.length === value.edges.length &&
    keptNotes?.length === notes?.length;
  if (isSame) return value;
  const settings =
    keptNotes === undefined || keptNotes.length === notes?.length
      ? value.settings
      : { ...value.settings, notes: keptNotes };
  return { ...value, nodes, edges, settings };
}

export function moveAll(
  value: FlowValue,
  positions: { readonly [idOrNoteKey: string]: Point },
  placed: EditorState['placed'],
): FlowValue {
  let isChanged = false;
  const moved = (position: Point, key: string): Point | null => {
    const wanted = own(positions, key);
    if (wanted === undefined || (wanted.x === position.x && wanted.y === position.y)) return null;
    isChanged = true;
    return rounded(wanted);
  };
  const nodes = value.nodes.map((node) => {
    const position = moved(positionOf(node, placed), node.id);
    return position === null ? node : { ...node, position };
  });
  const notes = value.settings.notes?.map((note) => {
    const position = moved(note.position, noteKeyOf(note));
    return position === null ? note : { ...note, position };
  });
  if (!isChanged) return value;
  return { ...value, nodes, settings: notes === undefined ? value.settings : { ...value.settings, notes } };
}

export function resizeOne(value: FlowValue, key: string, size: Size, at: Point): FlowValue {
  const shape = { width: Math.round(size.width), height: Math.round(size.height) };
  const nodes = value.nodes.map((node) =>
    node.id === key && isLoop(node) ? { ...node, position: rounded(at), ...shape } : node,
  );
  const notes = value.settings.notes?.map((note) =>
    noteKeyOf(note) === key ? { ...note, position: rounded(at), size: shape } : note,
  );
  return { ...value, nodes, settings: notes === undefined ? value.settings : { ...value.settings, notes } };
}

/** Moves nodes into or out of a loop, keeping their position on screen; removes edges that would cross the loop's border. */
export function moveInto(
  value: FlowValue,
  ids: readonly string[],
  parentId: string | null,
  about: Surroundings,
): { readonly value: FlowValue; readonly removedEdges: number } {
  const byId = byIdOf(value.nodes);
  const parent = parentId === null ? undefined : byId.get(parentId);
  if (parentId !== null && (parent === undefined || !isLoop(parent))) return { value, removedEdges: 0 };
  const moving = new Set(
    ids.filter((id) => {
      const node = byId.get(id);
      if (node === undefined || (node.parentId ?? null) === parentId) return false;
      if (parentId === null) return true;
      const isTrigger = about.nodeTypes.get(node.type)?.kind === 'trigger';
      return !isTrigger && !withBodies(value.nodes, [id]).has(parentId);
    }),
  );
  if (moving.size === 0) return { value, removedEdges: 0 };
  const origin = parent === undefined ? { x: 0, y: 0 } : absolutePosition(parent, byId, about.placed);
  const nodes = value.nodes.map((node) => {
    if (!moving.has(node.id)) return node;
    const at = absolutePosition(node, byId, about.placed);
    const position = rounded({ x: at.x - origin.x, y: at.y - origin.y });
    if (parentId === null) {
      const { parentId: _left, ...rest } = node;
      return { ...rest, position };
    }
    return { ...node, parentId, position: insideFrame(position) };
  });
  const after = byIdOf(nodes);
  const edges = value.edges.filter(({ source, target }) => {
    if (moving.has(source) === moving.has(target)) return true;
    return (after.get(source)?.parentId ?? null) === (after.get(target)?.parentId ?? null);
  });
  return { value: { ...value, nodes, edges }, removedEdges: value.edges.length - edges.length };
}

export function insideFrame({ x, y }: Point): Point {
  return { x: Math.max(FRAME.padding / 2, x), y: Math.max(FRAME.header, y) };
}

export function rounded({ x, y }: Point): Point {
  return { x: Math.round(x), y: Math.round(y) };
}

function sizesOf(value: FlowValue, about: Surroundings): ReadonlyMap<string, Size> {
  return measureAll({
    nodes: value.nodes,
    placed: about.placed,
    handleCount: (node) => handlesOf(node, about.handles, about.nodeTypes).length,
  });
}

function newSize(node: FlowNode, { nodeTypes }: Surroundings): Size {
  if (isLoop(node)) return { width: FRAME.minWidth, height: FRAME.minHeight };
  return plainSize(nodeTypes.get(node.type)?.handles.length ?? 1);
}

/** The initial config. A required time zone starts as the workflow's. */
function firstConfig(
  type: string,
  { timezone }: FlowValue['settings'],
  { nodeTypes }: Surroundings,
): JsonObject {
  const { first_config: config = {} } = nodeTypes.get(type) ?? {};
  return timezone === undefined || !Object.hasOwn(config, 'timezone') ? config : { ...config, timezone };
}
