import type { ExecutionError, NodeProgress, NodeRecord } from './execution.ts';
import { skippedRecord } from './execution.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Plan, PlanEdge, PlanNode } from './plan.ts';
import { Timers } from './timers.ts';

/** What an execution is started or resumed with. */
export interface ExecutionInput {
  readonly executionId: number;
  readonly triggerData: JsonValue;
  /** Epoch milliseconds at which the execution fails with `execution_timeout`; null for never. */
  readonly deadlineAtMs: number | null;
  readonly limits: ExecutionLimits;
}

export interface ExecutionLimits {
  /** UTF-8 bytes a node's output may have as JSON text; also the limit of a rendered config's texts. */
  readonly maxOutputBytes: number;
  /** When all that is left is a wait longer than this, the execution is parked. Milliseconds. */
  readonly inlineWaitMs: number;
}

/** `running` until an ending was decided; nothing happens any more in the others. */
export type Phase =
  | { readonly kind: 'running' }
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly error: ExecutionError }
  | { readonly kind: 'parked'; readonly wakeAtMs: number }
  | { readonly kind: 'stopped' };

/**
 * One execution while a worker runs it. Owned by that run and changed in place, which keeps a run linear in nodes
 * and edges; what lasts of it are the node records.
 */
export interface ExecutionState {
  readonly plan: Plan;
  readonly input: ExecutionInput;
  phase: Phase;
  /** Time of the latest event; never goes back. */
  nowMs: number;
  /** By place in the plan; undefined while nothing is known of the node. */
  readonly records: (NodeRecord | undefined)[];
  /** Incoming edges not yet decided, and decided ones that are live, by place in the plan. */
  readonly undecided: number[];
  readonly live: number[];
  /** Nodes to be started, in the order in which they became ready. */
  readonly ready: number[];
  ended: number;
  running: number;
  waiting: number;
  consumedAiTokens: number;
  /** Nodes whose latest record is not stored yet, each once. */
  dirty: number[];
  readonly isDirty: boolean[];
  /** Whether something must be stored before anything is started. */
  mustCheckpoint: boolean;
  readonly timers: Timers;
  /** What the driver was asked to wait for. */
  armedAtMs: number | null;
}

export function newState(plan: Plan, input: ExecutionInput, nowMs: number): ExecutionState {
  return {
    plan,
    input,
    phase: { kind: 'running' },
    nowMs,
    records: plan.nodes.map(() => undefined),
    undecided: plan.nodes.map((node) => node.incoming.length),
    live: plan.nodes.map(() => 0),
    ready: [],
    ended: 0,
    running: 0,
    waiting: 0,
    consumedAiTokens: 0,
    dirty: [],
    isDirty: plan.nodes.map(() => false),
    mustCheckpoint: false,
    timers: new Timers(),
    armedAtMs: null,
  };
}

/** Replaces a node's record and keeps the counts and what is to be stored in step with it. */
export function setRecord(state: ExecutionState, index: number, record: NodeRecord): void {
  count(state, state.records[index], -1);
  count(state, record, 1);
  state.records[index] = record;
  if (state.isDirty[index] !== true) {
    state.isDirty[index] = true;
    state.dirty.push(index);
  }
  // Pure nodes are recomputed after a crash, so nothing waits for their records to be stored.
  if (state.plan.nodes[index]?.kind === 'effect' && record.status !== 'skipped') state.mustCheckpoint = true;
}

/** Takes a stored record over as it is. */
export function restoreRecord(state: ExecutionState, index: number, record: NodeRecord): void {
  count(state, record, 1);
  state.records[index] = record;
  state.consumedAiTokens += record.status === 'skipped' ? 0 : record.consumedAiTokens;
}

function count(state: ExecutionState, record: NodeRecord | undefined, by: 1 | -1): void {
  if (record === undefined) return;
  if (record.status === 'running') state.running += by;
  else if (record.status === 'waiting') state.waiting += by;
  else state.ended += by;
}

/** The records not stored yet, which from now on count as stored. */
export function takeDirtyRecords(state: ExecutionState): NodeRecord[] {
  const records: NodeRecord[] = [];
  for (const index of state.dirty) {
    const record = state.records[index];
    if (record !== undefined) records.push(record);
    state.isDirty[index] = false;
  }
  state.dirty = [];
  state.mustCheckpoint = false;
  return records;
}

/**
 * Decides the edges that leave an ended node, and with them what they lead to: a node whose incoming edges are all
 * decided is ready when one of them is live; else it is skipped, and its own edges are dead.
 */
export function decideEdges(state: ExecutionState, ended: PlanNode): void {
  const queue: PlanNode[] = [ended];
  for (let at = 0; at < queue.length; at++) {
    const node = queue[at] as PlanNode;
    for (const edge of node.outgoing) {
      markEdge(state, edge);
      // A node whose record was restored is where it is already.
      if (state.undecided[edge.target] !== 0 || state.records[edge.target] !== undefined) continue;
      const target = state.plan.nodes[edge.target] as PlanNode;
      if ((state.live[edge.target] ?? 0) > 0) {
        state.ready.push(edge.target);
      } else {
        setRecord(state, edge.target, skippedRecord(target.id, state.nowMs));
        queue.push(target);
      }
    }
  }
}

/** Counts one edge as decided, and as live when the node it leaves took its handle. */
export function markEdge(state: ExecutionState, edge: PlanEdge): void {
  state.undecided[edge.target] = (state.undecided[edge.target] ?? 0) - 1;
  if (isLive(state, edge)) state.live[edge.target] = (state.live[edge.target] ?? 0) + 1;
}

/** Whether an edge's node has ended and took the handle the edge leaves from. */
export function isLive(state: ExecutionState, edge: PlanEdge): boolean {
  const record = state.records[edge.source];
  return (
    record !== undefined &&
    (record.status === 'success' || record.status === 'failed') &&
    record.handles.includes(edge.handle)
  );
}

/** A node's output once it has ended; null before, and when it was skipped or cancelled. */
export function outputOf(state: ExecutionState, index: number): JsonObject | null {
  const record = state.records[index];
  if (record === undefined) return null;
  return record.status === 'success' || record.status === 'failed' ? record.output : null;
}

/** What a node's next record takes over from its last one. */
export function progressOf(state: ExecutionState, node: PlanNode): NodeProgress {
  const record = state.records[node.index];
  if (record === undefined || record.status === 'skipped') {
    return { nodeId: node.id, attempts: 0, startedAtMs: state.nowMs, consumedAiTokens: 0 };
  }
  const { nodeId, attempts, failures, startedAtMs, consumedAiTokens } = record;
  return failures === undefined
    ? { nodeId, attempts, startedAtMs, consumedAiTokens }
    : { nodeId, attempts, failures, startedAtMs, consumedAiTokens };
}

/** The end of something that began at `startedAtMs`: the clock of another worker may have been ahead. */
export function endTime(state: ExecutionState, startedAtMs: number): number {
  return Math.max(state.nowMs, startedAtMs);
}
