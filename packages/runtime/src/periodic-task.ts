import { Wakeup } from './wakeup.ts';

/** Work that is done again and again in the background. */
export interface PeriodicTask {
  start(): void;
  /** The next round is due now. */
  kick(): void;
  /** Ends after what is in hand. Safe to call twice. */
  stop(): Promise<void>;
}

export interface PeriodicTaskOptions {
  /** One round; it asks between its steps whether it is to end. */
  readonly work: (isStopping: () => boolean) => Promise<unknown>;
  /** Milliseconds from the end of a round to the next one. */
  readonly pauseMs: () => number;
  /** Milliseconds until the first round; 0: at once. Default: a whole pause. */
  readonly firstPauseMs?: number;
  /** What a round failed with; the next one comes all the same. */
  readonly onFailure: (error: unknown) => void;
}

/** Makes rounds that begin when they are started. */
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
