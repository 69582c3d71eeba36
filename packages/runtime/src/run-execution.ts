import { DatabaseUnavailableError } from '@millrace/database/errors';
import { type ClaimedExecution, type ExecutionError, outcomeOfProblem } from '@millrace/engine';
import { message } from '@millrace/messages';
import { WriteTimeoutError } from './confirmed-writes.ts';
import { noteEnd } from './note-end.ts';
import { Run } from './run.ts';
import type { RunControl, RunDeps } from './run-deps.ts';

const PLAN_RETRY_MS = 250;

/**
 * Runs one claimed execution until it has ended, is parked or handed back, or is no longer this worker's. Never throws: if
 * the store refuses a write, the execution already belongs to another worker.
 * @param ahead what was run before the execution was stored; absent for nothing
 */
export async function runExecution(
  claimed: ClaimedExecution,
  deps: RunDeps,
  control: RunControl,
  ahead?: Run,
): Promise<void> {
  const { executionId } = claimed.lease;
  try {
    if (ahead !== undefined) {
      await ahead.drive(control);
      return;
    }
    const compiled = await loadPlan(claimed, deps, control);
    if (compiled === null) return;
    if (compiled.kind === 'plan') {
      await new Run(claimed, compiled.plan, deps).drive(control);
    } else {
      await endAsFailed(claimed, deps, outcomeOfProblem(compiled.problem).error);
    }
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) {
      deps.log.warn(
        { execution_id: executionId, err: error },
        'could not store execution; it resumes when the database is back',
      );
      return;
    }
    deps.log.error({ execution_id: executionId, err: error }, 'could not run or store execution');
    await endAsFailed(claimed, deps, explain(error)).catch((cause: unknown) => {
      deps.log.error({ execution_id: executionId, err: cause }, 'could not end execution');
    });
  }
}

/** Why an execution that could not be run or stored has failed. */
function explain(error: unknown): ExecutionError {
  if (error instanceof WriteTimeoutError) {
    const said = message('run.storage_timeout', { bytes: error.bytes });
    return { code: 'storage_timeout', message: said, nodeId: null };
  }
  return { code: 'internal_error', message: message('run.internal_error'), nodeId: null };
}

async function loadPlan(claimed: ClaimedExecution, deps: RunDeps, control: RunControl) {
  for (;;) {
    try {
      return await deps.plans.get(claimed.workflowId, claimed.workflowVersion);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) throw error;
      const stopReason = control.stopReason();
      if (stopReason === 'shutdown') await deps.store.handBack(claimed.lease, []);
      if (stopReason !== null || !control.isLeaseValid()) return null;
      await new Promise((resolve) => setTimeout(resolve, PLAN_RETRY_MS));
    }
  }
}

async function endAsFailed(claimed: ClaimedExecution, deps: RunDeps, error: ExecutionError): Promise<void> {
  await deps.store.finish(claimed.lease, [], { status: 'failed', error });
  noteEnd(deps, claimed, error);
}
