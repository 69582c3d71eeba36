import { dropRecord } from './dirty-records.ts';
import type { AbortReason, Effect, StopReason } from './effects.ts';
import { cancelledRecord, type ExecutionError } from './execution.ts';
import {
  BYTES_OF_NO_RESULTS,
  type Frame,
  frameAround,
  indexOf,
  isAtWork,
  type LoopRun,
  openSlots,
  progressOf,
  type Slot,
} from './frames.ts';
import { drainDirtyRecords, type ExecutionState, endTime, setRecord, skip } from './state.ts';
import type { Outcome } from './store.ts';
import { endsMore, skipUnrecorded, summarise } from './summaries.ts';
import { addTokens, type Tokens, withTokens } from './tokens.ts';

/** The driver stops: running nodes are aborted, and on shutdown dirty records are handed back. */
export function halt(state: ExecutionState, reason: StopReason, effects: Effect[]): void {
  for (const slot of openSlots(state.root)) abort(slot, reason, effects);
  state.phase = { kind: 'stopped' };
  if (reason === 'shutdown') effects.push({ kind: 'hand_back', ...takeWrite(state) });
}

/** Nothing new starts; running and waiting nodes are recorded as cancelled. */
export function failExecution(state: ExecutionState, error: ExecutionError, effects: Effect[]): void {
  state.phase = { kind: 'failed', error };
  endFrame(state, state.root, effects);
}

/** Like {@link failExecution}, but as a success, and nodes that weren't started are skipped. */
export function completeExecution(state: ExecutionState, effects: Effect[]): void {
  const { root, plan } = state;
  state.phase = { kind: 'completed' };
  endFrame(state, root, effects);
  for (const slot of root.slots) if (slot.record === undefined) skip(state, slot);
  skipUnrecorded(state, root, plan.nodes);
}

function endFrame(state: ExecutionState, frame: Frame, effects: Effect[]): void {
  state.ready = [];
  state.settled = [];
  state.stalled.clear();
  closeFrame(state, frame, 'execution_ended', effects);
}

/** This slot ends the whole execution: its iterations are the ones to show. */
export function blame(slot: Slot): void {
  for (let frame: Frame | null = slot.frame; frame !== null; frame = frameAround(frame))
    frame.isBlamed = true;
}

/** Running and waiting nodes in a frame, and in the iterations inside it, are aborted and recorded as cancelled. */
export function closeFrame(
  state: ExecutionState,
  frame: Frame,
  reason: AbortReason,
  effects: Effect[],
): void {
  frame.isOpen = false;
  for (const slot of frame.slots) {
    const status = slot.record?.status;
    if (status !== 'running' && status !== 'waiting') continue;
    abort(slot, reason, effects);
    const { run } = slot;
    const progress = progressOf(slot, state.nowMs);
    const ended = run === null ? progress : withTokens(progress, closeRun(state, run, reason, effects));
    setRecord(state, slot, cancelledRecord(ended, endTime(state, progress.startedAtMs)));
    if (run !== null) summarise(state, run);
  }
}

/** An attempt of a loop ends early: its iterations are closed. @returns AI tokens they consumed */
export function closeRun(
  state: ExecutionState,
  run: LoopRun,
  reason: AbortReason,
  effects: Effect[],
): Tokens {
  for (const frame of run.frames.values()) {
    closeFrame(state, frame, reason, effects);
    if (isShownInsteadOf(run, frame)) run.lastFrame = frame;
  }
  for (const frame of run.frames.values()) leaveFrame(state, run, frame);
  return leaveRun(state, run);
}

/** The iteration to blame is shown, else the one that failed the loop, else the one with the highest index. */
function isShownInsteadOf(run: LoopRun, frame: Frame): boolean {
  const { lastFrame } = run;
  if (lastFrame === null || frame.isBlamed) return true;
  return !endsMore(run, lastFrame) && indexOf(frame) > indexOf(lastFrame);
}

/** The attempt is over; its loop's record is updated next. @returns AI tokens it consumed */
export function leaveRun(state: ExecutionState, run: LoopRun): Tokens {
  const { slot } = run;
  slot.run = null;
  for (const end of run.ends) dropRecord(state, end);
  state.heldBytes -= run.bytes - BYTES_OF_NO_RESULTS;
  addTokens(slot.frame, run);
  state.stalled.delete(run);
  return run;
}

/** An iteration is over: its tokens are added to its loop, and records that needn't be stored are dropped. */
export function leaveFrame(state: ExecutionState, run: LoopRun, frame: Frame, keepsAll = false): void {
  run.frames.delete(indexOf(frame));
  addTokens(run, frame);
  state.frames -= 1;
  for (const slot of frame.slots) state.heldBytes -= slot.bytes;
  if (frame.isStored && keepsAll) return;
  for (const summary of frame.summaries?.values() ?? []) dropRecord(state, summary);
  for (const slot of frame.slots) {
    const isKept = frame.isStored && (slot.node.kind === 'effect' || slot.record?.status === 'failed');
    if (!isKept || slot.record?.status === 'skipped') dropRecord(state, slot);
  }
}

/** The last effect of a run. */
export function finish(state: ExecutionState, effects: Effect[]): void {
  if (state.phase.kind === 'running') state.phase = { kind: 'completed' };
  const outcome: Outcome =
    state.phase.kind === 'failed' ? { status: 'failed', error: state.phase.error } : { status: 'completed' };
  effects.push({ kind: 'finish', ...takeWrite(state), outcome });
}

/** What a store effect writes: everything not stored yet. The store already knows what children consumed. */
export function takeWrite(state: ExecutionState) {
  const { signalsSeen } = state;
  const consumedAiTokens = state.consumedAiTokens - state.childAiTokens;
  return { records: drainDirtyRecords(state), consumedAiTokens, storedBytes: state.bytes, signalsSeen };
}

/** Aborts the node's code if it is running. */
export function abort(slot: Slot, reason: AbortReason, effects: Effect[]): void {
  if (!isAtWork(slot) || slot.record === undefined || slot.record.status === 'skipped') return;
  const { nodeId, attempts: attempt } = slot.record;
  effects.push({ kind: 'abort_node', nodeId, iteration: slot.frame.iteration, attempt, reason });
}
