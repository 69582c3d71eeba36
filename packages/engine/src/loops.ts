import { message } from '@millrace/messages';
import { MAX_TEMPLATE_STEPS } from '@millrace/templates/template-filter';
import type { JsonObject, JsonValue } from '@millrace/values/json';
import { jsonBytes } from '@millrace/values/json-size';
import { finishWork, TooManyStepsError } from '@millrace/values/work';
import { describeRenderedFault } from './config-check.ts';
import { looseRecord } from './dirty-records.ts';
import type { Effect } from './effects.ts';
import { closeFrame, closeRun, leaveFrame, leaveRun } from './endings.ts';
import type { ExecutionError, IterationRecord, NodeProgress } from './execution.ts';
import { runningRecord } from './execution.ts';
import { describeError } from './failures.ts';
import { joinOutputs } from './fold.ts';
import {
  BYTES_OF_NO_RESULTS,
  type Frame,
  indexOf,
  type LoopError,
  type LoopRun,
  newFrame,
  outputOf,
  progressOf,
  type Slot,
} from './frames.ts';
import { DEFAULT_HANDLE, type Failure, failure } from './node-result.ts';
import { renderDeferred } from './node-start.ts';
import type { PlanNode } from './plan.ts';
import { checkOutput } from './result.ts';
import { failNode, succeed } from './results.ts';
import { type ExecutionState, endTime, setRecord } from './state.ts';
import { summarise } from './summaries.ts';
import { tokensOf, withTokens } from './tokens.ts';
import { checkTotal } from './total-bytes.ts';

/** Limit per step; beyond it the driver is asked to call again at once. */
const MAX_STARTED_PER_STEP = 500;
/** Beyond this many concurrent iterations, including nested loops, each loop runs one at a time. */
const MAX_FRAMES = 1_000;
/** Starts an attempt of a loop node with its rendered config. */
export function startLoop(
  state: ExecutionState,
  slot: Slot,
  progress: NodeProgress,
  config: JsonObject,
  effects: Effect[],
): void {
  const run = newRun(slot, config);
  if ('code' in run) {
    failNode(state, slot, progress, run, effects);
    return;
  }
  const { timeoutMs } = slot.node;
  const timeoutAtMs = timeoutMs === null ? null : state.nowMs + timeoutMs;
  setRecord(state, slot, runningRecord(progress, timeoutAtMs === null ? undefined : { timeoutAtMs }));
  if (timeoutAtMs !== null) state.timers.set(slot, timeoutAtMs);
  slot.run = run;
  advance(state, run, effects);
}

/** The attempt of a loop before any iteration, or why its config can't be used. */
export function newRun(slot: Slot, config: JsonObject): LoopRun | Failure {
  const { loop } = slot.node.definition;
  const { body } = slot.node;
  if (loop === undefined || body === null) return failure('invalid_config', message('run.empty_loop'));
  const settings = loop.begin(config);
  if ('kind' in settings) return settings;
  const { items, maxIterations, concurrency, onItemError, onLimit } = settings;
  return {
    ...{ slot, body, config, items },
    total: items === null ? maxIterations : items.length,
    concurrency: items === null ? 1 : Math.max(1, concurrency),
    isCollecting: onItemError === 'collect',
    mayReachLimit: onLimit === 'continue',
    known: new Map(),
    restored: new Set(),
    ends: [],
    frames: new Map(),
    ...{ next: 0, started: 0, ended: 0 },
    outputs: items === null ? [] : items.map(() => null),
    errors: [],
    lastOutput: null,
    bytes: BYTES_OF_NO_RESULTS,
    consumedAiTokens: 0,
    childAiTokens: 0,
    lastFrame: null,
    recalled: null,
  };
}

/** Starts as many iterations as allowed, and ends the loop when all have ended. */
export function advance(state: ExecutionState, run: LoopRun, effects: Effect[]): void {
  while (run.next < run.total && run.slot.run === run) {
    const known = run.known.get(run.next);
    if (known !== undefined && mayRecall(run)) {
      recall(state, run, known, effects);
    } else if (!run.restored.has(run.next)) {
      if (run.frames.size >= run.concurrency) return;
      if (run.frames.size > 0 && state.frames >= MAX_FRAMES) return;
      if (state.started >= MAX_STARTED_PER_STEP) {
        state.stalled.add(run);
        return;
      }
      startIteration(state, run, run.next);
    }
    run.next += 1;
  }
  if (run.slot.run === run && run.ended === run.total) endOfAll(state, run, effects);
}

/** Without items, an iteration sees the result of the previous one, which must have ended. */
function mayRecall({ items, frames, next }: LoopRun): boolean {
  return items !== null || [...frames.keys()].every((index) => index > next);
}

