import type {
  ChildKey,
  ClaimedExecution,
  ExecutionError,
  ExecutionStatus,
  ExecutionStore,
  JsonValue,
  Lease,
  NodeRecord,
  OnLimit,
  Outcome,
  ParentLink,
  Priority,
  SlotShares,
  StoredSignal,
} from '../../src/index.ts';

/** A stored execution, for tests to inspect. */
export interface StoredExecution {
  readonly status: ExecutionStatus;
  readonly workerId: string | null;
  readonly claim: number;
  /** In storage order, not folded. */
  readonly records: readonly NodeRecord[];
  readonly error: ExecutionError | null;
  /** Why the store cancelled it, and the execution that made it superfluous. */
  readonly cancellation: { readonly code: string; readonly executionId: number } | null;
  readonly startedAtMs: number | null;
  readonly completedAtMs: number | null;
  readonly wakeAtMs: number | null;
  readonly consumedAiTokens: number;
}

/** Stored when a start is accepted. */
export interface StartRequest {
  /** From {@link CompleteStore.reserveIds}. */
  readonly executionId: number;
  readonly organisationId: number;
  readonly workflowId: number;
  readonly workflowVersion: number;
  readonly triggerType: string;
  readonly displayName: string;
  readonly isTestMode: boolean;
  readonly input: JsonValue;
  /** A worker to lease the row to at once, unless `maxConcurrency` or `concurrency` is set; null to queue it. */
  readonly leaseTo: string | null;
  /** Milliseconds from start after which the execution fails with `execution_timeout`; null for none. */
  readonly timeoutMs: number | null;
  /** The execution that starts it; absent for none. */
  readonly parent?: ParentLink;
  /** `settings.max_concurrency` of its workflow: the maximum number of its executions leased at the same time. Absent: no limit. */
  readonly maxConcurrency?: number;
  /** `settings.concurrency` of its workflow with the rendered key. Absent: no limit. */
  readonly concurrency?: { readonly key: string; readonly limit: number; readonly onLimit: OnLimit };
  /** `settings.priority` of its workflow. Absent: the usual one. */
  readonly priority?: Priority;
  /** What was run before it is stored; absent for nothing. */
  readonly ahead?: RanAhead;
}

export interface RanAhead {
  readonly records: readonly NodeRecord[];
  readonly consumedAiTokens: number;
  /** Null while it runs: it continues only with the lease it asked for, and is queued as if nothing had been run otherwise. */
  readonly outcome: Outcome | null;
}

/** A stored child, whichever attempt started it. */
export interface StoredChild {
  readonly executionId: number;
  readonly workflowVersion: number;
}

/** An {@link ExecutionStore} with what the rest of the service does to executions. */
export interface CompleteStore extends ExecutionStore {
  /** Registers a worker; it must send heartbeats within the duration of the lease. */
  registerWorker(workerId: string): Promise<void>;
  /** Renews the worker's leases. False: they have expired and may have been taken over; they can never be renewed again. */
  heartbeat(workerId: string): Promise<boolean>;
  /** Releases the worker's leases at once: its executions can be taken over without waiting. */
  retireWorker(workerId: string): Promise<void>;

  /** New execution ids, ascending. */
  reserveIds(count: number): Promise<number[]>;
  /**
   * Stores accepted executions, all or none. Returns the lease of each that was stored leased, else null. A request with a parent is
   * omitted (with null) when the parent is final, or already has a child with the same key: {@link findChild} tells which.
   */
  start(requests: readonly StartRequest[]): Promise<(Lease | null)[]>;
  /** The child stored under a key; null when there is none. */
  findChild(key: ChildKey): Promise<StoredChild | null>;

  /** Decides which starts that may be skipped, or cancel older executions, can be claimed. A claim does it first. */
  decideStarts(): Promise<void>;
  /**
   * Claims up to `limit` executions that are queued, whose wait is over, or whose worker's lease has expired. Organisations take turns;
   * those of one are claimed by priority and then oldest first, and none that its share of the slots leaves no room for, unless it was running. One that
   * crashed its worker for the third time fails with `worker_crashed` instead. One whose workflow has as many leased executions as its
   * `maxConcurrency` allows is skipped.
   * @param shares absent: organisations take turns, and any may have all slots
   */
  claim(workerId: string, limit: number, shares?: SlotShares): Promise<ClaimedExecution[]>;

  /**
   * Sends a signal to a node of a non-final execution; a parked one can be claimed at once.
   * @returns false when the execution is final or doesn't exist
   */
  sendSignal(executionId: number, signal: Omit<StoredSignal, 'seq'>): Promise<boolean>;
  /** Ends a non-final execution as `cancelled`, and the children its nodes wait for. False: it was already final or doesn't exist. */
  cancel(organisationId: number, executionId: number): Promise<boolean>;
}

/** A store and the means to simulate time and other machines. No other test may use the same data. */
export interface StoreHarness {
  readonly store: CompleteStore;
  /** An unregistered worker id in the store's format. */
  newWorkerId(): string;
  /** A request that the store accepts: its organisation and workflow exist. Always the same organisation. */
  newRequest(executionId: number): StartRequest;
  /** Another organisation, with a workflow. */
  newOrganisation(): Promise<Pick<StartRequest, 'organisationId' | 'workflowId'>>;
  /** Expires the lease of a worker. */
  expireLease(workerId: string): Promise<void>;
  /** Ends the wait of a parked execution. */
  endWait(executionId: number): Promise<void>;
  /** Epoch milliseconds by the store's clock. */
  now(): Promise<number>;
  readExecution(executionId: number): Promise<StoredExecution | null>;
  cleanup(): Promise<void>;
}

/** Steps of the contract's tests, on the harness of the current test. */
export function contractSteps(harnessOf: () => StoreHarness) {
  const request = async (over: Partial<StartRequest> = {}): Promise<StartRequest> => {
    const harness = harnessOf();
    const [id = 0] = await harness.store.reserveIds(1);
    return { ...harness.newRequest(id), leaseTo: null, ...over };
  };
  return {
    request,
    /** A registered worker. */
    worker: async (): Promise<string> => {
      const harness = harnessOf();
      const id = harness.newWorkerId();
      await harness.store.registerWorker(id);
      return id;
    },
    queued: async (over: Partial<StartRequest> = {}): Promise<number> => {
      const one = await request(over);
      await harnessOf().store.start([one]);
      return one.executionId;
    },
    read: async (id: number): Promise<StoredExecution> => {
      const found = await harnessOf().readExecution(id);
      if (found === null) throw new Error(`execution ${id} is not stored`);
      return found;
    },
  };
}
