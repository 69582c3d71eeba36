import { endsWithin } from '../ends-within.ts';
import type { FinishedSpan } from './tracer.ts';

export interface SpanQueueOptions {
  /** Sends a batch to the collector; rejects if it wasn't accepted. */
  readonly send: (spans: readonly FinishedSpan[]) => Promise<void>;
  /** Maximum spans that wait; more are dropped. */
  readonly maxSpans: number;
  /** Maximum spans in one request to the collector. */
  readonly batchSpans: number;
  /** How long a span waits for others, in milliseconds. */
  readonly delayMs: number;
  /** Called with the first failure, and again with the first one after a success. */
  readonly onFailure: (error: unknown) => void;
}

/** Outcomes of the spans of this process. */
export interface SpanCounts {
  readonly exported: number;
  readonly dropped: number;
}

/** Spans on their way to the collector: nothing waits for it, and while it is unavailable, a limited number is kept. */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  #waiting: FinishedSpan[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  #isFailing = false;
  #exported = 0;
  #dropped = 0;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  add(span: FinishedSpan): void {
    const { maxSpans, batchSpans, delayMs } = this.#options;
    if (this.#waiting.length >= maxSpans) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= batchSpans) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), delayMs).unref();
  }

  get counts(): SpanCounts {
    return { exported: this.#exported, dropped: this.#dropped };
  }

  /** Sends the waiting spans within the timeout, and drops the rest. */
  async stop(timeoutMs: number): Promise<void> {
    await endsWithin(this.#sendAll(), timeoutMs);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#dropped += this.#waiting.splice(0).length;
  }

  async #sendAll(): Promise<void> {
    while (this.#sending !== null || this.#waiting.length > 0) {
      this.#send();
      await this.#sending;
    }
  }

  /** One batch at a time. */
  #send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#sending !== null || this.#waiting.length === 0) return;
    const { batchSpans, delayMs } = this.#options;
    const batch = this.#waiting.splice(0, batchSpans);
    this.#sending = this.#sendBatch(batch).then(() => {
      this.#sending = null;
      if (this.#waiting.length >= batchSpans) this.#send();
      else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#send(), delayMs).unref();
    });
  }

  async #sendBatch(batch: readonly FinishedSpan[]): Promise<void> {
    try {
      await this.#options.send(batch);
      this.#exported += batch.length;
      this.#isFailing = false;
    } catch (error) {
      this.#dropped += batch.length;
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
    }
  }
}
