import type { Database } from '@millrace/database/database';
import { createPeriodicTask } from './periodic-task.ts';

/** Rounds of what looks after triggers: one is due after a pause, and whenever the triggers of a workflow were changed. */
export interface TriggerRounds {
  /** Aborted when they stop. */
  readonly stopping: AbortSignal;
  /** The first round begins at once. @throws DatabaseUnavailableError if the database is currently unavailable */
  start(): Promise<void>;
  /** Makes the next round due now. */
  kick(): void;
  /** Stops after the current round. Safe to call twice. */
  stop(): Promise<void>;
}

export interface TriggerRoundsOptions {
  readonly db: Pick<Database, 'listen'>;
  /** One round. @returns the milliseconds until the next one */
  readonly round: () => Promise<number>;
  /** Called with a round's error; the next round runs all the same. */
  readonly onFailure: (error: unknown) => void;
}

/** Pause after a round that failed. */
const RETRY_MS = 1_000;

/** The rounds are idle until they are started. */
export function createTriggerRounds({ db, round, onFailure }: TriggerRoundsOptions): TriggerRounds {
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
    stopping: stopping.signal,
    async start() {
      await db.listen('millrace_schedules', kick, kick);
      task.start();
    },
    kick,
    async stop() {
      stopping.abort();
      await task.stop();
    },
  };
}
