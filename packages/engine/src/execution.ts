import type { JsonObject } from './json.ts';

export const EXECUTION_STATUSES = [
  'queued',
  'running',
  'waiting_async',
  'completed',
  'failed',
  'cancelled',
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];
export const FINAL_STATUSES = ['completed', 'failed', 'cancelled'] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];

export const EXECUTION_EVENTS = ['claim', 'park', 'hand_back', 'complete', 'fail', 'cancel'] as const;
/**
 * What can happen to an execution. `claim`: a worker takes it (also one whose worker was lost); `park`: only waits
 * are left; `hand_back`: its worker shuts down.
 */
export type ExecutionEvent = (typeof EXECUTION_EVENTS)[number];

/** The status after each event; null where the event changes nothing, as in every final status. */
export const TRANSITIONS: Readonly<
  Record<ExecutionStatus, Readonly<Record<ExecutionEvent, ExecutionStatus | null>>>
> = {
  queued: {
    claim: 'running',
    park: null,
    hand_back: null,
    complete: null,
    fail: 'failed',
    cancel: 'cancelled',
  },
  running: {
    claim: 'running',
    park: 'waiting_async',
    hand_back: 'queued',
    complete: 'completed',
    fail: 'failed',
    cancel: 'cancelled',
  },
  waiting_async: {
    claim: 'running',
    park: null,
    hand_back: null,
    complete: null,
    fail: 'failed',
    cancel: 'cancelled',
  },
  completed: { claim: null, park: null, hand_back: null, complete: null, fail: null, cancel: null },
  failed: { claim: null, park: null, hand_back: null, complete: null, fail: null, cancel: null },
  cancelled: { claim: null, park: null, hand_back: null, complete: null, fail: null, cancel: null },
};

/** The status after an event, or null when the event does not apply. */
export function transition(status: ExecutionStatus, event: ExecutionEvent): ExecutionStatus | null {
  return TRANSITIONS[status][event];
}

/** Whether an execution with this status can never change again. */
export function isFinalStatus(status: ExecutionStatus): status is FinalStatus {
  return (FINAL_STATUSES as readonly ExecutionStatus[]).includes(status);
}

/** The `error` object of a failed execution. `nodeId` is null when no node is to blame. */
export interface ExecutionError {
  readonly code: string;
  readonly message: string;
  readonly nodeId: string | null;
}

/**
 * What is stored of one node in one execution; the unit of a checkpoint. A later record of the same node replaces
 * an earlier one. Folding all records over the plan gives back the execution's state.
 */
export type NodeRecord =
  | (NodeRecordBase & { readonly status: 'running' })
  | (NodeRecordBase & {
      readonly status: 'waiting';
      /** `delay`: succeeds with `output` at `wakeAtMs`. `retry`: another attempt starts then. */
      readonly reason: 'delay' | 'retry';
      readonly wakeAtMs: number;
      readonly output: JsonObject;
      readonly error?: NodeError;
    })
  | (NodeRecordBase & {
      readonly status: 'success';
      readonly output: JsonObject;
      readonly handles: readonly string[];
      readonly completedAtMs: number;
    })
  | (NodeRecordBase & {
      readonly status: 'failed';
      readonly output: JsonObject;
      readonly error: NodeError;
      /** Handles taken all the same, by `on_error: continue` or `branch`; empty when the execution fails by it. */
      readonly handles: readonly string[];
      readonly completedAtMs: number;
    })
  | (Pick<NodeRecordBase, 'nodeId'> & { readonly status: 'skipped'; readonly completedAtMs: number })
  | (NodeRecordBase & { readonly status: 'cancelled'; readonly completedAtMs: number });

interface NodeRecordBase {
  readonly nodeId: string;
  /** How often the node was started, take-overs included; 1 for a node that needed no second start. */
  readonly attempts: number;
  /** How many of these ended in a failure; only they use up `retry.max_attempts`. Absent is 0. */
  readonly failures?: number;
  readonly startedAtMs: number;
  readonly consumedAiTokens: number;
}

export interface NodeError {
  readonly code: string;
  readonly message: string;
}

/** What the records of one node have in common while it is not skipped. */
export type NodeProgress = NodeRecordBase;

export type NodeStatus = NodeRecord['status'];

/** The node is being run. */
export function runningRecord(progress: NodeProgress): NodeRecord {
  return { ...progress, status: 'running' };
}

/** The node has nothing to do until `wakeAtMs`, then succeeds with `output`. */
export function delayRecord(progress: NodeProgress, wakeAtMs: number, output: JsonObject): NodeRecord {
  return { ...progress, status: 'waiting', reason: 'delay', wakeAtMs, output };
}

/** The node failed and is tried again at `wakeAtMs`. */
export function retryRecord(progress: NodeProgress, wakeAtMs: number, error: NodeError): NodeRecord {
  return { ...progress, status: 'waiting', reason: 'retry', wakeAtMs, output: {}, error };
}

/** The node did its work; edges from `handles` are live. */
export function successRecord(
  progress: NodeProgress,
  output: JsonObject,
  handles: readonly string[],
  completedAtMs: number,
): NodeRecord {
  return { ...progress, status: 'success', output, handles, completedAtMs };
}

/** The node failed for good; edges from `handles` are live all the same. */
export function failedRecord(
  progress: NodeProgress,
  error: NodeError,
  output: JsonObject,
  handles: readonly string[],
  completedAtMs: number,
): NodeRecord {
  return { ...progress, status: 'failed', output, error, handles, completedAtMs };
}

/** No edge into the node is live, so it never runs. */
export function skippedRecord(nodeId: string, completedAtMs: number): NodeRecord {
  return { nodeId, status: 'skipped', completedAtMs };
}

/** The node was running or waiting when the execution ended without it. */
export function cancelledRecord(progress: NodeProgress, completedAtMs: number): NodeRecord {
  return { ...progress, status: 'cancelled', completedAtMs };
}
