import type { ClaimedExecution } from '@millrace/engine';

/** Upper bounds of the classes of durations, in seconds; one more class takes what is above the last. Stored counts rely on them. */
export const DURATION_CLASSES = [
  0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400,
] as const;
/** Far more workflows than have executions that end between two stores. */
const MAX_WORKFLOWS = 50_000;

/** How executions of one workflow have ended. */
export interface RunTally {
  readonly workflowId: number;
  completed: number;
  failed: number;
  /** By class. */
  readonly durations: number[];
}

/** Counts ended executions by workflow until they are stored. Counting allocates only for a workflow's first one. */
export class RunTallies {
  #byWorkflow = new Map<number, RunTally>();

  /** Runs in test mode and of drafts don't count. */
  ended({ workflowId, isTestMode, workflowVersion }: Counted, hasFailed: boolean, seconds: number): void {
    if (isTestMode || workflowVersion < 0) return;
    const tally = this.#tallyOf(workflowId);
    if (tally === null) return;
    if (hasFailed) tally.failed += 1;
    else tally.completed += 1;
    const place = DURATION_CLASSES.findIndex((bound) => seconds <= bound);
    const at = place === -1 ? DURATION_CLASSES.length : place;
    tally.durations[at] = (tally.durations[at] ?? 0) + 1;
  }

  /** Everything counted since the last time. */
  take(): RunTally[] {
    const taken = [...this.#byWorkflow.values()];
    this.#byWorkflow = new Map();
    return taken;
  }

  /** Adds back what {@link take} returned, because it couldn't be stored. */
  restore(tallies: readonly RunTally[]): void {
    for (const { workflowId, completed, failed, durations } of tallies) {
      const tally = this.#tallyOf(workflowId);
      if (tally === null) continue;
      tally.completed += completed;
      tally.failed += failed;
      for (const [at, count] of durations.entries()) tally.durations[at] = (tally.durations[at] ?? 0) + count;
    }
  }

  #tallyOf(workflowId: number): RunTally | null {
    const known = this.#byWorkflow.get(workflowId);
    if (known !== undefined) return known;
    if (this.#byWorkflow.size >= MAX_WORKFLOWS) return null;
    const durations = Array.from<number>({ length: DURATION_CLASSES.length + 1 }).fill(0);
    const made = { workflowId, completed: 0, failed: 0, durations };
    this.#byWorkflow.set(workflowId, made);
    return made;
  }
}

type Counted = Pick<ClaimedExecution, 'workflowId' | 'isTestMode' | 'workflowVersion'>;
