import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, Client } from '../faults/support/client.ts';
import { isCalled, isGreedy, type Kind, type PlannedStart } from './mix.ts';

/** A start and everything its client was told. */
export interface SentStart extends PlannedStart {
  readonly answers: readonly Answer[];
}

export interface Tenants {
  /** API keys. */
  readonly ordinary: string;
  readonly greedy: string;
  readonly workflowOf: (kind: Kind) => number;
  /** Path of a workflow's webhook. */
  readonly webhookOf: (kind: Kind) => string;
  /** Address of a process that accepts starts, another one for each number. */
  readonly apiUrl: (n: number) => string;
}

const CLIENTS = 8;
const RETRY_MS = 60;

/** Clients that send the starts of a plan in their order. */
export class Starts {
  readonly sent: SentStart[] = [];
  readonly #tenants: Tenants;
  readonly #onSent: (start: SentStart) => void;

  /** @param onSent called when a start has all of its answers */
  constructor(tenants: Tenants, onSent: (start: SentStart) => void) {
    this.#tenants = tenants;
    this.#onSent = onSent;
  }

  /** @param maySend waits until the n-th start, counted from 0, is due */
  async run(
    plan: readonly (readonly PlannedStart[])[],
    maySend: (n: number) => Promise<void>,
  ): Promise<void> {
    const left = [...plan];
    let next = 0;
    const send = async (): Promise<void> => {
      for (let request = left.shift(); request !== undefined; request = left.shift()) {
        const n = next;
        next += request.length;
        await maySend(n);
        const first = request.length > 1 ? await this.#sendBatch(n, request) : [];
        for (const [item, start] of request.entries()) {
          const sent = { ...start, answers: await this.#send(n, start, first[item]) };
          this.sent.push(sent);
          this.#onSent(sent);
        }
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, send));
  }

  #client(n: number, { kind }: PlannedStart): Client {
    const { ordinary, greedy, apiUrl } = this.#tenants;
    return new Client(apiUrl(n), isGreedy(kind) ? greedy : ordinary);
  }

  /** One request for all; those it doesn't start are sent again one by one, where that is right. */
  async #sendBatch(n: number, request: readonly PlannedStart[]): Promise<Answer[]> {
    const [first] = request;
    if (first === undefined) return [];
    const items = request.map(({ marker, hasKey, input }) => ({
      key: hasKey ? marker : null,
      input: { marker, ...input },
    }));
    return await this.#client(n, first).startBatch(this.#tenants.workflowOf(first.kind), items);
  }

  /** @param first the answer it already got, if any */
  async #send(n: number, start: PlannedStart, first: Answer | undefined): Promise<Answer[]> {
    const answers = first === undefined ? [] : [first];
    for (let attempt = 0; ; attempt += 1) {
      const accepted = answers.filter((answer) => answer.kind === 'accepted').length;
      if (accepted === (start.isRepeated ? 2 : 1)) return answers;
      const last = answers.at(-1);
      if (last !== undefined) {
        if (!mayRepeat(start, last)) return answers;
        await pause(RETRY_MS);
      }
      const client = this.#client(n + attempt, start);
      answers.push(await this.#sendOnce(client, start));
    }
  }

  async #sendOnce(client: Client, { marker, kind, hasKey, input }: PlannedStart): Promise<Answer> {
    if (isCalled(kind)) return await client.callWebhook(this.#tenants.webhookOf(kind), marker, input);
    const key = hasKey ? marker : null;
    return (await client.start(this.#tenants.workflowOf(kind), marker, key, input)).answer;
  }
}

/** Without a key, a start whose outcome is unknown must not be sent again. */
function mayRepeat({ hasKey }: PlannedStart, answer: Answer): boolean {
  if (answer.kind === 'cut') return hasKey;
  if (answer.kind === 'accepted') return true;
  if (answer.status === 503) return hasKey || answer.code === 'overloaded';
  return answer.status === 429;
}
