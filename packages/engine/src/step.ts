import type { Effect, StepEvent, StopReason } from './effects.ts';
import type { ExecutionError, NodeProgress, NodeRecord } from './execution.ts';
import {
  cancelledRecord,
  delayRecord,
  failedRecord,
  retryRecord,
  runningRecord,
  successRecord,
} from './execution.ts';
import type { JsonObject } from './json.ts';
import { DEFAULT_HANDLE, ERROR_HANDLE, failure } from './node.ts';
import { type Failure, inputsOf, renderConfig } from './node-start.ts';
import type { Plan, PlanNode } from './plan.ts';
import { checkResult } from './result.ts';
import { retryDelayMs } from './retry.ts';
import {
  decideEdges,
  type ExecutionInput,
  type ExecutionState,
  endTime,
  markEdge,
  newState,
  progressOf,
  restoreRecord,
  setRecord,
  takeDirtyRecords,
} from './state.ts';
import type { Outcome } from './store.ts';

export interface Step {
  readonly state: ExecutionState;
  readonly effects: readonly Effect[];
}

/** Starts an execution: the trigger has ended with `{data: <trigger data>}`. */
export function begin(plan: Plan, input: ExecutionInput, atMs: number): Step {
  return resume(plan, input, [], atMs);
}

/**
 * Goes on with an execution from its stored records, in the order in which they were stored. A node that was running
 * is started again: the attempt is counted, but as no failure. Ended nodes are not run again; pure ones whose records
 * were not stored are.
 */
export function resume(
  plan: Plan,
  input: ExecutionInput,
  records: readonly NodeRecord[],
  atMs: number,
): Step {
  const state = newState(plan, input, atMs);
  const stored = new Map(records.map((record) => [record.nodeId, record]));
  let ending: ExecutionError | null = null;
  for (const node of plan.nodes) {
    const record = stored.get(node.id);
    if (record === undefined || record.status === 'cancelled') {
      restoreUnknown(state, node);
    } else if (record.status === 'running' || record.status === 'waiting') {
      if (state.undecided[node.index] === 0) restoreUnended(state, node, record);
    } else {
      restoreRecord(state, node.index, record);
      for (const edge of node.outgoing) markEdge(state, edge);
      if (record.status === 'failed' && record.handles.length === 0) {
        ending = { ...record.error, nodeId: node.id };
      }
    }
  }
  const effects: Effect[] = [];
  if (ending !== null) failExecution(state, ending, effects);
  passTime(state, atMs, 0, effects);
  return flush(state, effects);
}

function restoreUnknown(state: ExecutionState, node: PlanNode): void {
  if (node.kind === 'trigger') {
    const progress = { ...progressOf(state, node), attempts: 1 };
    const output = { data: state.input.triggerData };
    setRecord(state, node.index, successRecord(progress, output, [DEFAULT_HANDLE], state.nowMs));
    for (const edge of node.outgoing) markEdge(state, edge);
  } else if (state.undecided[node.index] === 0) {
    if ((state.live[node.index] ?? 0) > 0) {
      state.ready.push(node.index);
    } else {
      setRecord(state, node.index, { nodeId: node.id, status: 'skipped', completedAtMs: state.nowMs });
      for (const edge of node.outgoing) markEdge(state, edge);
    }
  }
}

function restoreUnended(
  state: ExecutionState,
  node: PlanNode,
  record: Extract<NodeRecord, { status: 'running' | 'waiting' }>,
): void {
  restoreRecord(state, node.index, record);
  if (record.status === 'running') state.ready.push(node.index);
  else state.timers.add({ atMs: record.wakeAtMs, node: node.index, attempt: record.attempts });
}

/**
 * The reducer: takes one event, changes the state in place and says what must be done now. Deterministic: the same
 * state and event give the same effects. The loop that drives it:
 *
 *     let { state, effects } = resume(plan, input, claimed.records, now());
 *     const events = queue();
 *     for (;;) {
 *       for (const effect of effects) perform(effect);   // in order; see Effect
 *       if (state.phase.kind !== 'running') break;       // finish, park or hand_back was the last effect
 *       effects = stepAll(state, await events.nextBatch()).effects;
 *     }
 *
 * `perform` of a store effect waits for the store; when it answers false: `stepAll(state, [{ kind: 'stop', reason:
 * 'lease_lost', atMs }])`, abort what that asks for, and leave. `perform` of `start_node` calls the node's `run` and
 * pushes `node_ended` when it ends; a `run` that throws is a failure with code `internal_error`.
 */
export function step(state: ExecutionState, event: StepEvent): Step {
  return stepAll(state, [event]);
}

/** {@link step} for several events at once: what they lead to is stored by one checkpoint. */
export function stepAll(state: ExecutionState, events: readonly StepEvent[]): Step {
  const effects: Effect[] = [];
  if (state.phase.kind !== 'running') return { state, effects };
  for (const event of events) {
    if (state.phase.kind === 'running') take(state, event, effects);
  }
  return flush(state, effects);
}

