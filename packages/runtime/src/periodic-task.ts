import { Wakeup } from './wakeup.ts';

export interface PeriodicTaskOptions {
  /** One round; it checks between its steps whether to stop. */
  readonly work: (isStopping: () => boolean) => Promise<unknown>;
  /** Milliseconds from the end of a round to the next one. */
  readonly pauseMs: () => number;
  /** Milliseconds until the first round; 0: at once. Default: a whole pause. */
  readonly firstPauseMs?: number;
  /** Called with a round's error; the next round runs all the same. */
  readonly onFailure: (error: unknown) => void;
}

export type PeriodicTask = ReturnType<typeof createPeriodicTask>;

/** Work repeated in the background. The task is idle until it is started. */
export function createPeriodicTask({ work, pauseMs, firstPauseMs, onFailure }: PeriodicTaskOptions) {
  const wakeup = new Wakeup();
  let isStopping = false;
  let loop: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    for (let nextMs = firstPauseMs ?? pauseMs(); ; nextMs = pauseMs()) {
      if (nextMs > 0) await wakeup.wait(nextMs);
      if (isStopping) return;
      await work(() => isStopping).catch(onFailure);
    }
  }

  return {
    start(): void {
      loop = run();
    },
    /** Makes the next round due now. */
    kick: () => wakeup.wake(),
    /** Stops after the current round. Safe to call twice. */
    async stop(): Promise<void> {
      isStopping = true;
      wakeup.wake();
      await loop;
    },
  };
}
