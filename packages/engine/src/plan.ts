import { message } from '@millrace/messages';
import type { Template } from '@millrace/templates/template';
import { render } from '@millrace/templates/template-render';
import type { JsonObject, JsonSchema, JsonValue } from '@millrace/values/json';
import { finishWork, type Work } from '@millrace/values/work';
import { type Priority, USUAL_PRIORITY } from './claim-order.ts';
import type { Concurrency } from './concurrency.ts';
import type { Flow, FlowEdge, FlowNode, FlowSettings, OnError, Problem } from './flow.ts';
import { handleOf, labelOf, retryPolicyOf } from './flow.ts';
import { type Analysis, analyseWork } from './flow-problems.ts';
import { validateStructure } from './flow-structure.ts';
import { buildGraph, topologicalOrder } from './graph.ts';
import type { DeferredUntil, NodeDefinition, NodeKind, NodeRegistry } from './node.ts';
import type { RetryPolicy } from './retry.ts';
import { type SearchKey, storable } from './search-keys.ts';
import type { StartDebounce, StartRate } from './start-holds.ts';
import type { Outcome } from './store.ts';

/** A runnable flow, prepared once per version. Immutable, so any number of executions share it. */
export interface Plan {
  /** The top level first, then one body after the other; within each, every edge leads to a later node. */
  readonly nodes: readonly PlanNode[];
  readonly nodeIndexes: ReadonlyMap<string, number>;
  /** The top level. */
  readonly root: Scope;
  /** The trigger of starts that name none: the manual one, else the first. */
  readonly trigger: PlanNode;
  /** All triggers, in the flow's order. An execution is started by one. */
  readonly triggers: readonly PlanNode[];
  readonly vars: JsonObject;
  readonly displayName: Template | null;
  /** Schema of the `input_data` of an API start; null for anything. */
  readonly inputSchema: JsonSchema | null;
  /** Milliseconds from its start after which an execution fails; null for no limit. */
  readonly timeoutMs: number | null;
  /** Maximum number of concurrent executions of the workflow; null for any number. */
  readonly maxConcurrency: number | null;
  /** Maximum number of concurrent executions with the same key; null for any number. */
  readonly concurrency: Concurrency | null;
  readonly priority: Priority;
  /** Null for starts at any rate. */
  readonly rate: StartRate | null;
  /** Null for starts that don't wait for newer ones. */
  readonly debounce: StartDebounce | null;
  /** The workflow that is started when an execution fails; null for none. */
  readonly errorWorkflowId: number | null;
  /** IANA name of the time zone in which templates show moments; null when the workflow has none. */
  readonly timezone: string | null;
  /** AI tokens an execution may consume; null for any number. */
  readonly tokenBudget: number | null;
  /** What executions are found by; empty for none. */
  readonly searchKeys: readonly SearchKey[];
}

/** Nodes that run together: the top level, or the body of a loop. Edges stay within a scope. */
export interface Scope {
  /** Null for the top level. */
  readonly loop: PlanNode | null;
  /** In topological order. */
  readonly nodes: readonly PlanNode[];
  /** Nodes without incoming edges. */
  readonly entries: readonly PlanNode[];
  /** Nodes without outgoing edges. */
  readonly sinks: readonly PlanNode[];
}

export interface PlanNode {
  /** Index in {@link Plan.nodes}. */
  readonly index: number;
  /** Index in the nodes of its scope. */
  readonly place: number;
  readonly scope: Scope;
  /** The body of a loop; null for other nodes. */
  readonly body: Scope | null;
  readonly id: string;
  readonly type: string;
  readonly label: string;
  readonly kind: NodeKind;
  readonly definition: NodeDefinition;
  /** What it may run as tools: the types its workflow was compiled with. */
  readonly types: NodeRegistry;
  /** As saved. */
  readonly writtenConfig: JsonObject;
  /** Rendered when the node starts; deferred members are constants here. */
  readonly config: Template;
  /** Templates that are rendered later. */
  readonly deferred: readonly DeferredMember[];
  /** Schema of the config rendered at the start. */
  readonly schema: JsonSchema;
  readonly retry: RetryPolicy;
  /** Milliseconds one attempt may take; null for no limit of its own. */
  readonly timeoutMs: number | null;
  readonly onError: OnError;
  readonly incoming: readonly PlanEdge[];
  readonly outgoing: readonly PlanEdge[];
}

