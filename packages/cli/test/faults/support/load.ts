import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Start } from './client.ts';

/** When a start was sent and when it was acknowledged, in milliseconds of this process's monotonic clock. */
export interface Acknowledgement {
  readonly sentAt: number;
  readonly at: number;
}

/** Clients that start executions sequentially, every second start with an Idempotency-Key, until stopped. */
export class Load {
  readonly starts: Start[] = [];
  readonly acknowledgements: Acknowledgement[] = [];
  readonly #client: Client;
  readonly #clients: Promise<void>[];
  readonly #pauseMs: number;
  #isOver = false;

  /** @param pauseMs of each client after a start that was accepted */
  constructor(client: Client, workflowId: number, clients: number, pauseMs = 0) {
    this.#client = client;
    this.#pauseMs = pauseMs;
    this.#clients = Array.from({ length: clients }, () => this.#run(workflowId));
  }

  /** Starts that were accepted so far. */
  get accepted(): number {
    return this.starts.filter(({ answer }) => answer.kind === 'accepted').length;
  }

  async stop(): Promise<Start[]> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    return this.starts;
  }

  async #run(workflowId: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const marker = randomUUID();
      const sentAt = performance.now();
      const start = await this.#client.start(workflowId, marker, turn % 2 === 0 ? marker : null);
      this.starts.push(start);
      if (start.answer.kind === 'accepted') {
        this.acknowledgements.push({ sentAt, at: performance.now() });
        if (this.#pauseMs > 0) await pause(this.#pauseMs);
      } else {
        // A refused client retries as soon as a well-behaved one would at the earliest.
        await pause(20);
      }
    }
  }
}

/** Repeats a start, with its key, until it is accepted. @throws if it is refused for a reason other than 503 */
export async function retryUntilAccepted(client: Client, workflowId: number, start: Start): Promise<Start> {
  for (;;) {
    const again = await client.start(workflowId, start.marker, start.key);
    if (again.answer.kind === 'accepted') return again;
    if (again.answer.kind === 'refused' && again.answer.status !== 503) {
      throw new Error(`A retry was refused: ${again.answer.body}`);
    }
    await pause(50);
  }
}
