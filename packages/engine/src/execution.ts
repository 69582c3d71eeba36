import type { Message } from '@millrace/messages';
import type { JsonObject, JsonValue } from '@millrace/values/json';
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

/** Whether an execution with this status can never change again. */
export function isFinalStatus(status: ExecutionStatus): status is FinalStatus {
  return (FINAL_STATUSES as readonly ExecutionStatus[]).includes(status);
}

/** The `error` object of a failed execution. `nodeId` is null when no node is to blame. */
export type ExecutionError = NodeError & {
  readonly nodeId: string | null;
};

/**
 * The stored state of one node in one execution; the unit of a checkpoint. A later record of the same node and iteration replaces an
 * earlier one. Folding all records over the plan restores the execution's state.
 */
export type NodeRecord = ShownRecord | IterationRecord;

/** A record of a node itself, as shown to readers of the execution. */
export type ShownRecord =
  | (NodeRecordBase & {
      readonly status: 'running';
      /** For a loop with a time limit: epoch milliseconds at which this attempt times out. Other nodes restart when resumed. */
      readonly timeoutAtMs?: number;
      /** See `NodeContext.previousOutput`. */
      readonly previousOutput?: JsonObject;
    })
  | (NodeRecordBase & {
      readonly status: 'waiting';
      /** `delay`: succeeds with `output` at `wakeAtMs`. `retry`: another attempt starts then; without an error, the node continues after a wait. */
      readonly reason: 'delay' | 'retry';
      readonly wakeAtMs: number;
      readonly output: JsonObject;
      readonly error?: NodeError;
    })
  | (NodeRecordBase & {
      readonly status: 'waiting';
      /** The attempt was put off until `wakeAtMs`, when its turn to call `host` is likely. */
      readonly reason: 'host';
      readonly wakeAtMs: number;
      readonly host: string;
      /** See `NodeContext.previousOutput`; empty for none. */
      readonly output: JsonObject;
    })
  | SignalWaitRecord
  | (NodeRecordBase & {
      readonly status: 'success';
      readonly output: JsonObject;
      readonly handles: readonly string[];
      readonly completedAtMs: number;
      readonly log?: readonly LogLine[];
      /** It completed the execution; its output is the execution's result. */
      readonly isStop?: true;
    })
  | (NodeRecordBase & {
      readonly status: 'failed';
      readonly output: JsonObject;
      readonly error: NodeError;
      /** Handles taken despite the failure, by `on_error: continue` or `branch`; empty when the failure propagates. */
      readonly handles: readonly string[];
      readonly completedAtMs: number;
      readonly log?: readonly LogLine[];
    })
  | (NodeRecordPlace & { readonly status: 'skipped'; readonly completedAtMs: number })
  | (NodeRecordBase & { readonly status: 'cancelled'; readonly completedAtMs: number });

/** The node waits for a signal, or for `wakeAtMs` if that comes first; null: indefinitely. */
export type SignalWaitRecord = NodeRecordBase & {
  readonly status: 'waiting';
  readonly reason: 'signal';
  readonly wakeAtMs: number | null;
  readonly output: JsonObject;
};

/** One iteration of a loop has ended; represents everything that happened inside it. `nodeId` is the loop's. */
export type IterationRecord = {
  readonly nodeId: string;
  readonly status: 'iteration_ended';
  /** The iteration that ended, so one index longer than that of the loop itself. */
  readonly iteration: readonly number[];
  /** The loop itself. */
  readonly loopId: string;
  /** Null when it failed. */
  readonly output: JsonValue;
  /** Set when the iteration failed: its error, with the node to blame. */
  readonly error?: ExecutionError;
  readonly consumedAiTokens: number;
  readonly childAiTokens?: number;
  readonly startedAtMs: number;
  readonly completedAtMs: number;
};

/** Identifies a node in an iteration. */
type NodeRecordPlace = {
  readonly nodeId: string;
  /** Index of the iteration of each loop around the node, outermost first; absent at top level. */
  readonly iteration?: readonly number[];
  /** The innermost of these loops; absent at top level. */
  readonly loopId?: string;
  /**
   * Marks the summary of a node inside a loop that has ended: a copy of its last iteration's record, placed at the loop's level. The value
   * is the number of iterations.
   */
  readonly iterations?: number;
};