/** A top-level member of a config whose templates aren't rendered at the node's start. */
export interface DeferredMember {
  readonly name: string;
  readonly until: DeferredUntil;
  readonly template: Template;
}

export interface PlanEdge {
  /** Indexes in the nodes of the scope. */
  readonly source: number;
  readonly target: number;
  readonly handle: string;
}

export type CompileResult =
  | { readonly kind: 'plan'; readonly plan: Plan }
  /** The execution fails with `invalid_workflow` and the problem's node; no node runs. */
  | { readonly kind: 'invalid'; readonly problem: Problem };

/** What the input of a start must match; null for anything, as of a workflow that can't run. */
export function inputSchemaOf(compiled: CompileResult): JsonSchema | null {
  return compiled.kind === 'plan' ? compiled.plan.inputSchema : null;
}

/** For an attempt of an effect node when neither it nor its type sets a limit. */
const DEFAULT_EFFECT_TIMEOUT_MS = 300_000;

/** Prepares a saved `flow_data` to run, or returns the first reason why it can't. */
export function compile(flowData: JsonValue, registry: NodeRegistry): CompileResult {
  return finishWork(compileWork(flowData, registry));
}

/** {@link compile} in pieces. */
export function* compileWork(flowData: JsonValue, registry: NodeRegistry): Work<CompileResult> {
  const [fault] = validateStructure(flowData, { maxNodes: Infinity, maxEdges: Infinity });
  if (fault !== undefined) {
    const { pointer, code } = fault;
    const said = message('flow.at_pointer', { pointer, fault: fault.message });
    return { kind: 'invalid', problem: { pointer, node_id: null, code, message: said } };
  }
  const flow = flowData as Flow;
  const analysis = yield* analyseWork(flow, registry);
  if (analysis.obstacle !== null) return { kind: 'invalid', problem: analysis.obstacle };
  return { kind: 'plan', plan: buildPlan(flow, registry, analysis) };
}

function buildPlan(
  flow: Flow,
  registry: NodeRegistry,
  { configs, displayName, rateKey, debounceKey, concurrencyKey, searchKeys }: Analysis,
): Plan {
  const nodes = planNodes(flow, registry, configs);
  const root = nodes[0]?.scope;
  const nodeIndexes = new Map(nodes.map((node) => [node.id, node.index]));
  const triggers = flow.nodes.flatMap(({ id }) => {
    const node = nodes[nodeIndexes.get(id) ?? -1];
    return node?.kind === 'trigger' ? [node] : [];
  });
  const trigger = triggers.find(({ definition }) => definition.isManual === true) ?? triggers[0];
  if (trigger === undefined || root === undefined) throw new Error('a flow without a trigger was planned');
  const { settings } = flow;
  return {
    nodes,
    nodeIndexes,
    root,
    trigger,
    triggers,
    vars: settings?.vars ?? {},
    displayName,
    inputSchema: settings?.input_schema ?? null,
    timeoutMs: settings?.timeout_s === undefined ? null : settings.timeout_s * 1_000,
    maxConcurrency: settings?.max_concurrency ?? null,
    concurrency: concurrencyOf(settings?.concurrency, concurrencyKey),
    priority: settings?.priority ?? USUAL_PRIORITY,
    rate: rateOf(settings?.rate, rateKey),
    debounce: debounceOf(settings?.debounce, debounceKey),
    errorWorkflowId: settings?.error_workflow_id ?? null,
    timezone: settings?.timezone ?? null,
    tokenBudget: settings?.token_budget ?? null,
    searchKeys,
  };
}

