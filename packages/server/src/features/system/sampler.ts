import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { Wakeup } from '../../worker/wakeup.ts';
import { insertSample, pruneSamples, trySampleLock } from './store.ts';

/** Writes down once a minute how the service fares. */
export interface Sampler {
  start(): void;
  /** Ends after what is in hand. Safe to call twice. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 60_000;

/** Every process with a worker may have one: each minute is written by one of them. */
export function createSampler({ db, log }: { readonly db: Database; readonly log: Logger }): Sampler {
  const wakeup = new Wakeup();
  let isStopping = false;
  let loop: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!isStopping) {
      await takeSample(db).catch((error: unknown) => {
        log.warn(
          { err: error },
          'the state of the service could not be written down; the next minute tries again',
        );
      });
      // At the beginning of each minute, so that none is left out.
      if (!isStopping) await wakeup.wait(INTERVAL_MS - (Date.now() % INTERVAL_MS));
    }
  }

  return {
    start() {
      loop = run();
    },
    async stop() {
      isStopping = true;
      wakeup.wake();
      await loop;
    },
  };
}

/** @returns false when another process is at it, or has been in this minute */
export async function takeSample(db: Database): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await trySampleLock(tx)) || !(await insertSample(tx))) return false;
    await pruneSamples(tx);
    return true;
  });
}
