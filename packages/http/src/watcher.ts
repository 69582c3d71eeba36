import type { ExecutionNotifier } from '@millrace/runtime/notifier';
import { type Watch, watchExecution } from '@millrace/runtime/watch';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Watches an execution until its reader disconnects or the service closes. */
export type Watcher = (executionId: number, reply: FastifyReply) => Watch;

export function createWatcher(app: FastifyInstance, notifier: Pick<ExecutionNotifier, 'subscribe'>): Watcher {
  const open = new Set<AbortController>();
  let isClosing = false;
  // Before the server waits for its connections: those that are only waiting here would never end.
  app.addHook('preClose', async () => {
    isClosing = true;
    for (const over of open) over.abort();
  });

  return (executionId, reply) => {
    const over = new AbortController();
    const end = () => over.abort();
    if (isClosing || reply.raw.destroyed) end();
    reply.raw.once('close', end);
    open.add(over);
    const watch = watchExecution(notifier, executionId, over.signal);
    return {
      get isOver() {
        return watch.isOver;
      },
      next: watch.next,
      close() {
        watch.close();
        open.delete(over);
        reply.raw.removeListener('close', end);
      },
    };
  };
}

/** After this the reader of a stream has to reconnect, and its session and role are checked again. */
export const MAX_STREAM_MS = 300_000;

/** A watch that also ends after {@link MAX_STREAM_MS}. */
export function endingInTime(watch: Watch): Watch {
  const endsAt = performance.now() + MAX_STREAM_MS;
  return {
    get isOver() {
      return watch.isOver || performance.now() >= endsAt;
    },
    next: watch.next,
    close: watch.close,
  };
}
