import { Wakeup } from './wakeup.ts';

/** Work repeated in the background. */
export interface PeriodicTask {
  start(): void;
  /** Makes the next round due now. */
  kick(): void;
  /** Stops after the current round. Safe to call twice. */
  stop(): Promise<void>;
}

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

/** The task is idle until it is started. */
export function createPeriodicTask({
  work,
  pauseMs,
  firstPauseMs,
  onFailure,
}: PeriodicTaskOptions): PeriodicTask {
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
    start() {
      loop = run();
    },
    kick: () => wakeup.wake(),
    async stop() {
      isStopping = true;
      wakeup.wake();
      await loop;
    },
  };
}
