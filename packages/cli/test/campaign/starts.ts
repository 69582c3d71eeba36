import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, Client } from '../faults/support/client.ts';
import { isGreedy, type Kind, type PlannedStart } from './mix.ts';

/** A start and everything its client was told. */
export interface SentStart extends PlannedStart {
  readonly answers: readonly Answer[];
}

export interface Tenants {
  /** API keys. */
  readonly ordinary: string;
  readonly greedy: string;
  readonly workflowOf: (kind: Kind) => number;
  /** Address of a process that accepts starts, another one for each number. */
  readonly apiUrl: (n: number) => string;
}

const CLIENTS = 8;
const RETRY_MS = 60;

/** Clients that send the starts of a plan in their order. */
export class Starts {
  readonly sent: SentStart[] = [];
  readonly #tenants: Tenants;

  constructor(tenants: Tenants) {
    this.#tenants = tenants;
  }

  /** @param maySend waits until the n-th start, counted from 0, is due */
  async run(plan: readonly PlannedStart[], maySend: (n: number) => Promise<void>): Promise<void> {
    const left = [...plan.entries()];
    const send = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [n, start] = next;
        await maySend(n);
        this.sent.push({ ...start, answers: await this.#send(n, start) });
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, send));
  }

  async #send(n: number, start: PlannedStart): Promise<Answer[]> {
    const { ordinary, greedy, apiUrl, workflowOf } = this.#tenants;
    const answers: Answer[] = [];
    for (let attempt = 0; ; attempt += 1) {
      const client = new Client(apiUrl(n + attempt), isGreedy(start.kind) ? greedy : ordinary);
      const key = start.hasKey ? start.marker : null;
      const { answer } = await client.start(workflowOf(start.kind), start.marker, key, start.input);
      answers.push(answer);
      const accepted = answers.filter(({ kind }) => kind === 'accepted').length;
      if (accepted === (start.isRepeated ? 2 : 1)) return answers;
      if (!mayRepeat(start, answer)) return answers;
      await pause(RETRY_MS);
    }
  }
}

/** Without a key, a start whose outcome is unknown must not be sent again. */
function mayRepeat({ hasKey }: PlannedStart, answer: Answer): boolean {
  if (answer.kind === 'cut') return hasKey;
  if (answer.kind === 'accepted') return true;
  if (answer.status === 503) return hasKey || answer.code === 'overloaded';
  return answer.status === 429;
}
