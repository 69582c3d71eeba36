import type { Database } from '@millrace/database/database';
import { DatabaseUnavailableError } from '@millrace/database/errors';
import {
  describeExecutionError,
  formatTimestamp,
  type JsonObject,
  parseJson,
  readError,
} from '@millrace/engine';
import type { Logger } from 'pino';
import { insertFollower } from './child-statements.ts';
import { MAX_DEPTH } from './depth.ts';
import { type FailureRow, findFailures, takeFollowUp } from './follow-up-statements.ts';
import type { Meters } from './meters/meters.ts';
import { createPeriodicTask, type PeriodicTask } from './periodic-task.ts';
import type { PlanCache } from './plans.ts';
import { toStartRow } from './start-row.ts';
import { reserveExecutionIds } from './statements.ts';

export interface ErrorWorkflowDeps {
  readonly db: Database;
  readonly plans: PlanCache;
  readonly log: Logger;
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
}

/** Failures processed together. */
const BATCH = 20;
/** Only an upper bound: every claiming round checks for failures too. */
const MAX_PAUSE_MS = 3_600_000;

/**
 * Starts the error workflows of failed executions in the background, each exactly once across all processes. Kicked when
 * something may have failed.
 */
export function createErrorWorkflows(deps: ErrorWorkflowDeps): PeriodicTask {
  return createPeriodicTask({
    work: (isStopping) => startErrorWorkflows(deps, isStopping),
    pauseMs: () => MAX_PAUSE_MS,
    onFailure: (error) => deps.log.warn({ err: error }, 'could not start error workflows; retrying'),
  });
}

async function startErrorWorkflows(deps: ErrorWorkflowDeps, isStopping: () => boolean): Promise<void> {
  for (;;) {
    const failures = await findFailures(deps.db, BATCH);
    let done = 0;
    for (const failure of failures) {
      if (isStopping()) return;
      if (await startErrorWorkflow(deps, failure)) done += 1;
    }
    // Another process is handling the rest.
    if (failures.length < BATCH || done === 0) return;
  }
}

/** False if another process was first. */
async function startErrorWorkflow(deps: ErrorWorkflowDeps, failure: FailureRow): Promise<boolean> {
  const { db, log, meters } = deps;
  const about = { execution_id: failure.id, error_workflow_id: failure.error_workflow_id };
  const obstacle = obstacleOf(failure);
  if (obstacle !== null) {
    log.warn(about, `error workflow not started: ${obstacle}`);
    return drop(db, failure);
  }
  try {
    const startedId = await start(deps, failure);
    if (startedId === null) return false;
    log.info({ ...about, started_id: startedId }, 'error workflow started');
    meters?.startsAccepted('error', failure.organisation_id);
    return true;
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) throw error;
    // What can't be started now never will be, and must not delay the failures after it.
    log.error({ ...about, err: error }, 'could not start error workflow');
    return drop(db, failure);
  }
}

function obstacleOf({ target_id: id, target_status: status, depth }: FailureRow): string | null {
  if (id === null) return 'the organisation has no such workflow';
  if (status === 'archived' || status === 'inactive') return `it is ${status}`;
  return depth >= MAX_DEPTH ? `${MAX_DEPTH} executions have started one another already` : null;
}

function drop(db: Database, { kind, id }: FailureRow): Promise<boolean> {
  return db.transaction(async (tx) => (await takeFollowUp(tx, kind, id)).length > 0);
}

/** The new execution's id; null if another process was first. */
async function start({ db, plans }: ErrorWorkflowDeps, failure: FailureRow): Promise<number | null> {
  const workflowId = failure.target_id ?? 0;
  const compiled = await plans.get(workflowId, failure.target_version);
  return db.transaction(async (tx) => {
    if ((await takeFollowUp(tx, failure.kind, failure.id)).length === 0) return null;
    const [reserved] = await reserveExecutionIds(tx, 1);
    if (reserved === undefined) throw new Error('no id was reserved');
    const row = toStartRow({
      executionId: reserved.id,
      acceptedAt: failure.completed_at,
      workflow: {
        id: workflowId,
        organisationId: failure.organisation_id,
        name: failure.target_name,
        isTestMode: failure.is_test_mode || failure.target_is_test_mode,
      },
      version: failure.target_version,
      triggerType: 'error',
      filesOf: failure.id,
      input: describeFailure(failure),
      compiled,
    });
    await insertFollower(tx, { ...row, depth: failure.depth + 1, parent: null });
    return reserved.id;
  });
}

/** The data an error workflow's trigger receives. */
function describeFailure(failure: FailureRow): JsonObject {
  const { started_at: startedAt } = failure;
  return {
    error: describeExecutionError(readError(parseJson(failure.error))),
    execution: {
      id: failure.id,
      workflow_id: failure.workflow_id,
      workflow_name: failure.workflow_name,
      workflow_version: failure.workflow_version,
      display_name: failure.display_name,
      trigger_type: failure.trigger_type,
      is_test_mode: failure.is_test_mode,
      input_data: parseJson(failure.input),
      created_at: formatTimestamp(failure.created_at),
      started_at: startedAt === null ? null : formatTimestamp(startedAt),
      completed_at: formatTimestamp(failure.completed_at),
    },
  };
}
