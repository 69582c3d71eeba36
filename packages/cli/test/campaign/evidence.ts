import type { LoggedRelease } from '@millrace/testing/rate-log';
import type { ExecutionRow, NodeEnd } from '../faults/support/ledger.ts';
import type { Fire, ScheduledExecution } from '../faults/support/schedule.ts';
import type { CancelAttempt } from './cancellations.ts';
import type { TakeOver } from './claims.ts';
import type { Injected } from './injector.ts';
import type { Call, CallbackAttempt } from './outside.ts';
import type { SentStart } from './starts.ts';
import type { Final } from './watch.ts';

/** An execution as the API shows it. */
export interface Detail {
  readonly status: string;
  readonly error?: { readonly code: string };
  readonly node_outputs: {
    readonly [node: string]: {
      readonly status: string;
      readonly output: { readonly [name: string]: unknown };
    };
  };
}

/** A process of the service that ended. */
export interface EndedProcess {
  readonly member: string;
  readonly pid: number;
  readonly end: 'killed' | 'terminated' | 'by itself';
  readonly code: number | null;
  readonly endedAtMs: number;
  /** The end of its output. */
  readonly output: string;
}

/** Everything a campaign knows when it is over. */
export interface Evidence {
  readonly starts: readonly SentStart[];
  /** Executions of all workflows but the schedule's. */
  readonly executions: readonly ExecutionRow[];
  /** Of the ended ones, by id. */
  readonly details: ReadonlyMap<number, Detail>;
  readonly calls: readonly Call[];
  readonly nodeEnds: readonly NodeEnd[];
  readonly callbacks: readonly CallbackAttempt[];
  readonly cancels: readonly CancelAttempt[];
  /** Final executions as they were seen first, and at the end. */
  readonly firstFinals: ReadonlyMap<number, Final>;
  readonly lastFinals: ReadonlyMap<number, Final>;
  readonly fires: readonly Fire[];
  readonly scheduled: readonly ScheduledExecution[];
  /** What the rates released from their queues. */
  readonly releases: readonly LoggedRelease[];
  /** SHA-256 of the files in the results, as the API delivers them, by execution. */
  readonly files: ReadonlyMap<number, string>;
  /** Attempts that were put off because their call would have had to wait for its host. */
  readonly putOff: number;
  readonly takeOvers: readonly TakeOver[];
  readonly faults: readonly Injected[];
  readonly processes: readonly EndedProcess[];
}