function rateOf(rate: FlowSettings['rate'], key: Template | null): StartRate | null {
  return rate === undefined ? null : { limit: rate.limit, periodMs: rate.per_seconds * 1_000, key };
}

function debounceOf(debounce: FlowSettings['debounce'], key: Template | null): StartDebounce | null {
  if (debounce === undefined) return null;
  const { seconds, max_seconds: maxSeconds } = debounce;
  return {
    waitMs: seconds * 1_000,
    maxWaitMs: maxSeconds === undefined ? null : maxSeconds * 1_000,
    key,
  };
}

function concurrencyOf(setting: FlowSettings['concurrency'], key: Template | null): Concurrency | null {
  return setting === undefined ? null : { key, limit: setting.limit, onLimit: setting.on_limit ?? 'queue' };
}

type Building<Type> = { -readonly [Name in keyof Type]: Type[Name] };

/** Nodes of one scope while they are collected, in topological order. */
interface ScopeSketch {
  readonly loopId: string | null;
  readonly nodes: FlowNode[];
}

function planNodes(flow: Flow, registry: NodeRegistry, configs: readonly Template[]): PlanNode[] {
  const positions = new Map(flow.nodes.map((node, position) => [node.id, position]));
  const edgesOf = joinEdges(flow);
  const nodes: Building<PlanNode>[] = [];
  const scopes = new Map<string | null, Building<Scope>>();
  for (const { loopId, nodes: members } of sketchScopes(flow)) {
    const scope = { loop: null, nodes: [], entries: [], sinks: [] } as Building<Scope>;
    scopes.set(loopId, scope);
    const places = new Map(members.map((node, place) => [node.id, place]));
    const toPlanned = (edge: FlowEdge): PlanEdge => ({
      source: places.get(edge.source) ?? 0,
      target: places.get(edge.target) ?? 0,
      handle: handleOf(edge),
    });
    scope.nodes = members.map((node, place): PlanNode => {
      const definition = registry(node.type);
      if (definition === undefined) throw new Error('a flow with problems was planned');
      const config = configs[positions.get(node.id) ?? -1] ?? { kind: 'constant', value: {} };
      const edges = edgesOf.get(node.id);
      const planned: Building<PlanNode> = {
        ...{ index: nodes.length, place, scope, body: null },
        ...{ id: node.id, type: node.type, label: labelOf(node), kind: definition.kind, definition },
        types: registry,
        writtenConfig: node.data?.config ?? {},
        ...splitConfig(definition, node.data?.config ?? {}, config),
        retry: retryPolicyOf(node, definition.defaultRetry),
        timeoutMs: node.data?.timeout_ms ?? defaultTimeoutMs(definition),
        onError: node.data?.on_error ?? 'fail',
        incoming: edges?.incoming.map(toPlanned) ?? [],
        outgoing: edges?.outgoing.map(toPlanned) ?? [],
      };
      nodes.push(planned);
      return planned;
    });
    scope.entries = scope.nodes.filter((node) => node.incoming.length === 0);
    scope.sinks = scope.nodes.filter((node) => node.outgoing.length === 0);
  }
  for (const node of nodes) {
    const body = scopes.get(node.id);
    if (body === undefined) continue;
    body.loop = node;
    node.body = body;
  }
  return nodes;
}

/** The top level first, then the bodies in the order of their loops. */
function sketchScopes(flow: Flow): Iterable<ScopeSketch> {
  const ids = flow.nodes.map((node) => node.id);
  const scopes = new Map<string | null, ScopeSketch>([[null, { loopId: null, nodes: [] }]]);
  for (const position of topologicalOrder(buildGraph(ids, flow.edges))) {
    const node = flow.nodes[position] as FlowNode;
    const loopId = node.parentId ?? null;
    const scope = scopes.get(loopId);
    if (scope === undefined) scopes.set(loopId, { loopId, nodes: [node] });
    else scope.nodes.push(node);
  }
  return scopes.values();
}

