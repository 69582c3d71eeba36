import type { Effect } from './effects.ts';
import { completeExecution, failExecution } from './endings.ts';
import type { ExecutionError, NodeRecord, ShownRecord } from './execution.ts';
import { successRecord } from './execution.ts';
import { type FoldedFrame, type FoldedLoop, foldFrames } from './fold.ts';
import { type Frame, type LoopRun, progressOf, type Slot } from './frames.ts';
import { advance, newRun, openFrame, settle } from './loops.ts';
import { DEFAULT_HANDLE, type Failure } from './node-result.ts';
import { renderConfig } from './node-start.ts';
import { failNode } from './results.ts';
import { deliverSignal } from './signals.ts';
import { type ExecutionState, markEdge, restoreRecord, setRecord, skip } from './state.ts';
import { summaryOf } from './summaries.ts';
import { addTokens } from './tokens.ts';

/** Found in stored records, and usable only once all of them have been restored. */
interface Found {
  /** Loops that were running, outer loops first. */
  readonly runs: LoopRun[];
  /** Loops that can't continue. */
  readonly broken: { readonly slot: Slot; readonly failure: Failure }[];
  ending: ExecutionError | null;
  isStopped: boolean;
}

/** Most executions are started, not resumed. */
const NOTHING: FoldedFrame = { records: new Map(), loops: new Map() };

/** Restores a fresh state from stored records; its signals must have been added already. */
export function restore(state: ExecutionState, records: readonly NodeRecord[], effects: Effect[]): void {
  const found: Found = { runs: [], broken: [], ending: null, isStopped: false };
  restoreFrame(state, state.root, records.length === 0 ? NOTHING : foldFrames([{ records }]), found);
  if (found.ending !== null) failExecution(state, found.ending, effects);
  else if (found.isStopped) completeExecution(state, effects);
  for (const { slot, failure } of found.broken) {
    if (state.phase.kind === 'running')
      failNode(state, slot, progressOf(slot, state.nowMs), failure, effects);
  }
  for (const run of found.runs.toReversed()) {
    if (state.phase.kind === 'running' && run.slot.run === run) advance(state, run, effects);
  }
  settle(state, effects);
}

function restoreFrame(state: ExecutionState, frame: Frame, folded: FoldedFrame, found: Found): void {
  for (const record of folded.records.values()) {
    if (record.iterations === undefined) continue;
    frame.summaries ??= new Map();
    frame.summaries.set(record.nodeId, summaryOf(record));
  }
  for (const slot of frame.slots) {
    const { node } = slot;
    const record = folded.records.get(node.id);
    if (record === undefined || record.status === 'cancelled') {
      restoreUnknown(state, slot);
    } else if (record.status === 'running' || record.status === 'waiting') {
      if (slot.undecided === 0) restoreUnended(state, slot, record, folded.loops.get(node.id), found);
    } else {
      restoreEnded(state, slot, record, found);
    }
  }
}

function restoreUnknown(state: ExecutionState, slot: Slot): void {
  const { node, frame, undecided, live } = slot;
  if (node === state.trigger) {
    const progress = { ...progressOf(slot, state.nowMs), attempts: 1 };
    const output = { data: state.input.triggerData };
    setRecord(state, slot, successRecord(progress, output, [DEFAULT_HANDLE], state.nowMs));
    for (const edge of node.outgoing) markEdge(frame, edge);
  } else if (undecided === 0) {
    // In a body, nodes without incoming edges are where an iteration starts; at the top level, they are triggers that didn't start this.
    if (live > 0 || (frame.run !== null && node.incoming.length === 0)) {
      state.ready.push(slot);
    } else {
      skip(state, slot);
      for (const edge of node.outgoing) markEdge(frame, edge);
    }
  }
}

function restoreEnded(state: ExecutionState, slot: Slot, record: ShownRecord, found: Found): void {
  const { frame, node } = slot;
  restoreRecord(state, slot, record);
  for (const edge of node.outgoing) markEdge(frame, edge);
  if (record.status === 'success' && record.isStop === true) found.isStopped = true;
  if (record.status !== 'failed' || record.handles.length > 0) return;
  const error = { ...record.error, nodeId: node.id };
  if (frame.run === null) {
    found.ending = error;
  } else {
    frame.failure = { error, isRetryable: false };
    state.settled.push(frame);
  }
}

function restoreUnended(
  state: ExecutionState,
  slot: Slot,
  record: Extract<ShownRecord, { status: 'running' | 'waiting' }>,
  loop: FoldedLoop | undefined,
  found: Found,
): void {
  restoreRecord(state, slot, record);
  if (record.status === 'waiting') {
    if (!deliverSignal(state, slot) && record.wakeAtMs !== null) state.timers.set(slot, record.wakeAtMs);
  } else if (slot.node.kind === 'loop') {
    restoreLoop(state, slot, loop, found);
    if (record.timeoutAtMs !== undefined) state.timers.set(slot, record.timeoutAtMs);
  } else {
    state.ready.push(slot);
  }
}

function restoreLoop(
  state: ExecutionState,
  slot: Slot,
  folded: FoldedLoop = { ended: new Map(), frames: new Map(), lastEnded: -1 },
  found: Found,
): void {
  const config = renderConfig(state, slot);
  const run = 'kind' in config ? config : newRun(slot, config.rendered);
  if ('code' in run) {
    found.broken.push({ slot, failure: run });
    return;
  }
  slot.run = run;
  found.runs.push(run);
  for (const [index, record] of folded.ended) {
    if (index >= run.total) continue;
    run.known.set(index, record);
    addTokens(run, record);
    addTokens(state, record);
  }
  const { lastEnded: last } = folded;
  if (last >= 0) run.recalled = { index: last, records: folded.frames.get(last)?.records ?? new Map() };
  for (const [index, inside] of folded.frames) {
    if (index >= run.total || run.known.has(index)) continue;
    if (run.items === null && index > 0) {
      const before = run.known.get(index - 1);
      // The previous iteration's result, which it depended on, wasn't stored: it is rerun.
      if (before === undefined) continue;
      run.lastOutput = before.output;
    }
    run.restored.add(index);
    restoreFrame(state, openFrame(state, run, index), inside, found);
  }
}
