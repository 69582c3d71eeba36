import { message } from '@millrace/messages';
import type { JsonObject } from '@millrace/values/json';
import { finishWork, type Work } from '@millrace/values/work';
import type { Effect, StepEvent } from './effects.ts';
import { abort, failExecution, finish, halt, takeWrite } from './endings.ts';
import { type NodeProgress, type NodeRecord, runningRecord } from './execution.ts';
import { isAtWork, previousOutputOf, progressOf, type Slot } from './frames.ts';
import { failLoop, resumeStalled, settle, startLoop } from './loops.ts';
import { DEFAULT_HANDLE, type Failure, failure } from './node-result.ts';
import { configWork, inputsOf, loopAttemptsOf, rendererOf } from './node-start.ts';
import type { Plan } from './plan.ts';
import { recordBytes } from './record-bytes.ts';
import { restore } from './restore.ts';
import { failNode, succeed, takeResult } from './results.ts';
import { deliverTimeout, keepSignals, takeSignal } from './signals.ts';
import { type ExecutionInput, type ExecutionState, markResuming, newState, setRecord } from './state.ts';
import type { StoredSignal } from './store.ts';
import { startedBy } from './trigger-request.ts';

export interface Step {
  readonly state: ExecutionState;
  readonly effects: readonly Effect[];
}

/** Starts an execution at the plan's own trigger, which has ended with `{data: <trigger data>}`; others start with their record. */
export function begin(plan: Plan, input: ExecutionInput, atMs: number): Step {
  return resume(plan, input, [], atMs);
}

/**
 * Resumes an execution from its stored records, in storage order. A node that was running is restarted: this counts as an attempt but not
 * as a failure. Ended nodes and iterations aren't rerun, except pure ones whose records weren't stored.
 * @param signals all that were sent to it so far
 */
export function resume(
  plan: Plan,
  input: ExecutionInput,
  records: readonly NodeRecord[],
  atMs: number,
  signals: readonly StoredSignal[] = [],
): Step {
  return finishWork(resumeWork(plan, input, records, atMs, signals));
}

/** {@link resume} in pieces: see {@link stepWork}. */
export function* resumeWork(
  plan: Plan,
  input: ExecutionInput,
  records: readonly NodeRecord[],
  atMs: number,
  signals: readonly StoredSignal[] = [],
): Work<Step> {
  const state = newState(plan, input, atMs, startedBy(plan, records));
  const effects: Effect[] = [];
  keepSignals(state, signals);
  // What a rerun keeps was stored by its start, without being counted.
  if (state.bytes === 0) for (const record of records) state.bytes += recordBytes(record);
  restore(state, records, effects);
  passTime(state, atMs, effects);
  return yield* flush(state, effects);
}

/**
 * The reducer: takes one event, changes the state in place and returns what must be done now. Deterministic: the same state and event
 * produce the same effects. The loop that drives it:
 *
 *     let { state, effects } = resume(plan, input, claimed.records, now(), claimed.signals);
 *     const events = queue();
 *     for (;;) {
 *       for (const effect of effects) perform(effect);   // in order; see Effect
 *       if (state.phase.kind !== 'running') break;       // finish, park or hand_back was the last effect
 *       effects = stepAll(state, await events.nextBatch()).effects;
 *     }
 *
 * `perform` of a store effect waits for the store; if that returns false: `stepAll(state, [{ kind: 'stop', reason: 'lease_lost', atMs }])`,
 * perform the resulting aborts, and leave. `perform` of `start_node` calls the node's `run`, or its `resume`, and pushes `node_ended` when
 * it ends; one that throws is a failure with code `internal_error`.
 */
export function step(state: ExecutionState, event: StepEvent): Step {
  return stepAll(state, [event]);
}

/** {@link step} for several events at once, whose results are stored by one checkpoint. */
export function stepAll(state: ExecutionState, events: readonly StepEvent[]): Step {
  return finishWork(stepWork(state, events));
}

/**
 * {@link stepAll} in pieces, because configs are rendered with data of any size. The state may be read between two pieces, but takes no other
 * events before the step has ended. How long the pauses are doesn't change the result.
 */
