import { type ExecutionStatus, isFinalStatus } from '@millrace/engine';
import type { ExecutionNotifier } from './notifier.ts';
import { Wakeup } from './wakeup.ts';

/** Looked at at least this often, should a signal be lost. */
const POLL_MS = 2_000;

/** Waits for one execution to change. */
export interface Watch {
  /** True: nobody waits any more. */
  readonly isOver: boolean;
  /** Returns after the next change, or when the time is over: a signal may have been lost. */
  readonly next: (timeoutMs?: number) => Promise<void>;
  readonly close: () => void;
}

/**
 * Begins to watch an execution, until `over` is aborted. Changes that come before the first `next` are kept, so begin
 * before reading.
 */
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
 * @returns null: the time is over, nobody waits any more, or there is no such execution
 */
export async function waitForEnd<Row extends { readonly status: ExecutionStatus }>(
  watch: Watch,
  read: () => Promise<Row | undefined>,
  timeoutMs = Number.POSITIVE_INFINITY,
): Promise<Row | null> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const row = await read();
    if (row === undefined) return null;
    if (isFinalStatus(row.status)) return row;
    const remainingMs = until - performance.now();
    if (remainingMs <= 0 || watch.isOver) return null;
    await watch.next(remainingMs);
  }
}
