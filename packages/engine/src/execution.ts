import type { Message } from '@millrace/messages';
import type { JsonObject, JsonValue } from './json.ts';
import type { FailureOrigin, LogLine } from './node-result.ts';

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
export type ExecutionError = NodeError & {
  readonly nodeId: string | null;
};

/**
 * What is stored of one node in one execution; the unit of a checkpoint. A later record of the same node and iteration
 * replaces an earlier one. Folding all records over the plan gives back the execution's state.
 */
export type NodeRecord = ShownRecord | IterationRecord;

/** A record of a node itself, as a reader of the execution sees it. */
export type ShownRecord =
  | (NodeRecordBase & {
      readonly status: 'running';
      /** Of a loop with a limit: epoch milliseconds at which this attempt is over. Others begin anew when resumed. */
      readonly timeoutAtMs?: number;
      /** See `NodeContext.previousOutput`. */
      readonly previousOutput?: JsonObject;
    })
  | (NodeRecordBase & {
      readonly status: 'waiting';
      /** `delay`: succeeds with `output` at `wakeAtMs`. `retry`: another attempt starts then. */
      readonly reason: 'delay' | 'retry';
      readonly wakeAtMs: number;
      readonly output: JsonObject;
      readonly error?: NodeError;
    })
  | SignalWaitRecord
  | (NodeRecordBase & {
      readonly status: 'success';
      readonly output: JsonObject;
      readonly handles: readonly string[];
      readonly completedAtMs: number;
      readonly log?: readonly LogLine[];
      /** It ended the execution as completed; its output is the execution's result. */
      readonly isStop?: true;
    })
  | (NodeRecordBase & {
      readonly status: 'failed';
      readonly output: JsonObject;
      readonly error: NodeError;
      /** Handles taken all the same, by `on_error: continue` or `branch`; empty when what it is in fails by it. */
      readonly handles: readonly string[];
      readonly completedAtMs: number;
      readonly log?: readonly LogLine[];
    })
  | (NodeRecordPlace & { readonly status: 'skipped'; readonly completedAtMs: number })
  | (NodeRecordBase & { readonly status: 'cancelled'; readonly completedAtMs: number });

/** The node waits for a signal, or for `wakeAtMs` when that comes first; null: for ever. */
export type SignalWaitRecord = NodeRecordBase & {
  readonly status: 'waiting';
  readonly reason: 'signal';
  readonly wakeAtMs: number | null;
  readonly output: JsonObject;
};

/** One iteration of a loop has ended; stands for everything that happened inside it. `nodeId` is the loop's. */
export type IterationRecord = {
  readonly nodeId: string;
  readonly status: 'iteration_ended';
  /** The iteration that ended, so one longer than that of the loop itself. */
  readonly iteration: readonly number[];
  /** The loop itself. */
  readonly loopId: string;
  /** Null when it failed. */
  readonly output: JsonValue;
  /** Stands with an iteration that failed: what by, and the node to blame. */
  readonly error?: ExecutionError;
  readonly consumedAiTokens: number;
  readonly childAiTokens?: number;
  readonly startedAtMs: number;
  readonly completedAtMs: number;
};

/** Which node, in which iteration. */
type NodeRecordPlace = {
  readonly nodeId: string;
  /** Index of the iteration of each loop around the node, outermost first; absent at top level. */
  readonly iteration?: readonly number[];
  /** The innermost of these loops; absent at top level. */
  readonly loopId?: string;
  /**
   * Marks the summary of a node inside a loop that has ended: a copy of its last iteration's record, at the place of the
   * loop. So many iterations there were.
   */
  readonly iterations?: number;
};

type NodeRecordBase = NodeRecordPlace & {
  /** How often the node was started, take-overs included; 1 for a node that needed no second start. */
  readonly attempts: number;
  /** How many of these ended in a failure; only they use up `retry.max_attempts`. Absent is 0. */
  readonly failures?: number;
  readonly startedAtMs: number;
  /** With what executions consumed that it waited for. Of a loop: what everything inside it consumed. */
  readonly consumedAiTokens: number;
  /** The part of it that those executions consumed; absent for none. */
  readonly childAiTokens?: number;
  /** `seq` of the last signal the node was given; absent for none. */
  readonly signalSeq?: number;
};

/** Why a node failed. Earlier versions stored the English sentence as the message. */
export type NodeError = {
  readonly code: string;
  readonly message: Message;
  /** Of a loop: where inside it something failed. */
  readonly origin?: FailureOrigin;
};

/** What the records of one node have in common while it is not skipped. */
export type NodeProgress = NodeRecordBase;

export type NodeStatus = ShownRecord['status'];

/** The node is being run. */
export function runningRecord(
  progress: NodeProgress,
  more?: { timeoutAtMs?: number; previousOutput?: JsonObject },
): ShownRecord {
  return more === undefined
    ? { ...progress, status: 'running' }
    : { ...progress, status: 'running', ...more };
}

/** The node has nothing to do until `wakeAtMs`, then succeeds with `output`. */
export function delayRecord(progress: NodeProgress, wakeAtMs: number, output: JsonObject): ShownRecord {
  return { ...progress, status: 'waiting', reason: 'delay', wakeAtMs, output };
}

/** The node waits for a signal until `wakeAtMs`; null is for ever. */
export function signalRecord(
  progress: NodeProgress,
  wakeAtMs: number | null,
  output: JsonObject,
): SignalWaitRecord {
  return { ...progress, status: 'waiting', reason: 'signal', wakeAtMs, output };
}

/** The node failed and is tried again at `wakeAtMs`; `output` is what its next attempt sees of this one. */
export function retryRecord(
  progress: NodeProgress,
  wakeAtMs: number,
  error: NodeError,
  output: JsonObject = {},
): ShownRecord {
  return { ...progress, status: 'waiting', reason: 'retry', wakeAtMs, output, error };
}

/** The node did its work; edges from `handles` are live. */
export function successRecord(
  progress: NodeProgress,
  output: JsonObject,
  handles: readonly string[],
  completedAtMs: number,
  log?: readonly LogLine[],
): ShownRecord {
  const record = { ...progress, status: 'success', output, handles, completedAtMs } as const;
  return log === undefined ? record : { ...record, log };
}

/** The node ended the execution as completed, with its output as the result. */
export function stopRecord(progress: NodeProgress, output: JsonObject, completedAtMs: number): ShownRecord {
  return { ...progress, status: 'success', output, handles: [], completedAtMs, isStop: true };
}

/** The node failed for good; edges from `handles` are live all the same. */
export function failedRecord(
  progress: NodeProgress,
  error: NodeError,
  output: JsonObject,
  handles: readonly string[],
  completedAtMs: number,
  log?: readonly LogLine[],
): ShownRecord {
  const record = { ...progress, status: 'failed', output, error, handles, completedAtMs } as const;
  return log === undefined ? record : { ...record, log };
}

/** No edge into the node is live, so it never runs. */
export function skippedRecord(
  place: { nodeId: string; iteration?: readonly number[]; loopId?: string; iterations?: number },
  completedAtMs: number,
): ShownRecord {
  return { ...place, status: 'skipped', completedAtMs };
}

/** The node was running or waiting when what it is in ended without it. */
export function cancelledRecord(progress: NodeProgress, completedAtMs: number): ShownRecord {
  return { ...progress, status: 'cancelled', completedAtMs };
}