function startIteration(state: ExecutionState, run: LoopRun, index: number): void {
  state.started += 1;
  const { slots } = openFrame(state, run, index);
  for (const { place } of run.body.entries) state.ready.push(slots[place] as Slot);
}

export function openFrame(state: ExecutionState, run: LoopRun, index: number): Frame {
  const item = run.items === null ? run.lastOutput : (run.items[index] ?? null);
  const frame = newFrame(run.body, state.nowMs, { run, index, item });
  run.frames.set(index, frame);
  run.started += 1;
  state.frames += 1;
  return frame;
}

/** An iteration that ended before the worker was lost. */
function recall(state: ExecutionState, run: LoopRun, record: IterationRecord, effects: Effect[]): void {
  const { error = null, output, iteration } = record;
  run.known.delete(iteration.at(-1) ?? -1);
  run.started += 1;
  countEnd(
    state,
    run,
    iteration.at(-1) ?? 0,
    error === null ? { output } : { error, isRetryable: false },
    effects,
  );
}

/** Continues the loops of all iterations that have ended or failed. */
export function settle(state: ExecutionState, effects: Effect[]): void {
  // Called at least once per step, so it must be free for a flow without loops.
  if (state.settled.length === 0) return;
  for (let at = 0; at < state.settled.length; at++) {
    const frame = state.settled[at] as Frame;
    if (frame.run === null || !frame.isOpen || state.phase.kind !== 'running') continue;
    endIteration(state, frame.run, frame, effects);
  }
  state.settled = [];
}

/** Loops that reached the limit on starting iterations in the last step. */
export function resumeStalled(state: ExecutionState, effects: Effect[]): void {
  state.started = 0;
  if (state.stalled.size === 0) return;
  const runs = [...state.stalled];
  state.stalled.clear();
  for (const run of runs) if (run.slot.run === run) advance(state, run, effects);
}

type IterationEnd =
  | { readonly output: JsonValue; readonly isDone?: boolean }
  | { readonly error: ExecutionError; readonly isRetryable: boolean };

function endIteration(state: ExecutionState, run: LoopRun, frame: Frame, effects: Effect[]): void {
  const end = frame.failure ?? endOf(state, run, frame);
  closeFrame(state, frame, 'iteration_ended', effects);
  const index = indexOf(frame);
  const isFailing = 'error' in end && !run.isCollecting;
  if (run.lastFrame === null || isFailing || index > indexOf(run.lastFrame)) run.lastFrame = frame;
  leaveFrame(state, run, frame, run.items !== null && index === run.total - 1);
  remember(state, run, frame, end);
  countEnd(state, run, index, end, effects);
  if (run.slot.run === run) advance(state, run, effects);
}

/** Makes sure the end of an iteration is stored when that is required, or along with another write. */
function remember(state: ExecutionState, run: LoopRun, frame: Frame, end: IterationEnd): void {
  // Without items each iteration builds on the previous one, so once one is stored all before it must be.
  if (run.items !== null && !frame.isStored) return;
  const record = looseRecord(iterationRecord(state, run, frame, end));
  state.dirtyRecords.add(record);
  state.bytes += record.bytes;
  if (run.items === null) run.ends.push(record);
}

function iterationRecord(
  state: ExecutionState,
  run: LoopRun,
  frame: Frame,
  end: IterationEnd,
): IterationRecord {
  const { iteration, startedAtMs } = frame;
  const nodeId = run.slot.node.id;
  return {
    ...{ nodeId, status: 'iteration_ended', iteration, loopId: nodeId, startedAtMs, ...tokensOf(frame) },
    completedAtMs: endTime(state, startedAtMs),
    ...('error' in end ? { output: null, error: end.error } : { output: end.output }),
  };
}

/** The result of an iteration in which all nodes have ended. */
function endOf(state: ExecutionState, run: LoopRun, frame: Frame): IterationEnd {
  const { node } = run.slot;
  const members = node.deferred.filter(({ until }) => until === 'iteration');
  const config = renderDeferred(state, frame, run.config, members, endTime(state, frame.startedAtMs));
  if ('kind' in config) return blameLoop(run, config);
  const { rendered } = config;
  const output = hasResult(run.config) ? (rendered.result ?? null) : outputOfBody(frame);
  if (run.items !== null) return { output };
  // With items the config may be as large as they are; deferred members may be anything.
  const fault = members.length === 0 ? null : describeRenderedFault(node.definition.configSchema, rendered);
  if (fault !== null) return blameLoop(run, failure('invalid_config', fault));
  const isDone = isLoopDone(node, rendered);
  return typeof isDone === 'boolean' ? { output, isDone } : blameLoop(run, isDone);
}

