import { message } from '@millrace/messages';
import type { JsonObject } from '@millrace/values/json';
import type { Effect, StepEvent } from './effects.ts';
import { blame, completeExecution, failExecution } from './endings.ts';
import type { NodeError, NodeProgress } from './execution.ts';
import {
  againRecord,
  delayRecord,
  failedRecord,
  hostRecord,
  retryRecord,
  signalRecord,
  stopRecord,
  successRecord,
} from './execution.ts';
import { describeError } from './failures.ts';
import { findSlot, isAtWork, type LoopRun, previousOutputOf, progressOf, type Slot } from './frames.ts';
import {
  type AttemptResult,
  DEFAULT_HANDLE,
  ERROR_HANDLE,
  type Failure,
  failure,
  type LogLine,
  type NodeResult,
  type PutOff,
} from './node-result.ts';
import { checkResult } from './result.ts';
import { retryDelayMs } from './retry.ts';
import { deliverSignal, deliverTimeout } from './signals.ts';
import { decideEdges, type ExecutionState, endTime, setRecord } from './state.ts';
import { summarise } from './summaries.ts';
import { addTokens, type Tokens, tokensOf, withTokens } from './tokens.ts';
import { checkTotal } from './total-bytes.ts';

const NO_TOKENS: Tokens = { consumedAiTokens: 0 };

/** Processes the result of a node's attempt. Has no effect when the attempt was superseded. */
export function takeResult(
  state: ExecutionState,
  event: Extract<StepEvent, { kind: 'node_ended' }>,
  effects: Effect[],
): void {
  const node = state.plan.nodes[state.plan.nodeIndexes.get(event.nodeId) ?? -1];
  const slot = node === undefined ? undefined : findSlot(state.root, node, event.iteration);
  const record = slot?.record;
  if (slot === undefined || record === undefined || record.status === 'skipped') return;
  if (!isAtWork(slot) || record.attempts !== event.attempt) return;
  if (isPutOff(event.result) && !slot.isResuming) {
    putOffAttempt(state, slot, event.result);
    return;
  }
  const result = resultFor(state, slot, event.result as NodeResult);
  const tokens = tokensIn(result);
  const progress = withTokens(progressOf(slot, state.nowMs), tokens);
  addTokens(state, tokens);
  addTokens(slot.frame, tokens);
  const { tokenBudget } = state.plan;
  if (tokens.consumedAiTokens > 0 && tokenBudget !== null && state.consumedAiTokens > tokenBudget) {
    endOverBudget(state, slot, progress, result, effects);
  } else if (result.kind === 'failure') {
    failNode(state, slot, progress, result, effects);
  } else if (result.kind === 'success') {
    succeed(state, slot, progress, result.output, result.handles, result.log);
  } else if (result.kind === 'stop') {
    setRecord(state, slot, stopRecord(progress, result.output, endTime(state, progress.startedAtMs)));
    blame(slot);
    completeExecution(state, effects);
  } else if (result.kind === 'await_signal') {
    awaitSignal(state, slot, progress, result);
  } else if (result.kind === 'again') {
    setRecord(state, slot, againRecord(progress, state.nowMs, result.output));
    state.ready.push(slot);
  } else if (result.untilMs <= state.nowMs) {
    succeed(state, slot, progress, result.output, [DEFAULT_HANDLE]);
  } else {
    setRecord(state, slot, delayRecord(progress, result.untilMs, result.output));
    state.timers.set(slot, result.untilMs);
  }
}

function resultFor(state: ExecutionState, slot: Slot, given: NodeResult): NodeResult {
  const result = checkResult(given, state.input.limits.maxOutputBytes);
  const tokens = tokensOf(tokensIn(result));
  // A delay's output is stored while it waits, and again when it is over.
  const times = result.kind === 'wait' && result.untilMs > state.nowMs ? 2 : 1;
  const refused = result.output === undefined ? null : checkTotal(state, slot, result.output, tokens, times);
  if (refused !== null) return refused;
  if (result.kind === 'again' && !slot.isResuming) {
    return failure('invalid_output', message('run.cannot_run_again'));
  }
  if (result.kind !== 'await_signal' || slot.node.definition.resume !== undefined) return result;
  return failure('invalid_output', message('run.cannot_wait'), tokens);
}

function tokensIn(result: NodeResult): Tokens {
  return 'consumedAiTokens' in result ? result : NO_TOKENS;
}

/** What a defective node returned may be anything. */
function isPutOff(result: AttemptResult | null | undefined): result is PutOff {
  return result?.kind === 'put_off';
}

