import type { AttemptResult, ExecutionLimits, ExecutionStore, StopReason } from '@millrace/engine';
import type { Logger } from 'pino';
import type { DataHolding } from './data-budget.ts';
import type { Meters } from './meters/meters.ts';
import type { NodeRunDeps } from './node-run.ts';
import type { PlanCache } from './plans.ts';
import type { Tracer } from './tracing/tracer.ts';

/** What a run needs from its process. */
export interface RunDeps extends NodeRunDeps {
  readonly store: ExecutionStore;
  readonly plans: PlanCache;
  readonly limits: ExecutionLimits;
  readonly meters: Meters;
  /** Absent or null if no spans are recorded. */
  readonly tracer?: Tracer | null;
  readonly log: Logger;
  /** Random number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
}

/** The worker's control over one run. */
export interface RunControl {
  /** Null while the run may continue. */
  stopReason(): StopReason | null;
  /** Calls back when it must stop. */
  onStop(callback: () => void): void;
  /** Calls back when the execution may have been sent signals that the run hasn't seen. */
  onSignal(callback: () => void): void;
  /** The run has seen all signals up to this one. */
  sawSignal(seq: number): void;
  /** Whether the execution is certainly still leased to this worker; otherwise no side effect starts. */
  isLeaseValid(): boolean;
  /** What the execution holds in memory. */
  readonly data: DataHolding;
  /** Whether it only waits for hosts, which needs no slot. */
  setIdle(isIdle: boolean): void;
}

/** How far an execution may be run before it is stored. */
export interface AheadBudget {
  /** Asked before every node. */
  takeNode(): boolean;
  /** Called with every node's result. */
  sawResult(result: AttemptResult): void;
}
