/** How a worker claims, holds and runs executions. */
export interface WorkerSettings {
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly pollMs: number;
  readonly maxCrashedAttempts: number;
  readonly shutdownGraceMs: number;
  readonly inlineWaitMs: number;
}

/** What one node may put out. */
export interface NodeLimits {
  readonly nodeOutputBytes: number;
}
