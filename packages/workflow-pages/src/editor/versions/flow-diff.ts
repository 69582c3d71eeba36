import type { DiffMark } from '@millrace/editor-model/display.ts';
import {
  canonicalJson,
  type Flow,
  type FlowEdge,
  type FlowNode,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  own,
} from '@millrace/engine';

/** The difference between two flows. */
export interface FlowDifference {
  /** The later flow plus the removed nodes and edges. */
  readonly union: Flow;
  readonly marks: { readonly [nodeId: string]: DiffMark };
  readonly added: readonly FlowNode[];
  readonly removed: readonly FlowNode[];
  readonly changed: readonly { readonly node: FlowNode; readonly changes: readonly ValueChange[] }[];
  /** Nodes whose position is the only change. */
  readonly moved: number;
  readonly addedEdges: readonly FlowEdge[];
  readonly removedEdges: readonly FlowEdge[];
  /** Changed workflow settings. */
  readonly settings: readonly ValueChange[];
  readonly isSame: boolean;
}

/** A changed value; undefined where it was or is absent. */
export interface ValueChange {
  /** Path of names: `label`, `config.values.text`. */
  readonly path: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** Members that affect a flow's appearance, not its behaviour. */
const LOOKS: ReadonlySet<string> = new Set([
  'position',
  'width',
  'height',
  'measured',
  'selected',
  'dragging',
  'positionAbsolute',
  'zIndex',
]);

export function diffFlows(before: Flow, after: Flow): FlowDifference {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const now = new Map(after.nodes.map((node) => [node.id, node]));
  const added = after.nodes.filter(({ id }) => !old.has(id));
  const removed = before.nodes.filter(({ id }) => !now.has(id));
  const changed = after.nodes.flatMap((node) => {
    const former = old.get(node.id);
    const changes = former === undefined ? [] : changesOf(former, node);
    return changes.length === 0 ? [] : [{ node, changes }];
  });
  const moved = after.nodes.filter((node) => {
    const former = old.get(node.id);
    return former !== undefined && textOf(former.position) !== textOf(node.position);
  }).length;
  const [oldEdges, newEdges] = [edgesByEnds(before.edges), edgesByEnds(after.edges)];
  const addedEdges = [...newEdges].filter(([key]) => !oldEdges.has(key)).map(([, edge]) => edge);
  const removedEdges = [...oldEdges].filter(([key]) => !newEdges.has(key)).map(([, edge]) => edge);
  const settings = valueChanges(settingsOf(before), settingsOf(after));
  const marks: { [nodeId: string]: DiffMark } = Object.create(null);
  for (const { id } of added) marks[id] = 'added';
  for (const { id } of removed) marks[id] = 'removed';
  for (const { node } of changed) marks[node.id] = 'changed';
  return {
    union: {
      ...after,
      nodes: [...after.nodes, ...placeFree(removed, after.nodes)],
      edges: [...after.edges, ...removedEdges.map(({ id: _former, ...edge }) => edge)],
    },
    marks,
    added,
    removed,
    changed,
    moved,
    addedEdges,
    removedEdges,
    settings,
    isSame: textOf(before) === textOf(after),
  };
}

/** Minimum distance at which two nodes don't overlap. */
const ROOM = { x: 200, y: 80 } as const;

/** Nodes of another flow, moved down where they would cover an existing one. */
export function placeFree(nodes: readonly FlowNode[], there: readonly FlowNode[]): readonly FlowNode[] {
  const taken = [...there];
  return nodes.map((node) => {
    let placed = node;
    while (taken.some((other) => covers(other, placed))) placed = lower(placed);
    taken.push(placed);
    return placed;
  });
}

function covers(one: FlowNode, other: FlowNode): boolean {
  if (one.position === undefined || other.position === undefined) return false;
  if ((one.parentId ?? null) !== (other.parentId ?? null)) return false;
  return (
    Math.abs(one.position.x - other.position.x) < ROOM.x &&
    Math.abs(one.position.y - other.position.y) < ROOM.y
  );
}

function lower(node: FlowNode): FlowNode {
  const { x, y } = node.position ?? { x: 0, y: 0 };
  return { ...node, position: { x, y: y + ROOM.y } };
}

/** A node's changes, ignoring its appearance. */
export function changesOf(before: FlowNode, after: FlowNode): readonly ValueChange[] {
  const [{ data: oldData, ...old }, { data: newData, ...now }] = [before, after];
  const outside = valueChanges(old, now);
  const inside = valueChanges(oldData ?? {}, newData ?? {});
  return [...outside.filter(({ path }) => !LOOKS.has(path.split('.', 1)[0] ?? '')), ...inside];
}

export function settingsOf(flow: Flow): JsonObject {
  return flow.settings ?? {};
}

/** Descends into objects on both sides, and into lists of unchanged length. */
function valueChanges(before: JsonObject, after: JsonObject, path = ''): readonly ValueChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): readonly ValueChange[] => {
    const old = own(before, name);
    const now = own(after, name);
    if (textOf(old) === textOf(now)) return [];
    const where = path === '' ? name : `${path}.${name}`;
    const [oldMembers, newMembers] = [membersOf(old), membersOf(now)];
    const isAlike = isJsonArray(old ?? null) === isJsonArray(now ?? null);
    return oldMembers !== null && newMembers !== null && isAlike && sizeOf(old) === sizeOf(now)
      ? valueChanges(oldMembers, newMembers, where)
      : [{ path: where, before: old, after: now }];
  });
}

function membersOf(value: JsonValue | undefined): JsonObject | null {
  if (value === undefined) return null;
  if (isJsonArray(value)) return Object.fromEntries(value.map((item, at) => [String(at + 1), item]));
  return isJsonObject(value) ? value : null;
}

/** Of a list; objects may gain and lose members. */
function sizeOf(value: JsonValue | undefined): number {
  return value !== undefined && isJsonArray(value) ? value.length : 0;
}

/** A canonical string for a value, whatever its member order; empty for undefined. */
export function textOf(value: unknown): string {
  return value === undefined ? '' : canonicalJson(value as JsonValue);
}

/** Keys edges by their ends, whatever their ids. */
export function edgesByEnds(edges: readonly FlowEdge[]): ReadonlyMap<string, FlowEdge> {
  return new Map(
    edges.map((edge) => [JSON.stringify([edge.source, edge.sourceHandle ?? 'out', edge.target]), edge]),
  );
}

/** A flow as text for a line diff, with members in a fixed order. */
export function flowText(flow: Flow): string {
  return JSON.stringify(sorted(flow), null, 2);
}

const FIRST = ['id', 'type', 'source', 'target', 'nodes', 'edges', 'settings'];

function sorted(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const rank = (name: string) => FIRST.indexOf(name) >>> 0;
  const names = Object.keys(value).toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] as JsonValue)]));
}