export function* stepWork(state: ExecutionState, events: readonly StepEvent[]): Work<Step> {
  const effects: Effect[] = [];
  if (state.phase.kind !== 'running') return { state, effects };
  for (const event of events) {
    if (state.phase.kind === 'running') take(state, event, effects);
  }
  return yield* flush(state, effects);
}

function take(state: ExecutionState, event: StepEvent, effects: Effect[]): void {
  if (event.kind === 'stop') {
    state.nowMs = Math.max(state.nowMs, event.atMs);
    halt(state, event.reason, effects);
    return;
  }
  state.nowMs = Math.max(state.nowMs, event.atMs);
  state.jitter = event.jitter;
  if (event.kind === 'time') {
    state.armedAtMs = null;
  } else if (!isPastDeadline(state)) {
    // An available result counts, even when its node has timed out by now; after the execution's deadline nothing does.
    if (event.kind === 'signal') takeSignal(state, event);
    else takeResult(state, event, effects);
    settle(state, effects);
  }
  passTime(state, event.atMs, effects);
}

function isPastDeadline(state: ExecutionState): boolean {
  return state.input.deadlineAtMs !== null && state.nowMs >= state.input.deadlineAtMs;
}

/** Processes what is due by now: the deadline, ends of waits, next attempts and timeouts of nodes. */
function passTime(state: ExecutionState, atMs: number, effects: Effect[]): void {
  state.nowMs = Math.max(state.nowMs, atMs);
  if (state.phase.kind === 'running' && isPastDeadline(state)) {
    const said = message('run.execution_timeout');
    failExecution(state, { code: 'execution_timeout', message: said, nodeId: null }, effects);
  }
  while (state.phase.kind === 'running') {
    const timer = state.timers.peek();
    if (timer === undefined || timer.atMs > state.nowMs) return;
    fireTimer(state, timer.slot, effects);
    settle(state, effects);
  }
}

function fireTimer(state: ExecutionState, slot: Slot, effects: Effect[]): void {
  const { record, node, run } = slot;
  slot.timer = null;
  if (record === undefined) return;
  if (record.status === 'running' || slot.isResuming) {
    const said = message('run.node_timeout', { ms: node.timeoutMs ?? 0 });
    const timedOut = failure('node_timeout', said, { retryable: true });
    abort(slot, 'node_timeout', effects);
    if (run === null) failNode(state, slot, progressOf(slot, state.nowMs), timedOut, effects);
    else failLoop(state, run, timedOut, effects);
  } else if (record.status !== 'waiting') {
    return;
  } else if (record.reason === 'delay') {
    succeed(state, slot, progressOf(slot, state.nowMs), record.output, [DEFAULT_HANDLE]);
  } else if (record.reason === 'signal') {
    deliverTimeout(state, slot);
  } else {
    state.ready.push(slot);
  }
}

/** Once rendering configs has cost this much, the other ready nodes start in the next step, which also takes the events since. */
const MAX_RENDER_STEPS = 100_000;

type Start = { readonly slot: Slot; readonly effect: Extract<Effect, { kind: 'start_node' }> };

/** Starts what is ready and returns what must be stored, awaited or ended. Does nothing once the run is over. */
function* flush(state: ExecutionState, effects: Effect[]): Work<Step> {
  if (state.phase.kind === 'parked' || state.phase.kind === 'stopped') return { state, effects };
  const starts = yield* startAll(state, effects);
  const { root, plan } = state;
  if (state.phase.kind !== 'running' || root.ended === plan.root.nodes.length) {
    finish(state, effects);
    return { state, effects };
  }
  if (parkIfFar(state, effects)) return { state, effects };
  if (state.mustCheckpoint) effects.push({ kind: 'checkpoint', ...takeWrite(state) });
  for (const { slot, effect } of starts) {
    // Another node in its iteration may have failed since.
    if (slot.frame.isOpen && isAtWork(slot)) effects.push(effect);
  }
  state.timers.tidy(state.running + state.waiting);
  armTimer(state, effects);
  return { state, effects };
}

