import type { JsonValue } from '@millrace/values/json';
import type { ExecutionError, FinalStatus, NodeRecord } from './execution.ts';

/**
 * A worker's right to write to one execution. Every write carries it; a write with an outdated lease (taken over, cancelled, finished)
 * changes nothing and returns `false`.
 */
export interface Lease {
  readonly executionId: number;
  readonly workerId: string;
  /** Counts claims of this execution; the fencing token. */
  readonly claim: number;
}

/** The node and execution that started a child. One child per parent, node, iteration and call key. */
export interface ParentLink {
  readonly executionId: number;
  readonly nodeId: string;
  readonly iteration: readonly number[];
  readonly callKey: string;
  /** The parent's node waits: it gets a signal when the child ends, and the child is cancelled when the parent ends. */
  readonly waits: boolean;
}

/** Identifies a child within its parent; one child is stored per key. */
export type ChildKey = Pick<ParentLink, 'executionId' | 'nodeId' | 'iteration' | 'callKey'>;

/** A signal for a waiting node, in the order of sending. */
export interface StoredSignal {
  /** Counts the signals of one execution from 1, in commit order: nobody sees 2 before 1. */
  readonly seq: number;
  readonly nodeId: string;
  readonly iteration: readonly number[];
  /** For a child that ended: `{execution_id, status}`. */
  readonly payload: JsonValue;
}

/** An execution a worker may run now. */
export interface ClaimedExecution {
  readonly lease: Lease;
  readonly organisationId: number;
  readonly workflowId: number;
  readonly workflowVersion: number;
  readonly isTestMode: boolean;
  readonly input: JsonValue;
  /** Length of its input as JSON text; absent is 0. */
  readonly inputBytes?: number;
  /** Epoch milliseconds of the first start, by the store's clock. */
  readonly startedAtMs: number;
  /** Its id in the instance where it was started, which the outside world keeps seeing; absent or null: its own. */
  readonly startedAs?: number | null;
  /** What started it in a trace, as a `traceparent` header; absent or null if it begins one. */
  readonly traceparent?: string | null;
  readonly deadlineAtMs: number | null;
  /** See {@link WriteInfo}; absent is 0. */
  readonly storedBytes?: number;
  /** Node records of all checkpoints so far, folded by `foldRecords`. */
  readonly records: readonly NodeRecord[];
  /** All signals sent to it so far, in order. A node that has ended ignores them. */
  readonly signals: readonly StoredSignal[];
}

/** An execution's id in templates, outputs and idempotency keys: it stays the same when the execution moves to another instance. */
export function originalId({ lease, startedAs }: Pick<ClaimedExecution, 'lease' | 'startedAs'>): number {
  return startedAs ?? lease.executionId;
}

/** How an execution ended; `error` is set only with `failed`. */
export type Outcome =
  | { readonly status: Exclude<FinalStatus, 'failed'> }
  | { readonly status: 'failed'; readonly error: ExecutionError };

/** What a write stores besides the records. */
export interface WriteInfo {
  /** AI tokens consumed by its own nodes so far, excluding its children; absent leaves the stored count unchanged. */
  readonly consumedAiTokens?: number;
  /** Bytes of everything stored for the execution, these records included; absent leaves the stored count unchanged. */
  readonly storedBytes?: number;
  /**
   * `seq` of the last signal reported to the run; absent is 0. An execution parked with less than has been sent can be claimed at once, so
   * a signal that arrives while it is being parked isn't lost.
   */
  readonly signalsSeen?: number;
}

/**
 * Where a run stores its execution. Every method that takes a {@link Lease} is fenced by it and returns whether it changed anything. Two
 * implementations pass one contract suite: the memory store of the engine's tests and PostgreSQL.
 */
export interface ExecutionStore {
  /** Appends node records without changing the status. */
  checkpoint(lease: Lease, records: readonly NodeRecord[], info?: WriteInfo): Promise<boolean>;
  /** Appends records and releases the execution until `wakeAtMs`, or a signal: `waiting_async`, held by no worker. */
  park(
    lease: Lease,
    records: readonly NodeRecord[],
    wakeAtMs: number | null,
    info?: WriteInfo,
  ): Promise<boolean>;
  /** Appends records and puts the execution back into the queue without counting it as a crash. */
  handBack(lease: Lease, records: readonly NodeRecord[], info?: WriteInfo): Promise<boolean>;
  /**
   * Appends records and ends the execution. Every end, also by cancellation and by crashes, sends a waiting parent its signal, and
   * cancels the children that nodes of this execution wait for, and theirs.
   */
  finish(lease: Lease, records: readonly NodeRecord[], outcome: Outcome, info?: WriteInfo): Promise<boolean>;
  /** Signals of the execution with a `seq` above the given one, in order. */
  readSignals(executionId: number, afterSeq: number): Promise<StoredSignal[]>;
}
