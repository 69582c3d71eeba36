import {
  type ClaimedExecution,
  type CompileResult,
  checkJsonSize,
  type NodeRecord,
  outcomeOfProblem,
  type Plan,
  stringifyJson,
} from '@millrace/engine';
import { type AheadPart, createAheadTime } from './ahead-time.ts';
import { noteEnd } from './note-end.ts';
import { Run } from './run.ts';
import type { AheadBudget, RunDeps } from './run-deps.ts';
import type { RunAheadSettings } from './settings.ts';
import type { StartRow } from './start-statements.ts';
import { toTarget } from './store-rows.ts';

/**
 * An execution that was run before it is stored, as far as it has no external effects. Nobody has seen it: if it isn't
 * stored, it never existed.
 */
export interface AheadRun {
  /** What is stored with the row. */
  readonly row: Pick<StartRow, 'recordsJson' | 'ahead'>;
  /** Continues it once the row is stored with its lease; null if it has ended. */
  readonly rest: Run | null;
  /** The row is stored with this result: the execution has ended, or continues. */
  stored(): void;
  /** The row isn't stored like this, or that is unknown. */
  drop(): void;
}

const time = createAheadTime();

/**
 * Runs an execution ahead of its insert, within the budget: pure nodes only, and none once its time, its nodes or its bytes are
 * used up. The rest is run after the insert.
 * @returns null if nothing was run
 */
export function runAhead(
  claimed: ClaimedExecution,
  compiled: CompileResult,
  deps: RunDeps,
  settings: RunAheadSettings,
): AheadRun | null {
  if (compiled.kind !== 'plan') return endedAtOnce(claimed, compiled, deps);
  return within(claimed, compiled.plan, deps, settings, toAheadRun);
}

/**
 * Runs an execution ahead of its insert, within the same budget, if it completes there.
 * @returns null if it doesn't, or if its records are larger than one output may be; nothing is left of it then
 */
export function completeAhead(
  claimed: ClaimedExecution,
  compiled: CompileResult,
  deps: RunDeps,
  settings: RunAheadSettings,
): AheadRun | null {
  if (compiled.kind !== 'plan') return null;
  return within(claimed, compiled.plan, deps, settings, (run) => {
    const write = run.nextWrite;
    if (write?.kind !== 'finish' || write.outcome.status !== 'completed') return null;
    if (write.storedBytes > settings.bytes) return null;
    return toAheadRun(run);
  });
}

/** @param toResult null drops the run. Its time counts, too */
function within(
  claimed: ClaimedExecution,
  plan: Plan,
  deps: RunDeps,
  settings: RunAheadSettings,
  toResult: (run: Run) => AheadRun | null,
): AheadRun | null {
  const run = new Run(claimed, plan, deps);
  const part = time.begin();
  try {
    run.runAhead(createBudget(settings, part));
    const result = toResult(run);
    if (result === null) run.drop();
    return result;
  } catch (error) {
    // A defect: the regular run will hit it again, and store it as the execution's end.
    deps.log.debug({ execution_id: claimed.lease.executionId, err: error }, 'could not run ahead');
    run.drop();
    return null;
  } finally {
    part.end();
  }
}

function toAheadRun(run: Run): AheadRun {
  const write = run.nextWrite;
  const isEnd = write?.kind === 'finish';
  const isStored = isEnd || write?.kind === 'checkpoint';
  return {
    row: isStored
      ? {
          recordsJson: toJson(write.records),
          ahead: {
            status: isEnd ? write.outcome.status : 'running',
            errorJson: isEnd ? (toTarget(write.outcome).errorJson ?? null) : null,
            consumedAiTokens: write.consumedAiTokens,
            storedBytes: write.storedBytes,
          },
        }
      : { recordsJson: null, ahead: null },
    rest: isEnd ? null : run,
    stored() {
      if (isStored) run.wrote();
      if (isEnd) run.drop();
    },
    drop: () => run.drop(),
  };
}

function createBudget({ nodes, bytes, ms }: RunAheadSettings, part: AheadPart): AheadBudget {
  let left = nodes;
  return {
    takeNode() {
      left -= 1;
      return left >= 0 && part.spentMs() < ms;
    },
    sawResult(result) {
      if ('output' in result && checkJsonSize(result.output ?? {}, bytes) !== 'fits') left = 0;
    },
  };
}

function endedAtOnce(
  claimed: ClaimedExecution,
  { problem }: Exclude<CompileResult, { kind: 'plan' }>,
  deps: RunDeps,
): AheadRun {
  const outcome = outcomeOfProblem(problem);
  const { errorJson = null } = toTarget(outcome);
  return {
    row: { recordsJson: null, ahead: { status: 'failed', errorJson, consumedAiTokens: 0, storedBytes: 0 } },
    rest: null,
    stored: () => noteEnd(deps, claimed, outcome.error),
    drop: () => {},
  };
}

function toJson(records: readonly NodeRecord[]): string | null {
  return records.length === 0 ? null : stringifyJson(records);
}
