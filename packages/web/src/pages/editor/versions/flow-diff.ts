import {
  canonicalJson,
  type Flow,
  type FlowEdge,
  type FlowNode,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@millrace/engine';
import type { DiffMark } from '../../../canvas/display.ts';

/** What is different between two flows. */
export interface FlowDifference {
  /** Both in one: the later flow with what it no longer has. */
  readonly union: Flow;
  readonly marks: { readonly [nodeId: string]: DiffMark };
  readonly added: readonly FlowNode[];
  readonly removed: readonly FlowNode[];
  /** With the names of what changed: `config`, `label`, `type`, ... */
  readonly changed: readonly { readonly node: FlowNode; readonly what: readonly string[] }[];
  /** Only their place is another. */
  readonly moved: number;
  readonly addedEdges: readonly FlowEdge[];
  readonly removedEdges: readonly FlowEdge[];
  /** Names of the workflow's settings that changed. */
  readonly settings: readonly string[];
  readonly isSame: boolean;
}

/** Members that say how a flow looks, not what it does. */
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
    const what = former === undefined ? [] : changesOf(former, node);
    return what.length === 0 ? [] : [{ node, what }];
  });
  const moved = after.nodes.filter((node) => {
    const former = old.get(node.id);
    return former !== undefined && textOf(former.position) !== textOf(node.position);
  }).length;
  const [oldEdges, newEdges] = [edgesByEnds(before.edges), edgesByEnds(after.edges)];
  const addedEdges = [...newEdges].filter(([key]) => !oldEdges.has(key)).map(([, edge]) => edge);
  const removedEdges = [...oldEdges].filter(([key]) => !newEdges.has(key)).map(([, edge]) => edge);
  const settings = differing(
    (before.settings ?? {}) as unknown as JsonObject,
    (after.settings ?? {}) as unknown as JsonObject,
  );
  const marks: { [nodeId: string]: DiffMark } = Object.create(null);
  for (const { id } of added) marks[id] = 'added';
  for (const { id } of removed) marks[id] = 'removed';
  for (const { node } of changed) marks[node.id] = 'changed';
  return {
    union: {
      ...after,
      nodes: [...after.nodes, ...removed],
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

/** What of a node differs; `data` by its members. */
function changesOf(before: FlowNode, after: FlowNode): readonly string[] {
  const [{ data: oldData, ...old }, { data: newData, ...now }] = [before, after];
  const outside = differing(old as unknown as JsonObject, now as unknown as JsonObject);
  const inside = differing(
    (oldData ?? {}) as unknown as JsonObject,
    (newData ?? {}) as unknown as JsonObject,
  );
  return [...outside.filter((name) => !LOOKS.has(name)), ...inside];
}

function differing(before: JsonObject, after: JsonObject): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => textOf(before[name]) !== textOf(after[name]));
}

function textOf(value: unknown): string {
  return value === undefined ? '' : canonicalJson(value as JsonValue);
}

function edgesByEnds(edges: readonly FlowEdge[]): ReadonlyMap<string, FlowEdge> {
  return new Map(
    edges.map((edge) => [JSON.stringify([edge.source, edge.sourceHandle ?? 'out', edge.target]), edge]),
  );
}

/** A flow as text to be compared line by line: member names in one order, whatever the order they were sent in. */
export function flowText(flow: Flow): string {
  return JSON.stringify(sorted(flow as unknown as JsonValue), null, 2);
}

const FIRST = ['id', 'type', 'source', 'target', 'nodes', 'edges', 'settings'];

function sorted(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const rank = (name: string) => FIRST.indexOf(name) >>> 0;
  const names = Object.keys(value).toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] as JsonValue)]));
}
