import type { Database } from '@millrace/database/database';
import { Subscribers } from '@millrace/runtime/subscribers';
import type { Logger } from 'pino';

/** Notifies those waiting for a workflow's sample, in any process, to read it again. A notification may be lost, so poll now and then. */
export interface SampleSignals {
  /** Starts listening for other processes, if the database allows it. */
  start(): Promise<void>;
  /** Calls `listener` after each change. @returns a function that unsubscribes */
  subscribe(workflowId: number, listener: () => void): () => void;
}

/** A listener that couldn't start because the database was unavailable starts with the next {@link SampleSignals.start}. */
export function createSampleSignals(db: Database, log: Logger): SampleSignals {
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
    start() {
      listening ??= listen();
      return listening;
    },
    subscribe: (workflowId, listener) => subscribers.subscribe(workflowId, listener),
  };
}
