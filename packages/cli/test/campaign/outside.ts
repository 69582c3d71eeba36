import { setTimeout as pause } from 'node:timers/promises';
import type { Reaction, Received, Receiver } from '../faults/support/receiver.ts';
import { contentOf } from './mix.ts';
import type { Trouble } from './plan.ts';

/** A call as the outside world saw it; times are epoch milliseconds. */
export interface Call {
  readonly marker: string;
  readonly executionId: number;
  readonly node: string;
  readonly index: number;
  readonly deliveryKey: string;
  readonly atMs: number;
  /** When it was answered or its connection ended. */
  readonly endedAtMs: number;
  /** Whether the path takes part in a limit of concurrent executions. */
  readonly path: string;
}

/** One attempt to end the wait of a `wait.callback` node; every attempt sends another value. */
export interface CallbackAttempt {
  readonly marker: string;
  readonly value: string;
  /** Null if there was no response. */
  readonly status: number | null;
  readonly code: string | null;
}

interface Body {
  readonly marker: string;
  readonly execution: number | string;
  readonly node: string;
  readonly index: number;
  readonly failures?: number;
  readonly size?: number;
  readonly callback_url?: string;
}

const SLOW_MS = 150;
const RETRY_MS = 100;
const REQUEST_TIMEOUT_MS = 20_000;
const SENDS_TWICE_EVERY = 3;

/** The systems that workflows call and are called back by. */
export class Outside {
  readonly callbacks: CallbackAttempt[] = [];
  readonly #receiver: Receiver;
  readonly #apiUrl: (attempt: number) => string;
  readonly #answering = new Map<string, Promise<void>>();
  /** Failures that the path `/flaky` has answered with, by marker. */
  readonly #failures = new Map<string, number>();
  #trouble: Trouble | null = null;
  #isWell: PromiseWithResolvers<void> = Promise.withResolvers();

  /** @param apiUrl address of a process that accepts callbacks, another one for each attempt */
  constructor(receiver: Receiver, apiUrl: (attempt: number) => string) {
    this.#receiver = receiver;
    this.#apiUrl = apiUrl;
    for (const path of ['/work', '/slow', '/flaky', '/large', '/file', '/callback']) {
      receiver.on(path, (request) => this.#react(path, request));
    }
  }

  /** From now on every call gets this. */
  begin(trouble: Trouble): void {
    this.#trouble = trouble;
  }

  /** Calls that hang are cut; later ones are answered. */
  recover(): void {
    this.#trouble = null;
    this.#isWell.resolve();
    this.#isWell = Promise.withResolvers();
  }

  /** Waits until every callback was answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#answering.values());
  }

  /** All calls so far. */
  calls(): Call[] {
    return this.#receiver.received.map((request) => {
      const { marker, execution, node, index } = request.body as Body;
      return {
        marker,
        executionId: Number(execution),
        node,
        index: Number(index),
        deliveryKey: request.deliveryKey,
        atMs: performance.timeOrigin + request.atMs,
        endedAtMs: performance.timeOrigin + (request.endedAtMs ?? performance.now()),
        path: request.path,
      };
    });
  }

  async #react(path: string, request: Received): Promise<Reaction> {
    const body = request.body as Body;
    // Even if the caller gets no response: its callback may then come before it waits.
    if (body.callback_url !== undefined) this.#callBack(body.marker, body.callback_url);
    switch (this.#trouble) {
      case 'cut':
        return 'cut';
      case 'hang':
        await this.#isWell.promise;
        return 'cut';
      case 429:
        return { status: 429, headers: { 'retry-after': '1' } };
      case 500:
        return 500;
      case null:
        return await this.#answer(path, body);
    }
  }

  async #answer(path: string, body: Body): Promise<Reaction> {
    switch (path) {
      case '/slow':
        await pause(SLOW_MS);
        return 200;
      case '/large':
        return { status: 200, body: JSON.stringify({ text: 'x'.repeat(body.size ?? 0) }) };
      case '/file': {
        const headers = { 'content-type': 'text/plain' };
        return { status: 200, headers, body: contentOf(body.marker, body.size ?? 0) };
      }
      case '/flaky': {
        const failures = this.#failures.get(body.marker) ?? 0;
        if (failures >= (body.failures ?? 0)) return 200;
        this.#failures.set(body.marker, failures + 1);
        return 503;
      }
      default:
        return 200;
    }
  }

  #callBack(marker: string, url: string): void {
    if (this.#answering.has(marker)) return;
    this.#answering.set(marker, this.#sendCallback(marker, new URL(url).pathname));
  }

  async #sendCallback(marker: string, path: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const { status } = await this.#attempt(marker, path, attempt);
      if (status !== null && status !== 503 && status !== 429) break;
      await pause(RETRY_MS);
    }
    if (this.#answering.size % SENDS_TWICE_EVERY === 0) await this.#attempt(marker, path, 0);
  }

  async #attempt(marker: string, path: string, attempt: number): Promise<CallbackAttempt> {
    const value = `${marker}#${attempt}`;
    const outcome = await post(`${this.#apiUrl(attempt)}${path}`, { value });
    const made = { marker, value, ...outcome };
    this.callbacks.push(made);
    return made;
  }
}

async function post(url: string, body: object): Promise<Pick<CallbackAttempt, 'status' | 'code'>> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const { code = null } = (await response.json()) as { readonly code?: string };
    return { status: response.status, code };
  } catch {
    return { status: null, code: null };
  }
}