function take(state: ExecutionState, event: StepEvent, effects: Effect[]): void {
  if (event.kind === 'stop') {
    stop(state, event.reason, event.atMs, effects);
    return;
  }
  state.nowMs = Math.max(state.nowMs, event.atMs);
  if (event.kind === 'time') state.armedAtMs = null;
  // A result that is there counts, even when its node's time is up by now; past the execution's deadline nothing does.
  else if (!isPastDeadline(state)) takeResult(state, event, effects);
  passTime(state, event.atMs, event.jitter, effects);
}

function stop(state: ExecutionState, reason: StopReason, atMs: number, effects: Effect[]): void {
  state.nowMs = Math.max(state.nowMs, atMs);
  for (const record of state.records) {
    if (record?.status !== 'running') continue;
    effects.push({ kind: 'abort_node', nodeId: record.nodeId, attempt: record.attempts, reason });
  }
  state.phase = { kind: 'stopped' };
  if (reason !== 'shutdown') return;
  const { consumedAiTokens } = state;
  effects.push({ kind: 'hand_back', records: takeDirtyRecords(state), consumedAiTokens });
}

function takeResult(
  state: ExecutionState,
  event: Extract<StepEvent, { kind: 'node_ended' }>,
  effects: Effect[],
): void {
  const node = state.plan.nodes[state.plan.nodeIndexes.get(event.nodeId) ?? -1];
  if (node === undefined) return;
  const record = state.records[node.index];
  if (record?.status !== 'running' || record.attempts !== event.attempt) return;
  const result = checkResult(event.result, state.input.limits.maxOutputBytes);
  const consumed = result.kind === 'wait' ? 0 : result.consumedAiTokens;
  state.consumedAiTokens += consumed;
  const before = progressOf(state, node);
  const progress = { ...before, consumedAiTokens: before.consumedAiTokens + consumed };
  if (result.kind === 'failure') {
    failNode(state, node, progress, result, event.jitter, effects);
  } else if (result.kind === 'success') {
    succeed(state, node, progress, result.output, result.handles);
  } else if (result.untilMs <= state.nowMs) {
    succeed(state, node, progress, result.output, [DEFAULT_HANDLE]);
  } else {
    setRecord(state, node.index, delayRecord(progress, result.untilMs, result.output));
    state.timers.add({ atMs: result.untilMs, node: node.index, attempt: progress.attempts });
  }
}

function succeed(
  state: ExecutionState,
  node: PlanNode,
  progress: NodeProgress,
  output: JsonObject,
  handles: readonly string[],
): void {
  const completedAtMs = endTime(state, progress.startedAtMs);
  setRecord(state, node.index, successRecord(progress, output, handles, completedAtMs));
  decideEdges(state, node);
}

function failNode(
  state: ExecutionState,
  node: PlanNode,
  before: NodeProgress,
  result: Failure,
  jitter: number,
  effects: Effect[],
): void {
  const failures = (before.failures ?? 0) + 1;
  const progress = { ...before, failures };
  const error = { code: result.code, message: result.message };
  if (result.retryable && !result.fatal && failures < node.retry.maxAttempts) {
    const wakeAtMs = state.nowMs + retryDelayMs(node.retry, failures, jitter, result.retryAfterMs);
    setRecord(state, node.index, retryRecord(progress, wakeAtMs, error));
    state.timers.add({ atMs: wakeAtMs, node: node.index, attempt: progress.attempts });
    return;
  }
  const completedAtMs = endTime(state, progress.startedAtMs);
  if (result.fatal || node.onError === 'fail') {
    setRecord(state, node.index, failedRecord(progress, error, result.output ?? {}, [], completedAtMs));
    failExecution(state, { ...error, nodeId: node.id }, effects);
    return;
  }
  const output: JsonObject = { ...result.output, error };
  const handles = [node.onError === 'branch' ? ERROR_HANDLE : DEFAULT_HANDLE];
  setRecord(state, node.index, failedRecord(progress, error, output, handles, completedAtMs));
  decideEdges(state, node);
}

/** Nothing new starts, and what is running or waiting is recorded as cancelled. */
function failExecution(state: ExecutionState, error: ExecutionError, effects: Effect[]): void {
  state.phase = { kind: 'failed', error };
  state.ready.length = 0;
  for (const node of state.plan.nodes) {
    const record = state.records[node.index];
    if (record?.status !== 'running' && record?.status !== 'waiting') continue;
    if (record.status === 'running') {
      const { nodeId, attempts: attempt } = record;
      effects.push({ kind: 'abort_node', nodeId, attempt, reason: 'execution_ended' });
    }
    const progress = progressOf(state, node);
    setRecord(state, node.index, cancelledRecord(progress, endTime(state, progress.startedAtMs)));
  }
}

function isPastDeadline(state: ExecutionState): boolean {
  return state.input.deadlineAtMs !== null && state.nowMs >= state.input.deadlineAtMs;
}

