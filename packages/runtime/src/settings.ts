/** How a worker claims, leases and runs executions. */
export interface WorkerSettings {
  readonly concurrency: number;
  /** Percentage of the slots one organisation may hold when no other holds any. */
  readonly organisationPercent: number;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly pollMs: number;
  readonly maxCrashedAttempts: number;
  readonly shutdownGraceMs: number;
  readonly inlineWaitMs: number;
}

/** Limits on one node's output, and on all that is stored for one execution. */
export interface NodeLimits {
  readonly nodeOutputBytes: number;
  readonly executionBytes: number;
  /** Steps of work on its data; a step is about what one comparison takes. */
  readonly nodeSteps: number;
}
