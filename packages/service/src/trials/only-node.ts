import {
  buildGraph,
  type Flow,
  type FlowEdge,
  type FlowNode,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  joinPointer,
  listPaths,
  type NodeRecord,
  type NodeRegistry,
  parseTemplates,
  reachableFrom,
  triggersOf,
} from '@millrace/engine';
import { type ApiError, type FieldError, validationError } from '@millrace/errors/errors';
import { type Message, message } from '@millrace/messages';

/** What a trial of one node is based on. */
export interface OnlyNode {
  readonly nodeId: string;
  /** Pinned outputs by node id. */
  readonly pinned: { readonly [nodeId: string]: JsonObject };
  /** Outputs to fall back on by node id. */
  readonly fallback: ReadonlyMap<string, JsonObject>;
}

/**
 * Reduces a flow to a node and what it reads. The nodes it reads become stand-ins that output what is pinned; a predecessor
 * without a pinned output counts as a branch not taken, unless that would leave no path to the node. A loop keeps its whole
 * body. The flow is self-contained, so that a rerun of it does the same.
 * @throws ApiError 422 if the node can't run alone, or what it reads isn't pinned
 */
export function reduceToNode(flow: Flow, registry: NodeRegistry, only: OnlyNode): Flow {
  const node = requireNode(flow, registry, only.nodeId);
  const triggers = triggersOf(flow, registry);
  const trigger = leadingTo(flow, triggers, node.id);
  if (trigger === undefined) throw cannotRunAlone(message('service.trial_no_trigger'));
  const inside = nodesInside(flow, node.id);
  const { read, before, isDirect } = surroundings(flow, { trigger, triggers }, node, inside, only);
  const outputs = pinnedOutputs(only, [...read, ...before]);
  const standIns = flow.nodes.filter(({ id }) => outputs.has(id));
  const nameOf = freeNames(flow);
  const vars = standIns.map(({ id }, index): [string, JsonObject] => [nameOf(index), outputs.get(id) ?? {}]);
  return {
    nodes: [
      triggerStandIn(trigger),
      ...standIns.map((each, index) => standIn(each, nameOf(index))),
      { ...node, parentId: null },
      ...inside,
    ],
    edges: [
      ...standIns.map(({ id }) => join(trigger.id, id)),
      // Nodes read from further away must have ended before the node, too, but aren't its inputs.
      ...read.filter((id) => !before.includes(id)).map((id) => join(id, before[0] ?? node.id)),
      ...before.map((id) => join(id, node.id)),
      ...(isDirect ? [join(trigger.id, node.id)] : []),
      ...flow.edges.filter(({ source, target }) => isWithin(inside, source) && isWithin(inside, target)),
    ],
    settings: {
      ...trialSettings(flow.settings),
      vars: { ...flow.settings?.vars, ...Object.fromEntries(vars) },
    },
  };
}

interface Surroundings {
  /** Nodes whose outputs the node reads. */
  readonly read: readonly string[];
  /** Its predecessors that count as having run. */
  readonly before: readonly string[];
  /** Whether the trigger leads directly to it, or nothing does yet. */
  readonly isDirect: boolean;
}

/** The first trigger from which a path leads to a node, or the first of all. */
function leadingTo(flow: Flow, triggers: readonly FlowNode[], nodeId: string): FlowNode | undefined {
  const ids = flow.nodes.map(({ id }) => id);
  const graph = buildGraph(ids, flow.edges);
  const at = ids.indexOf(nodeId);
  return triggers.find(({ id }) => reachableFrom(graph, [ids.indexOf(id)])[at] === true) ?? triggers[0];
}

function surroundings(
  flow: Flow,
  { trigger, triggers }: { readonly trigger: FlowNode; readonly triggers: readonly FlowNode[] },
  node: FlowNode,
  inside: readonly FlowNode[],
  only: OnlyNode,
): Surroundings {
  const kept = new Set([trigger.id, node.id, ...inside.map(({ id }) => id)]);
  const read = readIds(flow, [node, ...inside]).filter((id) => !kept.has(id));
  refuseUnpinned(read, only);
  const sources = flow.edges.filter((edge) => edge.target === node.id).map((edge) => edge.source);
  const starts = new Set(triggers.map(({ id }) => id));
  const predecessors = [...new Set(sources)].filter((id) => !starts.has(id));
  const isDirect = sources.some((id) => starts.has(id)) || predecessors.length === 0;
  const taken = predecessors.filter((id) => outputOf(only, id) !== undefined);
  return { read, before: taken.length > 0 || isDirect ? taken : predecessors, isDirect };
}