type NodeRecordBase = NodeRecordPlace & {
  /** How often the node was started, including takeovers; 1 when one start was enough. */
  readonly attempts: number;
  /** How many of these failed; only failures count towards `retry.max_attempts`. Absent is 0. */
  readonly failures?: number;
  readonly startedAtMs: number;
  /** Includes the executions it waited for. For a loop: everything inside it. */
  readonly consumedAiTokens: number;
  /** The share of those executions; absent for none. */
  readonly childAiTokens?: number;
  /** `seq` of the last signal delivered to the node; absent for none. */
  readonly signalSeq?: number;
};

/** Why a node failed. Earlier versions stored the English sentence as the message. */
export type NodeError = {
  readonly code: string;
  readonly message: Message;
  /** For a loop: where inside it something failed. */
  readonly origin?: FailureOrigin;
};

/** What all records of a node have in common unless it is skipped. */
export type NodeProgress = NodeRecordBase;

export type NodeStatus = ShownRecord['status'];
export const NODE_STATUSES = [
  'success',
  'failed',
  'skipped',
  'running',
  'waiting',
  'cancelled',
] as const satisfies readonly NodeStatus[];

/** The node is being run. */
export function runningRecord(
  progress: NodeProgress,
  more?: { timeoutAtMs?: number; previousOutput?: JsonObject },
): ShownRecord {
  return more === undefined
    ? { ...progress, status: 'running' }
    : { ...progress, status: 'running', ...more };
}

/** The node is idle until `wakeAtMs`, then succeeds with `output`. */
export function delayRecord(progress: NodeProgress, wakeAtMs: number, output: JsonObject): ShownRecord {
  return { ...progress, status: 'waiting', reason: 'delay', wakeAtMs, output };
}

/** The node waits for a signal until `wakeAtMs`; null is indefinitely. */
export function signalRecord(
  progress: NodeProgress,
  wakeAtMs: number | null,
  output: JsonObject,
): SignalWaitRecord {
  return { ...progress, status: 'waiting', reason: 'signal', wakeAtMs, output };
}

/** The node failed and is retried at `wakeAtMs`; `output` is available to the next attempt. */
export function retryRecord(
  progress: NodeProgress,
  wakeAtMs: number,
  error: NodeError,
  output: JsonObject = {},
): ShownRecord {
  return { ...progress, status: 'waiting', reason: 'retry', wakeAtMs, output, error };
}

/** The node's wait is over, and it runs again with `output`. This belongs to the attempt that waited, so it isn't counted. */
export function againRecord(progress: NodeProgress, nowMs: number, output: JsonObject): ShownRecord {
  const attempts = progress.attempts - 1;
  return { ...progress, attempts, status: 'waiting', reason: 'retry', wakeAtMs: nowMs, output };
}

/** The node's attempt was put off until `wakeAtMs`; it isn't counted. */
export function hostRecord(
  progress: NodeProgress,
  wakeAtMs: number,
  host: string,
  previousOutput: JsonObject | null,
): ShownRecord {
  const attempts = progress.attempts - 1;
  return {
    ...progress,
    attempts,
    status: 'waiting',
    reason: 'host',
    wakeAtMs,
    host,
    output: previousOutput ?? {},
  };
}

/** The node succeeded; edges from `handles` are live. */
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

/** The node completed the execution, with its output as the result. */
export function stopRecord(progress: NodeProgress, output: JsonObject, completedAtMs: number): ShownRecord {
  return { ...progress, status: 'success', output, handles: [], completedAtMs, isStop: true };
}

/** The node failed for good; edges from `handles` are still live. */
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

/** No incoming edge is live, so the node never runs. */
export function skippedRecord(
  place: { nodeId: string; iteration?: readonly number[]; loopId?: string; iterations?: number },
  completedAtMs: number,
): ShownRecord {
  return { ...place, status: 'skipped', completedAtMs };
}

/** The node was running or waiting when its scope ended. */
export function cancelledRecord(progress: NodeProgress, completedAtMs: number): ShownRecord {
  return { ...progress, status: 'cancelled', completedAtMs };
}
