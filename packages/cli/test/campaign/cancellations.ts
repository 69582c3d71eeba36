import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../faults/support/client.ts';
import type { SentStart, Tenants } from './starts.ts';

/** One request to cancel an execution. */
export interface CancelAttempt {
  readonly executionId: number;
  /** Null if there was no response. */
  readonly status: number | null;
  readonly code: string | null;
}

const RETRY_MS = 100;

/** Cancels executions while they run, or just before or after. */
export class Cancellations {
  readonly attempts: CancelAttempt[] = [];
  readonly #tenants: Tenants;
  readonly #underWay: Promise<void>[] = [];

  constructor(tenants: Tenants) {
    this.#tenants = tenants;
  }

  /** Cancels what the start began, if it is of the kind that is cancelled. */
  begin({ kind, answers, input }: SentStart): void {
    const accepted = answers.find((answer) => answer.kind === 'accepted');
    if (kind !== 'cancelled' || accepted === undefined) return;
    this.#underWay.push(this.#cancel(accepted.executionId, input.cancel_after_ms ?? 0));
  }

  /** Waits until every cancellation was answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #cancel(executionId: number, afterMs: number): Promise<void> {
    await pause(afterMs);
    for (let attempt = 0; ; attempt += 1) {
      const client = new Client(this.#tenants.apiUrl(executionId + attempt), this.#tenants.ordinary);
      const made = { executionId, ...(await ask(client, executionId)) };
      this.attempts.push(made);
      if (made.status !== null && made.status !== 503 && made.status !== 429) return;
      await pause(RETRY_MS);
    }
  }
}

async function ask(client: Client, executionId: number): Promise<Omit<CancelAttempt, 'executionId'>> {
  try {
    const response = await client.post(`/executions/${executionId}/cancel`, {});
    const { code = null } = (await response.json()) as { readonly code?: string };
    return { status: response.status, code };
  } catch {
    return { status: null, code: null };
  }
}
