import { type ExecutionStatus, isFinalStatus } from '@millrace/engine';
import type { ExecutionNotifier } from './notifier.ts';
import { Wakeup } from './wakeup.ts';

/** Maximum polling interval, in case a notification is lost. */
const POLL_MS = 2_000;

/** Waits for one execution to change. */
export interface Watch {
  /** True once nobody is waiting any more. */
  readonly isOver: boolean;
  /** Returns after the next change or on timeout, as a notification may be lost. */
  readonly next: (timeoutMs?: number) => Promise<void>;
  readonly close: () => void;
}

/** Watches an execution until `over` is aborted. Changes before the first `next` are remembered, so start watching before reading. */
export function watchExecution(
  notifier: Pick<ExecutionNotifier, 'subscribe'>,
  executionId: number,
  over: AbortSignal,
): Watch {
  const wakeup = new Wakeup();
  const wake = () => wakeup.wake();
  const unsubscribe = notifier.subscribe(executionId, wake);
  over.addEventListener('abort', wake);
  return {
    get isOver() {
      return over.aborted;
    },
    async next(timeoutMs = POLL_MS) {
      if (!over.aborted) await wakeup.wait(Math.min(timeoutMs, POLL_MS));
    },
    close() {
      unsubscribe();
      over.removeEventListener('abort', wake);
    },
  };
}

/**
 * Reads an execution after each of its changes until it has ended.
 * @returns null on timeout, if nobody is waiting any more, or if there is no such execution
 */
export async function waitForEnd<Row extends { readonly status: ExecutionStatus }>(
  watch: Watch,
  read: () => Promise<Row | undefined>,
  timeoutMs?: number,
): Promise<Row | null> {
  return await waitFor(watch, read, (row) => (isFinalStatus(row.status) ? row : undefined), timeoutMs);
}

/**
 * Reads after each change until `find` finds something.
 * @param find returns undefined if the reading doesn't have it yet
 * @returns null on timeout, if nobody is waiting any more, or if there is nothing to read
 */
export async function waitFor<Reading, Found>(
  watch: Watch,
  read: () => Promise<Reading | undefined>,
  find: (reading: Reading) => Found | undefined,
  timeoutMs = Number.POSITIVE_INFINITY,
): Promise<Found | null> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const remainingMs = until - performance.now();
    const reading = await read();
    if (reading === undefined) return null;
    const found = find(reading);
    if (found !== undefined) return found;
    // Decided before reading: a slow read may have started long before the limit.
    if (remainingMs <= 0 || watch.isOver) return null;
    await watch.next(Math.max(0, until - performance.now()));
  }
}
