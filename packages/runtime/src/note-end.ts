import type { ClaimedExecution, ExecutionError } from '@millrace/engine';
import type { RunDeps } from './run-deps.ts';
import { logIdsOf, traced } from './tracing/run-trace.ts';

/** Logs and counts an end that was stored. @param error null if it completed */
export function noteEnd(
  { log, meters, clock, tracer = null }: Pick<RunDeps, 'log' | 'meters' | 'clock' | 'tracer'>,
  claimed: ClaimedExecution,
  error: Pick<ExecutionError, 'code' | 'nodeId'> | null,
): void {
  const seconds = (clock.now() - claimed.startedAtMs) / 1000;
  meters.executionEnded(claimed, error?.code ?? null, seconds);
  meters.runs.ended(claimed, error !== null, seconds);
  const ids = logIdsOf(tracer, claimed);
  tracer?.endExecution(
    traced(claimed),
    error === null ? 'completed' : 'failed',
    error?.code ?? null,
    clock.now(),
  );
  if (error === null) log.debug(ids, 'execution completed');
  else log.info({ ...ids, node_id: error.nodeId, code: error.code }, 'execution failed');
}
