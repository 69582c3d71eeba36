import type { Database } from '@millrace/database/database';
import type { Logger } from 'pino';
import { createPace } from './pace.ts';
import { notifyExecutions } from './statements.ts';
import { Subscribers } from './subscribers.ts';

const CHANNEL = 'millrace_executions';
/** PostgreSQL allows 8000 bytes. */
const MAX_PAYLOAD_BYTES = 7_500;
/** Mean time between two NOTIFYs of a busy process: each takes a lock that all commits with one share, and wakes every process. */
const NOTIFY_PAUSE_MS = 15;
/** As many may follow each other at once after a rest, so that whoever waits for an execution in another process learns of it without delay. */
const NOTIFY_BURST = 4;

type Listener = (executionId: number) => void;

export type ExecutionNotifier = ReturnType<typeof createNotifier>;

/**
 * Notifies those waiting for an execution to change: at once in this process, by NOTIFY in the others. A notification may be
 * lost or repeated, so a listener rereads the execution, and also polls now and then.
 * Payloads are comma-separated ids; a `!` suffix means cancelled, a `+` suffix means sent a signal.
 */
export function createNotifier(db: Database, log: Logger) {
  const subscribers = new Subscribers();
  const changeListeners: Listener[] = [];
  const cancelListeners: Listener[] = [];
  const signalListeners: Listener[] = [];
  const gapListeners: (() => void)[] = [];
  let pending = new Set<number>();
  let notifying: Promise<void> | null = null;
  const pace = createPace(NOTIFY_PAUSE_MS, NOTIFY_BURST);

  function notifyHere(executionId: number): void {
    for (const listener of changeListeners) listener(executionId);
    subscribers.notify(executionId);
  }

  async function notifyOthers(): Promise<void> {
    const delayMs = pace.next();
    // What changes in the same turn shares the statement.
    await new Promise((resolve) => (delayMs > 0 ? setTimeout(resolve, delayMs) : setImmediate(resolve)));
    const ids = pending;
    pending = new Set();
    try {
      await notifyExecutions(db, toPayloads(ids));
    } catch (error) {
      log.debug({ err: error }, 'could not notify other processes of execution changes; they poll for them');
    }
    notifying = pending.size > 0 ? notifyOthers() : null;
  }

  function cancelledHere(executionId: number): void {
    for (const listener of cancelListeners) listener(executionId);
    notifyHere(executionId);
  }

  return {
    /** Calls `listener` after each known change of the execution. @returns a function that unsubscribes */
    subscribe: (executionId: number, listener: () => void) => subscribers.subscribe(executionId, listener),
    /** Calls `listener` with the execution's id after each known change of any execution. */
    onChanged(listener: Listener): void {
      changeListeners.push(listener);
    },
    /** Calls `listener` with the id of each cancelled execution. */
    onCancelled(listener: Listener): void {
      cancelListeners.push(listener);
    },
    /** Calls `listener` with the id of each running execution that was sent a signal for one of its nodes. */
    onSignalled(listener: Listener): void {
      signalListeners.push(listener);
    },
    /** Calls `listener` after a gap in which cancellations and signals from other processes may have been missed. */
    onGap(listener: () => void): void {
      gapListeners.push(listener);
    },
    /** Node records were stored or executions ended, and that is committed. */
    changed(executionIds: readonly number[]): void {
      for (const id of executionIds) {
        pending.add(id);
        notifyHere(id);
      }
      if (pending.size > 0) notifying ??= notifyOthers();
    },
    /** The cancellation is committed; the cancelling statement has notified the other processes. */
    cancelled: cancelledHere,
    /** Starts listening for other processes' changes. */
    async start(): Promise<void> {
      await db.listen(
        CHANNEL,
        (payload) => {
          for (const part of payload.split(',')) {
            const id = Number.parseInt(part, 10);
            if (part.endsWith('!')) cancelledHere(id);
            else if (part.endsWith('+')) for (const listener of signalListeners) listener(id);
            else notifyHere(id);
          }
        },
        () => {
          for (const id of subscribers.ids) notifyHere(id);
          for (const listener of gapListeners) listener();
        },
      );
    },
    /** Sends pending notifications. */
    async close(): Promise<void> {
      while (notifying !== null) await notifying;
    },
  };
}

function toPayloads(ids: ReadonlySet<number>): string[] {
  const payloads: string[] = [];
  let payload = '';
  for (const id of ids) {
    const part = String(id);
    if (payload.length + part.length + 1 > MAX_PAYLOAD_BYTES) {
      payloads.push(payload);
      payload = '';
    }
    payload += payload === '' ? part : `,${part}`;
  }
  return payload === '' ? payloads : [...payloads, payload];
}
