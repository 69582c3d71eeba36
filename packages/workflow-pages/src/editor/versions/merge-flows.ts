import type { Flow, FlowEdge, FlowNode, JsonValue } from '@millrace/engine';
import { changesOf, edgesByEnds, placeFree, settingsOf, textOf, type ValueChange } from './flow-diff.ts';

export type Side = 'mine' | 'theirs';

/** What a side changed relative to the common base; null: nothing. */
export type SideChange = 'added' | 'changed' | 'removed' | null;

/** A node or setting that differs between the sides. */
export interface Choice {
  readonly key: string;
  /** From the side that still has it, mine first; null for a setting. */
  readonly node: FlowNode | null;
  /** Name of the setting; null for a node. */
  readonly setting: string | null;
  readonly mine: SideChange;
  readonly theirs: SideChange;
  /** Changes from theirs to mine; empty if one side doesn't have it. */
  readonly changes: readonly ValueChange[];
  /** The side with a change; mine if both have one. */
  readonly suggested: Side;
}

/** The chosen side of each choice, by key; missing ones use the suggestion. */
export type Decisions = { readonly [key: string]: Side };

/** The differences between two flows derived from `base`. A different position alone isn't a choice. */
export function findChoices(base: Flow, mine: Flow, theirs: Flow): readonly Choice[] {
  return partsOf(base, mine, theirs).flatMap((part) => {
    const { key, setting, mine: here, theirs: there } = part;
    if (isAlike(part)) return [];
    const [mineNode, theirNode] = [here, there] as readonly (FlowNode | undefined)[];
    const isNode = setting === null;
    return [
      {
        key,
        node: isNode ? (mineNode ?? theirNode ?? null) : null,
        setting,
        mine: part.myChange,
        theirs: part.theirChange,
        changes: isNode && mineNode && theirNode ? changesOf(theirNode, mineNode) : [],
        suggested: suggestedFor(part),
      },
    ];
  });
}

/** Merges two flows: one-sided changes are taken, the rest as decided. */
export function mergeFlows(base: Flow, mine: Flow, theirs: Flow, decisions: Decisions): Flow {
  const nodes: FlowNode[] = [];
  const added: FlowNode[] = [];
  const settings: { [name: string]: JsonValue } = {};
  for (const part of partsOf(base, mine, theirs)) {
    const side = decisions[part.key] ?? suggestedFor(part);
    const value = part[side];
    if (value === undefined) continue;
    if (part.setting !== null) settings[part.setting] = value;
    else (part.mine === undefined ? added : nodes).push(value as FlowNode);
  }
  nodes.push(...placeFree(added, nodes));
  const ids = new Set(nodes.map(({ id }) => id));
  const { settings: _mine, ...rest } = mine;
  return {
    ...rest,
    nodes: nodes.map((node) => withoutLostParent(node, ids)),
    edges: mergeEdges(base, mine, theirs).filter(({ source, target }) => ids.has(source) && ids.has(target)),
    ...(Object.keys(settings).length === 0 ? {} : { settings: settings as NonNullable<Flow['settings']> }),
  };
}

interface Part {
  readonly key: string;
  readonly setting: string | null;
  readonly mine: JsonValue | undefined;
  readonly theirs: JsonValue | undefined;
  readonly myChange: SideChange;
  readonly theirChange: SideChange;
}

function partsOf(base: Flow, mine: Flow, theirs: Flow): readonly Part[] {
  const [nodesBefore, nodesMine, nodesTheirs] = [nodesById(base), nodesById(mine), nodesById(theirs)];
  const [before, here, there] = [base, mine, theirs].map((flow) => new Map(Object.entries(settingsOf(flow))));
  const part = (
    key: string,
    setting: string | null,
    [old, ours, other]: readonly (JsonValue | undefined)[],
  ): Part => ({
    key,
    setting,
    mine: ours,
    theirs: other,
    myChange: sideChangeOf(old, ours),
    theirChange: sideChangeOf(old, other),
  });
  const ids = new Set([...nodesMine.keys(), ...nodesTheirs.keys()]);
  const names = new Set([...(here?.keys() ?? []), ...(there?.keys() ?? [])]);
  return [
    ...[...ids].map((id) =>
      part(`node ${id}`, null, [nodesBefore.get(id), nodesMine.get(id), nodesTheirs.get(id)]),
    ),
    ...[...names].map((name) =>
      part(`setting ${name}`, name, [before?.get(name), here?.get(name), there?.get(name)]),
    ),
  ];
}

function nodesById({ nodes }: Flow): ReadonlyMap<string, JsonValue> {
  return new Map(nodes.map((node) => [node.id, node]));
}

function sideChangeOf(before: JsonValue | undefined, after: JsonValue | undefined): SideChange {
  if (textOf(before) === textOf(after)) return null;
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : 'changed';
}

function suggestedFor({ myChange: mineDid, theirChange: theirsDid }: Part): Side {
  return mineDid === null && theirsDid !== null ? 'theirs' : 'mine';
}

function isAlike({ setting, mine, theirs }: Part): boolean {
  if (textOf(mine) === textOf(theirs)) return true;
  if (setting !== null || mine === undefined || theirs === undefined) return false;
  return changesOf(mine as FlowNode, theirs as FlowNode).length === 0;
}

/** An edge that only one side has was either added there or removed on the other side, whichever differs from the base. */
function mergeEdges(base: Flow, mine: Flow, theirs: Flow): readonly FlowEdge[] {
  const [before, here, there] = [base, mine, theirs].map((flow) => edgesByEnds(flow.edges));
  const idsOf = (flow: Flow) => new Set(flow.nodes.map(({ id }) => id));
  const known = { mine: idsOf(mine), theirs: idsOf(theirs) };
  // A node that only one side has brings its edges along if it is taken.
  const isStrange = ({ source, target }: FlowEdge, side: Side) =>
    !known[side].has(source) || !known[side].has(target);
  const kept = [...(here ?? [])].filter(
    ([key, edge]) => there?.has(key) || !before?.has(key) || isStrange(edge, 'theirs'),
  );
  const taken = [...(there ?? [])].filter(
    ([key, edge]) => !here?.has(key) && (!before?.has(key) || isStrange(edge, 'mine')),
  );
  const ids = new Set(kept.map(([, edge]) => edge.id));
  return [
    ...kept.map(([, edge]) => edge),
    ...taken.map(([, { id, ...edge }]) => (id === undefined || ids.has(id) ? edge : { id, ...edge })),
  ];
}

/** A node whose loop is gone moves to the top level. */
function withoutLostParent(node: FlowNode, ids: ReadonlySet<string>): FlowNode {
  const { parentId, ...rest } = node;
  return typeof parentId === 'string' && !ids.has(parentId) ? rest : node;
}