/** The attempt is made later, with the same number. */
function putOffAttempt(state: ExecutionState, slot: Slot, { host, untilMs }: PutOff): void {
  const progress = progressOf(slot, state.nowMs);
  const wakeAtMs = Math.max(untilMs, state.nowMs);
  setRecord(state, slot, hostRecord(progress, wakeAtMs, host, previousOutputOf(slot)));
  state.timers.set(slot, wakeAtMs);
}

function awaitSignal(
  state: ExecutionState,
  slot: Slot,
  progress: NodeProgress,
  { untilMs, output }: Extract<NodeResult, { kind: 'await_signal' }>,
): void {
  setRecord(state, slot, signalRecord(progress, untilMs, output));
  if (deliverSignal(state, slot) || untilMs === null) return;
  if (untilMs <= state.nowMs) deliverTimeout(state, slot);
  else state.timers.set(slot, untilMs);
}

/** The node's own end is still recorded. */
function endOverBudget(
  state: ExecutionState,
  slot: Slot,
  progress: NodeProgress,
  result: NodeResult,
  effects: Effect[],
): void {
  const completedAtMs = endTime(state, progress.startedAtMs);
  if (result.kind === 'failure') {
    const { output = {}, log } = result;
    const failed = { ...progress, failures: (progress.failures ?? 0) + 1 };
    setRecord(state, slot, failedRecord(failed, errorOf(result), output, [], completedAtMs, log));
  } else if (result.kind === 'success') {
    setRecord(state, slot, successRecord(progress, result.output, result.handles, completedAtMs, result.log));
  } else {
    setRecord(state, slot, signalRecord(progress, null, result.output));
  }
  const { consumedAiTokens, plan } = state;
  const budget = plan.tokenBudget ?? 0;
  const explanation = message('run.token_budget_exceeded', { consumed: consumedAiTokens, budget });
  blame(slot);
  failExecution(
    state,
    { code: 'token_budget_exceeded', message: explanation, nodeId: slot.node.id },
    effects,
  );
}

/** The node succeeded: successors on the handles it took may start. */
export function succeed(
  state: ExecutionState,
  slot: Slot,
  progress: NodeProgress,
  output: JsonObject,
  handles: readonly string[],
  log?: readonly LogLine[],
): void {
  const completedAtMs = endTime(state, progress.startedAtMs);
  setRecord(state, slot, successRecord(progress, output, handles, completedAtMs, log));
  decideEdges(state, slot);
}

/**
 * An attempt failed: it is retried, or the node fails, and its scope with it unless `on_error` prevents that.
 * @param run the attempt, if the node is a loop whose iterations had started
 */
export function failNode(
  state: ExecutionState,
  slot: Slot,
  before: NodeProgress,
  result: Failure,
  effects: Effect[],
  run: LoopRun | null = null,
): void {
  const { node, frame } = slot;
  const { log } = result;
  const failures = (before.failures ?? 0) + 1;
  const progress = { ...before, failures };
  const error = errorOf(result);
  if (result.retryable && !result.fatal && failures < node.retry.maxAttempts) {
    const wakeAtMs = state.nowMs + retryDelayMs(node.retry, failures, state.jitter, result.retryAfterMs);
    setRecord(state, slot, retryRecord(progress, wakeAtMs, error, result.output));
    state.timers.set(slot, wakeAtMs);
    return;
  }
  const completedAtMs = endTime(state, progress.startedAtMs);
  if (!result.fatal && node.onError !== 'fail') {
    const output: JsonObject = { ...result.output, error: describeError(error) };
    const refused = checkTotal(state, slot, output);
    if (refused !== null) {
      failNode(state, slot, before, refused, effects, run);
      return;
    }
    const handles = [node.onError === 'branch' ? ERROR_HANDLE : DEFAULT_HANDLE];
    setRecord(state, slot, failedRecord(progress, error, output, handles, completedAtMs, log));
    if (run !== null) summarise(state, run);
    decideEdges(state, slot);
    return;
  }
  setRecord(state, slot, failedRecord(progress, error, result.output ?? {}, [], completedAtMs, log));
  // Before the execution ends: the loops around it show what this one does.
  if (run !== null) summarise(state, run);
  if (result.fatal || frame.run === null) {
    blame(slot);
    failExecution(state, { ...error, nodeId: node.id }, effects);
  } else {
    frame.failure = { error: { ...error, nodeId: node.id }, isRetryable: result.retryable };
    state.settled.push(frame);
  }
}

function errorOf({ code, message: explanation, origin }: Failure): NodeError {
  return origin === undefined ? { code, message: explanation } : { code, message: explanation, origin };
}
