/** How a worker claims, leases and runs executions. */
export interface WorkerSettings {
  readonly concurrency: number;
  /** Percentage of the slots one organisation may hold when no other holds any. */
  readonly organisationPercent: number;
  /** Bytes of data, as JSON, that its executions hold together. */
  readonly dataBytes: number;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly pollMs: number;
  readonly maxCrashedAttempts: number;
  readonly shutdownGraceMs: number;
  readonly inlineWaitMs: number;
  readonly runAhead: RunAheadSettings;
}

/** How far an execution is run before it is stored. */
export interface RunAheadSettings {
  /** 0: nothing is run. */
  readonly nodes: number;
  /** Of its input, and of each output, as JSON. */
  readonly bytes: number;
  /** Since the first pure node was run in this turn of the event loop. */
  readonly ms: number;
}

/** Limits on one node's output, and on all that is stored for one execution. */
export interface NodeLimits {
  readonly nodeOutputBytes: number;
  readonly executionBytes: number;
  /** Steps of work on its data; a step is about the cost of one comparison. */
  readonly nodeSteps: number;
}
