import { type Message, message } from '@millrace/messages';
import { listPaths, parseTemplate, parseTemplates, type Template } from '@millrace/templates/template';
import { isJsonObject, type JsonObject, type JsonValue, joinPointer, own } from '@millrace/values/json';
import { finishWork, Meter, type Work } from '@millrace/values/work';
import { findConfigGaps } from './config-gaps.ts';
import { findDefinitionProblems, placed } from './config-problems.ts';
import {
  FLOW_POINTER,
  type Flow,
  type FlowEdge,
  type FlowNode,
  handleOf,
  labelOf,
  type Problem,
} from './flow.ts';
import { areAncestors, buildGraph, type Graph, reachableFrom } from './graph.ts';
import type { DeferredUntil, NodeDefinition, NodeRegistry } from './node.ts';
import { DEFAULT_HANDLE, ERROR_HANDLE } from './node-result.ts';
import { findSchemaFaults } from './schema-faults.ts';
import type { SearchKey } from './search-keys.ts';

/** Further problems aren't reported; a flow with this many has a single cause. */
const MAX_PROBLEMS = 500;

/** A flow's triggers. */
const MAX_TRIGGERS = 20;

/** By-products of the search that a plan also needs. */
export interface Analysis {
  readonly problems: readonly Problem[];
  /** The first problem that prevents the flow from running; null when it has none but gaps. */
  readonly obstacle: Problem | null;
  /** Parsed config of each node, in the flow's order. */
  readonly configs: readonly Template[];
  readonly displayName: Template | null;
  readonly rateKey: Template | null;
  readonly debounceKey: Template | null;
  readonly concurrencyKey: Template | null;
  readonly searchKeys: readonly SearchKey[];
}

/**
 * What a structurally sound flow still lacks for activation (SPEC.md, P rules): problems of nodes first, in the flow's order, then those of
 * the whole flow. Empty when it can run.
 */
export function findProblems(flow: Flow, registry: NodeRegistry): readonly Problem[] {
  return finishWork(analyseWork(flow, registry)).problems;
}

/** {@link findProblems} in pieces. */
export function* findProblemsWork(flow: Flow, registry: NodeRegistry): Work<readonly Problem[]> {
  return (yield* analyseWork(flow, registry)).problems;
}

/** Checking a node with a few members costs about this many steps. */
const NODE_STEPS = 50;

/** {@link findProblems} plus the templates that were parsed for it, in pieces of a few nodes. */
export function* analyseWork(flow: Flow, registry: NodeRegistry): Work<Analysis> {
  const search = new Search(flow, registry);
  const meter = new Meter();
  const configs: Template[] = [];
  for (const [index, node] of flow.nodes.entries()) {
    configs.push(search.node(node, index));
    meter.spend(NODE_STEPS);
    if (meter.isDue) yield meter.take();
  }
  search.triggers();
  search.loops();
  search.edges();
  meter.spend(NODE_STEPS * flow.nodes.length);
  if (meter.isDue) yield meter.take();
  search.references();
  meter.spend(NODE_STEPS * flow.nodes.length);
  if (meter.isDue) yield meter.take();
  const { display_name: name, rate, debounce, concurrency } = flow.settings ?? {};
  const displayName = search.setting(name, '/settings/display_name');
  const rateKey = search.setting(rate?.key, '/settings/rate/key');
  const debounceKey = search.setting(debounce?.key, '/settings/debounce/key');
  const concurrencyKey = search.setting(concurrency?.key, '/settings/concurrency/key');
  const searchKeys = search.searchKeys();
  search.inputSchema();
  return { ...search.outcome(), configs, displayName, rateKey, debounceKey, concurrencyKey, searchKeys };
}

/** Names that every JavaScript object inherits: they read as null, and aren't worth reporting as typos. */
const INERT_ROOTS: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Characters of operators, which a name may contain: `a+b` is one name. */
const OPERATOR_INSIDE = /[-+*/%<>=!&?~]/;

