import type { Database } from '@millrace/database/database';
import { Subscribers } from '@millrace/runtime/subscribers';
import type { Logger } from 'pino';

/** Notifies those waiting for a workflow's sample, in any process, to read it again. A notification may be lost, so poll now and then. */
export function createSampleSignals(db: Database, log: Logger) {
  const subscribers = new Subscribers();
  let listening: Promise<void> | null = null;

  async function listen(): Promise<void> {
    const notifyAll = () => {
      for (const id of subscribers.ids) subscribers.notify(id);
    };
    try {
      await db.listen('millrace_samples', (payload) => subscribers.notify(Number(payload)), notifyAll);
    } catch (error) {
      listening = null;
      log.debug({ err: error }, 'could not listen for samples from other processes; polling instead');
    }
  }

  return {
    /** Starts listening for other processes, if the database allows it; if it doesn't, the next call tries again. */
    start(): Promise<void> {
      listening ??= listen();
      return listening;
    },
    /** Calls `listener` after each change. @returns a function that unsubscribes */
    subscribe: (workflowId: number, listener: () => void) => subscribers.subscribe(workflowId, listener),
  };
}
