import type { ClaimedExecution } from '@millrace/engine';

/**
 * Gives a newly accepted execution to this process's worker, so that it runs without being queued and claimed. Call
 * `reserve` first, then exactly one of `run` and `release`.
 */
export interface Executor {
  /**
   * Reserves a slot. Returns the id of the worker to lease the row to, or null to store it queued: there is no slot for the
   * organisation, older work is waiting, or the worker is stopping or can't be sure of its lease.
   */
  reserve(executionId: number, organisationId: number): string | null;
  /** The row is stored with this lease; starts running it. */
  run(execution: ClaimedExecution): void;
  /** The row wasn't stored, wasn't leased, or that is unknown. If it was, the worker finds it by itself. */
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