function* startAll(state: ExecutionState, effects: Effect[]): Work<Start[]> {
  const starts: Start[] = [];
  state.rendered = 0;
  resumeStalled(state, effects);
  do {
    const { ready } = state;
    if (ready.length > 0) state.ready = [];
    let next = 0;
    for (; next < ready.length && state.rendered <= MAX_RENDER_STEPS; next += 1) {
      const slot = ready[next] as Slot;
      if (state.phase.kind === 'running' && slot.frame.isOpen) {
        startNode(state, slot, yield* configWork(state, slot), starts, effects);
      }
    }
    if (next < ready.length && state.phase.kind === 'running') state.ready.unshift(...ready.slice(next));
    settle(state, effects);
  } while (state.ready.length > 0 && state.rendered <= MAX_RENDER_STEPS);
  return starts;
}

function startNode(
  state: ExecutionState,
  slot: Slot,
  config: { readonly rendered: JsonObject } | Failure,
  starts: Start[],
  effects: Effect[],
): void {
  const { node, resumed } = slot;
  if (resumed !== null) {
    const progress = progressOf(slot, state.nowMs);
    if ('kind' in config) {
      failNode(state, slot, progress, config, effects);
      return;
    }
    const waiting = slot.record?.status === 'waiting' ? slot.record.output : {};
    markResuming(state, slot);
    const { effect } = startAttempt(state, slot, progress, config.rendered);
    starts.push({ slot, effect: { ...effect, resumed: { signal: resumed.signal, waiting } } });
    return;
  }
  const before = progressOf(slot, state.nowMs);
  const progress = { ...before, attempts: before.attempts + 1 };
  if ('kind' in config) {
    failNode(state, slot, progress, config, effects);
  } else if (node.kind === 'loop') {
    startLoop(state, slot, progress, config.rendered, effects);
  } else {
    const previousOutput = previousOutputOf(slot);
    setRecord(state, slot, runningRecord(progress, previousOutput === null ? undefined : { previousOutput }));
    starts.push(startAttempt(state, slot, progress, config.rendered, previousOutput));
  }
}

function startAttempt(
  state: ExecutionState,
  slot: Slot,
  progress: NodeProgress,
  config: JsonObject,
  previousOutput: JsonObject | null = null,
): Start {
  const { node, frame } = slot;
  const { tokenBudget, timezone } = state.plan;
  if (node.timeoutMs !== null) state.timers.set(slot, state.nowMs + node.timeoutMs);
  const { inputs, inputOrder } = inputsOf(slot);
  const effect: Start['effect'] = {
    kind: 'start_node',
    node,
    iteration: frame.iteration,
    attempt: progress.attempts,
    config,
    inputs,
    inputOrder,
    previousOutput,
    aiTokensLeft: tokenBudget === null ? null : Math.max(0, tokenBudget - state.consumedAiTokens),
    timezone,
    render: rendererOf(state, slot),
  };
  const loopAttempts = frame.run === null ? null : loopAttemptsOf(frame);
  return { slot, effect: loopAttempts === null ? effect : { ...effect, loopAttempts } };
}

/** Now, if more is to be started; else the time of the next valid timer, or of the deadline; null when neither exists. */
function nextTime(state: ExecutionState): number | null {
  if (state.stalled.size > 0 || state.ready.length > 0) return state.nowMs;
  const { deadlineAtMs } = state.input;
  const timer = state.timers.peek();
  if (timer === undefined) return deadlineAtMs;
  return deadlineAtMs === null ? timer.atMs : Math.min(timer.atMs, deadlineAtMs);
}

function parkIfFar(state: ExecutionState, effects: Effect[]): boolean {
  if (state.running > 0) return false;
  const wakeAtMs = nextTime(state);
  if (wakeAtMs !== null && wakeAtMs - state.nowMs <= state.input.limits.inlineWaitMs) return false;
  state.phase = { kind: 'parked', wakeAtMs };
  effects.push({ kind: 'park', ...takeWrite(state), wakeAtMs });
  return true;
}

function armTimer(state: ExecutionState, effects: Effect[]): void {
  const atMs = nextTime(state);
  if (atMs === null || (state.armedAtMs !== null && state.armedAtMs <= atMs)) return;
  state.armedAtMs = atMs;
  effects.push({ kind: 'wait_until', atMs });
}