function describeUnknownRoot(root: string, path: string): Message {
  return message(OPERATOR_INSIDE.test(root) ? 'flow.unspaced_operator' : 'flow.unknown_root', { path });
}

interface NodeReference {
  readonly node: number;
  /** The reading node, or the loop around it that is in the same scope as the node being read. */
  readonly reader: number;
  readonly read: number;
  readonly pointer: string;
}

/** The node that reads a path, and when: `until` is undefined for what is rendered when the node starts. */
interface Reader {
  readonly node: number;
  readonly until: DeferredUntil | undefined;
}

interface Found {
  readonly node: number | null;
  readonly problem: Problem;
  /** It prevents activation but not a run: see {@link findConfigGaps}. */
  readonly isGap: boolean;
}

/** One pass over a flow; collects problems by node so that the result is in the flow's order. */
class Search {
  readonly #flow: Flow;
  readonly #definitions: readonly (NodeDefinition | undefined)[];
  readonly #indexes: ReadonlyMap<string, number>;
  /** By node, the loop it is in; null at top level. */
  readonly #loops: readonly (number | null)[];
  /** Edges that don't enter or leave a loop. */
  readonly #edges: readonly FlowEdge[];
  readonly #registry: NodeRegistry;
  readonly #graph: Graph;
  readonly #vars: JsonObject;
  readonly #found: Found[] = [];
  readonly #references: NodeReference[] = [];
  /** Nodes whose config is invalid: their handles are unknown. */
  readonly #faulty = new Set<number>();

  constructor(flow: Flow, registry: NodeRegistry) {
    this.#flow = flow;
    this.#registry = registry;
    this.#definitions = flow.nodes.map((node) => registry(node.type));
    this.#indexes = new Map(flow.nodes.map((node, index) => [node.id, index]));
    this.#loops = flow.nodes.map(({ parentId }) => this.#indexes.get(parentId ?? '') ?? null);
    this.#edges = flow.edges.filter((edge) => this.#loopOf(edge.source) === this.#loopOf(edge.target));
    const ids = flow.nodes.map((node) => node.id);
    this.#graph = buildGraph(ids, this.#edges);
    this.#vars = flow.settings?.vars ?? {};
  }

