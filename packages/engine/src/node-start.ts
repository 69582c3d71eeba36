import { describeRenderedFault } from './config-check.ts';
import { type JsonObject, type JsonValue, setOwn } from './json.ts';
import { failure, type NodeResult } from './node.ts';
import type { PlanNode } from './plan.ts';
import { type ExecutionState, isLive, outputOf } from './state.ts';
import { RenderLimitError } from './template-filters.ts';
import { render, type TemplateScope } from './template-render.ts';

export type Failure = Extract<NodeResult, { kind: 'failure' }>;

/** A node's config with its templates rendered, or why the node fails before it is run. */
export function renderConfig(state: ExecutionState, node: PlanNode): { rendered: JsonObject } | Failure {
  if (node.config.kind === 'constant') return { rendered: node.config.value as JsonObject };
  let rendered: JsonValue;
  try {
    rendered = render(node.config, scopeOf(state), state.input.limits.maxOutputBytes);
  } catch (error) {
    if (!(error instanceof RenderLimitError)) throw error;
    return failure(error.code, error.message) as Failure;
  }
  const config = rendered as JsonObject;
  const fault = describeRenderedFault(node.definition.configSchema, config);
  return fault === null ? { rendered: config } : (failure('invalid_config', fault) as Failure);
}

function scopeOf(state: ExecutionState): TemplateScope {
  const { input, plan } = state;
  return {
    triggerData: input.triggerData,
    executionId: input.executionId,
    vars: plan.vars,
    nodeOutput: (nodeId) => outputOf(state, plan.nodeIndexes.get(nodeId) ?? -1),
  };
}

export interface NodeInputs {
  readonly inputs: { readonly [nodeId: string]: JsonObject };
  readonly inputOrder: readonly string[];
}

/** Outputs of the direct predecessors whose edge is live, and their ids in the order of the edges. */
export function inputsOf(state: ExecutionState, node: PlanNode): NodeInputs {
  const inputs: { [nodeId: string]: JsonObject } = {};
  const inputOrder: string[] = [];
  for (const edge of node.incoming) {
    const source = state.plan.nodes[edge.source];
    const output = isLive(state, edge) ? outputOf(state, edge.source) : null;
    if (source === undefined || output === null || Object.hasOwn(inputs, source.id)) continue;
    setOwn(inputs, source.id, output);
    inputOrder.push(source.id);
  }
  return { inputs, inputOrder };
}
