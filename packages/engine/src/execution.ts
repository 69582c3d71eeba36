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
  /** 1 for a node that needed no retry. */
  readonly attempts: number;
  readonly startedAtMs: number;
  readonly consumedAiTokens: number;
}

export interface NodeError {
  readonly code: string;
  readonly message: string;
}
