import type { Flow, OnError, Problem } from './flow.ts';
import { handleOf, labelOf, retryPolicyOf } from './flow.ts';
import { analyse } from './flow-problems.ts';
import { validateStructure } from './flow-structure.ts';
import { buildGraph, topologicalOrder } from './graph.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { JsonSchema, NodeDefinition, NodeKind, NodeRegistry } from './node.ts';
import type { RetryPolicy } from './retry.ts';
import type { Outcome } from './store.ts';
import type { Template } from './template.ts';
import { render } from './template-render.ts';

/** A flow that can run, prepared once per version. Never changes, so any number of executions share it. */
export interface Plan {
  /** In topological order: every edge leads to a later node. */
  readonly nodes: readonly PlanNode[];
  readonly nodeIndexes: ReadonlyMap<string, number>;
  readonly trigger: PlanNode;
  readonly vars: JsonObject;
  readonly displayName: Template | null;
  /** What `input_data` of an API start must fit; null for anything. */
  readonly inputSchema: JsonSchema | null;
  /** Milliseconds from its start after which an execution fails; null for no limit. */
  readonly timeoutMs: number | null;
}

export interface PlanNode {
  /** Place in {@link Plan.nodes}. */
  readonly index: number;
  readonly id: string;
  readonly type: string;
  readonly label: string;
  readonly kind: NodeKind;
  readonly definition: NodeDefinition;
  readonly config: Template;
  readonly retry: RetryPolicy;
  /** Milliseconds one attempt may take; null for no limit of its own. */
  readonly timeoutMs: number | null;
  readonly onError: OnError;
  readonly incoming: readonly PlanEdge[];
  readonly outgoing: readonly PlanEdge[];
}

export interface PlanEdge {
  /** Place among all edges of the flow. */
  readonly index: number;
  readonly source: number;
  readonly target: number;
  readonly handle: string;
}

export type CompileResult =
  | { readonly kind: 'plan'; readonly plan: Plan }
  /** The execution fails with `invalid_workflow` and the problem's node; no node runs. */
  | { readonly kind: 'invalid'; readonly problem: Problem };

/** An attempt of an effect node that sets no limit and whose type has none. */
const DEFAULT_EFFECT_TIMEOUT_MS = 300_000;

/** Prepares a saved `flow_data` to be run, or tells the first reason why it cannot. */
export function compile(flowData: JsonValue, registry: NodeRegistry): CompileResult {
  const [fault] = validateStructure(flowData, { maxNodes: Infinity, maxEdges: Infinity });
  if (fault !== undefined) {
    const { pointer, code, message } = fault;
    return { kind: 'invalid', problem: { pointer, node_id: null, code, message: `${pointer} ${message}` } };
  }
  const flow = flowData as unknown as Flow;
  const { problems, configs, displayName } = analyse(flow, registry);
  const [problem] = problems;
  if (problem !== undefined) return { kind: 'invalid', problem };
  return { kind: 'plan', plan: buildPlan(flow, registry, configs, displayName) };
}

function buildPlan(
  flow: Flow,
  registry: NodeRegistry,
  configs: readonly Template[],
  displayName: Template | null,
): Plan {
  const ids = flow.nodes.map((node) => node.id);
  const order = topologicalOrder(buildGraph(ids, flow.edges));
  const nodeIndexes = new Map(order.map((position, index) => [ids[position] ?? '', index]));
  const incoming: PlanEdge[][] = ids.map(() => []);
  const outgoing: PlanEdge[][] = ids.map(() => []);
  flow.edges.forEach((edge, index) => {
    const source = nodeIndexes.get(edge.source) ?? 0;
    const target = nodeIndexes.get(edge.target) ?? 0;
    const planned = { index, source, target, handle: handleOf(edge) };
    outgoing[source]?.push(planned);
    incoming[target]?.push(planned);
  });
  const nodes = order.map((position, index): PlanNode => {
    const node = flow.nodes[position];
    const definition = node === undefined ? undefined : registry(node.type);
    if (node === undefined || definition === undefined)
      throw new Error('a plan was made of a flow with problems');
    return {
      index,
      id: node.id,
      type: node.type,
      label: labelOf(node),
      kind: definition.kind,
      definition,
      config: configs[position] ?? { kind: 'constant', value: {} },
      retry: retryPolicyOf(node),
      timeoutMs: node.data?.timeout_ms ?? defaultTimeoutMs(definition),
      onError: node.data?.on_error ?? 'fail',
      incoming: incoming[index] ?? [],
      outgoing: outgoing[index] ?? [],
    };
  });
  const trigger = nodes.find((node) => node.kind === 'trigger');
  if (trigger === undefined) throw new Error('a plan was made of a flow without a trigger');
  const { settings } = flow;
  return {
    nodes,
    nodeIndexes,
    trigger,
    vars: settings?.vars ?? {},
    displayName,
    inputSchema: settings?.input_schema ?? null,
    timeoutMs: settings?.timeout_s === undefined ? null : settings.timeout_s * 1_000,
  };
}

function defaultTimeoutMs(definition: NodeDefinition): number | null {
  if (definition.defaultTimeoutMs !== undefined) return definition.defaultTimeoutMs;
  return definition.kind === 'effect' ? DEFAULT_EFFECT_TIMEOUT_MS : null;
}

/** How an execution of a flow with a problem ends, before any node has run. */
export function outcomeOfProblem({ node_id: nodeId, message }: Problem): Outcome {
  return { status: 'failed', error: { code: 'invalid_workflow', message, nodeId } };
}

/** The type of a flow's trigger node; null while an unfinished flow has none. */
export function triggerTypeOf(flow: Flow, registry: NodeRegistry): string | null {
  return flow.nodes.find((node) => registry(node.type)?.kind === 'trigger')?.type ?? null;
}

const MAX_DISPLAY_NAME_LENGTH = 255;

/** What an execution is called: the flow's template, else the workflow's name, `#` and the id. */
export function displayNameOf(
  plan: Pick<Plan, 'displayName' | 'vars'> | null,
  of: { readonly executionId: number; readonly workflowName: string; readonly triggerData: JsonValue },
): string {
  const usual = `${of.workflowName} #${of.executionId}`;
  if (plan === null || plan.displayName === null) return usual;
  const scope = {
    executionId: of.executionId,
    triggerData: of.triggerData,
    vars: plan.vars,
    nodeOutput: () => null,
  };
  try {
    const name = render(plan.displayName, scope, 100_000);
    const text = storable(typeof name === 'string' ? name : JSON.stringify(name)).trim();
    return text === '' || text === 'null'
      ? usual
      : Array.from(text).slice(0, MAX_DISPLAY_NAME_LENGTH).join('');
  } catch {
    return usual;
  }
}

/** Webhook data may hold characters that a text column cannot. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}
