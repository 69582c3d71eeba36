import type { ExecutionError, FinalStatus, NodeRecord } from './execution.ts';
import type { JsonValue } from './json.ts';

/**
 * A worker's right to write to one execution. Every write carries it; a write whose lease is no longer the
 * row's (taken over, cancelled, finished) changes nothing and answers `false`.
 */
export interface Lease {
  readonly executionId: number;
  readonly workerId: string;
  /** Counts claims of this execution; the fencing token. */
  readonly claim: number;
}

/** What is stored when a start is accepted. */
export interface StartRequest {
  /** Taken from {@link ExecutionStore.reserveIds}, so that the receipt is known before the insert. */
  readonly executionId: number;
  readonly organisationId: number;
  readonly workflowId: number;
  readonly workflowVersion: number;
  readonly triggerType: string;
  readonly displayName: string;
  readonly isTestMode: boolean;
  readonly input: JsonValue;
  /** The worker of this process when it has a free place: the row is then stored already leased to it. */
  readonly leaseTo: string | null;
  /** Milliseconds from start after which the execution fails with `execution_timeout`; null for none. */
  readonly timeoutMs: number | null;
  /** The execution that starts it; absent for none. */
  readonly parent?: ParentLink;
  /** `settings.max_concurrency` of its workflow: so many of it are leased at the same time at most. Absent: no limit. */
  readonly maxConcurrency?: number;
}

/** Which node of which execution started a child. One child for each parent, node, iteration and call key. */
export interface ParentLink {
  readonly executionId: number;
  readonly nodeId: string;
  readonly iteration: readonly number[];
  readonly callKey: string;
  /** The parent's node waits: it gets a signal when the child ends, and the child is cancelled when the parent ends. */
  readonly waits: boolean;
}

/** Names a child within its parent; one child is stored for each. */
export type ChildKey = Pick<ParentLink, 'executionId' | 'nodeId' | 'iteration' | 'callKey'>;

/** A child that was stored, whoever started it. */
export interface StoredChild {
  readonly executionId: number;
  readonly workflowVersion: number;
}

/** What a waiting node is told, in the order in which it was sent. */
export interface StoredSignal {
  /** Counts the signals of one execution from 1, in the order of the commits: nobody sees 2 before 1. */
  readonly seq: number;
  readonly nodeId: string;
  readonly iteration: readonly number[];
  /** Of a child that ended: `{execution_id, status}`. */
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
  /** Epoch milliseconds of the first start, by the store's clock. */
  readonly startedAtMs: number;
  readonly deadlineAtMs: number | null;
  /** Node records of all checkpoints so far, folded by `foldRecords`. */
  readonly records: readonly NodeRecord[];
  /** All signals sent to it so far, in order. A node that has ended ignores them. */
  readonly signals: readonly StoredSignal[];
}

/** How an execution ended; `error` stands with `failed` only. */
export type Outcome =
  | { readonly status: Exclude<FinalStatus, 'failed'> }
  | { readonly status: 'failed'; readonly error: ExecutionError };

/** What a write tells besides the records. */
export interface WriteInfo {
  /**
   * AI tokens consumed by its own nodes so far, without what its children consumed; absent leaves the stored count as
   * it is.
   */
  readonly consumedAiTokens?: number;
  /**
   * `seq` of the last signal the run was told of; absent is 0. An execution parked with less than has been sent can be
   * claimed at once, so a signal that arrives while it is being parked is not lost.
   */
  readonly signalsSeen?: number;
}

/**
 * Where executions live. Two implementations pass one contract suite: the memory store of the engine's tests and
 * PostgreSQL. All methods that take a {@link Lease} are fenced by it and answer whether they changed anything.
 */
export interface ExecutionStore {
  /** Announces a worker; it must heartbeat within the lease's length. */
  registerWorker(workerId: string): Promise<void>;
  /** Renews the worker's leases. False: they have run out and may have been taken over; never renewable again. */
  heartbeat(workerId: string): Promise<boolean>;
  /** Gives the worker's leases up at once: what it still holds can be taken over without waiting. */
  retireWorker(workerId: string): Promise<void>;

  /** Fresh execution ids, ascending. */
  reserveIds(count: number): Promise<number[]>;
  /**
   * Stores accepted executions, all or none. Answers the lease of each that was stored leased, else null. A request with
   * a parent is left out (its answer is null) when the parent is final, or has a child of the same key already:
   * {@link findChild} tells which.
   */
  start(requests: readonly StartRequest[]): Promise<(Lease | null)[]>;
  /** The child that was stored under a key; null when there is none. */
  findChild(key: ChildKey): Promise<StoredChild | null>;

  /**
   * Takes up to `limit` executions that are queued, whose wait is over, or whose worker's lease ran out, oldest first.
   * One that crashed its worker for the third time is failed with `worker_crashed` instead of being handed out. One
   * whose workflow has as many leased executions as its `maxConcurrency` allows is passed over.
   */
  claim(workerId: string, limit: number): Promise<ClaimedExecution[]>;

  /** Appends node records without changing the status. */
  checkpoint(lease: Lease, records: readonly NodeRecord[], info?: WriteInfo): Promise<boolean>;
  /** Appends records and gives the execution back until `wakeAtMs`, or a signal: `waiting_async`, held by no worker. */
  park(
    lease: Lease,
    records: readonly NodeRecord[],
    wakeAtMs: number | null,
    info?: WriteInfo,
  ): Promise<boolean>;
  /** Appends records and puts the execution back into the queue without using up a crash attempt. */
  handBack(lease: Lease, records: readonly NodeRecord[], info?: WriteInfo): Promise<boolean>;
  /**
   * Appends records and ends the execution. Every end, also that by {@link cancel} and by crashes, sends a waiting
   * parent its signal, and cancels the children that nodes of this execution wait for, and theirs.
   */
  finish(lease: Lease, records: readonly NodeRecord[], outcome: Outcome, info?: WriteInfo): Promise<boolean>;
  /** Signals of the execution with a `seq` above the given one, in order. */
  readSignals(executionId: number, afterSeq: number): Promise<StoredSignal[]>;
  /**
   * Sends a node of a non-final execution a signal; a parked one can be claimed at once.
   * @returns false when the execution is final or does not exist
   */
  sendSignal(executionId: number, signal: Omit<StoredSignal, 'seq'>): Promise<boolean>;
  /**
   * Ends a non-final execution as `cancelled`, and the children its nodes wait for. False: it was final already or does
   * not exist.
   */
  cancel(organisationId: number, executionId: number): Promise<boolean>;
}