  node(node: FlowNode, index: number): Template {
    const definition = this.#definitions[index];
    const at = `/nodes/${index}`;
    if (definition === undefined) {
      const problem = message('flow.unknown_node_type', { type: node.type });
      this.#add(index, `${at}/type`, 'unknown_node_type', problem);
    }
    const config = node.data?.config ?? {};
    const here = `${at}/data/config`;
    const { template, errors } = parseTemplates(config, here);
    for (const error of errors) this.#add(index, error.pointer, error.code, error.message);
    if (definition !== undefined) {
      const inputSchema = this.#flow.settings?.input_schema ?? null;
      const problems = findDefinitionProblems(definition, config, template, { flow: { inputSchema } });
      if (problems.length > 0) this.#faulty.add(index);
      for (const problem of problems)
        this.#add(index, `${here}${problem.pointer}`, problem.code, problem.message);
      const reported = new Set(problems.map(({ pointer }) => pointer));
      const around = { registry: this.#registry, vars: this.#vars };
      for (const gap of findConfigGaps(definition, config, template, around))
        if (!reported.has(gap.pointer))
          this.#add(index, `${here}${gap.pointer}`, gap.code, gap.message, true);
    }
    const members =
      template.kind === 'record' ? template.members : [['', template] as readonly [string, Template]];
    const deferred = definition?.deferred ?? {};
    for (const [name, member] of members) {
      const until = own(deferred, name);
      for (const { names, pointer } of listPaths(member, joinPointer(here, name)))
        this.#path(names, pointer, { node: index, until });
    }
    return template;
  }

  #loopOf(id: string): number | null {
    const index = this.#indexes.get(id);
    return index === undefined ? null : (this.#loops[index] ?? null);
  }

  triggers(): void {
    const triggers = this.#definitions.flatMap((definition, index) =>
      definition?.kind === 'trigger' ? [index] : [],
    );
    if (triggers.length === 0) {
      this.#add(null, '/nodes', 'no_trigger', message('flow.no_trigger'));
      return;
    }
    for (const index of triggers.slice(MAX_TRIGGERS)) {
      const problem = message('flow.too_many_triggers', { max: MAX_TRIGGERS });
      this.#add(index, `/nodes/${index}`, 'too_many_triggers', problem);
    }
    this.#addresses(triggers);
    const ids = this.#flow.nodes.map((node) => node.id);
    const inside = this.#flow.nodes.flatMap(({ id, parentId }) =>
      typeof parentId === 'string' ? [{ source: parentId, target: id }] : [],
    );
    // A loop comes before its contents.
    const graph = inside.length === 0 ? this.#graph : buildGraph(ids, [...this.#edges, ...inside]);
    reachableFrom(graph, triggers).forEach((reached, index) => {
      if (reached) return;
      this.#add(index, `/nodes/${index}`, 'unreachable_node', message('flow.unreachable_node'));
    });
  }

  /** Triggers of one type with the same address: calls to it would start only the first. */
  #addresses(triggers: readonly number[]): void {
    const known = new Map<string, number>();
    for (const index of triggers) {
      const definition = this.#definitions[index];
      const config = this.#flow.nodes[index]?.data?.config ?? {};
      const address = this.#faulty.has(index) ? null : (definition?.addressOf?.(config) ?? null);
      if (address === null) continue;
      const key = `${definition?.type} ${address}`;
      const first = known.get(key);
      if (first === undefined) {
        known.set(key, index);
        continue;
      }
      const problem = message('flow.same_address', { trigger: this.#label(first) });
      this.#add(index, `/nodes/${index}`, 'same_address', problem);
    }
  }

  loops(): void {
    const filled = new Set(this.#loops);
    this.#definitions.forEach((definition, index) => {
      if (definition?.kind === 'loop' && !filled.has(index)) {
        this.#add(index, `/nodes/${index}`, 'empty_loop', message('flow.empty_loop'));
      }
      const loop = this.#loops[index] ?? null;
      if (definition?.kind === 'trigger' && loop !== null) {
        const problem = message('flow.trigger_in_loop', { loop: this.#label(loop) });
        this.#add(index, `/nodes/${index}/parentId`, 'trigger_in_loop', problem);
      }
    });
  }

  edges(): void {
    const handles = new Map<number, ReadonlySet<string> | null>();
    this.#flow.edges.forEach((edge, position) => {
      const source = this.#indexes.get(edge.source);
      const target = this.#indexes.get(edge.target);
      if (source === undefined || target === undefined) return;
      if (this.#definitions[target]?.kind === 'trigger') {
        const problem = message('flow.edge_into_trigger');
        this.#add(target, `/edges/${position}/target`, 'edge_into_trigger', problem);
      }
      this.#edgeAcross(source, target, position);
      let known = handles.get(source);
      if (known === undefined) {
        known = this.#handlesOf(source);
        handles.set(source, known);
      }
      const handle = handleOf(edge);
      if (known === null || known.has(handle)) return;
      const node = this.#label(source);
      const problem =
        handle === ERROR_HANDLE && this.#definitions[source]?.kind !== 'trigger'
          ? message('flow.error_edge_unused', { node })
          : message('flow.unknown_handle', { node, handle, handles: [...known].join(', ') });
      this.#add(source, `/edges/${position}/sourceHandle`, 'unknown_handle', problem);
    });
  }

  #edgeAcross(source: number, target: number, position: number): void {
    const [from, to] = [this.#loops[source] ?? null, this.#loops[target] ?? null];
    if (from === to) return;
    const inner = to === null || this.#isInside(source, to) ? source : target;
    const loop = this.#label((inner === source ? from : to) ?? inner);
    const problem = message(inner === source ? 'flow.edge_out_of_loop' : 'flow.edge_into_loop', { loop });
    this.#add(inner, `/edges/${position}`, 'edge_across_loop', problem);
  }

  /** Whether a node is inside a loop, at any depth. */
  #isInside(node: number, loop: number): boolean {
    for (let at = this.#loops[node] ?? null; at !== null; at = this.#loops[at] ?? null)
      if (at === loop) return true;
    return false;
  }

  /** Null when unknown, because the node's type or config has a problem of its own. */
  #handlesOf(index: number): ReadonlySet<string> | null {
    const definition = this.#definitions[index];
    const node = this.#flow.nodes[index];
    if (definition === undefined || node === undefined || this.#faulty.has(index)) return null;
    return handlesOf(node, definition);
  }

  references(): void {
    const pairs = this.#references.map(({ reader, read }) => ({ ancestor: read, node: reader }));
    areAncestors(this.#graph, pairs).forEach((isBefore, at) => {
      const reference = this.#references[at];
      if (isBefore || reference === undefined) return;
      const { node, reader, read, pointer } = reference;
      const problem =
        reader === read
          ? message('flow.reads_itself')
          : message('flow.reads_later_node', { node: this.#label(read) });
      this.#add(node, pointer, 'node_not_before', problem);
    });
  }

  /** A template that is rendered before any node has run; null if it is absent or can't be parsed. */
  setting(text: string | undefined, pointer: string): Template | null {
    if (text === undefined) return null;
    const parsed = parseTemplate(text);
    if (!parsed.ok) {
      this.#add(null, pointer, parsed.error.code, parsed.error.message);
      return null;
    }
    for (const { names } of listPaths(parsed.template)) this.#path(names, pointer, null);
    return parsed.template;
  }

  searchKeys(): readonly SearchKey[] {
    return Object.entries(this.#flow.settings?.search_keys ?? {}).flatMap(([name, text]) => {
      const template = this.setting(text, joinPointer('/settings/search_keys', name));
      return template === null ? [] : [{ name, template }];
    });
  }

  inputSchema(): void {
    const schema = (this.#flow.settings?.input_schema ?? null) as JsonValue;
    if (!isJsonObject(schema)) return;
    for (const fault of findSchemaFaults(schema)) {
      const problem = placed({ pointer: `/input_schema${fault.pointer}`, message: fault.message });
      this.#add(null, `/settings${problem.pointer}`, 'invalid_schema', problem.message, true);
    }
  }

  outcome(): Pick<Analysis, 'problems' | 'obstacle'> {
    // A stable sort: within a node, problems stay in the order they were found.
    const sorted = this.#found.toSorted((a, b) => (a.node ?? Infinity) - (b.node ?? Infinity) || 0);
    return {
      problems: sorted.slice(0, MAX_PROBLEMS).map(({ problem }) => problem),
      obstacle: sorted.find(({ isGap }) => !isGap)?.problem ?? null,
    };
  }

  /** `reader` is null for what is rendered before any node has run. */
  #path(names: readonly string[], pointer: string, reader: Reader | null): void {
    const [root = '', second, third] = names;
    const add = (code: string, problem: Message): void =>
      this.#add(reader?.node ?? null, pointer, code, problem);
    const path = quotePath(names);
    switch (root) {
      case 'trigger':
        if (second !== 'data' && second !== 'request')
          add('unknown_reference', message('flow.trigger_has_data', { path }));
        return;
      case 'nodes':
        this.#nodePath(names, pointer, reader, third);
        return;
      case 'execution':
        if (second !== 'id' || third !== undefined) {
          add('unknown_reference', message('flow.execution_has_id', { path }));
        }
        return;
      case 'vars':
        if (second === undefined || !Object.hasOwn(this.#vars, second)) {
          add('unknown_variable', message('flow.unknown_variable', { name: second ?? '' }));
        }
        return;
      case 'item':
      case 'index':
        if (reader === null || (this.#loops[reader.node] === null && reader.until !== 'iteration')) {
          add('unknown_reference', message('flow.only_in_loop', { name: root }));
        }
        return;
      case 'args':
        if (reader?.until !== 'arguments') add('unknown_reference', message('flow.only_in_tools'));
        return;
      case 'now':
        if (second !== undefined) add('unknown_reference', message('flow.unknown_root', { path }));
        return;
      default:
        if (!INERT_ROOTS.has(root)) add('unknown_reference', describeUnknownRoot(root, path));
    }
  }

  #nodePath(names: readonly string[], pointer: string, reader: Reader | null, third?: string): void {
    const [, id = ''] = names;
    const path = quotePath(names);
    const read = names.length === 1 ? undefined : this.#indexes.get(id);
    if (reader === null) {
      this.#add(null, pointer, 'node_not_before', message('flow.no_node_has_run', { path }));
    } else if (read === undefined) {
      const problem = message('flow.path_to_unknown_node', { path, node: id });
      this.#add(reader.node, pointer, 'unknown_node', problem);
    } else if (third !== 'output') {
      const corrected = quotePath(['nodes', id, 'output']);
      const problem = message('flow.node_has_output', { path, corrected });
      this.#add(reader.node, pointer, 'unknown_reference', problem);
    } else {
      this.#reference(reader, read, pointer);
    }
  }

  /** A node may read the nodes before it, and those before the loops around it. */
  #reference({ node, until }: Reader, read: number, pointer: string): void {
    const loop = this.#loops[read] ?? null;
    // After an iteration, all of the loop's own body has run; at the end, everything at top level.
    if (loop === (until === 'iteration' ? node : null) && until !== undefined && until !== 'arguments')
      return;
    for (let reader: number | null = node; reader !== null; reader = this.#loops[reader] ?? null) {
      if (this.#loops[reader] !== loop) continue;
      if (reader !== read || reader === node) {
        this.#references.push({ node, reader, read, pointer });
        return;
      }
      const problem = message('flow.reads_loop_around', { loop: this.#label(read) });
      this.#add(node, pointer, 'node_not_before', problem);
      return;
    }
    const labels = { node: this.#label(read), loop: this.#label(loop ?? read) };
    const problem = message('flow.reads_inside_loop', { node: labels.node, loop: labels.loop });
    this.#add(node, pointer, 'node_inside_loop', problem);
  }

  #add(node: number | null, pointer: string, code: string, problem: Message, isGap = false): void {
    const id = node === null ? null : (this.#flow.nodes[node]?.id ?? null);
    const placedAt = node === null ? problem : message('flow.at_node', { node: this.#label(node), problem });
    this.#found.push({
      node,
      problem: { pointer: `${FLOW_POINTER}${pointer}`, node_id: id, code, message: placedAt },
      isGap,
    });
  }

  #label(index: number): string {
    const node = this.#flow.nodes[index];
    return node === undefined ? '' : labelOf(node);
  }
}

/**
 * The handles that a configured node's edges can leave from, in the definition's order. Null when the definition can't know, because the
 * relevant part is a template or invalid.
 */
export function handlesOf(node: FlowNode, definition: NodeDefinition): ReadonlySet<string> | null {
  const handles = handlesUnder(definition, node.data?.config ?? {});
  if (handles === null || definition.kind === 'trigger') return handles;
  if (node.data?.on_error === 'continue') handles.add(DEFAULT_HANDLE);
  if (node.data?.on_error === 'branch') handles.add(ERROR_HANDLE);
  return handles;
}

function handlesUnder(definition: NodeDefinition, config: JsonObject): Set<string> | null {
  try {
    return new Set(definition.handles?.(config) ?? [DEFAULT_HANDLE]);
  } catch {
    return null;
  }
}

/** A path as it would be written: simple names with dots, others in brackets. */
function quotePath(names: readonly string[]): string {
  const [root = '', ...rest] = names;
  return rest.reduce(
    (path, name) => (/^[\w$-]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`),
    root,
  );
}
