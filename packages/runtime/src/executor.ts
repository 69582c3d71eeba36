import type { ClaimedExecution } from '@millrace/engine';

/**
 * Hands an execution that was just accepted to the worker of this process, so that it runs without being queued and
 * claimed. `reserve` comes first; exactly one of `run` and `release` follows.
 */
export interface Executor {
  /**
   * Keeps a place free. The id of the worker the row is to be leased to, or null: store it queued, because there is
   * no free place, older work waits, the worker stops or cannot be sure of its lease.
   */
  reserve(executionId: number): string | null;
  /** The row is stored with this lease: begins to run it. */
  run(execution: ClaimedExecution): void;
  /** It was not stored, or not leased, or that is unknown: if it was, the worker finds it by itself. */
  release(executionId: number): void;
}

/** For a process without a worker: everything is queued. */
export const NO_EXECUTOR: Executor = {
  reserve: () => null,
  run: ({ lease }) => {
    throw new Error(`execution ${lease.executionId} was handed to a process without a worker`);
  },
  release: () => {},
};