interface NodeEdges {
  readonly incoming: FlowEdge[];
  readonly outgoing: FlowEdge[];
}

function joinEdges(flow: Flow): ReadonlyMap<string, NodeEdges> {
  const joined = new Map(
    flow.nodes.map(({ id }): [string, NodeEdges] => [id, { incoming: [], outgoing: [] }]),
  );
  for (const edge of flow.edges) {
    joined.get(edge.source)?.outgoing.push(edge);
    joined.get(edge.target)?.incoming.push(edge);
  }
  return joined;
}

/** Separates deferred templates from what is rendered and checked when the node starts. */
function splitConfig(
  definition: NodeDefinition,
  config: JsonObject,
  template: Template,
): Pick<PlanNode, 'config' | 'deferred' | 'schema'> {
  const schema = definition.configSchema;
  if (definition.deferred === undefined || template.kind !== 'record') {
    return { config: template, deferred: [], schema };
  }
  const deferred: DeferredMember[] = [];
  const members = template.members.map(([name, member]): readonly [string, Template] => {
    const until = Object.hasOwn(definition.deferred ?? {}, name) ? definition.deferred?.[name] : undefined;
    if (until === undefined || member.kind === 'constant') return [name, member];
    deferred.push({ name, until, template: member });
    return [name, { kind: 'constant', value: config[name] ?? null }];
  });
  if (deferred.length === 0) return { config: template, deferred, schema };
  const isConstant = members.every(([, member]) => member.kind === 'constant');
  const anything = Object.fromEntries(deferred.map(({ name }) => [name, {}]));
  return {
    config: isConstant ? { kind: 'constant', value: config } : { kind: 'record', members },
    deferred,
    schema: { ...schema, properties: { ...(schema.properties as JsonSchema | undefined), ...anything } },
  };
}

/** The default limit of one attempt of a node in milliseconds; null for none. */
export function defaultTimeoutMs(definition: NodeDefinition): number | null {
  if (definition.defaultTimeoutMs !== undefined) return definition.defaultTimeoutMs;
  return definition.kind === 'effect' ? DEFAULT_EFFECT_TIMEOUT_MS : null;
}

/** How an execution of a flow with a problem ends, before any node has run. */
export function outcomeOfProblem({
  node_id: nodeId,
  message: said,
}: Problem): Extract<Outcome, { status: 'failed' }> {
  return { status: 'failed', error: { code: 'invalid_workflow', message: said, nodeId } };
}

/** The type of a flow's first trigger node; null while an unfinished flow has none. */
export function triggerTypeOf(flow: Flow, registry: NodeRegistry): string | null {
  return triggersOf(flow, registry)[0]?.type ?? null;
}

/** A flow's trigger nodes, in its order. */
export function triggersOf(flow: Flow, registry: NodeRegistry): readonly FlowNode[] {
  return flow.nodes.filter((node) => registry(node.type)?.kind === 'trigger');
}

const MAX_DISPLAY_NAME_LENGTH = 255;

/** An execution's display name: the flow's template, else the workflow's name, `#` and the id. */
export function displayNameOf(
  plan: Pick<Plan, 'displayName' | 'vars' | 'timezone'> | null,
  {
    workflowName,
    ...of
  }: {
    readonly executionId: number;
    readonly workflowName: string;
    readonly triggerData: JsonValue;
    readonly request?: JsonValue | undefined;
    readonly nowMs?: number;
  },
): string {
  const fallback = `${workflowName} #${of.executionId}`;
  if (plan === null || plan.displayName === null) return fallback;
  const scope = { ...of, vars: plan.vars, timezone: plan.timezone, nodeOutput: () => null };
  try {
    const name = render(plan.displayName, scope, 100_000);
    const text = storable(typeof name === 'string' ? name : JSON.stringify(name)).trim();
    return text === '' || text === 'null'
      ? fallback
      : Array.from(text).slice(0, MAX_DISPLAY_NAME_LENGTH).join('');
  } catch {
    return fallback;
  }
}
