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
  /** Node records of all checkpoints so far, later ones replacing earlier ones of the same node. */
  readonly records: readonly NodeRecord[];
}

/** How an execution ended; `error` stands with `failed` only. */
export type Outcome =
  | { readonly status: Exclude<FinalStatus, 'failed'> }
  | { readonly status: 'failed'; readonly error: ExecutionError };

/** What a write tells besides the records. */
export interface WriteInfo {
  /** AI tokens consumed by the whole execution so far; absent leaves the stored count as it is. */
  readonly consumedAiTokens?: number;
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
  /** Stores accepted executions, all or none. Answers the lease of each that was stored leased, else null. */
  start(requests: readonly StartRequest[]): Promise<(Lease | null)[]>;

  /**
   * Takes up to `limit` executions that are queued, whose wait is over, or whose worker's lease ran out, oldest first.
   * One that crashed its worker for the third time is failed with `worker_crashed` instead of being handed out.
   */
  claim(workerId: string, limit: number): Promise<ClaimedExecution[]>;

  /** Appends node records without changing the status. */
  checkpoint(lease: Lease, records: readonly NodeRecord[], info?: WriteInfo): Promise<boolean>;
  /** Appends records and gives the execution back until `wakeAtMs`: `waiting_async`, held by no worker. */
  park(lease: Lease, records: readonly NodeRecord[], wakeAtMs: number, info?: WriteInfo): Promise<boolean>;
  /** Appends records and puts the execution back into the queue without using up a crash attempt. */
  handBack(lease: Lease, records: readonly NodeRecord[], info?: WriteInfo): Promise<boolean>;
  /** Appends records and ends the execution. */
  finish(lease: Lease, records: readonly NodeRecord[], outcome: Outcome, info?: WriteInfo): Promise<boolean>;
  /** Ends a non-final execution as `cancelled`. False: it was final already or does not exist. */
  cancel(organisationId: number, executionId: number): Promise<boolean>;
}
