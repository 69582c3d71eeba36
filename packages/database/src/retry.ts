import { setTimeout as pause } from 'node:timers/promises';
import { type DatabaseUnavailableError, waitingMayMend } from './errors.ts';

export interface Patience {
  /** Told of every attempt that met a database that is away. */
  readonly onAway?: (error: DatabaseUnavailableError) => void;
  /** Ends the waiting; what is thrown then is its reason. */
  readonly signal?: AbortSignal | undefined;
  /** When to give up; never when absent. */
  readonly longestMs?: number;
}

const PAUSE_MS = 500;

/**
 * Does `work`, again from its beginning as long as the database is away. For what may be done twice: whether an attempt
 * that lost its connection took effect is not known.
 *
 * @throws what `work` throws, as soon as waiting cannot mend it
 */
export async function whenAvailable<T>(work: () => Promise<T>, patience: Patience = {}): Promise<T> {
  const { onAway, signal, longestMs = Number.POSITIVE_INFINITY } = patience;
  const startedAt = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!waitingMayMend(error) || performance.now() - startedAt > longestMs) throw error;
      onAway?.(error);
    }
    await pause(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