function isLoopDone(node: PlanNode, config: JsonObject): boolean | Failure {
  const found = node.definition.loop?.isDone?.(config) ?? false;
  if (typeof found === 'boolean') return found;
  try {
    return finishWork(found, MAX_TEMPLATE_STEPS);
  } catch (error) {
    if (!(error instanceof TooManyStepsError)) throw error;
    return failure('node_too_expensive', message('run.node_too_expensive', { max: MAX_TEMPLATE_STEPS }));
  }
}

function hasResult(config: JsonObject): boolean {
  return Object.hasOwn(config, 'result') && config.result !== null;
}

function outputOfBody(frame: Frame): JsonValue {
  const outputs = frame.scope.sinks.flatMap(({ place, id }): [string, JsonObject][] => {
    const output = outputOf(frame.slots[place] as Slot);
    return output === null ? [] : [[id, output]];
  });
  return joinOutputs(outputs);
}

function blameLoop(run: LoopRun, { code, message: said }: Failure): IterationEnd {
  return { error: { code, message: said, nodeId: run.slot.node.id }, isRetryable: false };
}

/** Counts an iteration that ended; may end the loop. */
function countEnd(
  state: ExecutionState,
  run: LoopRun,
  index: number,
  end: IterationEnd,
  effects: Effect[],
): void {
  run.ended += 1;
  if ('error' in end) {
    if (!run.isCollecting) {
      failLoop(state, run, failureOf(state, run, index, end), effects);
      return;
    }
    const error: LoopError = { index, ...describeError(end.error), node_id: end.error.nodeId };
    run.errors.push(error);
    countBytes(state, run, { ...error }, effects);
    return;
  }
  run.lastOutput = end.output;
  if (run.items !== null) {
    run.outputs[index] = end.output;
    countBytes(state, run, end.output, effects);
  } else if (end.isDone === true) {
    succeedLoop(state, run, { iterations: run.ended, last: end.output, done: true }, effects);
  }
}

function failureOf(
  state: ExecutionState,
  run: LoopRun,
  index: number,
  { error, isRetryable }: { readonly error: ExecutionError; readonly isRetryable: boolean },
): Failure {
  const { frame } = run.slot;
  const node = state.plan.nodes[state.plan.nodeIndexes.get(error.nodeId ?? '') ?? -1] ?? run.slot.node;
  const here = { iteration: [...frame.iteration, index], nodeId: node.id, label: node.label };
  // In nested loops, the innermost knows the location.
  const origin = error.origin ?? here;
  return failure(error.code, error.message, { retryable: isRetryable, origin });
}

/** Ends a loop whose output would exceed the limit of an output, before it has grown that far. */
function countBytes(state: ExecutionState, run: LoopRun, value: JsonValue, effects: Effect[]): void {
  const { maxOutputBytes } = state.input.limits;
  const bytes = jsonBytes(value, maxOutputBytes - run.bytes);
  if (typeof bytes === 'number') {
    run.bytes += bytes + 1;
    state.heldBytes += bytes + 1;
    return;
  }
  const result =
    bytes === 'too_deep'
      ? failure('output_too_deep', message('run.outputs_too_deep'))
      : failure('output_too_large', message('run.outputs_too_large', { max: maxOutputBytes }));
  failLoop(state, run, result, effects);
}

function endOfAll(state: ExecutionState, run: LoopRun, effects: Effect[]): void {
  if (run.items !== null) {
    const errors = run.errors.toSorted((a, b) => a.index - b.index).map((error) => ({ ...error }));
    succeedLoop(state, run, { items: run.outputs, errors }, effects);
  } else if (run.mayReachLimit) {
    succeedLoop(state, run, { iterations: run.ended, last: run.lastOutput, done: false }, effects);
  } else {
    const said = message('run.max_iterations_reached', { count: run.total });
    failLoop(state, run, failure('max_iterations_reached', said), effects);
  }
}

function succeedLoop(state: ExecutionState, run: LoopRun, output: JsonObject, effects: Effect[]): void {
  const fault = checkOutput(output, state.input.limits.maxOutputBytes);
  const refused = fault === null ? checkTotal(state, run.slot, output) : failure(fault.code, fault.message);
  if (refused !== null) {
    failLoop(state, run, refused, effects);
    return;
  }
  const progress = withTokens(progressOf(run.slot, state.nowMs), leaveRun(state, run));
  succeed(state, run.slot, progress, output, [DEFAULT_HANDLE]);
  summarise(state, run);
}

/** The attempt fails; the loop's own `retry` and `on_error` apply. */
export function failLoop(state: ExecutionState, run: LoopRun, result: Failure, effects: Effect[]): void {
  const { slot } = run;
  const consumed = closeRun(state, run, 'iteration_ended', effects);
  failNode(state, slot, withTokens(progressOf(slot, state.nowMs), consumed), result, effects, run);
}
