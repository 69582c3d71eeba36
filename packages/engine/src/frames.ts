import type { JsonObject, JsonValue } from '@millrace/values/json';
import { type LooseRecord, NOT_DIRTY } from './dirty-records.ts';
import type { ExecutionError, IterationRecord, NodeProgress, ShownRecord } from './execution.ts';
import type { NodeSignal } from './node.ts';
import type { PlanEdge, PlanNode, Scope } from './plan.ts';
import type { Timer } from './timers.ts';
import { tokensOf } from './tokens.ts';

/** The nodes of one scope while they run: the top level, or one iteration of a loop. Only running iterations have a frame. */
export interface Frame {
  readonly scope: Scope;
  /** By position in the scope. */
  readonly slots: readonly Slot[];
  /** The loop it is an iteration of; null for the top level. */
  readonly run: LoopRun | null;
  /** Which iteration, innermost last; empty for the top level. */
  readonly iteration: readonly number[];
  /** `{{item}}` of its nodes. */
  readonly item: JsonValue;
  readonly startedAtMs: number;
  /** Nodes that have ended. */
  ended: number;
  /** By everything in it, including ended iterations of its loops. */
  consumedAiTokens: number;
  childAiTokens: number;
  /** Whether any of its records was stored, so that its end must be stored too. */
  isStored: boolean;
  /** The iteration's failure. */
  failure: { readonly error: ExecutionError; readonly isRetryable: boolean } | null;
  /** Whether it contains the node that ends the whole execution. */
  isBlamed: boolean;
  /** False once its iteration has ended: it no longer changes. */
  isOpen: boolean;
  /** By node id: summaries of the nodes inside its ended loops; null while there are none. */
  summaries: Map<string, Summary> | null;
}

/** One node in one frame. */
export interface Slot {
  readonly frame: Frame;
  readonly node: PlanNode;
  /** Undefined until the node has a record. */
  record: ShownRecord | undefined;
  /** Undecided incoming edges, and decided ones that are live. */
  undecided: number;
  live: number;
  timer: Timer<Slot> | null;
  /** What ended its wait, from then until the node's `resume` has ended. `seq` is null for a timeout. */
  resumed: { readonly signal: NodeSignal; readonly seq: number | null } | null;
  /** Whether `resume` is running: its record stays `waiting` until that has ended. */
  isResuming: boolean;
  /** Set for a running loop. */
  run: LoopRun | null;
  /** Of its record; see `recordBytes`. */
  bytes: number;
  /** Managed by {@link DirtyRecords}. */
  dirtyIndex: number;
}

export type Summary = LooseRecord & { readonly record: ShownRecord };

/** One attempt of a loop node. */
export interface LoopRun {
  readonly slot: Slot;
  readonly body: Scope;
  /** The rendered config, without what is rendered after each iteration. */
  readonly config: JsonObject;
  /** Null: it repeats until it is done. */
  readonly items: readonly JsonValue[] | null;
  /** How many iterations there are, or the maximum when it repeats. */
  readonly total: number;
  readonly concurrency: number;
  readonly isCollecting: boolean;
  readonly mayReachLimit: boolean;
  /** Ends of iterations that an earlier worker stored and that aren't counted yet. */
  readonly known: Map<number, IterationRecord>;
  /** Iterations that had started on an earlier worker and continue here before new ones. */
  readonly restored: Set<number>;
  /** Ends of iterations that needn't be stored for their own sake: all of them without items, none with items. */
  readonly ends: LooseRecord[];
  /** Running iterations, by index. */
  readonly frames: Map<number, Frame>;
  /** The lowest index not processed yet. */
  next: number;
  started: number;
  ended: number;
  /** By index, for loops with items; null where an iteration failed. */
  readonly outputs: JsonValue[];
  readonly errors: LoopError[];
  /** Of the iteration that ended last, for loops without items. */
  lastOutput: JsonValue;
  /** Size of outputs and errors as JSON text. */
  bytes: number;
  consumedAiTokens: number;
  childAiTokens: number;
  /** The iteration whose records represent all of them when the loop ends. */
  lastFrame: Frame | null;
  /** The same from an earlier worker: the last of the iterations in `known`. */
  recalled: { readonly index: number; readonly records: ReadonlyMap<string, ShownRecord> } | null;
}

/** `bytes` of a run in which nothing has ended: `{"items":[],"errors":[]}` and a margin. */
export const BYTES_OF_NO_RESULTS = 30;

export interface LoopError {
  readonly index: number;
  readonly code: string;
  readonly message: string;
  readonly node_id: string | null;
}

