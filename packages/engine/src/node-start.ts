import { parseTemplates, type Template } from '@millrace/templates/template';
import { RenderLimitError } from '@millrace/templates/template-filter';
import { render, renderWork, type TemplateScope } from '@millrace/templates/template-render';
import { type JsonObject, type JsonValue, setOwn } from '@millrace/values/json';
import { finishWork, type Work } from '@millrace/values/work';
import { describeRenderedFault } from './config-check.ts';
import { type Frame, frameAround, indexOf, isLive, outputOf, progressOf, type Slot } from './frames.ts';
import { type Failure, failure } from './node-result.ts';
import type { DeferredMember } from './plan.ts';
import type { ExecutionState } from './state.ts';

/**
 * A node's config with its templates rendered, or why the node fails before it runs. `now` is when the node first started, as its record
 * says: another attempt, and what goes on after a crash, gets the same config.
 */
export function renderConfig(state: ExecutionState, slot: Slot): { rendered: JsonObject } | Failure {
  return finishWork(configWork(state, slot));
}

/** {@link renderConfig} in pieces. */
export function* configWork(
  state: ExecutionState,
  slot: Slot,
): Work<{ readonly rendered: JsonObject } | Failure> {
  const { node, frame } = slot;
  if (node.config.kind === 'constant') return { rendered: node.config.value as JsonObject };
  const rendered = yield* templateWork(state, frame, node.config, startOf(state, slot));
  if ('kind' in rendered) return rendered;
  const config = rendered.value as JsonObject;
  const fault = describeRenderedFault(node.schema, config);
  return fault === null ? { rendered: config } : failure('invalid_config', fault);
}

function startOf(state: ExecutionState, slot: Slot): number {
  return progressOf(slot, state.nowMs).startedAtMs;
}

/** Renders a template with what a frame's nodes can read, or returns why the result is too large. @param nowMs the value of `now` */
function* templateWork(
  state: ExecutionState,
  frame: Frame,
  template: Template,
  nowMs: number,
): Work<{ readonly value: JsonValue } | Failure> {
  try {
    const count = (steps: number): void => {
      state.rendered += steps;
    };
    const { maxOutputBytes } = state.input.limits;
    return { value: yield* renderWork(template, scopeOf(state, frame, nowMs), maxOutputBytes, count) };
  } catch (error) {
    if (!(error instanceof RenderLimitError)) throw error;
    return failure(error.code, error.explanation);
  }
}

/** The config with some deferred members rendered as well. @param nowMs the value of `now` */
export function renderDeferred(
  state: ExecutionState,
  frame: Frame,
  config: JsonObject,
  members: readonly DeferredMember[],
  nowMs: number,
): { readonly rendered: JsonObject } | Failure {
  if (members.length === 0) return { rendered: config };
  const rendered: { [name: string]: JsonValue } = { ...config };
  for (const { name, template } of members) {
    const member = finishWork(templateWork(state, frame, template, nowMs));
    if ('kind' in member) return member;
    setOwn(rendered, name, member.value);
  }
  return { rendered };
}

/** The `render` of a node's context: renders deferred templates with `args`. */
export function rendererOf(
  state: ExecutionState,
  slot: Slot,
): (template: JsonValue, args: JsonObject) => JsonValue {
  const nowMs = startOf(state, slot);
  return (template, args) => {
    const { maxOutputBytes } = state.input.limits;
    const scope = { ...scopeOf(state, slot.frame, nowMs), args };
    return render(parseTemplates(template).template, scope, maxOutputBytes);
  };
}

function scopeOf(state: ExecutionState, frame: Frame, nowMs: number): TemplateScope {
  const { input, plan } = state;
  const scope = {
    triggerData: input.triggerData,
    request: outputOf(state.root.slots[state.trigger.place] as Slot)?.request,
    executionId: input.executionId,
    vars: plan.vars,
    timezone: plan.timezone,
    nowMs,
    nodeOutput: (nodeId: string) => readOutput(state, frame, nodeId),
  };
  return frame.run === null ? scope : { ...scope, item: frame.item, index: indexOf(frame) };
}

/** Of a node in this frame or an enclosing one; nodes inside other loops aren't readable. */
function readOutput(state: ExecutionState, frame: Frame, nodeId: string): JsonObject | null {
  const node = state.plan.nodes[state.plan.nodeIndexes.get(nodeId) ?? -1];
  if (node === undefined) return null;
  for (let at: Frame | null = frame; at !== null; at = frameAround(at)) {
    if (at.scope === node.scope) return outputOf(at.slots[node.place] as Slot);
  }
  return null;
}

/** How often the loops around a frame's nodes were started; null while that is once each. */
export function loopAttemptsOf(frame: Frame): readonly number[] | null {
  const attempts: number[] = [];
  for (let at: Frame | null = frame; at !== null; at = frameAround(at)) {
    const record = at.run?.slot.record;
    if (record !== undefined && record.status !== 'skipped') attempts.unshift(record.attempts);
  }
  return attempts.every((count) => count === 1) ? null : attempts;
}

export interface NodeInputs {
  readonly inputs: { readonly [nodeId: string]: JsonObject };
  readonly inputOrder: readonly string[];
}

/** Outputs of the direct predecessors whose edge is live, and their ids in the order of the edges. */
export function inputsOf({ frame, node }: Slot): NodeInputs {
  const inputs: { [nodeId: string]: JsonObject } = {};
  const inputOrder: string[] = [];
  for (const edge of node.incoming) {
    const source = frame.slots[edge.source];
    const output = source !== undefined && isLive(frame, edge) ? outputOf(source) : null;
    if (source === undefined || output === null || Object.hasOwn(inputs, source.node.id)) continue;
    setOwn(inputs, source.node.id, output);
    inputOrder.push(source.node.id);
  }
  return { inputs, inputOrder };
}
