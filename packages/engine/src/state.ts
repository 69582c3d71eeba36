import type { JsonValue } from '@millrace/values/json';
import { DirtyRecords, NOT_DIRTY } from './dirty-records.ts';
import type { ExecutionError, NodeRecord, ShownRecord } from './execution.ts';
import { skippedRecord } from './execution.ts';
import {
  type Frame,
  frameAround,
  isAtWork,
  isLive,
  type LoopRun,
  newFrame,
  placeOf,
  type Slot,
} from './frames.ts';
import type { Plan, PlanEdge, PlanNode } from './plan.ts';
import { recordBytes } from './record-bytes.ts';
import { skipInside } from './summaries.ts';
import { Timers } from './timers.ts';
import { addTokens } from './tokens.ts';

/** The input for starting or resuming an execution. */
export interface ExecutionInput {
  readonly executionId: number;
  readonly triggerData: JsonValue;
  /** Epoch milliseconds at which the execution fails with `execution_timeout`; null for never. */
  readonly deadlineAtMs: number | null;
  readonly limits: ExecutionLimits;
  /** Bytes that were stored for it before, from the store; absent is 0. */
  readonly storedBytes?: number;
}

export interface ExecutionLimits {
  /** Limit of a node's output in UTF-8 bytes of JSON text; also the limit of a rendered config's texts. */
  readonly maxOutputBytes: number;
  /** Limit of all that is stored for the execution, counted like an output. */
  readonly maxExecutionBytes: number;
  /** If only a wait longer than this remains, the execution is parked. Milliseconds. */
  readonly inlineWaitMs: number;
}

/** `running` until the ending is decided; nothing more happens in the others. */
export type Phase =
  | { readonly kind: 'running' }
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly error: ExecutionError }
  /** `wakeAtMs` null: until a signal arrives. */
  | { readonly kind: 'parked'; readonly wakeAtMs: number | null }
  | { readonly kind: 'stopped' };

/** A signal that was received but not used yet. */
export interface QueuedSignal {
  readonly seq: number;
  readonly payload: JsonValue;
}

/**
 * One execution while a worker runs it. Owned by that run and changed in place, which keeps a run linear in nodes and edges; only the node
 * records are persisted.
 */
export interface ExecutionState {
  readonly plan: Plan;
  /** The trigger that started it. */
  readonly trigger: PlanNode;
  readonly input: ExecutionInput;
  phase: Phase;
  /** Time of the latest event; never goes back. */
  nowMs: number;
  /** Random number in [0, 1) of the latest event. */
  jitter: number;
  readonly root: Frame;
  /** Running iterations. */
  frames: number;
  /** Nodes to start or resume, in the order in which they became ready. */
  ready: Slot[];
  /** Iterations that have ended or failed but aren't processed by their loop yet. */
  settled: Frame[];
  /** Loops that may start more iterations in the next step. */
  readonly stalled: Set<LoopRun>;
  /** Iterations started in this step. */
  started: number;
  /** What rendering configs has cost in this step. */
  rendered: number;
  /** Nodes whose code is running, and nodes that wait. */
  running: number;
  waiting: number;
  /** By all nodes and by the executions they waited for. */
  consumedAiTokens: number;
  /** The share of those executions. */
  childAiTokens: number;
  /** Bytes of all outputs that were stored or will be, those of earlier attempts and ended iterations included. */
  bytes: number;
  /** Bytes of the outputs that are in memory: those of open iterations, and what loops have collected. */
  heldBytes: number;
  readonly dirtyRecords: DirtyRecords<Frame>;
  /** Whether something must be stored before anything starts. */
  mustCheckpoint: boolean;
  readonly timers: Timers<Slot>;
  /** The time the driver was last asked to wait for. */
  armedAtMs: number | null;
  /** By node and iteration, in order. */
  readonly signals: Map<string, QueuedSignal[]>;
  /** `seq` of the last signal received. */
  signalsSeen: number;
}

export function newState(
  plan: Plan,
  input: ExecutionInput,
  nowMs: number,
  trigger = plan.trigger,
): ExecutionState {
  return {
    plan,
    trigger,
    input,
    phase: { kind: 'running' },
    nowMs,
    jitter: 0,
    root: newFrame(plan.root, nowMs),
    frames: 0,
    ready: [],
    settled: [],
    stalled: new Set(),
    started: 0,
    rendered: 0,
    running: 0,
    waiting: 0,
    consumedAiTokens: 0,
    childAiTokens: 0,
    bytes: input.storedBytes ?? 0,
    heldBytes: 0,
    dirtyRecords: new DirtyRecords(),
    mustCheckpoint: false,
    timers: new Timers(),
    armedAtMs: null,
    signals: new Map(),
    signalsSeen: 0,
  };
}

