import type { Database } from '@millrace/database/database';
import { createPeriodicTask } from './periodic-task.ts';

export interface TriggerLoopOptions {
  readonly db: Pick<Database, 'listen'>;
  /** One round. @returns the milliseconds until the next one */
  readonly round: () => Promise<number>;
  /** Called with a round's error; the next round runs all the same. */
  readonly onFailure: (error: unknown) => void;
}

/** Pause after a round that failed. */
const RETRY_MS = 1_000;

export type TriggerLoop = ReturnType<typeof createTriggerLoop>;

/** Runs a round of work on triggers after each pause, and whenever a workflow's triggers have changed. Idle until it is started. */
export function createTriggerLoop({ db, round, onFailure }: TriggerLoopOptions) {
  const stopping = new AbortController();
  let waitMs = 0;
  const task = createPeriodicTask({
    async work() {
      waitMs = await round();
    },
    pauseMs: () => waitMs,
    firstPauseMs: 0,
    onFailure(error) {
      waitMs = RETRY_MS;
      onFailure(error);
    },
  });
  const kick = (): void => task.kick();

  return {
    /** Aborted when the loop stops. */
    stopping: stopping.signal,
    /** Starts the first round at once. @throws DatabaseUnavailableError if the database is currently unavailable */
    async start(): Promise<void> {
      await db.listen('millrace_schedules', kick, kick);
      task.start();
    },
    /** Makes the next round due now. */
    kick,
    /** Stops after the current round. Safe to call twice. */
    async stop(): Promise<void> {
      stopping.abort();
      await task.stop();
    },
  };
}