function requireNode(flow: Flow, registry: NodeRegistry, id: string): FlowNode {
  const node = flow.nodes.find((each) => each.id === id);
  if (node === undefined) throw cannotRunAlone(message('service.trial_no_node'));
  if (registry(node.type)?.kind === 'trigger') {
    throw cannotRunAlone(message('service.trial_of_trigger'));
  }
  if (typeof node.parentId === 'string') {
    throw cannotRunAlone(message('service.trial_in_loop', { loop: JSON.stringify(node.parentId) }));
  }
  return node;
}

/** Everything inside a loop, at any depth. */
function nodesInside(flow: Flow, loopId: string): FlowNode[] {
  const direct = flow.nodes.filter((node) => node.parentId === loopId);
  return direct.flatMap((node) => [node, ...nodesInside(flow, node.id)]);
}

function isWithin(nodes: readonly FlowNode[], id: string): boolean {
  return nodes.some((node) => node.id === id);
}

/** Ids of the nodes whose outputs the configs read, without duplicates. */
function readIds(flow: Flow, nodes: readonly FlowNode[]): string[] {
  const known = new Set(flow.nodes.map(({ id }) => id));
  const ids = nodes.flatMap((node) => {
    const { template } = parseTemplates((node.data?.config ?? {}) as JsonValue, '');
    return listPaths(template).flatMap(({ names: [root, id] }) =>
      root === 'nodes' && id !== undefined ? [id] : [],
    );
  });
  return [...new Set(ids)].filter((id) => known.has(id));
}

function outputOf({ pinned, fallback }: OnlyNode, id: string): JsonObject | undefined {
  return Object.hasOwn(pinned, id) ? pinned[id] : fallback.get(id);
}

/** Pinned outputs by id; `{}` for a predecessor without one. */
function pinnedOutputs(only: OnlyNode, ids: readonly string[]): Map<string, JsonObject> {
  return new Map(ids.map((id) => [id, outputOf(only, id) ?? {}]));
}

function refuseUnpinned(read: readonly string[], only: OnlyNode): void {
  const errors = read
    .filter((id) => outputOf(only, id) === undefined)
    .map(
      (id): FieldError => ({
        pointer: joinPointer('/pinned_outputs', id),
        code: 'required',
        message: message('service.trial_unpinned', { node: JSON.stringify(id) }),
      }),
    );
  if (errors.length > 0) throw validationError(errors);
}

/** Variable names not used in the workflow. */
function freeNames({ settings }: Flow): (index: number) => string {
  const taken = Object.keys(settings?.vars ?? {});
  let prefix = 'pinned_';
  while (taken.some((name) => name.startsWith(prefix))) prefix += '_';
  return (index) => `${prefix}${index}`;
}

/** All triggers output the data they receive, and this one needs no settings. */
function triggerStandIn(node: FlowNode): FlowNode {
  return { ...node, type: 'trigger.manual', data: { ...labelOf(node), config: {} } };
}

/** Outputs a variable unchanged: a template in it stays text, because the result of a template is not rendered again. */
function standIn(node: FlowNode, variable: string): FlowNode {
  const config = { values: `{{vars.${variable}}}` };
  return { ...node, type: 'core.set', data: { ...labelOf(node), config } };
}

function labelOf({ data }: FlowNode): { readonly label?: string } {
  return data?.label === undefined ? {} : { label: data.label };
}

function join(source: string, target: string): FlowEdge {
  return { source, target };
}

/** The settings of a trial: its end concerns only the person who runs it. */
export function trialSettings(settings: Flow['settings']): NonNullable<Flow['settings']> {
  const { error_workflow_id: _unused, ...kept } = settings ?? {};
  return kept;
}

/** Outputs of successful nodes outside loops, by id. */
export function outputsOf(records: readonly NodeRecord[]): Map<string, JsonObject> {
  const outputs = new Map<string, JsonObject>();
  for (const record of records) {
    if (record.status === 'success' && record.iteration === undefined && isJsonObject(record.output)) {
      outputs.set(record.nodeId, record.output);
    }
  }
  return outputs;
}

function cannotRunAlone(why: Message): ApiError {
  return validationError([{ pointer: '/only_node', code: 'invalid_value', message: why }]);
}