/** Replaces a node's record and updates the counts and the dirty records. Voids its timer. */
export function setRecord(state: ExecutionState, slot: Slot, record: ShownRecord): void {
  count(state, slot, -1);
  slot.timer = null;
  slot.resumed = null;
  slot.isResuming = false;
  // A record that is replaced before it was stored never will be.
  if (slot.dirtyIndex !== NOT_DIRTY) state.bytes -= slot.bytes;
  state.heldBytes -= slot.bytes;
  slot.record = record;
  slot.bytes = recordBytes(record);
  state.bytes += slot.bytes;
  state.heldBytes += slot.bytes;
  // What happened inside a loop is stored before the loop's result; otherwise a reader couldn't distinguish its attempts.
  const { kind } = slot.node;
  if (kind === 'loop') state.dirtyRecords.drop(slot);
  state.dirtyRecords.add(slot);
  // Pure nodes are recomputed after a crash, so nothing waits for their records to be stored.
  if (kind === 'effect' && record.status !== 'skipped') state.mustCheckpoint = true;
  count(state, slot, 1);
}

/** Restores a stored record unchanged. */
export function restoreRecord(state: ExecutionState, slot: Slot, record: ShownRecord): void {
  const { frame } = slot;
  slot.record = record;
  slot.bytes = recordBytes(record);
  state.heldBytes += slot.bytes;
  count(state, slot, 1);
  markStored(frame);
  if (record.status === 'skipped') return;
  addTokens(frame, record);
  addTokens(state, record);
}

function markStored(frame: Frame): void {
  for (let at: Frame | null = frame; at !== null && !at.isStored; at = frameAround(at)) at.isStored = true;
}

/** The node's `resume` is running from now on; its stored record stays `waiting`. */
export function markResuming(state: ExecutionState, slot: Slot): void {
  count(state, slot, -1);
  slot.timer = null;
  slot.isResuming = true;
  count(state, slot, 1);
}

function count(state: ExecutionState, slot: Slot, by: 1 | -1): void {
  const { record, frame } = slot;
  if (record === undefined) return;
  if (isAtWork(slot)) {
    state.running += by;
  } else if (record.status === 'waiting') {
    state.waiting += by;
  } else if (record.status !== 'running') {
    frame.ended += by;
    if (by === 1 && frame.run !== null && frame.isOpen && frame.ended === frame.slots.length)
      state.settled.push(frame);
  }
}

/** Removes and returns the dirty records, which count as stored from now on. */
export function drainDirtyRecords(state: ExecutionState): NodeRecord[] {
  state.mustCheckpoint = false;
  return state.dirtyRecords.take(markStored);
}

/**
 * Decides the edges that leave an ended node, and their effects: a node whose incoming edges are all decided is ready if one of them is
 * live; otherwise it is skipped, and its own edges are dead.
 */
export function decideEdges(state: ExecutionState, ended: Slot): void {
  const { frame } = ended;
  const queue: Slot[] = [ended];
  for (let at = 0; at < queue.length; at++) {
    for (const edge of (queue[at] as Slot).node.outgoing) {
      const target = markEdge(frame, edge);
      // A node with a restored record already has its state.
      if (target.undecided !== 0 || target.record !== undefined) continue;
      if (target.live > 0) {
        state.ready.push(target);
      } else {
        skip(state, target);
        queue.push(target);
      }
    }
  }
}

/** The node never runs, and neither do its contents. */
export function skip(state: ExecutionState, slot: Slot): void {
  const { frame, node } = slot;
  setRecord(state, slot, skippedRecord({ nodeId: node.id, ...placeOf(frame) }, state.nowMs));
  if (node.body !== null) skipInside(state, frame, node.body);
}

/** Marks one edge as decided, and as live when its source took its handle. */
export function markEdge(frame: Frame, edge: PlanEdge): Slot {
  const target = frame.slots[edge.target] as Slot;
  target.undecided -= 1;
  if (isLive(frame, edge)) target.live += 1;
  return target;
}

/** The end of something that started at `startedAtMs`: the clock of another worker may have been ahead. */
export function endTime(state: ExecutionState, startedAtMs: number): number {
  return Math.max(state.nowMs, startedAtMs);
}
