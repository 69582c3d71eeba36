import type { ClaimedExecution, CompileResult } from '@millrace/engine';
import type { AheadRun } from './run-ahead.ts';

/**
 * Gives a newly accepted execution to this process's worker, so that it runs without being queued and claimed. Call
 * `reserve` first, then `runAhead` if you like, then exactly one of `run` and `release`. Where nothing was reserved, `completeAhead` may still
 * run it, followed by `release`.
 */
export interface Executor {
  /**
   * Reserves a slot. Returns the id of the worker to lease the row to, or null to store it queued: there is no slot for the
   * organisation, no room for its data, older work is waiting, or the worker is stopping or can't be sure of its lease.
   * @param bytes of its input and records, as JSON
   */
  reserve(executionId: number, organisationId: number, bytes: number): string | null;
  /** Whether half of what this process may run at one time is running, or more is waiting, of the organisation or in general, than it can run. */
  isBusy(organisationId: number): boolean;
  /**
   * Runs it before it is stored, within the budget; null if there was nothing to run. The result is stored with the row.
   * @param inputBytes length of its input, as JSON
   */
  runAhead(execution: ClaimedExecution, compiled: CompileResult, inputBytes: number): AheadRun | null;
  /**
   * Runs it before it is stored if it completes within the budget; null if it doesn't, or if this is left to the workers. The result is stored with
   * the row, which needs no lease.
   * @param inputBytes length of its input, as JSON
   */
  completeAhead(execution: ClaimedExecution, compiled: CompileResult, inputBytes: number): AheadRun | null;
  /** The row is stored with this lease, and with what was run ahead; runs the rest. */
  run(execution: ClaimedExecution, ahead: AheadRun | null): void;
  /**
   * The execution has ended, wasn't stored or leased, or that is unknown. If it was leased, the worker finds it by itself.
   * @param ended what was run ahead to its end and is stored; null otherwise
   */
  release(executionId: number, ended: AheadRun | null): void;
}

/** Nothing is reserved without a worker, so nothing may be handed over. */
export function refuseToRun({ lease }: ClaimedExecution): never {
  throw new Error(`execution ${lease.executionId} was handed to a process without a worker`);
}

/** For a process without a worker: everything is queued. */
export const NO_EXECUTOR: Executor = {
  reserve: () => null,
  isBusy: () => false,
  runAhead: () => null,
  completeAhead: () => null,
  run: refuseToRun,
  release: () => {},
};
