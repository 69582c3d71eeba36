import type { ExecutionNotifier } from '@millrace/runtime/notifier';
import { Wakeup } from '@millrace/runtime/wakeup';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Waits for one execution to change, until its reader goes away or the service closes. */
export interface Watch {
  /** True: there is nobody left to wait for. */
  readonly isOver: boolean;
  /** Returns after the next signal, or when the time is over: a signal may have been lost. */
  next(timeoutMs: number): Promise<void>;
  close(): void;
}

/** Begins to watch; signals that come before the first `next` are kept, so begin before reading. */
export type Watcher = (executionId: number, reply: FastifyReply) => Watch;

export function createWatcher(app: FastifyInstance, signals: Pick<ExecutionNotifier, 'subscribe'>): Watcher {
  const open = new Set<() => void>();
  let isClosing = false;
  // Before the server waits for its connections: those that only wait here would never end.
  app.addHook('preClose', async () => {
    isClosing = true;
    for (const wake of open) wake();
  });

  return (executionId, reply) => {
    const wakeup = new Wakeup();
    const wake = () => wakeup.wake();
    const unsubscribe = signals.subscribe(executionId, wake);
    let isGone = reply.raw.destroyed;
    const onClose = () => {
      isGone = true;
      wake();
    };
    reply.raw.once('close', onClose);
    open.add(wake);
    return {
      get isOver() {
        return isGone || isClosing;
      },
      async next(timeoutMs) {
        if (!this.isOver) await wakeup.wait(timeoutMs);
      },
      close() {
        unsubscribe();
        open.delete(wake);
        reply.raw.removeListener('close', onClose);
      },
    };
  };
}

/** A watch that is over after some time, too: its reader has to come back. */
export function endingAfter(watch: Watch, ms: number): Watch {
  const endsAt = performance.now() + ms;
  return {
    get isOver() {
      return watch.isOver || performance.now() >= endsAt;
    },
    next: (timeoutMs) => watch.next(timeoutMs),
    close: () => watch.close(),
  };
}