/** Lets happen what is due by now: the deadline, ends of waits, next attempts and timeouts of nodes. */
function passTime(state: ExecutionState, atMs: number, jitter: number, effects: Effect[]): void {
  state.nowMs = Math.max(state.nowMs, atMs);
  if (state.phase.kind === 'running' && isPastDeadline(state)) {
    const message = 'The execution took longer than settings.timeout_s allows.';
    failExecution(state, { code: 'execution_timeout', message, nodeId: null }, effects);
  }
  while (state.phase.kind === 'running') {
    const timer = state.timers.peek();
    if (timer === undefined || timer.atMs > state.nowMs) return;
    state.timers.pop();
    const node = state.plan.nodes[timer.node];
    if (node !== undefined) ring(state, node, timer.attempt, jitter, effects);
  }
}

function ring(
  state: ExecutionState,
  node: PlanNode,
  attempt: number,
  jitter: number,
  effects: Effect[],
): void {
  const record = state.records[node.index];
  if (record === undefined || record.status === 'skipped' || record.attempts !== attempt) return;
  const progress = progressOf(state, node);
  if (record.status === 'running') {
    effects.push({ kind: 'abort_node', nodeId: node.id, attempt, reason: 'node_timeout' });
    const message = `The node took longer than the ${node.timeoutMs} ms it may take. Raise data.timeout_ms if it needs more.`;
    const timedOut = failure('node_timeout', message, { retryable: true }) as Failure;
    failNode(state, node, progress, timedOut, jitter, effects);
  } else if (record.status === 'waiting' && record.reason === 'delay') {
    succeed(state, node, progress, record.output, [DEFAULT_HANDLE]);
  } else if (record.status === 'waiting') {
    state.ready.push(node.index);
  }
}

/** Starts what is ready and says what must be stored, waited for or ended. Does nothing once the run is over. */
function flush(state: ExecutionState, effects: Effect[]): Step {
  if (state.phase.kind === 'parked' || state.phase.kind === 'stopped') return { state, effects };
  const starts: Effect[] = [];
  for (let at = 0; at < state.ready.length; at++) {
    const node = state.plan.nodes[state.ready[at] ?? 0];
    if (node !== undefined) startNode(state, node, starts, effects);
  }
  state.ready.length = 0;
  const isOver = state.phase.kind !== 'running' || state.ended === state.plan.nodes.length;
  if (isOver) {
    finish(state, effects);
    return { state, effects };
  }
  if (state.running === 0 && parkIfFar(state, effects)) return { state, effects };
  if (state.mustCheckpoint) {
    const { consumedAiTokens } = state;
    effects.push({ kind: 'checkpoint', records: takeDirtyRecords(state), consumedAiTokens });
  }
  effects.push(...starts);
  armTimer(state, effects);
  return { state, effects };
}

function startNode(state: ExecutionState, node: PlanNode, starts: Effect[], effects: Effect[]): void {
  const before = progressOf(state, node);
  const progress = { ...before, attempts: before.attempts + 1 };
  const config = renderConfig(state, node);
  if ('kind' in config) {
    failNode(state, node, progress, config, 0, effects);
    return;
  }
  setRecord(state, node.index, runningRecord(progress));
  if (node.timeoutMs !== null) {
    const atMs = state.nowMs + node.timeoutMs;
    state.timers.add({ atMs, node: node.index, attempt: progress.attempts });
  }
  const inputs = inputsOf(state, node);
  starts.push({ kind: 'start_node', node, attempt: progress.attempts, config: config.rendered, ...inputs });
}

function finish(state: ExecutionState, effects: Effect[]): void {
  if (state.phase.kind === 'running') state.phase = { kind: 'completed' };
  const outcome: Outcome =
    state.phase.kind === 'failed' ? { status: 'failed', error: state.phase.error } : { status: 'completed' };
  const { consumedAiTokens } = state;
  effects.push({ kind: 'finish', records: takeDirtyRecords(state), outcome, consumedAiTokens });
}

/** The time of the next timer that still counts, or of the deadline; null when neither exists. */
function nextTime(state: ExecutionState): number | null {
  const { deadlineAtMs } = state.input;
  for (let timer = state.timers.peek(); timer !== undefined; timer = state.timers.peek()) {
    const record = state.records[timer.node];
    const counts = record?.status === 'running' || record?.status === 'waiting';
    if (counts && record.attempts === timer.attempt) {
      return deadlineAtMs === null ? timer.atMs : Math.min(timer.atMs, deadlineAtMs);
    }
    state.timers.pop();
  }
  return deadlineAtMs;
}

function parkIfFar(state: ExecutionState, effects: Effect[]): boolean {
  const wakeAtMs = nextTime(state);
  if (wakeAtMs === null || wakeAtMs - state.nowMs <= state.input.limits.inlineWaitMs) return false;
  state.phase = { kind: 'parked', wakeAtMs };
  const { consumedAiTokens } = state;
  effects.push({ kind: 'park', records: takeDirtyRecords(state), wakeAtMs, consumedAiTokens });
  return true;
}

function armTimer(state: ExecutionState, effects: Effect[]): void {
  const atMs = nextTime(state);
  if (atMs === null || (state.armedAtMs !== null && state.armedAtMs <= atMs)) return;
  state.armedAtMs = atMs;
  effects.push({ kind: 'wait_until', atMs });
}
