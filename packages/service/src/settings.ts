/** How long what has ended is kept. */
export interface RetentionSettings {
  readonly executionsDays: {
    readonly completed: number;
    readonly failed: number;
    readonly cancelled: number;
  };
  readonly auditDays: number;
  readonly idempotencyHours: number;
  /** As `sessions.idleMs`: what is over then is deleted. */
  readonly idleSessionMs: number;
}

/** How large a workflow may be. */
export interface FlowLimits {
  readonly nodes: number;
}