export function newFrame(
  scope: Scope,
  nowMs: number,
  of: { run: LoopRun; index: number; item: JsonValue } | null = null,
): Frame {
  const slots: Slot[] = [];
  const frame: Frame = {
    scope,
    slots,
    run: of === null ? null : of.run,
    iteration: of === null ? [] : [...of.run.slot.frame.iteration, of.index],
    item: of === null ? null : of.item,
    startedAtMs: nowMs,
    ended: 0,
    consumedAiTokens: 0,
    childAiTokens: 0,
    isStored: false,
    failure: null,
    isBlamed: false,
    isOpen: true,
    summaries: null,
  };
  for (const node of scope.nodes) {
    slots.push({
      frame,
      node,
      record: undefined,
      undecided: node.incoming.length,
      live: 0,
      timer: null,
      resumed: null,
      isResuming: false,
      run: null,
      bytes: 0,
      dirtyIndex: NOT_DIRTY,
    });
  }
  return frame;
}

/** The frame around an iteration; null for the top level. */
export function frameAround(frame: Frame): Frame | null {
  return frame.run === null ? null : frame.run.slot.frame;
}

/** Index of an iteration in its loop. */
export function indexOf(frame: Frame): number {
  return frame.iteration.at(-1) ?? 0;
}

/** The slot of a node and iteration, if that iteration is running. */
export function findSlot(root: Frame, node: PlanNode, iteration: readonly number[]): Slot | undefined {
  if (iteration.length === 0) return root.scope === node.scope ? root.slots[node.place] : undefined;
  const loops: PlanNode[] = [];
  for (let loop = node.scope.loop; loop !== null; loop = loop.scope.loop) loops.unshift(loop);
  if (loops.length !== iteration.length) return undefined;
  let frame: Frame | undefined = root;
  for (let level = 0; level < loops.length; level++) {
    const run: LoopRun | null | undefined = frame.slots[(loops[level] as PlanNode).place]?.run;
    frame = run?.frames.get(iteration[level] as number);
    if (frame === undefined) return undefined;
  }
  return frame.slots[node.place];
}

/** Every slot of a frame and of the running iterations inside it; a loop comes before its contents. */
export function* openSlots(frame: Frame): Generator<Slot> {
  for (const slot of frame.slots) {
    yield slot;
    if (slot.run !== null) for (const inside of slot.run.frames.values()) yield* openSlots(inside);
  }
}

/** Whether an edge's source has ended and took the edge's handle. */
export function isLive(frame: Frame, edge: PlanEdge): boolean {
  const record = frame.slots[edge.source]?.record;
  return (
    record !== undefined &&
    (record.status === 'success' || record.status === 'failed') &&
    record.handles.includes(edge.handle)
  );
}

/** A node's output once it has ended; null before, and when it was skipped or cancelled. */
export function outputOf({ record }: Slot): JsonObject | null {
  if (record === undefined) return null;
  return record.status === 'success' || record.status === 'failed' ? record.output : null;
}

/** The output of the failed attempt before this one, also when this one restarts on another worker. */
export function previousOutputOf({ record }: Slot): JsonObject | null {
  if (record?.status === 'running') return record.previousOutput ?? null;
  if (record?.status !== 'waiting') return null;
  return Object.keys(record.output).length === 0 ? null : record.output;
}

/** Whether the node's code is running now. A loop has no code. */
export function isAtWork({ node, record, isResuming }: Slot): boolean {
  return isResuming || (record?.status === 'running' && node.kind !== 'loop');
}

/** The iteration and loop of a record; empty at top level. */
export function placeOf(frame: Frame): { iteration?: readonly number[]; loopId?: string } {
  if (frame.run === null) return {};
  return { iteration: frame.iteration, loopId: frame.run.slot.node.id };
}

/** What a node's next record carries over from its last one. */
export function progressOf(slot: Slot, nowMs: number): NodeProgress {
  const { record, node, frame, resumed } = slot;
  if (record === undefined || record.status === 'skipped') {
    const fresh = { nodeId: node.id, attempts: 0, startedAtMs: nowMs, consumedAiTokens: 0 };
    return frame.run === null ? fresh : { ...fresh, ...placeOf(frame) };
  }
  const { nodeId, iteration, loopId, attempts, failures, startedAtMs } = record;
  const signalSeq = resumed?.seq ?? record.signalSeq;
  const progress = { nodeId, attempts, startedAtMs, ...tokensOf(record) };
  // Fast path: most have none of the following, and this is called twice per attempt.
  if (failures === undefined && loopId === undefined && signalSeq === undefined) return progress;
  return {
    ...progress,
    ...(failures === undefined ? undefined : { failures }),
    ...(iteration === undefined ? undefined : { iteration }),
    ...(loopId === undefined ? undefined : { loopId }),
    ...(signalSeq === undefined ? undefined : { signalSeq }),
  };
}
